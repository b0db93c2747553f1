"""solve_all(turns=True): every solution with all whole turns that the limits of the joints allow."""

import itertools
import math

import numpy as np
import pytest

import memetik as mk

TURN = 2.0 * math.pi


@pytest.fixture(scope="module")
def wanted():
    body = mk.load("ur5")
    start = np.array([0.3, -1.2, 1.4, -0.8, -1.3, 0.5])
    return body, start, mk.Problem(body, mk.Pose("tool0", body.forward(start)["tool0"]))


def test_all_turns_within_the_limits_are_there(wanted):
    body, start, problem = wanted
    once, turned = mk.solve_all(problem, start), mk.solve_all(problem, start, turns=True)
    expected = set()
    for solution in once:
        copies = [[q + n * TURN for n in (-2, -1, 0, 1, 2)] for q in solution.q]
        kept = [
            [q for q in values if low <= q <= high]
            for values, low, high in zip(copies, body.lower, body.upper, strict=True)
        ]
        expected |= {tuple(np.round(q, 6)) for q in itertools.product(*kept)}
    assert {tuple(np.round(solution.q, 6)) for solution in turned} == expected
    assert len(turned) == len(expected) > len(once)
    assert all(turned)
    far = [np.linalg.norm(solution.q - start) for solution in turned]
    assert far == sorted(far) and far[0] < 1e-6


def test_a_count_counts_solutions_and_not_their_turns(wanted):
    _, start, problem = wanted
    turned = mk.solve_all(problem, start, count=1, turns=True)
    assert len(turned) > 1
    differences = np.array([solution.q for solution in turned]) - turned[0].q
    np.testing.assert_allclose(differences, TURN * np.round(differences / TURN), atol=1e-9)
