"""A round in lanes against the obvious twin: the kernels for one posture, lane after lane."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from memetik.kernels.body.forward import forward, frame_pose
from memetik.kernels.compiler.jit import jit
from memetik.kernels.compiler.lanes import LANES
from memetik.kernels.math.pose import turn
from memetik.kernels.math.rotation import rotation_vector
from memetik.kernels.problem.least_squares import LEAST_DAMPING
from memetik.kernels.runtime.record import allocate
from memetik.kernels.search.descent import DAMPING, LONGEST_STEP, STALL, STALLS, STEPS
from memetik.kernels.search.lane_step import forward_lanes, round_of_lanes
from memetik.kernels.search.pose_step import pose_step
from memetik.kernels.search.search_record import LaneScratch
from memetik.objectives import Pose
from memetik.problem import Problem
from tests.kernels.flat import Flat
from tests.kernels.search.test_pose_step import arm

pytestmark = pytest.mark.quick

MOST = 100  # evaluations


@jit
def place(nodes, x, poses):
    forward_lanes(nodes, x, poses)


@jit
def one_round(problem, scratch):
    return round_of_lanes(problem, float(MOST), scratch)


class Lanes:
    """Every lane at a posture, a target and a moment of its search of its own."""

    def __init__(self, rng, joints):
        body = arm(rng, joints)
        self.flat = flat = Flat(Problem(body, Pose(f"link{joints}", np.eye(4))))
        self.scratch = s = allocate(LaneScratch, {**flat.compiled.sizes, "population": 1})
        lower, upper = flat.variables["lower"], flat.variables["upper"]
        for lane in range(LANES):
            x, at_limit = flat.sample(rng), rng.random(flat.variables.size)
            x = np.where(at_limit < 0.2, lower, np.where(at_limit > 0.8, upper, x))
            s.x[:, lane] = np.where(np.isfinite(x), x, 0.1)
            s.best[:, lane] = flat.sample(rng)
            forward(flat.nodes, flat.sample(rng), flat.work.poses)
            near = rng.random() < 0.3  # a target that is met
            if near:
                forward(flat.nodes, s.x[:, lane].copy(), flat.work.poses)
            s.target[:, lane] = frame_pose(flat.frames[0], flat.work.poses)
        s.least[:] = rng.choice([0.0, 0.5, math.inf], LANES)
        s.last[:] = rng.choice([0.0, 0.5, math.inf], LANES)
        s.failures[:] = rng.integers(0, STALLS, LANES)
        s.taken[:] = rng.choice([0, 3, STEPS], LANES)
        s.evaluations[:] = rng.choice([0, 5, MOST - 1], LANES)

    def twin(self, lane):
        """What pose_descent.py does in one turn of its loop: the posture after it, and all that is kept."""
        flat, s = self.flat, self.scratch
        position, orientation = flat.terms
        x, target = s.x[:, lane].copy(), tuple(s.target[:, lane].tolist())
        forward(flat.nodes, x, flat.work.poses)
        tip = frame_pose(flat.frames[0], flat.work.poses)
        d, e = np.subtract(tip[4:], target[4:]), rotation_vector(target, tip)
        distance, angle = d @ d, np.dot(e, e)
        satisfied = distance <= position["tolerance"] ** 2 and angle <= orientation["tolerance"] ** 2
        error = position["scale"] ** 2 * distance + orientation["scale"] ** 2 * angle
        best = x if error < s.least[lane] else s.best[:, lane]
        failures = s.failures[lane] + 1 if error > STALL * s.last[lane] else 0
        ended = satisfied or failures >= STALLS or s.taken[lane] == STEPS or s.evaluations[lane] + 1 >= MOST
        if not ended:
            residual = *(position["scale"] * d).tolist(), *(orientation["scale"] * np.array(turn(target, *e))).tolist()
            damping = DAMPING * 0.5 * error + LEAST_DAMPING
            longest = pose_step(flat.problem, tip, residual, x, damping, flat.work)
            moved = x + min(1.0, LONGEST_STEP / max(longest, 1e-300)) * flat.work.step
            x = np.clip(moved, flat.variables["lower"], flat.variables["upper"])
        return x, best.copy(), (min(error, s.least[lane]), error, failures, ended, satisfied)


seeds = st.integers(0, 2**32 - 1)


@given(seed=seeds, joints=st.integers(1, 12))
def test_every_lane_does_what_one_posture_would(seed, joints):
    case = Lanes(np.random.default_rng(seed), joints)
    s = case.scratch
    expected = [case.twin(lane) for lane in range(LANES)]
    taken, evaluations = s.taken.copy(), s.evaluations.copy()
    ended, satisfied = one_round(case.flat.problem, s)
    for lane, (x, best, (least, error, failures, has_ended, is_satisfied)) in enumerate(expected):
        assert (ended >> lane & 1, satisfied >> lane & 1) == (has_ended, is_satisfied)
        assert_allclose(s.x[:, lane], x, rtol=0.0, atol=1e-8)
        assert_array_equal(s.best[:, lane], best)
        assert_allclose((s.least[lane], s.last[lane]), (least, error), rtol=1e-9, atol=1e-12)
        assert s.failures[lane] == failures
    assert_array_equal(s.taken, taken + 1)
    assert_array_equal(s.evaluations, evaluations + 1)


@given(seed=seeds, joints=st.integers(1, 12))
@settings(max_examples=30)
def test_forward_kinematics(seed, joints):
    case = Lanes(np.random.default_rng(seed), joints)
    place(case.flat.nodes, case.scratch.x, case.scratch.poses)
    for lane in range(LANES):
        forward(case.flat.nodes, case.scratch.x[:, lane].copy(), case.flat.work.poses)
        assert_allclose(case.scratch.poses[:, :, lane], case.flat.work.poses, rtol=0.0, atol=1e-13)


def test_the_lanes_are_apart_in_what_becomes_of_them():
    """The tests above would be weak if all lanes went on, or none."""
    cases = [Lanes(np.random.default_rng(seed), 6) for seed in range(40)]
    fates = [case.twin(lane)[2] for case in cases for lane in range(LANES)]
    assert 0.1 < np.mean([ended for *_, ended, _ in fates]) < 0.9
    assert 0.1 < np.mean([satisfied for *_, satisfied in fates]) < 0.9
