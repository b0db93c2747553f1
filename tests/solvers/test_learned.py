"""Learned: the guess of a network, finished by memetic."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time

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
    return problem, pose, FeedForward.train(problem, hidden=10, samples=500, epochs=100, teacher=mk.solvers.Memetic())


def test_solves_from_the_guess_and_not_from_the_start(arm, rng):
    problem, pose, network = arm
    body = problem.body
    solver = Learned(network=network)
    for _ in range(20):
        pose.target = kinematics.pose(body, "tool0", body.sample(rng))
        solution = solver.solve(problem)
        assert solution.success and solution.method == "learned"
        assert np.abs(kinematics.pose(body, "tool0", solution.q) - pose.target).max() < 2e-5
        expected = mk.solvers.Memetic().solve(problem, network.predict(problem))
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
    assert solution.attempts == 1 and solution.evaluations <= 2  # one more tells that the start is beside the target


def small_training(monkeypatch):
    """Let networks be trained in no time, and list the seeds of those that were."""
    monkeypatch.setattr(learned, "EPOCHS", 5)
    trained = []
    train = FeedForward.train.__func__

    def counting(cls, problem, **settings):
        trained.append(settings["seed"])
        return train(cls, problem, **settings, samples=50, hidden=4)

    monkeypatch.setattr(FeedForward, "train", classmethod(counting))
    return trained


def test_trains_at_the_first_solve_and_keeps_the_network(monkeypatch):
    trained = small_training(monkeypatch)
    body = mk.build.planar_chain([1.0, 0.6])
    reach = mk.Position("tip", (1.0, 0.4, 0.0))
    problem = mk.Problem(body, reach)
    for target in ((1.0, 0.4, 0.0), (0.2, 1.1, 0.0)):
        reach.target = target
        assert Learned().solve(problem).success
    assert Learned(seed=3).solve(problem).success
    assert trained == [0, 3]


def test_a_solve_within_seconds_does_not_train(monkeypatch, capsys):
    monkeypatch.setattr(FeedForward, "train", classmethod(lambda *_, **__: pytest.fail("it trains")))
    problem = mk.Problem(mk.build.planar_chain([1.0, 0.6]), mk.Position("tip", (1.0, 0.4, 0.0)))
    mk.solve(problem)
    budget = mk.Budget(seconds=0.5)
    begin = time.perf_counter()
    with pytest.warns(
        mk.MemetikWarning, match=r"solves as 'memetic'. Call mk.solvers.Learned\(seed=3\).train\(problem\) first"
    ):
        solution = mk.solve(problem, method="learned", seed=3, budget=budget)
    assert time.perf_counter() - begin < 0.5
    assert solution.success and solution.method == learned.UNTRAINED
    assert_array_equal(solution.q, mk.solve(problem, seed=3, budget=budget).q)
    asked = mk.Problem(problem.body, [mk.Position("tip", (1.0, 0.4, 0.0)), mk.Displacement()])
    with pytest.raises(ProblemError, match="about the start"):
        mk.solve(asked, method="learned", budget=budget)


@pytest.mark.filterwarnings("error")
def test_training_ahead_is_announced_and_used_within_seconds(monkeypatch, capsys):
    monkeypatch.delenv("MEMETIK_QUIET", raising=False)
    small_training(monkeypatch)
    problem = mk.Problem(mk.build.planar_chain([1.0, 0.6]), mk.Position("tip", (1.0, 0.4, 0.0)))
    network = Learned().train(problem)
    said = capsys.readouterr().err.splitlines()
    assert len(said) == 2 and said[0].startswith("memetik: training a network for body ")
    assert re.fullmatch(r"memetik: trained in \d+\.\d s", said[1])
    assert Learned().train(problem) is network
    assert Learned(network=network).train(mk.Problem(problem.body, problem.objectives)) is network
    assert mk.solve(problem, method="learned", budget=mk.Budget(seconds=10.0)).method == "learned"
    monkeypatch.setenv("MEMETIK_QUIET", "1")
    Learned(seed=1).train(problem)
    assert capsys.readouterr().err == ""


def test_training_can_be_interrupted(monkeypatch):
    small_training(monkeypatch)
    body = mk.load("ur5")
    Learned().train(mk.Problem(body, mk.Position("tool0", (0.4, 0.2, 0.4))))  # compiled before: LLVM loses interrupts
    code = """
import memetik as mk, warnings
problem = mk.Problem(mk.load("ur5"), mk.Position("tool0", (0.4, 0.2, 0.4)))
mk.solve(problem)
try:
    mk.solve(problem, method="learned")
except KeyboardInterrupt:
    warnings.simplefilter("ignore")
    print(mk.solve(problem, method="learned", budget=mk.Budget(seconds=1.0)).method)
"""
    process = subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),  # it may be ignored where tests run
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "MEMETIK_QUIET": ""},
    )  # fmt: skip
    try:
        while "training a network" not in process.stderr.readline():
            assert process.poll() is None
        time.sleep(0.3)
        begin = time.monotonic()
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    finally:
        process.kill()
    assert out.strip() == learned.UNTRAINED, err  # nothing half trained is kept
    assert time.monotonic() - begin < 5.0


def test_what_is_about_the_start_is_refused(arm):
    problem, _, network = arm
    asked = mk.Problem(problem.body, [mk.Pose("tool0", np.eye(4)), mk.Displacement()])
    with pytest.raises(ProblemError, match="about the start"):
        Learned(network=network).solve(asked)


@pytest.mark.parametrize("network", [3, "panda", FeedForward, object()], ids=["number", "text", "class", "object"])
def test_a_network_predicts(network):
    with pytest.raises(ProblemError, match=r"learned: network is .*FeedForward.train"):
        Learned(network=network)
