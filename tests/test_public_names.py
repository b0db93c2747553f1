"""The export list: every name exists, is what type checkers see, and costs nothing until it is used."""

import ast
import importlib
import subprocess
import sys
from pathlib import Path

import pytest

import memetik as mk

ROOT = Path(__file__).parents[1]
USERS = (
    "packages/memetik-lab/src/memetik_lab",
    "packages/memetik-serve/src/memetik_serve",
    "packages/memetik-studio/src/memetik_studio",
    "src/memetik/cli",
    "examples",
)  # what stands outside


@pytest.mark.parametrize("name", mk.__all__)
def test_every_public_name_exists(name):
    assert getattr(mk, name) is not None


def test_names_are_in_order():
    """A name is found, and one that is listed twice seen, at first sight."""
    lines = [line for line in Path(mk.__file__).with_suffix(".pyi").read_text().splitlines() if line.startswith("from")]
    modules = [line.split()[1] for line in lines]
    assert modules == sorted(modules)
    assert len(lines) == len(set(lines)) == len(mk.__all__)


def test_the_top_level_is_small():
    assert len(mk.__all__) <= 70


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="memetik attribute Rechability"):
        mk.Rechability  # noqa: B018


def test_importing_does_not_load_the_compiler():
    code = "import memetik, sys; print('numba' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "False\n"


def test_dir_lists_the_public_names():
    assert set(mk.__all__) <= set(dir(mk))


def imported(path):
    """(line, module, name) of every import from memetik; the name is None where a module itself is imported."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.level:
            yield node.lineno, "." * node.level + (node.module or ""), None
        elif isinstance(node, ast.ImportFrom):
            yield from ((node.lineno, node.module, alias.name) for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name, None) for alias in node.names)


def is_public(module, name, own):
    """Whether it is a name of memetik, or one that a package or module right below it lists or has without underscore."""
    if module.split(".")[0] != "memetik" or f"{module}.".startswith(f"{own}."):
        return not module.startswith(".")
    below = module.split(".")[1:]
    if not below:
        return name is None or name in mk.__all__ or (name != "kernels" and not name.startswith("_"))
    if len(below) > 1 or below[0] == "kernels" or name is None:
        return False
    listed = getattr(importlib.import_module(module), "__all__", None)
    return not name.startswith("_") if listed is None else name in listed


@pytest.mark.parametrize("folder", USERS)
def test_only_public_names_are_used(folder):
    """What is above the library uses it as a stranger would: nothing from memetik.a.b, nothing from the kernels."""
    own = folder.rpartition("src/")[2].replace("/", ".")
    wrong = [
        f"{path.relative_to(ROOT)}:{line}: {module}{f'.{name}' if name else ''}"
        for path in sorted((ROOT / folder).rglob("*.py"))
        for line, module, name in imported(path)
        if not is_public(module, name, own)
    ]
    assert not wrong, "not public:\n" + "\n".join(wrong)


@pytest.mark.parametrize(
    ("module", "name", "public"),
    [
        ("memetik", "Body", True),
        ("memetik.geometry", "pose_distance", True),
        ("memetik.errors", "MemetikError", True),
        ("memetik_lab.harness", "Report", True),
        ("numpy", "array", True),
        ("memetik.read.load", "load", False),
        ("memetik.geometry", "lie", False),
        ("memetik.kernels", "math", False),
        ("memetik", "kernels", False),
        ("memetik.body", None, False),
        (".", None, False),
    ],
)
def test_what_counts_as_public(module, name, public):
    assert is_public(module, name, "memetik_lab") is public
