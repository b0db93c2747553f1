"""Faults one after the other (faults.py): each write of a small job fails, and Ctrl-C comes at some lines of each call."""

import pytest

from tests.conftest import COMPILED
from tests.stress import faults

NAMES = (
    "solve", "solve one pose", "solve in Python", "bind", "batch", "track", "check_motion", "construct", "assign",
    "retarget", "world", "first solve", "scratch", "servo",
)  # fmt: skip


def test_every_call_is_tried():
    assert sorted(faults.calls()) == sorted(NAMES)


@pytest.mark.only_if(COMPILED, "compiled kernels")
@pytest.mark.parametrize("name", NAMES)
def test_ctrl_c_leaves_everything_as_it_was(name):
    total = faults.count_lines(faults.calls()[name][0])
    done, wrong = faults.signals(name, every=max(total // 25, 1), first=1 + total % 7)
    assert done and not wrong


def test_a_job_whose_writes_fail_goes_on_where_it_was():
    done, wrong = faults.writes()
    assert done > 40 and not wrong
