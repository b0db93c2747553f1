"""Obstacles: the judge's distances, the box of the thesis, and who keeps clear."""

import json

import numpy as np
import pytest

from memetik.body import Shape
from memetik_lab.thesis import obstacles
from memetik_lab.thesis.clearance import ball_clearance, clearance, distance_from


def surface(shape, rng):
    """Many points on the surface of a shape."""
    if shape.kind == "box":
        points = rng.uniform(-0.5, 0.5, (200_000, 3))
        face, side = rng.integers(3, size=len(points)), rng.choice((-0.5, 0.5), len(points))
        points[np.arange(len(points)), face] = side
        return points * shape.size
    outward = rng.normal(size=(200_000, 3))
    outward /= np.linalg.norm(outward, axis=1, keepdims=True)
    if shape.kind == "sphere":
        return outward * shape.size[0]
    radius, length = shape.size
    if shape.kind == "capsule":
        along = rng.uniform(-0.5, 0.5, len(outward)) * length
        wall = outward * (1.0, 1.0, 0.0) / np.linalg.norm(outward[:, :2], axis=1, keepdims=True) * radius
        wall[:, 2] = along
        caps = outward * radius + np.sign(outward[:, 2:]) * (0.0, 0.0, 0.5 * length)
        return np.vstack([wall, caps])
    angle, share = rng.uniform(0.0, 2.0 * np.pi, len(outward)), rng.uniform(size=len(outward))
    circle = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    wall = np.hstack([radius * circle, (share[:, None] - 0.5) * length])
    lids = np.hstack([radius * np.sqrt(share)[:, None] * circle, np.sign(outward[:, 2:]) * 0.5 * length])
    return np.vstack([wall, lids])


@pytest.mark.parametrize(
    ("kind", "size"), [("sphere", (0.3,)), ("capsule", (0.2, 0.6)), ("cylinder", (0.2, 0.6)), ("box", (0.4, 0.6, 0.2))]
)
def test_distances_agree_with_points_on_the_surface(kind, size, rng):
    shape = Shape(kind, size)
    points, on = rng.uniform(-0.6, 0.6, (20, 3)), surface(Shape(kind, size), rng)
    nearest = np.array([np.linalg.norm(on - point, axis=1).min() for point in points])
    found = distance_from(shape, points)
    np.testing.assert_allclose(np.abs(found), nearest, atol=5e-3)
    assert distance_from(shape, np.zeros((1, 3)))[0] < 0.0 < distance_from(shape, np.ones((1, 3)))[0]


def test_clearance_is_the_least_over_links_and_balls():
    scene = obstacles.ball_scene()
    at = scene.body.forward(scene.body.home)["link_6"][:3, 3]  # its shapes have a ball of 72 mm around the origin
    far = np.array([5.0, 0.0, 0.0, 0.1])
    near = np.array([*at, 0.0])
    assert clearance(scene.body, scene.body.home, ["link_6"], np.array([far, near])) == pytest.approx(-0.072, abs=1e-9)
    frames = [scene.body.frame("link_6")]
    beside = np.array([[at[0] + 0.3, at[1], at[2], 0.1]])
    assert ball_clearance(scene.body, scene.body.home, frames, 0.05, beside) == pytest.approx(0.15)


def test_the_box_has_32_balls_and_is_open_in_front():
    balls = obstacles.box_balls()
    assert len(balls) == 32 and len(obstacles.arm_balls(obstacles.box_scene(obstacles.FREE).body)) == 6
    for x in np.linspace(0.3, obstacles.CENTER[0] - 2.0 * obstacles.WALL, 20):  # a straight way in for the gripper
        middle = np.array([x, *obstacles.CENTER[1:]])
        assert (np.linalg.norm(balls[:, :3] - middle, axis=1) > balls[:, 3] + obstacles.RADIUS).all()


def test_queries_are_hard_but_possible():
    scene = obstacles.ball_scene()
    for query in obstacles._ball_queries(scene, 3):
        _, balls = query.targets
        assert scene.clearance(query.start, balls) > 0.0
        assert 0.05 <= balls[0, 3] <= 0.15


def test_obstacles_are_kept_clear_of(tmp_path, monkeypatch):
    for task in ("TASK", "BOX_TASK"):
        monkeypatch.setattr(obstacles, task, getattr(obstacles, task)._replace(seconds=0.1))
    monkeypatch.setattr(obstacles, "EFFORTS", (200, 400))
    report = obstacles.run(tmp_path, quick=True, count=4)
    rows = json.loads((tmp_path / "obstacles.json").read_text())["rows"]
    found = {(row["scene"], row["method"]): row for row in rows}
    assert len(found) == 3 + 3 + 3 + 4 + 3 * (2 + 2)
    assert found[obstacles.FREE, "bioik, 400 evaluations"]["distances"] == 192
    assert found[obstacles.BALL, "memetic"]["solved [%]"] == 100.0
    assert found[obstacles.BALL, "memetic, obstacle unknown"]["free [%]"] == 0.0
    assert found[obstacles.SOLID, "memetic"]["free [%]"] == 100.0
    assert found[obstacles.SOLID, "memetic, all of one priority"]["free [%]"] == 0.0
    assert found[obstacles.SOLID, "bioik"]["median left [mm]"] > 1e3 * obstacles.RADIUS
    assert "mm clear (without: " in report.remarks[-1]
    assert (tmp_path / "obstacles.svg").exists()
