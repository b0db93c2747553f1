"""Weights that balance themselves: what is least where not all can be had, against closed forms and SciPy."""

import pickle

import numpy as np
import pytest
from scipy.optimize import minimize

import memetik as mk


def torn(tolerances, weights="given", **options):
    """A planar arm that two points pull at; where its tip comes to rest."""
    body = mk.build.planar_chain((0.5, 0.5, 0.5))
    points = np.array([(0.6, 0.3, 0.0), (0.7, 0.5, 0.0)])
    pulls = [mk.Position("tip", p, tolerance=t, **options) for p, t in zip(points, tolerances, strict=True)]
    solution = mk.solve(mk.Problem(body, pulls, weighting=weights), body.home + 0.3)
    assert not solution.success
    return body.forward(solution.q, "tip")[:3, 3], points


def between(points, tolerances):
    """The point that minimises the sum of (error / tolerance)^2."""
    shares = 1.0 / np.square(tolerances)
    return shares @ points / shares.sum()


@pytest.mark.parametrize("tolerances", [(1e-3, 1e-2), (2e-3, 1e-3), (1e-4, 1e-4)])
def test_what_must_be_exact_is_held_and_what_may_be_rough_gives_way(tolerances):
    place, points = torn(tolerances)
    np.testing.assert_allclose(place, points.mean(axis=0), atol=1e-5)
    place, points = torn(tolerances, "balanced")
    np.testing.assert_allclose(place, between(points, tolerances), atol=1e-5)


def test_tolerances_of_axes_count_by_the_narrowest():
    place, points = torn(((1e-3, 1e-3, np.inf), 1e-2), "balanced")
    np.testing.assert_allclose(place, between(points, (1e-3, 1e-2)), atol=1e-5)


def test_length_and_angle_are_weighed_by_tolerances():
    """Two wishes that a planar arm of two links cannot both have: the best of all postures, by SciPy from many starts."""
    body = mk.build.planar_chain((0.5, 0.4))
    reach = mk.Position("tip", (0.5, 0.5, 0.0), tolerance=1e-2)
    turn = mk.Orientation("tip", mk.euler(0.0, 0.0, 0.2), tolerance=0.3)
    solution = mk.solve(mk.Problem(body, [reach, turn], weighting="balanced"))

    def cost(q):
        pose = body.forward(q, "tip")
        angle = np.arctan2(pose[1, 0], pose[0, 0]) - 0.2
        return np.sum((pose[:3, 3] - (0.5, 0.5, 0.0)) ** 2) / 1e-4 + angle * angle / 0.09

    rng = np.random.default_rng(0)
    found = [
        minimize(cost, body.sample(rng), method="Nelder-Mead", options={"xatol": 1e-9, "fatol": 1e-9})
        for _ in range(10)
    ]
    assert cost(solution.q) <= min(each.fun for each in found) + 1e-6 or solution.success


def test_what_can_be_reached_is_reached_all_the_same():
    body, rng = mk.load("panda"), np.random.default_rng(1)
    pose = mk.Pose("panda_hand", np.eye(4), position_tolerance=1e-5, orientation_tolerance=1e-3)
    far = mk.JointValue("panda_joint3", 0.2, tolerance=0.5)
    problem = mk.Problem(body, [pose, far, mk.Displacement(weight=0.01)], weighting="balanced")
    reached = 0
    for _ in range(100):
        q = body.sample(rng)
        q[body.index("panda_joint3")] = rng.uniform(-0.2, 0.6)
        pose.target = body.forward(q, "panda_hand")
        reached += mk.solve(problem, body.home).success
    assert reached >= 96, "97 of these 100 are; with weights as given 99 of them"


def test_it_travels_and_is_checked():
    problem = mk.Problem(mk.build.planar_chain(3), mk.Position("tip", (1.0, 1.0, 0.0)), weighting="balanced")
    assert pickle.loads(pickle.dumps(problem)).weighting == "balanced"
    for wrong in ("equal", 1.0, None):
        with pytest.raises(mk.errors.ProblemError, match="balanced"):
            mk.Problem(mk.build.planar_chain(3), mk.Position("tip", (1.0, 1.0, 0.0)), weighting=wrong)


def test_a_zero_tolerance_and_guides_do_no_harm():
    body = mk.build.planar_chain(3)
    reach, guide = mk.Position("tip", (0.5, 0.4, 0.0), tolerance=1e-6), mk.CenterJoints()
    exact = mk.JointValue("joint_1", 0.4, tolerance=0.0)
    solution = mk.solve(mk.Problem(body, [reach, exact, guide], weighting="balanced"))
    assert solution.errors[reach] < 1e-6 and abs(solution["joint_1"] - 0.4) < 1e-9
    mk.solve(mk.Problem(body, guide, weighting="balanced"))


def test_bound_problems_and_batches_row_by_row_stay_balanced():
    """Both solve a copy of the problem."""
    body, tolerances = mk.build.planar_chain((0.5, 0.5, 0.5)), (1e-3, 1e-2)
    points = np.array([(0.6, 0.3, 0.0), (0.7, 0.5, 0.0)])
    pulls = [mk.Position("tip", p, tolerance=t) for p, t in zip(points, tolerances, strict=True)]
    problem = mk.Problem(body, pulls, weighting="balanced")
    step = mk.bind(problem, pulls[0])
    batch = mk.solve_batch(problem, {pulls[0]: points[:1]}, body.home + 0.3, method="lbfgsb", progress=False)
    for q in (step(points[0], body.home + 0.3), batch.q[0]):
        np.testing.assert_allclose(body.forward(q, "tip")[:3, 3], between(points, tolerances), atol=1e-5)


def test_a_distance_with_the_published_loss_is_balanced_as_any_other():
    """Its residual and its loss are two terms, which have one weight."""
    body = mk.load("panda")
    reach = mk.Position("panda_hand", (0.5, 0.1, 0.4), tolerance=1e-3)
    apart = {
        loss: mk.SelfDistance(body, ignore="always", loss=loss, tolerance=1e-3) for loss in ("margin", "published")
    }
    terms = {loss: mk.Problem(body, [reach, each], weighting="balanced").compiled.terms for loss, each in apart.items()}
    np.testing.assert_allclose(terms["published"]["scale"], [*terms["margin"]["scale"], 0.0])
    assert terms["published"]["weight"][1] == 0.0
    np.testing.assert_allclose(terms["published"]["weight"][[0, 2]], terms["margin"]["weight"])
    assert mk.solve(mk.Problem(body, [reach, apart["published"]], weighting="balanced")).success
