"""Postures to start from: free by coal, and drawn again only where something touches."""

import coal
import numpy as np
import pytest
from numpy.testing import assert_array_equal

import memetik as mk
from memetik.kernels.contacts.free_postures import DRAWS, HOPELESS
from memetik.problem.free_postures import set_free
from memetik.solvers.memetic_plan import memetic_plan
from tests.naive.coal import geometry, pose

THICK = (mk.Shape("capsule", (0.08, 0.3), mk.transform((0.2, 0.0, 0.0), mk.rpy(0.0, np.pi / 2, 0.0))),)


def folding(lower=-3.0, upper=3.0):
    """A chain of four capsules that folds back on itself."""
    links = [mk.build.Link(name, shapes=THICK) for name in "abcd"]
    joints = [
        mk.build.Joint(f"to_{two}", "revolute", one, two, mk.translation(0.4, 0.0, 0.0), lower=(lower,), upper=(upper,))
        for one, two in ("ab", "bc", "cd")
    ]
    return mk.Body("folding", links, joints)


def depth(body, q, pairs):
    """How deep the deepest pair of links is, by coal."""
    poses, deepest = body.forward(q), -np.inf
    for one, two in pairs:
        for first in body.links[one].shapes:
            for second in body.links[two].shapes:
                places = pose(poses[one] @ first.link_from_shape), pose(poses[two] @ second.link_from_shape)
                args = geometry(first), places[0], geometry(second), places[1]
                apart = coal.distance(*args, coal.DistanceRequest(), coal.DistanceResult())
                deepest = max(deepest, -apart)
    return deepest


def drawn(body, rows, seed=3):
    return np.random.default_rng(seed).uniform(body.lower, body.upper, (rows, body.lower.size))


@pytest.mark.quick
def test_postures_become_free_and_those_that_are_stay(rows=24):
    body = folding()
    off = mk.SelfDistance(body)
    before = drawn(body, rows)
    after = before.copy()
    set_free(mk.Problem(body, off).compiled, after, 7)
    touched = np.array([depth(body, q, off.pairs) > 0.0 for q in before])
    assert 2 < touched.sum() < rows
    assert max(depth(body, q, off.pairs) for q in after) <= 1e-6
    assert_array_equal(after[~touched], before[~touched])
    assert (after[touched] != before[touched]).any(axis=1).all()
    assert (after >= body.lower).all()
    assert (after <= body.upper).all()


def test_a_humanoid_keeps_off_itself():
    body = mk.load("g1")
    off = mk.SelfDistance(body)
    q = drawn(body, 12)
    free = q.copy()
    set_free(mk.Problem(body, off).compiled, free, 7)
    assert sum(depth(body, each, off.pairs) > 0.0 for each in q) > 8
    assert max(depth(body, each, off.pairs) for each in free) <= 1e-6


def test_obstacles_do_not_count():
    """They move; a problem that was made while they were elsewhere gives the same answers."""
    body = folding()
    ball = mk.Distance(["c", "d"], [mk.Shape("sphere", (0.5,), mk.translation(0.8, 0.0, 0.0))])
    one, two, three = (drawn(body, 8) for _ in range(3))
    set_free(mk.Problem(body, [mk.SelfDistance(body)]).compiled, one, 7)
    set_free(mk.Problem(body, [mk.SelfDistance(body), ball]).compiled, two, 7)
    set_free(mk.Problem(body, [ball]).compiled, three, 7)
    assert_array_equal(one, two)
    assert_array_equal(three, drawn(body, 8))


def test_a_body_that_always_touches_itself_is_given_up():
    body = folding(2.9, 3.0)  # folded flat
    before = drawn(body, 12)
    after = before.copy()
    set_free(mk.Problem(body, mk.SelfDistance(body)).compiled, after, 7)
    assert DRAWS > 1
    assert (after[:HOPELESS] != before[:HOPELESS]).any(axis=1).all()
    assert_array_equal(after[HOPELESS:], before[HOPELESS:])


def test_a_search_with_contacts_starts_from_free_postures():
    body = folding()
    off = mk.SelfDistance(body)
    plan = memetic_plan(mk.Problem(body, [mk.Position("d", (0.9, 0.2, 0.0)), off]).compiled)
    assert plan.contact_free is not None
    assert max(depth(body, q, off.pairs) for q in plan.contact_free.population.genes[:40]) <= 1e-6
    again = memetic_plan(mk.Problem(body, [mk.Position("d", (0.9, 0.2, 0.0)), mk.SelfDistance(body)]).compiled)
    assert_array_equal(plan.contact_free.population.genes, again.contact_free.population.genes)
