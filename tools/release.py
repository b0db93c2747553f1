"""Wheel and sdist, built and checked as they would be published.

    uv run --extra docs python tools/release.py            # into dist; --kernels: the wheel with compiled kernels, too

What is checked: that both can be read by an index (twine), that the wheel has every module and every bundled body and nothing
else, that the sdist has sources, tests, examples and documents, and that the version is one and the same everywhere.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

from hatchling.builders.sdist import SdistBuilder
from hatchling.builders.wheel import WheelBuilder

ROOT = Path(__file__).parents[1]
UNWANTED = re.compile(
    r"__pycache__|\.py[co]$|\.nb[ic]$|(^|/)tests/|(^|/)build/|\.venv|\.git(/|$)|MUJOCO_LOG|memetik-out|\.so$"
)
IN_SDIST = (
    "src/memetik/__init__.py",
    "tests/conftest.py",
    "examples/01_first_solve.py",
    "docs/index.md",
    "tools/wheel.py",
    "README.md",
    "LICENSE",
    "pyproject.toml",
)


def build_wheel(folder: Path) -> Path:
    """Build the plain wheel, without compiled kernels, into a folder."""
    (wheel,) = map(Path, WheelBuilder(str(ROOT)).build(directory=str(folder), versions=["standard"]))
    return wheel


def build_sdist(folder: Path) -> Path:
    """Build the sdist into a folder."""
    (sdist,) = map(Path, SdistBuilder(str(ROOT)).build(directory=str(folder), versions=["standard"]))
    return sdist


def wrong_in_wheel(wheel: Path) -> list[str]:
    """What is missing in a wheel, and what should not be there."""
    names = set(zipfile.ZipFile(wheel).namelist())
    package = ROOT / "src"
    wanted = {
        str(path.relative_to(package))
        for path in (package / "memetik").rglob("*")
        if path.is_file() and not UNWANTED.search(str(path.relative_to(package)))
    }
    said = [f"{wheel.name} lacks {name}" for name in sorted(wanted - names)]
    said += [
        f"{wheel.name} has {name}"
        for name in sorted(names - wanted)
        if not re.match(r"memetik-[^/]+\.dist-info/", name)
    ]
    return said + [f"{wheel.name} has {name}" for name in sorted(names) if UNWANTED.search(name)]


def wrong_in_sdist(sdist: Path) -> list[str]:
    """What is missing in an sdist, and what should not be there."""
    with tarfile.open(sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    said = [f"{sdist.name} lacks {name}" for name in IN_SDIST if name not in names]
    waste = re.compile(r"__pycache__|\.py[co]$|\.nb[ic]$|(^|/)build/|\.venv")
    return said + [f"{sdist.name} has {name}" for name in sorted(names) if waste.search(name)]


def wrong_versions(*built: Path) -> list[str]:
    """Files that name another version than the package."""
    found = re.search(r'__version__ = "([^"]+)"', (ROOT / "src" / "memetik" / "_version.py").read_text())
    assert found
    return [f"{path.name} is not version {found[1]}" for path in built if f"-{found[1]}" not in path.name]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=ROOT / "dist", help="folder for both (default: dist)")
    parser.add_argument("--kernels", action="store_true", help="build the wheel with compiled kernels, too")
    options = parser.parse_args()
    wheel, sdist = build_wheel(options.out.resolve()), build_sdist(options.out.resolve())
    said = wrong_in_wheel(wheel) + wrong_in_sdist(sdist) + wrong_versions(wheel, sdist)
    if said:
        sys.exit("\n".join(said))
    subprocess.run([sys.executable, "-m", "twine", "check", "--strict", str(wheel), str(sdist)], check=True)
    if options.kernels:
        subprocess.run([sys.executable, str(ROOT / "tools" / "wheel.py"), "--out", str(options.out)], check=True)
    for path in (wheel, sdist):
        print(f"{path}: {path.stat().st_size / 1e6:.2f} MB")


if __name__ == "__main__":
    main()
