"""The layout explains itself: small folders, and packages of kernels that list what is in them."""

import re
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "src" / "memetik"
MOST = 25  # modules in a folder


def folders():
    return sorted({path.parent for path in SOURCE.rglob("*.py")})


@pytest.mark.parametrize("folder", folders(), ids=lambda folder: folder.relative_to(SOURCE).as_posix() or "memetik")
def test_no_folder_is_a_heap(folder):
    modules = [path for path in folder.glob("*.py") if path.name != "__init__.py"]
    assert len(modules) <= MOST


@pytest.mark.parametrize(
    "package", sorted((SOURCE / "kernels").rglob("__init__.py")), ids=lambda path: path.parent.name
)
def test_packages_of_kernels_list_their_modules(package):
    listed = set(re.findall(r"^ *(\w+)  +\w", package.read_text(), re.MULTILINE))
    here = {path.stem for path in package.parent.glob("*.py")} - {"__init__"}
    packages = {path.parent.name for path in package.parent.glob("*/__init__.py")}
    assert here <= listed
    assert listed <= here | packages
