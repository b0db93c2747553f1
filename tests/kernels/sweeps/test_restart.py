"""Between sweeps: what is out of reach, where to begin again, and when it is over."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from memetik.build import BodyBuilder, planar_chain, snake
from memetik.kernels.problem.budget import ATTEMPTS, ERROR, EVALUATIONS
from memetik.kernels.runtime.record import allocate
from memetik.kernels.sweeps.restart import NUDGE, PATIENCE, begin, beyond_reach, nudge, over, redraw
from memetik.kernels.sweeps.sweep_record import Sweeps
from memetik.objectives import Direction, Position
from memetik.problem import Problem
from tests.kernels.flat import Flat
from tests.naive.bodies import anthropomorphic_arm, random_body

pytestmark = pytest.mark.quick

seeds = st.integers(0, 2**32 - 1)


class Search(Flat):
    """A search that never sweeps: the test says where the posture goes."""

    def __init__(self, problem, restarts=False, most=10_000):
        super().__init__(problem)
        self.sweeps = allocate(Sweeps, self.compiled.sizes, restarts=restarts, longest=math.inf)
        self.sweeps.weights[:] = 1.0
        self.progress, self.limited = self.sweeps.progress[0], self.run(most)
        self.outcome[ERROR] = math.inf
        begin(self.problem, self.limited, self.sweeps)

    def over(self, x):
        return over(self.problem, x, self.limited, self.sweeps, self.work)

    def sweeps_until_over(self, x, most=1000):
        """How often `over` says no while the posture does not change by itself."""
        for count in range(most):
            if self.over(x):
                return count
        raise AssertionError("never over")


@given(seed=seeds, joints=st.integers(1, 6))
def test_what_can_be_reached_is_not_beyond_reach(seed, joints):
    rng = np.random.default_rng(seed)
    body = random_body(rng, joints, ["revolute", "prismatic", "screw", "spherical", "floating"])
    link = [joint.child for joint in body.joints.values()][-1]
    assert not beyond_reach(Flat(Problem(body, Position(link, body.forward(body.sample(rng))[link][:3, 3]))).problem)


def test_beyond_reach():
    def beyond(body, *objectives):
        return beyond_reach(Flat(Problem(body, objectives)).problem)

    chain = planar_chain(4)  # one metre in all
    assert beyond(chain, Position("tip", (1.1, 0.0, 0.0)))
    assert not beyond(chain, Position("tip", (0.9, 0.0, 0.0)))
    assert not beyond(chain, Position("tip", (1.1, 0.0, 0.0), tolerance=0.2))
    assert not beyond(chain, Position("tip", (1.1, 0.0, 0.0), tolerance=None))
    assert not beyond(chain, Position("tip", (1.1, 0.0, 0.0), mask=(0, 1, 1)))
    assert not beyond(chain, Direction("tip", (1.0, 0.0, 0.0)))
    assert not beyond(chain, Position("tip", (1.1, 0.0, 0.0)), Position("link_3", (0.5, 0.0, 0.0)))
    lift = BodyBuilder("lift").add("base", "lift", "prismatic", "car", origin=(0, 0, 5), lower=-0.5, upper=0.2).build()
    assert beyond(lift, Position("car", (0.0, 0.0, 4.2)))
    assert not beyond(lift, Position("car", (0.0, 0.0, 4.5)))


@given(seed=seeds, joints=st.integers(1, 6))
def test_a_nudge_is_small_within_limits_and_always_the_same(seed, joints):
    rng = np.random.default_rng(seed)
    body = random_body(rng, joints, ["revolute", "prismatic"], mimics=0.0)
    flat = Flat(Problem(body, [Position(joint.child, (1.0, 2.0, 3.0)) for joint in body.joints.values()]))
    start = flat.sample(rng)
    x, again = start.copy(), start.copy()
    weights = np.ones(x.size)
    nudge(x, flat.variables, weights)
    nudge(again, flat.variables, weights)
    assert_array_equal(x, again)
    lower, upper = flat.variables["lower"], flat.variables["upper"]
    assert ((x >= lower) & (x <= upper)).all()
    spans = flat.variables["sample_upper"] - flat.variables["sample_lower"]
    assert (np.abs(x - start) <= 1.5 * NUDGE * spans + 1e-12).all()
    inside = (start > lower + NUDGE * spans) & (start < upper - NUDGE * spans)
    assert (x != start)[inside].all()


def test_only_what_moves_a_missed_objective_is_drawn(rng):
    body, tips = anthropomorphic_arm(arm=2, fingers=3, each=2)
    q = body.sample(rng)
    poses = body.forward(q)
    good, bad = (Position(tip, poses[tip][:3, 3]) for tip in tips[:2])
    bad.target = bad.target + 1.0
    flat = Flat(Problem(body, [good, bad]))
    x = q[flat.compiled.active]
    flat.measure(x)
    moved = x.copy()
    redraw(flat.problem, moved, np.array([5], dtype=np.uint64), np.ones(x.size), flat.work)
    assert_array_equal(
        moved != x, [name[:8] != "finger0_" for name in np.array(body.joint_names)[flat.compiled.active]]
    )


def test_a_satisfied_posture_ends_it():
    search = Search(Problem(planar_chain(2), Position("tip", (1.0, 0.0, 0.0))))
    assert search.sweeps_until_over(np.zeros(2)) == 0
    assert search.outcome[EVALUATIONS] == 1


def test_a_standstill_is_nudged_once_and_then_ends_it():
    search = Search(Problem(planar_chain(2), Position("tip", (0.5, 0.0, 0.0))))
    x = np.zeros(2)
    count = search.sweeps_until_over(x)
    assert x.any()
    assert 2 * PATIENCE < count <= 5 * PATIENCE
    assert search.outcome[ATTEMPTS] == 1


def test_with_restarts_the_last_part_goes_into_the_best():
    search = Search(Problem(snake(4), Position("tip", (0.2, 0.0, 0.0))), restarts=True, most=1000)
    x = np.zeros(4)
    while not search.over(x):
        if search.progress.settling:
            assert_array_equal(x, search.work.best)
    assert search.progress.settling
    assert search.outcome[ATTEMPTS] > 10
    assert 900 <= search.outcome[EVALUATIONS] <= 1000


def test_guides_fade():
    wanted, guide = Position("tip", (0.5, 0.0, 0.0)), Direction("tip", (0.0, 1.0, 0.0), tolerance=None)
    search = Search(Problem(planar_chain(2), [wanted, guide]))
    x, seen = np.zeros(2), []
    while not search.over(x):
        seen.append(search.progress.softness)
    assert seen[0] == 1.0
    assert seen[-1] == 0.0
    assert seen == sorted(seen, reverse=True)


def test_guides_that_do_not_stand_in_the_way_end_it_at_a_standstill():
    wanted, guide = Position("tip", (1.0, 0.0, 0.0)), Direction("tip", (0.0, 1.0, 0.0), tolerance=None)
    search = Search(Problem(planar_chain(2), [wanted, guide]))
    assert PATIENCE < search.sweeps_until_over(np.zeros(2)) <= 2 * PATIENCE
    assert search.progress.softness == 1.0
