"""Trained networks and support vectors on bodies: answers, files, and what they refuse."""

from __future__ import annotations

import sys
import zipfile

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import memetik as mk
from memetik.errors import FormatError, MissingExtraError, ProblemError
from memetik.learn import Elman, ExtremeLearning, FeedForward, SupportVectors
from memetik.learn.learner import MOST_BYTES
from memetik.learn.samples import inputs_of
from tests.naive import kinematics


def planar(lengths=(1.0, 0.6), limits=((-1.2, 1.2), (0.1, 2.5))):
    """Two links whose elbow bends one way only, so that every point has one posture, and nearby points have nearby ones."""
    body = mk.build.planar_chain(lengths, limits=limits)
    reach = mk.Position("tip", (1.0, 0.5, 0.0))
    return mk.Problem(body, reach), reach


@pytest.fixture(scope="module")
def asked():
    return planar()


@pytest.fixture(scope="module")
def network(asked):
    return FeedForward.train(asked[0], hidden=12, samples=1000, epochs=400)


@pytest.fixture(scope="module")
def machines(asked):
    return SupportVectors.train(asked[0], samples=300, penalty=10.0, epsilon=0.01)


@pytest.fixture(scope="module")
def cells(asked):
    return SupportVectors.train(asked[0], samples=400, penalty=10.0, epsilon=0.01, cells=2)


@pytest.fixture(scope="module")
def extreme(asked):
    return ExtremeLearning.train(asked[0], hidden=60, samples=1000)


@pytest.fixture(scope="module")
def memory(asked):
    return Elman.train(asked[0], hidden=6, paths=20, steps=10, epochs=60)


def shown(problem, count=200, seed=7):
    """Postures and the points that they show."""
    c = problem.compiled
    postures = np.random.default_rng(seed).uniform(
        c.variables["sample_lower"], c.variables["sample_upper"], (count, c.active.size)
    )
    return postures, inputs_of(problem, postures)


# ---- What they answer -------------------------------------------------------------------------------------


@pytest.mark.parametrize("learner", ["network", "machines", "cells", "extreme"])
def test_answers_come_near(learner, asked, request):
    """A target with one posture is learned well: to a few percent of the reach of 1.6 m."""
    problem, reach = asked
    learner = request.getfixturevalue(learner)
    postures, points = shown(problem)
    vectors = learner.predict_batch(problem, {reach: points})
    off = [
        np.linalg.norm(kinematics.pose(problem.body, "tip", q)[:3, 3] - p) for q, p in zip(vectors, points, strict=True)
    ]
    assert np.mean(off) < 0.1
    scaled = (vectors - problem.body.lower) / (problem.body.upper - problem.body.lower)
    assert np.mean((scaled - (postures - learner.domain.lower) / learner.domain.span) ** 2) < 0.01
    assert learner.lesson.validation_error < 0.01


@pytest.mark.parametrize("learner", ["network", "machines", "cells", "extreme"])
def test_one_answer_is_that_of_the_batch_and_within_the_limits(learner, asked, request):
    problem, reach = asked
    learner = request.getfixturevalue(learner)
    points = np.vstack([shown(problem, 20)[1], [[9.0, 9.0, 9.0], [0.0, 0.0, -9.0]]])
    vectors = learner.predict_batch(problem, {reach: points})
    assert (vectors >= problem.body.lower).all() and (vectors <= problem.body.upper).all()
    for point, q in zip(points, vectors, strict=True):
        reach.target = point
        assert_allclose(learner.predict(problem), q, atol=1e-12)


def test_training_is_the_same_every_time(asked):
    one, two, other = (FeedForward.train(asked[0], hidden=4, samples=50, epochs=10, seed=seed) for seed in (1, 1, 2))
    assert_array_equal(one.weights, two.weights)
    assert not np.array_equal(one.weights, other.weights)


def test_sizes_follow_from_the_problem():
    """A pose is nine numbers, an orientation six, a position three; one output for each joint that they concern."""
    body = mk.load("kyle")
    hands = [link for link in body.links if "hand" in link.lower()][:2]
    problem = mk.Problem(body, [mk.Pose(hands[0], np.eye(4)), mk.Position(hands[1], (0.0, 0.0, 0.0))])
    network = FeedForward.train(problem, hidden=(5, 4), samples=20, epochs=2)
    assert network.sizes.tolist() == [12, 5, 4, problem.compiled.active.size]
    q = network.predict(problem)
    rest = np.setdiff1d(np.arange(body.dof), problem.compiled.active)
    assert_array_equal(q[rest], body.home[rest])


def test_locked_joints_and_narrow_limits_are_kept():
    body = mk.load("iiwa14")
    lock, limits = {body.joint_names[2]: 0.3}, {body.joint_names[0]: (-0.2, 0.1)}
    problem = mk.Problem(body, mk.Pose("tool0", np.eye(4)), lock=lock, limits=limits)
    network = FeedForward.train(problem, hidden=4, samples=30, epochs=2)
    q = network.predict(problem)
    assert network.sizes[-1] == 6
    assert q[2] == 0.3
    assert -0.2 <= q[0] <= 0.1


def test_a_teacher_gives_one_posture_for_each_target():
    """With an elbow that bends both ways, the mean of both postures is wrong; that of the taught ones is not."""
    body = mk.build.planar_chain([1.0, 0.6], limits=((-1.0, 1.0), (-2.5, 2.5)))
    reach = mk.Position("tip", (1.0, 0.5, 0.0))
    problem = mk.Problem(body, reach)

    class BentLeft:
        def solve(self, problem, start=None):
            return mk.solve(problem, (0.0, 1.0))

    drawn = FeedForward.train(problem, hidden=10, samples=300, epochs=200)
    taught = FeedForward.train(problem, hidden=10, samples=300, epochs=200, teacher=BentLeft())
    assert taught.lesson.validation_error < 0.5 * drawn.lesson.validation_error
    assert_array_equal(reach.target, (1.0, 0.5, 0.0))  # the lessons did not change the target


def test_an_elman_network_remembers(memory, asked):
    """The same target is answered by what came before it."""
    problem, reach = asked
    _, points = shown(problem, 3)
    one = memory.predict_path(problem, {reach: points[[0, 2]]})
    two = memory.predict_path(problem, {reach: points[[1, 2]]})
    assert np.abs(one[1] - two[1]).max() > 1e-3
    assert_array_equal(one, memory.predict_path(problem, {reach: points[[0, 2]]}))
    assert memory.lesson.validation_error < 0.08  # of outputs spread evenly from 0 to 1, one half is off by 1/12


def test_support_vectors_answer_as_scikit_learn_does(asked):
    from sklearn.svm import SVR

    from memetik.learn.samples import draw_samples

    made = SupportVectors.train(asked[0], samples=100, penalty=2.0, epsilon=0.02, seed=3)
    drawn = draw_samples(asked[0], 100, np.random.default_rng(3))
    for k in range(2):
        machine = SVR(C=2.0, epsilon=0.02, gamma="scale").fit(drawn.inputs, drawn.outputs[:, k])
        assert_allclose(made._respond(drawn.check_inputs)[:, k], machine.predict(drawn.check_inputs), atol=1e-9)


def test_every_cell_answers_as_scikit_learn_does_with_the_samples_around_it(asked):
    """A quarter of a cell's width around it counts; cells that no sample lies in are served by the nearest."""
    from sklearn.svm import SVR

    from memetik.learn.samples import draw_samples

    made = SupportVectors.train(asked[0], samples=300, penalty=2.0, epsilon=0.02, seed=3, cells=2)
    drawn = draw_samples(asked[0], 300, np.random.default_rng(3))
    assert len(made.served) == 8
    assert len(made.offsets) == 4  # the arm is flat: z is 0 for all
    found = np.zeros(len(drawn.check_inputs), dtype=bool)
    for x, y in np.ndindex(2, 2):
        low = np.array([x, y]) / 2
        around = ((drawn.inputs[:, :2] >= low - 0.125) & (drawn.inputs[:, :2] <= low + 0.625)).all(axis=1)
        inside = (np.clip(drawn.check_inputs[:, :2] * 2, 0, 1.5).astype(int) == (x, y)).all(axis=1)
        found |= inside
        for k in range(2):
            machine = SVR(C=2.0, epsilon=0.02, gamma="scale").fit(drawn.inputs[around], drawn.outputs[around, k])
            assert_allclose(
                made._respond(drawn.check_inputs[inside])[:, k], machine.predict(drawn.check_inputs[inside]), atol=1e-9
            )
    assert found.all()


def test_the_outputs_of_an_extreme_learning_machine_are_the_best_for_its_units(asked, extreme):
    """No other weights of the outputs have a lower error on the samples: scikit-learn's ridge regression is the same."""
    from sklearn.linear_model import Ridge

    from memetik.learn.extreme import _heard
    from memetik.learn.samples import draw_samples

    drawn = draw_samples(asked[0], 1000, np.random.default_rng(0))
    heard = _heard(extreme.hidden, drawn.inputs)
    ridge = 1e-6 * np.trace(heard.T @ heard) / heard.shape[1]
    best = Ridge(alpha=ridge, fit_intercept=False, solver="svd").fit(heard, drawn.outputs)
    assert_allclose(heard @ extreme.outer.T, best.predict(heard), atol=1e-6)
    assert extreme.lesson.validation_error < 1e-3


def test_a_network_that_hears_the_posture_stays_near_it():
    """An elbow that bends both ways: which of the two postures of a point is answered depends on the start."""
    body = mk.build.planar_chain([1.0, 0.6], limits=((-1.5, 1.5), (-2.5, 2.5)))
    reach = mk.Position("tip", (1.2, 0.3, 0.0))
    problem = mk.Problem(body, reach)
    network = FeedForward.train(problem, hidden=20, samples=1500, epochs=500, posture_spread=0.1)
    deaf = FeedForward.train(problem, hidden=20, samples=1500, epochs=500)
    left, right = (network.predict(problem, start) for start in ((-0.2, 1.4), (0.7, -1.4)))
    assert left[1] > 0.5 and right[1] < -0.5
    # Along a path, each step from the one before; the other network answers the mean of both.
    angles = np.linspace(0.0, 1.0, 30)
    path = np.column_stack([-0.3 + 0.8 * angles, 1.6 - 0.4 * angles])
    points = inputs_of(problem, path)
    followed = network.predict_path(problem, {reach: points}, path[0])
    assert np.abs(followed - path).max() < 0.3
    miss, missed = (
        np.linalg.norm(inputs_of(problem, q) - points, axis=1).mean()
        for q in (followed, deaf.predict_batch(problem, {reach: points}))
    )
    assert miss < 0.5 * missed
    with pytest.raises(ProblemError, match="does not hear the posture"):
        deaf.predict_path(problem, {reach: points})


def test_a_genetic_algorithm_trains_a_small_network(asked):
    """More generations are better on paths that it has not seen, and training is the same every time."""
    trained = [
        Elman.train(asked[0], hidden=4, paths=40, steps=6, epochs=epochs, patience=100, by="genetic")
        for epochs in (0, 20, 80, 80)
    ]
    first, second, third, again = (made.lesson.validation_error for made in trained)
    assert first > second > 1.5 * third
    assert third == again
    assert_array_equal(trained[2].weights, trained[3].weights)


# ---- Files ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("learner", ["network", "machines", "cells", "extreme", "memory"])
def test_saved_and_loaded_answers_are_the_same(learner, asked, request, tmp_path, monkeypatch):
    problem, reach = asked
    learner = request.getfixturevalue(learner)
    path = learner.save(tmp_path / "arm")
    assert path == tmp_path / "arm.npz"
    monkeypatch.setitem(sys.modules, "sklearn.svm", None)  # reading needs no scikit-learn
    again = type(learner).load(path)
    ask = "predict_path" if isinstance(learner, Elman) else "predict_batch"
    _, points = shown(problem, 5)
    assert_array_equal(getattr(again, ask)(problem, {reach: points}), getattr(learner, ask)(problem, {reach: points}))
    assert again.lesson == learner.lesson
    assert repr(again) == repr(learner)
    assert problem.body.name in repr(again)


def test_files_that_are_none(network, machines, tmp_path):
    with pytest.raises(FormatError, match="there is no file of weights"):
        FeedForward.load(tmp_path / "missing.npz")
    for number, bad in enumerate(
        ({"version": np.ones(3)}, {"version": "x"}, {"kind": np.array([None])}, {"version": 1j})
    ):
        np.savez(tmp_path / f"{number}.npz", **{"kind": "feed-forward", "version": 1, **bad})
        with pytest.raises(FormatError):
            FeedForward.load(tmp_path / f"{number}.npz")
    with zipfile.ZipFile(tmp_path / "bomb.npz", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("kind.npy", b"\0" * (MOST_BYTES + 1))
    with pytest.raises(FormatError, match="unpacks to more than"):
        FeedForward.load(tmp_path / "bomb.npz")
    (tmp_path / "text.npz").write_text("weights")
    with pytest.raises(FormatError, match="not a file of weights"):
        FeedForward.load(tmp_path / "text.npz")
    with pytest.raises(FormatError, match="kind 'support vectors'"):
        FeedForward.load(machines.save(tmp_path / "machines"))
    np.savez(tmp_path / "other.npz", numbers=np.ones(3))
    with pytest.raises(FormatError, match="no weights of memetik"):
        FeedForward.load(tmp_path / "other.npz")
    np.savez(tmp_path / "part.npz", kind="feed-forward", version=1, body="arm")
    with pytest.raises(FormatError, match="incomplete"):
        FeedForward.load(tmp_path / "part.npz")
    np.save(tmp_path / "array.npy", np.ones(3))
    with pytest.raises(FormatError, match="not a file of weights"):
        FeedForward.load(tmp_path / "array.npy")


# ---- What they refuse -------------------------------------------------------------------------------------


def test_weights_of_another_body_are_refused(network):
    longer, _ = planar(lengths=(1.0, 0.7))
    with pytest.raises(ProblemError, match="other lengths, limits, frames"):
        network.predict(longer)
    narrower, _ = planar(limits=((-1.2, 1.0), (0.1, 2.5)))
    with pytest.raises(ProblemError, match="other lengths, limits, frames"):
        network.predict(narrower)
    body = mk.load("ur5")
    with pytest.raises(
        ProblemError, match=r"trained for body 'planar_chain' with joints joint_1, joint_2; .* body 'ur5'"
    ):
        network.predict(mk.Problem(body, mk.Position("tool0", (0.0, 0.0, 0.0))))


def test_targets_they_cannot_take(asked, network):
    body = asked[0].body
    for objective, what in (
        (mk.Position("tip", (1.0, 0.0, 0.0), mask=(1, 1, 0)), "leaves an axis free"),
        (mk.Position("tip", (1.0, 0.0, 0.0), tolerance=(0.1, 0.1, np.inf)), "leaves an axis free"),
        (mk.Direction("tip", (0, 1, 0)), "the problem asks for none"),
    ):
        with pytest.raises(ProblemError, match=what):
            FeedForward.train(mk.Problem(body, objective), samples=5, epochs=1)
    with pytest.raises(ProblemError, match=r"about the start.*'memetic'"):
        network.predict(mk.Problem(body, [mk.Position("tip", (1.0, 0.0, 0.0)), mk.Displacement()]))


def test_settings_that_make_no_sense(asked, network):
    problem, _ = asked
    for wrong in ({"samples": 0}, {"hidden": 0}, {"hidden": ()}, {"patience": 0}, {"epochs": -1}):
        with pytest.raises(ProblemError):
            FeedForward.train(problem, **wrong)
    for wrong in ({"paths": 0}, {"steps": 1}, {"hidden": 0}):
        with pytest.raises(ProblemError):
            Elman.train(problem, **wrong)
    for wrong in ({"by": "luck"}, {"by": None}, {"by": np.ones(2)}):
        with pytest.raises(ProblemError, match="give one of 'rprop', 'genetic'"):
            Elman.train(problem, **wrong)
    for wrong in (
        {"posture_spread": 0.0},
        {"posture_spread": 2.0},
        {"posture_spread": "near"},
        {"posture_spread": 0.1, "teacher": mk.solvers.Memetic()},
    ):
        with pytest.raises(ProblemError, match="posture"):
            FeedForward.train(problem, **wrong)
    for wrong in ({"ridge": 0.0}, {"ridge": np.inf}, {"hidden": 0}, {"hidden": 2**20}):
        with pytest.raises(ProblemError):
            ExtremeLearning.train(problem, **wrong)
    with pytest.raises(ProblemError, match="8 samples in 32768 cells"):
        SupportVectors.train(problem, samples=8, cells=32)
    with pytest.raises(ProblemError, match="asks for none"):
        SupportVectors.train(mk.Problem(problem.body, mk.Orientation("tip", np.eye(3))), samples=8, cells=2)
    for wrong in ({"penalty": 0.0}, {"epsilon": -1.0}, {"samples": 0}, {"cells": 0}):
        with pytest.raises(ProblemError):
            SupportVectors.train(problem, **wrong)
    with pytest.raises(ProblemError, match="not an objective of this problem"):
        network.predict_batch(problem, {mk.Position("tip", (0.0, 0.0, 0.0)): np.ones((2, 3))})
    with pytest.raises(ProblemError, match="no targets"):
        network.predict_batch(problem, {})
    with pytest.raises(ProblemError, match=r"do not lead from 3 inputs to 2 joints|weights have shape"):
        FeedForward(network.domain, [3, 4, 2], network.weights, network.lesson)


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"samples": "many"}, "samples is 'many'"),
        ({"samples": 2**63}, "samples is 9223372036854775808"),
        ({"hidden": [4, None]}, "hidden is None"),
        ({"hidden": 10**6, "samples": 10**6}, "too many to train"),
        ({"hidden": [2**13, 2**13]}, "too many to train"),
        ({"epochs": 1.5}, "epochs is 1.5"),
        ({"patience": None}, "patience is None"),
        ({"teacher": mk.solvers.Memetic}, "teacher is <class"),
        ({"teacher": 3}, "teacher is 3; give a solver"),
    ],
)
def test_training_that_cannot_be(asked, wrong, says):
    with pytest.raises(ProblemError, match=says):
        FeedForward.train(asked[0], **{"samples": 8, "epochs": 1, **wrong})


def test_elman_does_not_ask_for_more_memory_than_there_is(asked):
    with pytest.raises(ProblemError, match="too many to train"):
        Elman.train(asked[0], hidden=10**6, paths=2, steps=2, epochs=1)


def test_a_penalty_that_training_would_take_too_long_for(asked):
    for penalty in (np.nan, np.inf, 1e300, 1e5, "x"):
        with pytest.raises(ProblemError, match="SupportVectors: penalty is"):
            SupportVectors.train(asked[0], samples=8, penalty=penalty)


def test_problems_and_paths_that_are_none(asked, network, tmp_path):
    for call in (network.predict, FeedForward.train, Elman.train, SupportVectors.train):
        with pytest.raises(ProblemError, match="'panda' is not a problem"):
            call("panda")
    with pytest.raises(ProblemError, match=r"3 does not come from training. Use mk.learn.FeedForward.train"):
        FeedForward(3, network.sizes, network.weights, network.lesson)
    for path in (None, 3, "", "a\0b", "x" * 5_000):
        with pytest.raises(FormatError, match="the file for the weights is "):
            network.save(path)
        with pytest.raises(FormatError, match="the file of weights is "):
            FeedForward.load(path)
    with pytest.raises(FormatError, match="it cannot be written: No such file"):
        network.save(tmp_path / "nowhere" / "weights.npz")


def test_support_vectors_without_scikit_learn(asked, monkeypatch):
    monkeypatch.setitem(sys.modules, "sklearn.svm", None)
    with pytest.raises(MissingExtraError, match=r"memetik\[learn\]"):
        SupportVectors.train(asked[0], samples=5)
