"""A root that stands somewhere in the world, against a body that hangs on a fixed joint there."""

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

import memetik as mk
from memetik.problem.fitness import fitness
from tests.naive.bodies import random_body, random_origin

seeds = st.integers(0, 2**32 - 1)
T = mk.transform((3.0, -2.0, 0.7), mk.euler(0.4, -1.1, 2.0))


def mounted(body, root):
    """The body on a fixed joint, its root where `root` says."""
    foot = mk.build.Joint("mount", "fixed", "ground", body.root, origin=root)
    return mk.Body(body.name, [mk.build.Link("ground"), *body.links.values()], [foot, *body.joints.values()])


@given(seed=seeds, joints=st.integers(1, 6))
def test_forward_and_jacobian(seed, joints):
    rng = np.random.default_rng(seed)
    body, root = random_body(rng, joints), random_origin(rng)
    twin, q = mounted(body, root), body.sample(rng)
    there = twin.forward(q)
    for link, pose in body.forward(q, root=root).items():
        assert_allclose(pose, there[link], atol=1e-12)
    for frame in (f"link{joints}", body.frame("link1", offset=(0.1, 0.2, 0.3))):
        assert_allclose(body.jacobian(frame, q, root=root), twin.jacobian(frame, q), atol=1e-12)


def objectives(target):
    """A pose alone, which has kernels of its own; with others, whose targets are in the world, too; and a region."""
    position = target[:3, 3]
    return {
        "pose": [mk.Pose("panda_hand", target)],
        "guided": [mk.Pose("panda_hand", target), mk.Displacement(weight=0.01)],
        "mixed": [
            mk.Position("panda_hand", position), mk.Direction("panda_hand", target[:3, 2]), mk.AvoidLimits(),
            mk.Position("panda_link4", (0.1, 0.0, 0.5), relative_to="panda_link0", tolerance=None),
        ],
    }  # fmt: skip


TAKE_ALL = ["memetic", "dls", "bioik", "lbfgsb", "de"]


@pytest.mark.parametrize(
    ("method", "which"),
    [
        *((method, which) for method in TAKE_ALL for which in ("pose", "guided", "mixed")),
        ("ccd", "pose"),
        ("fabrik", "pose"),
    ],
)
def test_every_method_finds_what_it_finds_on_a_mounted_body(which, method, rng):
    body, turn = mk.load("panda"), mk.transform(rotation=T[:3, :3])  # a mount with a length would count as a longer arm
    twin = mounted(body, turn)
    target = twin.forward(body.sample(rng))["panda_hand"]
    start, budget = body.sample(rng), mk.Budget(evaluations=400)
    problems = [
        mk.Problem(body, objectives(target)[which], root=turn), mk.Problem(twin, objectives(target)[which]),
    ]  # fmt: skip
    found, expected = (mk.solve(p, start=start, method=method, budget=budget) for p in problems)
    assert found.status == expected.status and found.evaluations == expected.evaluations
    if method != "bioik":  # whose generations differ after a last bit
        assert_allclose(found.q, expected.q, atol=1e-4)
        assert_allclose(found.term_errors, expected.term_errors, atol=1e-4)
    again = mk.Solution.of(problems[0], found.q, start=start)
    assert_allclose(again.term_errors, found.term_errors, atol=1e-9)
    if which != "guided":  # which is about a start, and there is none here
        assert_allclose(fitness(problems[0], found.q), fitness(problems[1], found.q), atol=1e-6)


def test_the_root_moves_without_compiling(rng):
    body = mk.load("panda")
    target = body.forward(body.sample(rng))["panda_hand"]
    pose = mk.Pose("panda_hand", T @ target)
    problem = mk.Problem(body, pose, root=np.eye(4))
    compiled = problem.compiled
    problem.root = T
    assert problem.compiled is compiled
    assert_allclose(problem.root, T, atol=1e-15)
    solution = mk.solve(problem)
    assert solution.success
    assert_allclose(body.forward(solution.q, root=T)["panda_hand"], T @ target, atol=1e-3)
    problem.root = (0.0, 0.0, 0.5)
    assert not mk.solve(problem).success  # metres away now
    problem.root = None
    assert problem.root is None and problem.compiled is not compiled
    problem.root = T
    assert mk.solve(problem).success
    assert "root" not in repr(problem) and mk.solve(pickle.loads(pickle.dumps(problem))).success


@settings(max_examples=10, deadline=None)
@given(seed=seeds)
def test_batches_tracks_and_all_solutions(seed):
    rng = np.random.default_rng(seed)
    body = mk.load("ur5")
    root = random_origin(rng)
    local = np.array([body.forward(body.sample(rng))["tool0"] for _ in range(80)])
    pose, here = mk.Pose("tool0", np.eye(4)), mk.Pose("tool0", np.eye(4))
    moved, plain = mk.Problem(body, pose, root=root), mk.Problem(body, here)
    batch, expected = mk.solve_batch(moved, {pose: root @ local}), mk.solve_batch(plain, {here: local})
    assert_array_equal(batch.status, expected.status)
    near = np.abs(batch.q - expected.q).max(axis=1) < 1e-6
    assert near.mean() > 0.9  # rounding may decide for another solution
    near_by = local[0] @ np.array([mk.translation(0.0, 0.0, 0.002 * k) for k in range(10)])
    walk, expected = mk.track(moved, {pose: root @ near_by}, batch.q[0]), mk.track(plain, {here: near_by}, batch.q[0])
    assert_array_equal(walk.status, expected.status)
    assert_allclose(walk.q, expected.q, atol=1e-6)
    pose.target = root @ local[0]
    assert all(solution.success for solution in mk.solve_all(moved, count=4))
    assert mk.solve(moved, method="analytic").success


def test_the_explanation_knows_the_root():
    body = mk.load("ur5")
    problem = mk.Problem(body, mk.Position("tool0", (0.3, 0.2, 0.4)), root=(0.0, 0.0, 5.0))
    assert "m from" in mk.solve(problem).explain()
    with pytest.warns(mk.MemetikWarning, match="millimetres"):
        mk.Problem(body, mk.Position("tool0", (900.0, 0.2, 0.4)), root=np.eye(4))
    mk.Problem(body, mk.Position("tool0", (900.3, 0.2, 0.4)), root=(900.0, 0.0, 0.0))  # no warning: it stands there


def test_mistakes_are_said():
    body = mk.load("ur5")
    pose = mk.Pose("tool0", np.eye(4))
    for bad in (np.zeros((4, 4)), "here", (1.0, np.nan, 0.0)):
        with pytest.raises(mk.errors.ProblemError, match="root"):
            mk.Problem(body, pose, root=bad)
        with pytest.raises(mk.errors.BodyError, match="root"):
            body.forward(body.home, root=bad)
    problem = mk.Problem(body, pose, root=T)
    with pytest.raises(mk.errors.ProblemError, match="root"):
        problem.root = np.ones((4, 4))
    assert_allclose(problem.root, T, atol=1e-15)  # whole or not at all
    with pytest.raises(mk.errors.ProblemError, match="root"):
        mk.learn.FeedForward.train(problem)
