"""The export list: every name exists, is what type checkers see, and costs nothing until it is used."""

import subprocess
import sys
from pathlib import Path

import pytest

import memetik as mk


@pytest.mark.parametrize("name", mk.__all__)
def test_every_public_name_exists(name):
    assert getattr(mk, name) is not None


def test_names_are_in_order():
    """A name is found, and one that is listed twice seen, at first sight."""
    lines = [line for line in Path(mk.__file__).with_suffix(".pyi").read_text().splitlines() if line.startswith("from")]
    modules = [line.split()[1] for line in lines]
    assert modules == sorted(modules)
    assert len(lines) == len(set(lines)) == len(mk.__all__)


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="memetik attribute Rechability"):
        mk.Rechability  # noqa: B018


def test_importing_does_not_load_the_compiler():
    code = "import memetik, sys; print('numba' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "False\n"


def test_dir_lists_the_public_names():
    assert set(mk.__all__) <= set(dir(mk))
