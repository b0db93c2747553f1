"""What is a solution, and what was offered before."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose

import memetik as mk
from memetik.kernels.closed_form.filter_candidates import REPEATED, Candidates, best_candidate, filter_candidates
from memetik.kernels.problem.budget import EVALUATIONS, OUTCOME
from memetik.kernels.problem.verify import CLOSEST, INVALID, REACHED
from memetik.kernels.runtime.record import allocate
from memetik.problem.scratch import Scratch

pytestmark = pytest.mark.quick


def filtered(problem, q, *batches):
    """What becomes of offers that come in batches: postures, statuses, costs, verdicts, and the row of the best."""
    scratch = Scratch(problem.compiled)
    scratch.arrays.work.start[:] = q
    sizes = {**problem.compiled.sizes, "candidates": sum(map(len, batches))}
    found = allocate(Candidates, sizes)
    for offers in batches:
        known = np.sum(found.statuses[: found.count[0]] == REACHED)
        new = filter_candidates(scratch.arrays, found, np.array(offers, dtype=float), len(offers), scratch.outcome)
        assert new == np.sum(found.statuses[: found.count[0]] == REACHED) - known
    assert found.count[0] == scratch.outcome[EVALUATIONS] == sum(map(len, batches))
    return found.postures, found.statuses.tolist(), found.costs, found.outcomes[:, OUTCOME:], best_candidate(found)


def test_solutions_are_brought_near_and_told_apart():
    body = mk.build.planar_chain([1.0, 1.0], limits=((-7.0, 7.0), (-1.0, 3.0)))
    problem = mk.Problem(body, mk.Position("tip", (1.0, 1.0, 0.0), tolerance=1e-9))
    right = math.pi / 2.0
    offers = [
        (0.0, right),  # a solution
        (2.0 * math.pi, right),  # the same, a turn away
        (right, -right),  # the elbow bends beyond its limit
        (0.0, 1.0),  # misses
        (math.nan, 0.0),
    ]
    rows, statuses, costs, verdicts, best = filtered(problem, (6.0, 0.5), offers)
    assert best == 0
    assert statuses == [REACHED, REPEATED, CLOSEST, CLOSEST, INVALID]
    assert_allclose(rows[0], (2.0 * math.pi, right))  # a whole turn nearer to the start
    assert costs[0] == pytest.approx((2.0 * math.pi - 6.0) ** 2 + (right - 0.5) ** 2)
    assert rows[2, 1] == -1.0  # clamped
    miss = math.hypot(1.0 + math.cos(1.0) - 1.0, math.sin(1.0) - 1.0)
    assert verdicts[3].tolist() == pytest.approx([miss, 0.0])
    assert verdicts[0, 1] == 1.0
    assert 0.0 < costs[3] < math.inf


def test_what_was_offered_before_is_repeated():
    body = mk.build.planar_chain([1.0, 1.0], limits=None)
    problem = mk.Problem(body, mk.Position("tip", (-2.0, 0.0, 0.0), tolerance=1e-6))
    _, statuses, _, _, best = filtered(problem, (0.0, 0.0), [(math.pi, 0.0)], [(-math.pi, 0.0), (0.3, 0.0)])
    assert statuses == [REACHED, REPEATED, CLOSEST]  # half a turn either way is one posture
    assert best == 0


def test_without_a_solution_the_best_misses_least():
    body = mk.build.planar_chain([1.0, 1.0], limits=None)
    problem = mk.Problem(body, mk.Position("tip", (3.0, 0.0, 0.0), tolerance=1e-6))
    assert filtered(problem, (0.0, 0.0), [(math.nan, 0.0), (0.2, 0.0), (0.1, 0.0), (0.3, 0.0)])[-1] == 2
    assert filtered(problem, (0.0, 0.0), [(math.nan, 0.0), (0.0, math.nan)])[-1] == -1


def test_of_two_solutions_the_nearest_is_best():
    body = mk.build.planar_chain([1.0, 1.0], limits=None)
    problem = mk.Problem(body, mk.Position("tip", (1.0, 1.0, 0.0), tolerance=1e-6))
    right = math.pi / 2.0
    assert filtered(problem, (0.1, 1.0), [(0.5, 0.5), (right, -right), (0.0, right)])[-1] == 2
