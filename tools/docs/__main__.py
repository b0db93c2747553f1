"""The documentation as a site.

uv run --extra docs python -m tools.docs build               # build/site/html; --no-scenes leaves the gallery's 3D scenes out
uv run --extra docs python -m tools.docs serve               # the same on http://127.0.0.1:8000
uv run --extra docs python -m tools.docs pictures            # draw the pictures of pages again, into docs/pictures
uv run --extra docs python -m tools.docs costs               # measure what objectives and methods cost, for the reference
uv run --extra docs python -m tools.docs browser             # all pages in headless Chromium: two widths, light and dark
"""

from __future__ import annotations

import argparse
import functools
import http.server
import re
import shutil
import subprocess
import sys
from pathlib import Path

from tools.docs import gallery, links, reference

ROOT = Path(__file__).parents[2]
BUILD = ROOT / "build" / "site"
# What pages link to.
BESIDE = [
    "examples",
    "README.md",
    "CONTRIBUTING.md",
    "CHANGELOG.md",
    "LICENSE",
    "integrations",
    "src/memetik/bodies/NOTICE.md",
]


def stage(source: Path) -> Path:
    """Copy what the site is made of, so that generated pages stand beside written ones and not in the repository."""
    shutil.rmtree(source, ignore_errors=True)
    shutil.copytree(ROOT / "docs", source / "docs")
    for name in BESIDE:
        target = source / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, target, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copyfile(ROOT / name, target)
    return source / "docs"


def build(scenes: bool) -> None:
    """Build the site; what Sphinx warns of, links that lead nowhere and misspelt words end it."""
    misspelt = spelling()
    if misspelt:
        sys.exit(misspelt)
    docs = stage(BUILD / "source")
    reference.write(docs / "reference")
    (docs / "gallery.md").write_text(gallery.page())
    html = BUILD / "html"
    shutil.rmtree(html, ignore_errors=True)
    command = [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-n", "-b", "html", str(docs), str(html)]
    subprocess.run(command, check=True)
    for page in docs.rglob("*.md"):  # pictures in HTML, which Sphinx does not look at
        for source in re.findall(r'<img src="([^":]+)"', page.read_text()):
            target = html / (page.parent / source).relative_to(docs)
            if source.startswith("scenes/"):  # drawn below
                continue
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(page.parent / source, target)
    for leftover in (".doctrees", ".buildinfo"):
        path = html / leftover
        shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
    if scenes:
        gallery.write(html / "scenes")
    broken = links.broken(html, absent=() if scenes else ("scenes/",))
    if broken:
        sys.exit("\n".join(broken))
    size = sum(path.stat().st_size for path in html.rglob("*") if path.is_file())
    print(f"{html}: {len(list(html.rglob('*.html')))} pages, {size / 1e6:.1f} MB")


def spelling() -> str:
    """What codespell takes for mistakes in what people read."""
    read = [*ROOT.glob("*.md"), ROOT / "docs", ROOT / "examples"]
    command = ["codespell_lib", "--skip", "*.svg,*.png,*.gif,*.css,__pycache__", "--ignore-words-list", "clik,fro,buss"]
    return subprocess.run([sys.executable, "-m", *command, *map(str, read)], capture_output=True, text=True).stdout


def serve(port: int) -> None:
    """Serve the built site on this machine only."""
    handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=str(BUILD / "html"))
    with http.server.ThreadingHTTPServer(("127.0.0.1", port), handler) as server:
        print(f"http://127.0.0.1:{server.server_address[1]} (Ctrl-C ends it)", flush=True)
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            return


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("task", choices=["build", "serve", "pictures", "costs", "browser"])
    parser.add_argument("names", nargs="*", help="of pictures, or of objectives to measure: only these (default: all)")
    parser.add_argument("--no-scenes", action="store_true", help="leave the 3D scenes of the gallery out")
    parser.add_argument("--port", type=int, default=8000, help="port to serve on (default: 8000; 0: any that is free)")
    options = parser.parse_args()
    if options.task == "build":
        build(scenes=not options.no_scenes)
    elif options.task == "serve":
        if not (BUILD / "html" / "index.html").exists():
            build(scenes=not options.no_scenes)
        serve(options.port)
    elif options.task == "pictures":
        from tools.docs import diagrams, pictures, recipes

        pictures.write(ROOT / "docs" / "pictures" / "learn", names=options.names)
        pictures.write(ROOT / "docs" / "pictures" / "recipes", recipes.RECIPES, options.names)
        drawn = {name: draw for name, (_, draw) in diagrams.DIAGRAMS.items()}
        pictures.write(ROOT / "docs" / "pictures" / "reference", drawn, options.names)
    elif options.task == "costs":
        from tools.docs import costs

        costs.write(options.names)
    else:
        from tools.docs import browser

        sys.exit(browser.look(BUILD / "html", BUILD / "seen"))


if __name__ == "__main__":
    main()
