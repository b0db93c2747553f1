"""What becomes of tests that cannot run: a short session of pytest in a process of its own."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

CONFTEST = """
from tests import skips

def pytest_configure(config):
    config.addinivalue_line("markers", "only_if: see skips.py")
    config.pluginmanager.register(skips)
"""

TESTS = """
import pytest

def test_passes():
    pass

def test_needs_a_browser():
    pytest.skip("no browser: install one")

@pytest.mark.skipif(True, reason="no compiler: install one")
def test_needs_a_compiler():
    pass

@pytest.fixture
def robot():
    pytest.skip("no robot: buy one")

def test_needs_a_robot(robot):
    pass

@pytest.mark.only_if(False, "systems that fork")
def test_forks():
    raise AssertionError

@pytest.mark.only_if(True, "systems that exist")
def test_exists():
    pass

@pytest.mark.xfail(reason="not yet")
def test_expected_to_fail():
    raise AssertionError
"""

MODULE = """
import pytest

pytest.importorskip("no_such_package")
"""

REASONS = ["no browser: install one", "no compiler: install one", "no robot: buy one"]
ONCE_AND_SHARED = pytest.mark.parametrize("options", [(), ("-n", "2")], ids=["one process", "workers"])


def session(folder, *options, switch="", **files):
    """The exit code and the output of a session."""
    (folder / "conftest.py").write_text(CONFTEST)
    for name, text in files.items():
        (folder / f"{name}.py").write_text(text)
    env = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST_", "COV_"))}
    env |= {"PYTHONPATH": str(ROOT), "MEMETIK_TEST_NO_SKIPS": switch}
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", f"--rootdir={folder}", *options]
    done = subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout


@ONCE_AND_SHARED
def test_skips_are_told_and_pass(tmp_path, options):
    code, output = session(tmp_path, *options, test_some=TESTS, test_whole=MODULE)
    assert code == 0, output
    assert "2 passed, 4 skipped, 1 deselected, 1 xfailed" in output
    assert "SKIPPED [1] could not import 'no_such_package'" in output
    assert all(f"SKIPPED [1] {reason}\n" in output for reason in REASONS)
    assert "DESELECTED [1] only for systems that fork" in output


@ONCE_AND_SHARED
def test_with_the_switch_every_skip_fails(tmp_path, options):
    code, output = session(tmp_path, *options, switch="1", test_some=TESTS)
    assert code == 1, output
    assert "1 failed, 2 passed, 1 deselected, 1 xfailed, 2 errors" in output
    assert all(reason in output for reason in REASONS) and "skipped" not in output


@ONCE_AND_SHARED
def test_with_the_switch_a_module_that_is_skipped_fails(tmp_path, options):
    code, output = session(tmp_path, *options, switch="1", test_whole=MODULE, test_some=TESTS)
    assert code != 0 and "could not import 'no_such_package'" in output, output
    assert "MEMETIK_TEST_NO_SKIPS is set" in output
