"""Rows that a graphics card misses are solved rank by rank on the processor; no device is needed to see that."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import memetik as mk
from memetik.batch import solve
from memetik.batch.solution import Answers

ARM = mk.build.planar_chain([0.4, 0.4, 0.4])
TARGETS = np.array([(0.5, 0.3, 0.0), (0.9, 0.2, 0.0), (0.4, -0.2, 0.0), (0.8, -0.4, 0.0)])  # the wall is at x = 0.6


def wall(priority):
    return mk.Plane("tip", (0.6, 0.0, 0.0), (-1.0, 0.0, 0.0), side="above", priority=priority)


@pytest.fixture
def card(monkeypatch):
    """A device that goes by weights: the processor with all priorities alike."""

    def solve_by_weights(problem, rows, places, starts, seed, most, tell):
        reach, keep_off = mk.Position("tip", (0.0, 0.0, 0.0)), wall(0)
        found = mk.solve_batch(mk.Problem(ARM, [reach, keep_off]), {reach: rows[:, -3:]}, budget=mk.Budget(most))
        answers = Answers(found.q, found.status, found.numbers, found.row_seconds)
        for each in answers:
            each.setflags(write=False)  # as what comes from a device may be
        return answers

    monkeypatch.setattr(solve, "solve_on_cuda", solve_by_weights)


def test_missed_rows_are_those_of_the_processor(card):
    reach, keep_off = mk.Position("tip", (0.0, 0.0, 0.0)), wall(1)
    problem = mk.Problem(ARM, [reach, keep_off])
    found = mk.solve_batch(problem, {reach: TARGETS}, device="cuda")
    expected = mk.solve_batch(problem, {reach: TARGETS})
    assert found.status.tolist() == [0, 1, 0, 1]
    assert_array_equal(found.q[[1, 3]], expected.q[[1, 3]])
    assert_array_equal(found.numbers[[1, 3]], expected.numbers[[1, 3]])
    assert (ARM.forward(found.q, "tip")[:, 0, 3] <= 0.6 + keep_off.tolerance).all()
    assert found.device == "a graphics card, 2 rows by priorities on the processor"


def test_without_priorities_the_answers_of_the_card_stand(card):
    reach = mk.Position("tip", (0.0, 0.0, 0.0))
    found = mk.solve_batch(mk.Problem(ARM, [reach, wall(0)]), {reach: TARGETS}, device="cuda")
    assert found.device == "a graphics card"
    assert (ARM.forward(found.q[[1, 3]], "tip")[:, 0, 3] > 0.61).all(), "weights let it go through the wall"
