"""The export list: every name exists, is what type checkers see, and costs nothing until it is used."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import memetik as mk


@pytest.mark.parametrize("name", mk.__all__)
def test_every_public_name_exists(name):
    assert getattr(mk, name) is not None


def test_the_two_lists_agree():
    """The imports for type checkers and the places for Python name the same things in the same modules."""
    tree = ast.parse(Path(mk.__file__).read_text())
    block = next(node for node in tree.body if isinstance(node, ast.If))
    seen = {alias.name: statement.module for statement in block.body for alias in statement.names}
    assert seen == mk._PLACES
    assert sorted(mk.__all__) == sorted([*mk._PLACES, "__version__"])


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'Rechability'"):
        mk.Rechability  # noqa: B018


def test_importing_does_not_load_the_compiler():
    code = "import memetik, sys; print('numba' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "False\n"


def test_dir_lists_the_public_names():
    assert set(mk.__all__) <= set(dir(mk))
