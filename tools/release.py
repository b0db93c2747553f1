"""Wheels and sdists of all packages, built and checked as they would be published.

    uv run --extra docs python tools/release.py            # into dist; --kernels: the wheel with compiled kernels, too
    uv run --extra docs python tools/release.py --test memetik-studio    # and the tests of its sdist, in an empty environment

What is checked: that an index can read them (twine), that wheels have every file of their package and nothing else, that sdists
have sources, tests and documents, and that the version is one and the same everywhere. With --test, which takes the names of
packages or `all`, each sdist is unpacked, installed into an environment of its own beside the wheels of the others, and its
tests run there.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from pathlib import Path
from typing import NamedTuple

from hatchling.builders.sdist import SdistBuilder
from hatchling.builders.wheel import WheelBuilder

ROOT = Path(__file__).parents[1]
UNWANTED = re.compile(
    r"__pycache__|\.py[co]$|\.nb[ic]$|(^|/)tests/|(?<!memetik/)(?<![\w-])build/|\.venv|\.git(/|$)|MUJOCO_LOG|memetik-out|\.so$"
)
WASTE = re.compile(r"__pycache__|\.py[co]$|\.nb[ic]$|(?<!memetik/)(?<!tests/)(?<![\w-])build/|\.venv")


class Package(NamedTuple):
    """A package of the workspace."""

    name: str
    root: Path
    extra: str  # what its tests need
    in_sdist: tuple[str, ...]

    @property
    def module(self) -> str:
        """The name it is imported by, and in the names of its files."""
        return self.name.replace("-", "_")


IN_ALL = ("tests/__init__.py", "tests/conftest.py", "README.md", "LICENSE", "pyproject.toml")
PACKAGES = {
    package.name: package
    for package in (
        Package(
            "memetik", ROOT, "dev",
            (*IN_ALL, "src/memetik/__init__.py", "examples/01_first_solve.py", "docs/index.md", "tools/wheel.py"),
        ),
        *(
            Package(f"memetik-{name}", ROOT / "packages" / f"memetik-{name}", "test",
                    (*IN_ALL, f"src/memetik_{name}/__init__.py", f"tests/{name}/__init__.py"))
            for name in ("lab", "studio", "serve")
        ),
    )
}  # fmt: skip
LIBRARY = PACKAGES["memetik"]


def build_wheel(folder: Path, package: Package = LIBRARY) -> Path:
    """Build the plain wheel, without compiled kernels, into a folder."""
    (wheel,) = map(Path, WheelBuilder(str(package.root)).build(directory=str(folder), versions=["standard"]))
    return wheel


def build_sdist(folder: Path, package: Package = LIBRARY) -> Path:
    """Build the sdist into a folder."""
    (sdist,) = map(Path, SdistBuilder(str(package.root)).build(directory=str(folder), versions=["standard"]))
    return sdist


def wrong_in_wheel(wheel: Path, package: Package = LIBRARY) -> list[str]:
    """What is missing in a wheel, and what should not be there."""
    names = set(zipfile.ZipFile(wheel).namelist())
    source = package.root / "src"
    wanted = {
        str(path.relative_to(source))
        for path in (source / package.module).rglob("*")
        if path.is_file() and not UNWANTED.search(str(path.relative_to(source)))
    }
    said = [f"{wheel.name} lacks {name}" for name in sorted(wanted - names)]
    with zipfile.ZipFile(wheel) as archive:
        licenses = [archive.read(name) for name in names if name.endswith(".dist-info/licenses/LICENSE")]
    if licenses != [(ROOT / "LICENSE").read_bytes()]:
        said.append(f"{wheel.name} lacks the license of the repository")
    said += [
        f"{wheel.name} has {name}"
        for name in sorted(names - wanted)
        if not re.match(rf"{package.module}-[^/]+\.dist-info/", name)
    ]
    return said + [f"{wheel.name} has {name}" for name in sorted(names) if UNWANTED.search(name)]


def wrong_in_sdist(sdist: Path, package: Package = LIBRARY) -> list[str]:
    """What is missing in an sdist, and what should not be there."""
    with tarfile.open(sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    said = [f"{sdist.name} lacks {name}" for name in package.in_sdist if name not in names]
    return said + [f"{sdist.name} has {name}" for name in sorted(names) if WASTE.search(name)]


def version() -> str:
    """Return the version of the library."""
    found = re.search(r'__version__ = "([^"]+)"', (ROOT / "src" / "memetik" / "_version.py").read_text())
    assert found
    return found[1]


def wrong_versions(*built: Path) -> list[str]:
    """Files, and requirements of one package of another, that name another version than the library."""
    right = version()
    said = [f"{path.name} is not version {right}" for path in built if f"-{right}" not in path.name]
    for package in (package for package in PACKAGES.values() if (package.root / "pyproject.toml").is_file()):
        text = (package.root / "pyproject.toml").read_text()
        wanted = re.findall(r'"(memetik[\w\[\]-]*)==([^"]+)"', text)
        said += [f"{package.name} wants {name} {found}, not {right}" for name, found in wanted if found != right]
    return said


def test(package: Package, sdist: Path, folder: Path) -> None:
    """Install an sdist into an empty environment, with the other packages from `folder`, and run its tests."""
    with tempfile.TemporaryDirectory() as work:
        with tarfile.open(sdist) as archive:
            archive.extractall(work, filter="data")
        (unpacked,) = Path(work).iterdir()
        python = Path(work, "venv", "bin", "python")
        subprocess.run(["uv", "venv", "--quiet", "--python", sys.executable, python.parents[1]], check=True)
        wanted = f"{package.name}[{package.extra}] @ {sdist.resolve().as_uri()}"
        install = [
            "uv",
            "pip",
            "install",
            "--quiet",
            "--python",
            python,
            "--no-sources",
            "--find-links",
            folder,
            wanted,
        ]
        subprocess.run(install, check=True, cwd=work)
        print(f"{sdist.name}: tests in an empty environment", flush=True)
        subprocess.run([python, "-m", "pytest", "-q", "-n", "auto", "--dist", "loadfile"], check=True, cwd=unpacked)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=ROOT / "dist", help="folder for all of them (default: dist)")
    parser.add_argument("--kernels", action="store_true", help="build the wheel with compiled kernels, too")
    parser.add_argument("--test", nargs="+", choices=[*PACKAGES, "all"], default=[], metavar="PACKAGE",
                        help="run the tests of these sdists in empty environments")  # fmt: skip
    options = parser.parse_args()
    out = options.out.resolve()
    wheels = {name: build_wheel(out, package) for name, package in PACKAGES.items()}
    sdists = {name: build_sdist(out, package) for name, package in PACKAGES.items()}
    said = wrong_versions(*wheels.values(), *sdists.values())
    for name, package in PACKAGES.items():
        said += wrong_in_wheel(wheels[name], package) + wrong_in_sdist(sdists[name], package)
    if said:
        sys.exit("\n".join(said))
    built = [str(path) for path in (*wheels.values(), *sdists.values())]
    subprocess.run([sys.executable, "-m", "twine", "check", "--strict", *built], check=True)
    if options.kernels:
        subprocess.run([sys.executable, str(ROOT / "tools" / "wheel.py"), "--out", str(out)], check=True)
    for path in map(Path, built):
        print(f"{path}: {path.stat().st_size / 1e6:.2f} MB")
    for name in PACKAGES if "all" in options.test else options.test:
        test(PACKAGES[name], sdists[name], out)


if __name__ == "__main__":
    main()
