"""What a search may spend, and the best posture it remembers."""

import math

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from memetik.kernels.problem.budget import (
    ERROR,
    EVALUATIONS,
    OUTCOME,
    RESERVE,
    TIMED_OUT,
    deadline_after,
    remember,
    spent,
)
from memetik.kernels.problem.problem_record import Run
from memetik.kernels.problem.workspace import Workspace
from memetik.kernels.runtime.cancel import new_clock
from memetik.kernels.runtime.clock import now
from memetik.kernels.runtime.record import allocate
from tests.kernels.flat import NO_BLOCKS

pytestmark = pytest.mark.quick


@pytest.fixture
def clock():
    return new_clock()


def run_of(outcome, clock, deadline=0.0):
    return Run(0, 10, deadline, clock, np.zeros(1, dtype=np.uint64), outcome)


@pytest.mark.parametrize(("used", "over"), [(0, False), (9, False), (10, True), (11, True)])
def test_evaluations(used, over, clock):
    outcome = np.zeros(OUTCOME)
    outcome[EVALUATIONS] = used
    assert bool(spent(run_of(outcome, clock))) is over
    assert outcome[TIMED_OUT] == 0.0


def test_time(clock):
    outcome = np.zeros(OUTCOME)
    assert not spent(run_of(outcome, clock, now(clock) + 100.0))
    assert outcome[TIMED_OUT] == 0.0
    assert spent(run_of(outcome, clock, now(clock) - 1e-3))
    assert outcome[TIMED_OUT] == 1.0


def test_no_deadline(clock):
    assert not spent(run_of(np.zeros(OUTCOME), clock))


def test_a_deadline_leaves_time_to_verify_and_never_takes_more_than_half(clock):
    assert deadline_after(0.0, clock) == 0.0
    before, deadline, after = now(clock), deadline_after(10.0, clock), now(clock)
    assert before <= deadline - (10.0 - RESERVE) + 1e-9 and deadline - (10.0 - RESERVE) <= after + 1e-9
    assert deadline_after(1e-9, clock) <= now(clock) + 1e-9
    early, late = deadline_after(RESERVE, clock), deadline_after(RESERVE, clock)
    assert early <= late <= now(clock) + 0.5 * RESERVE


def test_evaluations_count_before_time(clock):
    """A search that used up its evaluations gives the same answer on every machine, and must not say otherwise."""
    outcome = np.zeros(OUTCOME)
    outcome[EVALUATIONS] = 10
    assert spent(run_of(outcome, clock, now(clock) - 1.0))
    assert outcome[TIMED_OUT] == 0.0


def test_remember_keeps_the_best(rng, clock):
    sizes = {"nodes": 1, "frames": 1, "variables": 4, "residuals": 3, "system": 3, **NO_BLOCKS}
    work, outcome = allocate(Workspace, sizes), np.zeros(OUTCOME)
    run = run_of(outcome, clock)
    outcome[ERROR] = math.inf
    one, two, three = rng.normal(size=(3, 4))
    remember(one, 0.5, run, work)
    assert_array_equal(work.best, one)
    remember(two, 0.7, run, work)
    remember(two, math.nan, run, work)
    remember(two, 0.5, run, work)  # of equals the first
    assert_array_equal(work.best, one)
    remember(three, 0.2, run, work)
    assert_array_equal(work.best, three)
    assert outcome[ERROR] == 0.2
