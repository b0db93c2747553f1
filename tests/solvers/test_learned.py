"""Learned: the guess of a network, finished by memetic."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import memetik as mk
from memetik.errors import ProblemError
from memetik.learn import FeedForward
from memetik.solvers import learned
from memetik.solvers.learned import Learned
from tests.naive import kinematics


@pytest.fixture(scope="module")
def arm():
    body = mk.load("ur5")
    pose = mk.Pose("tool0", np.eye(4), position_tolerance=1e-5, orientation_tolerance=1e-5)
    problem = mk.Problem(body, pose)
    return problem, pose, FeedForward.train(problem, hidden=10, samples=500, epochs=100, teacher=mk.Memetic())


def test_solves_from_the_guess_and_not_from_the_start(arm, rng):
    problem, pose, network = arm
    body = problem.body
    solver = Learned(network=network)
    for _ in range(20):
        pose.target = kinematics.pose(body, "tool0", body.sample(rng))
        solution = solver.solve(problem)
        assert solution.success and solution.method == "learned"
        assert np.abs(kinematics.pose(body, "tool0", solution.q) - pose.target).max() < 2e-5
        expected = mk.Memetic().solve(problem, network.predict(problem))
        assert_array_equal(solution.q, expected.q)
        assert solution.evaluations == expected.evaluations


def test_a_guess_that_is_right_is_the_answer(arm):
    problem, pose, _ = arm
    q = problem.body.home + 0.1

    class Oracle:
        def predict(self, problem, start=None):
            return q

    pose.target = problem.body.forward(q)["tool0"]
    solution = Learned(network=Oracle()).solve(problem)
    assert_array_equal(solution.q, q)
    assert (solution.attempts, solution.evaluations) == (1, 1)


def test_trains_at_the_first_solve_and_keeps_the_network(monkeypatch):
    monkeypatch.setattr(learned, "EPOCHS", 5)
    trained = []
    train = FeedForward.train.__func__

    def counting(cls, problem, **settings):
        trained.append(settings["seed"])
        return train(cls, problem, **settings, samples=50, hidden=4)

    monkeypatch.setattr(FeedForward, "train", classmethod(counting))
    body = mk.planar_chain([1.0, 0.6])
    reach = mk.Position("tip", (1.0, 0.4, 0.0))
    problem = mk.Problem(body, reach)
    for target in ((1.0, 0.4, 0.0), (0.2, 1.1, 0.0)):
        reach.target = target
        assert Learned().solve(problem).success
    assert Learned(seed=3).solve(problem).success
    assert trained == [0, 3]


def test_what_is_about_the_start_is_refused(arm):
    problem, _, network = arm
    asked = mk.Problem(problem.body, [mk.Pose("tool0", np.eye(4)), mk.Displacement()])
    with pytest.raises(ProblemError, match="about the start"):
        Learned(network=network).solve(asked)
