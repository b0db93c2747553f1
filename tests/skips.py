"""Tests that cannot run here: skipped with a reason, deselected, or failed.

- A test that needs something this machine could have, such as a browser, is skipped, and the reason says what to install.
  With MEMETIK_TEST_NO_SKIPS=1 every skip is a failure, so that a machine that has everything proves it.
- A test that says nothing here, whatever is installed, such as one of a graphics card on a machine without one, is marked
  `only_if(condition, what)` and deselected where the condition does not hold. It is never a failure.
"""

import os
from collections import Counter
from types import SimpleNamespace

import pytest

SWITCH = "MEMETIK_TEST_NO_SKIPS"
REPORTED = "memetik_deselected"  # the key under which a worker of pytest-xdist tells what it deselected

_deselected = pytest.StashKey[list]()


def _allowed():
    return os.environ.get(SWITCH, "") in ("", "0")


def _reason(report):
    """Of a skip; pytest gives a place, a line and the reason."""
    text = report.longrepr if isinstance(report.longrepr, str) else report.longrepr[2]
    return text.removeprefix("Skipped: ")


def _forbid_skip(report):
    if report.skipped and not hasattr(report, "wasxfail") and not _allowed():
        reason = _reason(report)
        report.outcome = "failed"
        report.longrepr = f"{reason}\n(A failure, because {SWITCH} is set.)"
    return report


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport():
    return _forbid_skip((yield))


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report():
    """Modules that are skipped as a whole, by importorskip for example."""
    return _forbid_skip((yield))


def pytest_collection_modifyitems(config, items):
    lacking = {}
    for item in items:
        for mark in item.iter_markers("only_if"):
            condition, what = mark.args
            if not condition:
                lacking[item] = what
    items[:] = [item for item in items if item not in lacking]
    config.stash[_deselected] = list(lacking.values())
    if lacking:
        config.hook.pytest_deselected(items=list(lacking))


def pytest_sessionfinish(session):
    if hasattr(session.config, "workeroutput"):
        session.config.workeroutput[REPORTED] = session.config.stash.get(_deselected, [])


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node):
    """All workers of pytest-xdist collect the same tests, so what one of them deselected is what all did."""
    deselected = getattr(node, "workeroutput", {}).get(REPORTED, [])
    if deselected and not node.config.stash.get(_deselected, []):
        node.config.stash[_deselected] = deselected
        node.config.hook.pytest_deselected(items=[SimpleNamespace(only_for=what) for what in deselected])


def pytest_terminal_summary(terminalreporter, config):
    """A line for each reason, with the number of tests."""
    for reason, count in Counter(map(_reason, terminalreporter.stats.get("skipped", []))).items():
        terminalreporter.write_line(f"SKIPPED [{count}] {reason}")
    for what, count in Counter(config.stash.get(_deselected, [])).items():
        terminalreporter.write_line(f"DESELECTED [{count}] only for {what}")
