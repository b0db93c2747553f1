"""Point clouds as obstacles: the same residuals as points one by one, whatever the groups."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.spatial import cKDTree

import memetik as mk
from memetik.errors import ProblemError
from memetik.objectives.point_cloud import _parts
from memetik.problem import Problem
from memetik.solvers import Budget, Memetic
from tests.objectives.finite_differences import check_jacobian


def wall(rng, count, radius=0.6):
    angle, height = rng.uniform(0.0, 2.0 * np.pi, count), rng.uniform(0.0, 1.0, count)
    return np.stack([radius * np.cos(angle), radius * np.sin(angle), height], axis=1)


def test_parts_are_all_points_and_close_together():
    points = wall(np.random.default_rng(0), 1000)
    parts = _parts(points, mk.objectives.PointCloud(points, 0.1).leaf)
    assert sorted(np.concatenate(parts).tolist()) == list(range(1000))
    assert max(map(len, parts)) <= 31 and len(parts) <= 64
    assert np.mean([np.ptp(points[part], axis=0).max() for part in parts]) < 0.6


@pytest.mark.parametrize("count", [1, 63, 700])
def test_the_deepest_point_counts(count):
    """The error of a ball on a frame is its radius and that of the points less the way to the nearest of them."""
    rng = np.random.default_rng(count)
    body, points = mk.load("panda"), wall(rng, count)
    away = mk.Distance(body.frame("panda_hand"), mk.objectives.PointCloud(points, 0.2), radius=0.15)
    problem = Problem(body, away)
    for q in (body.sample(rng) for _ in range(20)):
        nearest = cKDTree(points).query(body.forward(q)["panda_hand"][:3, 3])[0]
        found = Memetic().solve(problem, q, Budget(evaluations=1)).errors[away]
        assert_allclose(found, max(0.0, 0.35 - nearest), atol=1e-12)


def test_jacobian():
    rng = np.random.default_rng(3)
    body = mk.load("panda")
    away = mk.Distance(["panda_hand", "panda_link5"], mk.objectives.PointCloud(wall(rng, 200), 0.2), margin=0.3)
    assert np.abs(check_jacobian(body, [away], body.home + 0.1)).max() > 0.1


def test_a_way_past_thousands_of_points():
    """Beside shapes and points in one list; free by a tree of all points."""
    rng = np.random.default_rng(4)
    body, points = mk.load("panda"), wall(rng, 5000, 0.75)
    links = ["panda_hand", "panda_link5", "panda_link7"]
    others = [
        mk.objectives.PointCloud(points, 0.01),
        mk.Shape("sphere", (0.05,), mk.transform((0.3, 0.3, 0.3))),
        (0.2, -0.5, 0.2, 0.1),
    ]
    solution = mk.solve(Problem(body, [mk.Position("panda_hand", (0.5, 0.2, 0.4)), mk.Distance(links, others)]))
    assert solution.success
    assert cKDTree(points).query(body.forward(solution.q)["panda_hand"][:3, 3])[0] > 0.01


@pytest.mark.parametrize(
    ("points", "radius", "said"),
    [
        (np.empty((0, 3)), 0.1, "at least 1"),
        (np.zeros((4, 2)), 0.1, "shape"),
        ([(0.0, np.nan, 0.0)], 0.1, "NaN"),
        ([(0.0, 0.0, 0.0)], -1.0, "zero or positive"),
        ("no points", 0.1, "numbers"),
    ],
)
def test_wrong_clouds(points, radius, said):
    with pytest.raises(ProblemError, match=said):
        mk.objectives.PointCloud(points, radius)
