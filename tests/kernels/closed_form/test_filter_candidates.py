"""What is a solution, and what was offered before."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose

import memetik as mk
from memetik.kernels.closed_form.filter_candidates import REPEATED, Candidates, filter_candidates
from memetik.kernels.compiler.record import allocate
from memetik.kernels.problem.budget import EVALUATIONS, OUTCOME
from memetik.kernels.problem.verify import CLOSEST, INVALID, REACHED
from memetik.problem.scratch import Scratch

pytestmark = pytest.mark.quick


def filtered(problem, q, offers, known=0):
    scratch = Scratch(problem.compiled)
    sizes = {**problem.compiled.sizes, "candidates": len(offers)}
    candidates = allocate(Candidates, sizes, postures=np.array(offers, dtype=float))
    filter_candidates(scratch.table, candidates, known, np.array(q), scratch.outcome)
    assert scratch.outcome[EVALUATIONS] == len(offers) - known
    return candidates.postures, candidates.statuses.tolist(), candidates.costs, candidates.outcomes[:, OUTCOME:]


def test_solutions_are_brought_near_and_told_apart():
    body = mk.planar_chain([1.0, 1.0], limits=((-7.0, 7.0), (-1.0, 3.0)))
    problem = mk.Problem(body, mk.Position("tip", (1.0, 1.0, 0.0), tolerance=1e-9))
    right = math.pi / 2.0
    offers = [
        (0.0, right),  # a solution
        (2.0 * math.pi, right),  # the same, a turn away
        (right, -right),  # the elbow bends beyond its limit
        (0.0, 1.0),  # misses
        (math.nan, 0.0),
    ]
    rows, statuses, costs, verdicts = filtered(problem, (6.0, 0.5), offers)
    assert statuses == [REACHED, REPEATED, CLOSEST, CLOSEST, INVALID]
    assert_allclose(rows[0], (2.0 * math.pi, right))  # a whole turn nearer to the start
    assert costs[0] == pytest.approx(right - 0.5)
    assert rows[2, 1] == -1.0  # clamped
    miss = math.hypot(1.0 + math.cos(1.0) - 1.0, math.sin(1.0) - 1.0)
    assert verdicts[3].tolist() == pytest.approx([miss, 0.0])
    assert verdicts[0, 1] == 1.0
    assert 0.0 < costs[3] < math.inf


def test_known_rows_are_not_measured_again():
    body = mk.planar_chain([1.0, 1.0], limits=None)
    problem = mk.Problem(body, mk.Position("tip", (-2.0, 0.0, 0.0), tolerance=1e-6))
    _, statuses, _, _ = filtered(problem, (0.0, 0.0), [(math.pi, 0.0), (-math.pi, 0.0), (0.3, 0.0)], known=1)
    assert statuses == [REACHED, REPEATED, CLOSEST]  # the first counts as found; half a turn either way is one posture
