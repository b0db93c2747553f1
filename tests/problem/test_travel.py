"""Problems and objectives go to other processes, and are the same there."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import memetik as mk
from tests.naive.bodies import dressed
from tests.objectives.test_jacobians import EXAMPLES, NAMES, every_kind

NEEDS_A_FUNCTION_OF_A_MODULE = {"FunctionalRelation"}  # its example is a lambda, which pickle refuses


@pytest.mark.parametrize("name", sorted(set(EXAMPLES) - NEEDS_A_FUNCTION_OF_A_MODULE))
def test_every_objective_travels(name, rng):
    body, tip, other = every_kind(rng)
    body = dressed(body, rng)
    for make in EXAMPLES[name]:
        objective = make(NAMES, body, tip, other, rng)
        reach = mk.Position(tip, (0.1, 0.2, 0.3))
        here = mk.Problem(body, [objective, reach])
        there = pickle.loads(pickle.dumps(here))
        start = body.sample(rng)
        one, two = (mk.solve(problem, start, budget=mk.Budget(evaluations=60)) for problem in (here, there))
        assert_array_equal(one.q, two.q)
        assert_array_equal(one.term_errors, two.term_errors)
        assert there.objectives[0] is not objective and type(there.objectives[0]) is type(objective)


def ratio(x):
    return 0.5 * x


def test_a_relation_travels():
    body = mk.build.planar_chain([0.5, 0.4, 0.3])
    here = mk.Problem(body, mk.FunctionalRelation("joint_1", ratio, sources=["joint_2"]))
    there = pickle.loads(pickle.dumps(here))
    assert_array_equal(mk.solve(here, [0.0, 0.8, 0.0]).q, mk.solve(there, [0.0, 0.8, 0.0]).q)


def test_locks_and_limits_travel():
    body = mk.load("panda")
    pose = mk.Pose("panda_hand", np.eye(4))
    here = mk.Problem(body, pose, lock={"panda_joint3": 0.2}, limits={"panda_joint1": (-1.0, 0.5)})
    there = pickle.loads(pickle.dumps(here))
    assert there.lock == here.lock and there.limits == here.limits
    assert here.limits["panda_joint1"] == (-1.0, 0.5)
    assert here.limits["panda_joint2"] == (body.lower[1], body.upper[1])


def test_a_copy_has_targets_of_its_own():
    pose = mk.Pose("panda_hand", np.eye(4))
    mk.Problem(mk.load("panda"), pose)
    other = copy.deepcopy(pose)
    other.target = mk.translation(1, 2, 3)
    assert_allclose(pose.target, np.eye(4))
