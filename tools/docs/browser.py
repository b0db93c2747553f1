"""All pages of the built site in headless Chromium: what they ask of other hosts, whether search works, and how they look."""

from __future__ import annotations

import functools
import http.server
import shutil
import threading
from pathlib import Path
from typing import Any

WIDTHS, SCHEMES = (1280, 420), ("light", "dark")
SHOWN = (
    "index", "start/index", "learn/index", "learn/jacobian", "howto/index", "howto/free_axis", "reference/objectives",
    "benchmarks", "coming_from/pink", "gallery",
)  # fmt: skip
SEARCHES = {"elbow": "elbow", "FABRIK": "FABRIK", "obstacle": "obstacle"}  # a word, and what a result must hold
FIRST_PAGE = 500_000  # bytes that the first page may take, all it loads included
CONTRAST = """() => {
  const light = (c) => { const v = c.map((x) => { x /= 255; return x <= 0.03928 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4; });
    return 0.2126 * v[0] + 0.7152 * v[1] + 0.0722 * v[2]; };
  const rgb = (s) => { const m = s.match(/[\\d.]+/g).map(Number); return m.length === 4 && m[3] === 0 ? null : m.slice(0, 3); };
  const ground = (e) => {
    for (; e; e = e.parentElement) { const c = rgb(getComputedStyle(e).backgroundColor); if (c) return c; }
    return [255, 255, 255];
  };
  let worst = [99, ''];
  for (const e of document.querySelectorAll('article p, article a, article li, article td, article h1, .sidebar-tree a')) {
    if (!e.offsetParent || !e.textContent.trim()) continue;
    const a = light(rgb(getComputedStyle(e).color)), b = light(ground(e));
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (ratio < worst[0]) worst = [ratio, e.textContent.trim().slice(0, 40)];
  }
  return worst;
}"""


def look(html: Path, out: Path) -> int:
    """Open every page, take pictures of some, try the search. Returns 1 and says why where something is wrong."""
    from playwright.sync_api import sync_playwright

    program = next((found for name in ("chromium", "google-chrome", "chrome") if (found := shutil.which(name))), None)
    out.mkdir(parents=True, exist_ok=True)
    handler = functools.partial(Quiet, directory=str(html))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    root = f"http://127.0.0.1:{server.server_address[1]}"
    wrong: list[str] = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        pages = sorted(path for path in html.rglob("*.html") if "scenes" not in path.parts)
        for width in WIDTHS:
            for scheme in SCHEMES:
                context = browser.new_context(viewport={"width": width, "height": 1000}, color_scheme=scheme)
                page = context.new_page()
                watch(page, root, wrong)
                for path in pages:
                    name = path.relative_to(html).with_suffix("").as_posix()
                    every = width == WIDTHS[0] and scheme == SCHEMES[0]
                    if every or name in SHOWN:
                        page.goto(f"{root}/{name}.html", wait_until="load")
                        too_wide = page.evaluate("document.documentElement.scrollWidth > window.innerWidth + 1")
                        if too_wide:
                            wrong.append(f"{name} is wider than {width} pixels")
                    if name in SHOWN:
                        ratio, text = page.evaluate(CONTRAST)
                        if ratio < 4.5:
                            wrong.append(f"{name}, {scheme}: contrast {ratio:.1f} of {text!r}")
                        page.screenshot(path=out / f"{name.replace('/', '_')}_{width}_{scheme}.png")
                context.close()
        wrong += first_page(browser, root)
        wrong += searched(browser, root)
        if (html / "scenes").exists():
            wrong += played(browser, root)
        browser.close()
    server.shutdown()
    print(*wrong or [f"{len(pages)} pages: nothing asked of other hosts, search works, pictures in {out}"], sep="\n")
    return 1 if wrong else 0


class Quiet(http.server.SimpleHTTPRequestHandler):
    """Serves without a line for each request."""

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


def watch(page: Any, root: str, wrong: list[str]) -> None:
    """Note what a page asks of other hosts, what it does not get, and what its scripts complain of."""

    def asked(request: Any) -> None:
        if not request.url.startswith((root, "data:", "blob:")):
            wrong.append(f"{page.url} asks for {request.url}")

    def answered(response: Any) -> None:
        if response.status >= 400 and "favicon" not in response.url:
            wrong.append(f"{page.url}: {response.url} is {response.status}")

    page.on("request", asked)
    page.on("response", answered)
    page.on("pageerror", lambda error: wrong.append(f"{page.url}: {error}"))


def played(browser: Any, root: str) -> list[str]:
    """Open a scene of the gallery by keyboard: it is loaded then, and not before, and asks nothing of other hosts."""
    page, wrong, loaded = browser.new_page(), [], []
    watch(page, root, wrong)
    page.on(
        "request",
        lambda request: (
            loaded.append(request.url) if "/scenes/" in request.url and request.url.endswith(".html") else None
        ),
    )
    page.goto(f"{root}/gallery.html", wait_until="load")
    if loaded:
        wrong.append("the gallery loads scenes that nobody has opened")
    page.locator(".scenes summary").first.focus()
    page.keyboard.press("Enter")
    page.wait_for_timeout(3_000)
    if len(loaded) != 1:
        wrong.append(f"a scene that is opened is loaded {len(loaded)} times")
    page.close()
    return wrong


def first_page(browser: Any, root: str) -> list[str]:
    """Whether the first page is small enough."""
    page, sizes = browser.new_page(), []
    page.on("response", lambda response: sizes.append(len(response.body())))
    page.goto(f"{root}/index.html", wait_until="networkidle")
    page.close()
    print(f"the first page loads {sum(sizes) / 1e3:.0f} kB in {len(sizes)} requests")
    return [] if sum(sizes) <= FIRST_PAGE else [f"the first page takes {sum(sizes) / 1e3:.0f} kB"]


def searched(browser: Any, root: str) -> list[str]:
    """Type words into the search by keyboard alone, and look for results."""
    wrong = []
    for word, wanted in SEARCHES.items():
        page = browser.new_page()
        page.goto(f"{root}/index.html")
        box = page.locator("input.sidebar-search").first
        box.focus()
        box.type(word)
        box.press("Enter")
        try:
            page.wait_for_selector("#search-results ul.search li", timeout=20_000)
            text = page.locator("#search-results").inner_text()
            if wanted.lower() not in text.lower():
                wrong.append(f"search for {word} shows nothing of it")
        except Exception as error:
            wrong.append(f"search for {word}: {str(error).splitlines()[0]}")
        page.close()
    return wrong
