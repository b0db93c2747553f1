"""The step for one pose, written out in scalars, against numpy and against the general step."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from memetik.geometry import exp_rotation, log_rotation, random_rotation, transform
from memetik.kernels.search.descent import LONGEST_STEP, newton_step
from memetik.kernels.search.pose_step import pose_step
from memetik.objectives import Pose
from memetik.problem import Problem
from tests.kernels.flat import Flat
from tests.naive import kinematics
from tests.naive.bodies import SINGLE, random_body
from tests.naive.steps import damped_step, held

pytestmark = pytest.mark.quick

seeds = st.integers(0, 2**32 - 1)


def arm(rng, joints):
    """A body that needs no pruning: single joints in a row, none of which follows another."""
    return random_body(rng, joints, SINGLE, mimics=0.0)


def target_near(rng, T, turned):
    """A pose some decimetres away, turned by so many radians."""
    axis = rng.normal(size=3)
    R = exp_rotation(turned * axis / np.linalg.norm(axis)) @ T[:3, :3]
    return transform(T[:3, 3] + rng.normal(scale=0.3, size=3), R)


class OnePose:
    """A pose problem at one posture: the errors in world axes, scaled, and the arguments of the step."""

    def __init__(self, rng, joints, turned):
        self.body = arm(rng, joints)
        self.link = f"link{joints}"
        self.flat = Flat(Problem(self.body, Pose(self.link, np.eye(4))))
        self.x = self.flat.sample(rng)
        at_limit = rng.random(self.x.size)
        lower, upper = self.flat.variables["lower"], self.flat.variables["upper"]
        self.x = np.where(at_limit < 0.2, lower, np.where(at_limit > 0.8, upper, self.x))
        self.x = np.where(np.isfinite(self.x), self.x, 0.1)
        self.q = self.body.home.copy()
        self.q[self.flat.active] = self.x
        self.T = kinematics.pose(self.body, self.link, self.q)
        self.target = target_near(rng, self.T, turned)
        position, orientation = self.flat.terms
        self.scales = float(position["scale"]), float(orientation["scale"])
        A = self.target[:3, :3]
        self.residual = np.concatenate([
            self.scales[0] * (self.T - self.target)[:3, 3],
            self.scales[1] * A @ log_rotation(A.T @ self.T[:3, :3]),
        ])  # fmt: skip
        self.damping = 0.05 * float(self.residual @ self.residual) + 1e-3

    def step(self):
        flat, step = self.flat, self.flat.work.step
        step[:] = np.nan
        flat.place(self.x)
        tip, residual = tuple(flat.work.world[0]), tuple(map(float, self.residual))
        longest = pose_step(flat.problem, tip, residual, self.x, self.damping, flat.work)
        assert longest == np.abs(step).max()
        return step.copy()

    def naive_step(self):
        """The same rows by complex differentiation of matrices, solved by numpy."""
        by_position, by_rotation = self.scales
        J = kinematics.exact_jacobian(self.body, self.link, self.q)[:, self.flat.active].T
        J = J * np.repeat([by_position, by_rotation], 3)
        stopped = held(self.x, self.flat.variables["lower"], self.flat.variables["upper"], J @ self.residual)
        none = np.zeros(self.x.size)
        return damped_step(J, self.residual, none, none, ~stopped, self.damping), stopped


@given(seed=seeds, joints=st.integers(1, 9), turned=st.floats(0.0, 3.1))
def test_the_step_of_numpy(seed, joints, turned):
    case = OnePose(np.random.default_rng(seed), joints, turned)
    expected, stopped = case.naive_step()
    step = case.step()
    assert_allclose(step, expected, rtol=0.0, atol=1e-9 * max(1.0, np.abs(expected).max()))
    assert_array_equal(step[stopped], 0.0)


def test_limits_hold_some_joints_and_not_others():
    """The test above would be weak if no joint ever stood at a limit, or all of them."""
    shares = [np.mean(OnePose(np.random.default_rng(seed), 6, 0.5).naive_step()[1]) for seed in range(12)]
    assert 0.05 < np.mean(shares) < 0.6


def general_step(case):
    """The step of descent.py; the target goes through the objective."""
    objective = Pose(case.link, case.target)
    flat = Flat(Problem(case.body, objective))
    flat.measure(case.x)
    newton_step(flat.problem, case.x, case.damping, 0.0, flat.work)
    return flat.work.step.copy()


def shortened(step):
    return step * LONGEST_STEP / max(LONGEST_STEP, np.abs(step).max())


@pytest.mark.parametrize("seed", range(10))
def test_without_a_rotation_error_it_is_the_general_step(seed):
    case = OnePose(np.random.default_rng(seed), 1 + seed % 8, 0.0)
    assert_allclose(shortened(case.step()), general_step(case), rtol=0.0, atol=1e-9)


@pytest.mark.parametrize("seed", range(5))
def test_with_one_it_departs_in_proportion(seed):
    """For the rotation rows d log ~ w: off by half the rotation error at most, to first order."""
    apart = []
    for turned in (0.2, 0.02, 0.002):
        case = OnePose(np.random.default_rng(seed), 7, turned)
        apart.append(np.abs(shortened(case.step()) - general_step(case)).max())
    assert apart[2] < 0.02 * apart[0] + 1e-12


def test_a_random_target_turns_as_wished(rng):
    T = transform((0.1, 0.2, 0.3), random_rotation(rng))
    near = target_near(rng, T, 0.7)
    assert np.linalg.norm(log_rotation(near[:3, :3] @ T[:3, :3].T)) == pytest.approx(0.7)
