"""Lifting a box: what rides on it does, feet stay, segments keep apart, by distances of others."""

import json

import coal
import numpy as np
import pytest

import memetik as mk
from memetik_lab.coal_judge import coal_shape
from memetik_lab.thesis import lifting
from memetik_lab.thesis.clearance import distance_from, surface_points


@pytest.fixture(scope="module")
def scene():
    return lifting.lifting(40)


def test_the_grasp_holds_the_box(scene):
    at = scene.body.forward(scene.start)
    half = 0.5 * np.array(lifting.BOX)
    for tip in lifting.TIPS:
        shapes = scene.body.links[tip].shapes
        gap = min(
            distance_from(
                mk.Shape("box", lifting.BOX), (at[tip] @ shape.link_from_shape)[:3, 3][None] - lifting.CENTER
            )[0]
            for shape in shapes
        )
        assert 0.0 < gap < 0.03, "its middle lies beside the surface"
    palms = np.array([at[palm][:3, 3] for palm in lifting.PALMS])
    assert (np.abs(palms[:, 1]) > half[1]).all() and palms[0, 1] > 0.0 > palms[1, 1]


def test_everything_rides_on_the_box(scene):
    """Seen from the box, palms and fingertips stand still."""
    for poses in scene.grips.values():
        seen = np.linalg.inv(scene.box) @ poses
        np.testing.assert_allclose(seen, np.tile(seen[0], (len(seen), 1, 1)), atol=1e-9)
    assert np.ptp(scene.box[:, 2, 3]) > 0.6


def test_it_is_lifted_within_tolerance_and_without_collision(scene):
    found = mk.track(scene.problem, scene.targets, start=scene.start)
    assert found.success
    path = lifting.Path("track", found.q, found.seconds)
    position, orientation = lifting._judge(scene, path)
    assert position.max() <= lifting.POSITION and orientation.max() <= lifting.ORIENTATION
    apart = next(wish for wish in scene.distances if isinstance(wish, mk.SelfDistance))
    for q in found.q[::8]:
        least = min(coal_distance(scene.body, q, a, b) for a, b in apart.pairs)
        assert least > -1e-6
        assert lifting.self_clearance(scene.body, q, apart.pairs) == pytest.approx(least, abs=0.01)
    pelvis = scene.body.forward(found.q, "pelvis")[:, 2, 3]
    assert np.ptp(pelvis) > 0.05, "nobody asked the pelvis to move, the box does"


def coal_distance(body, q, a, b):
    at = body.forward(q)
    least = np.inf
    for one in body.links[a].shapes:
        for two in body.links[b].shapes:
            (first, here), (second, there) = (
                (coal_shape(shape), coal.Transform3s(T[:3, :3], T[:3, 3]))
                for shape, T in ((one, at[a] @ one.link_from_shape), (two, at[b] @ two.link_from_shape))
            )
            least = min(least, coal.distance(first, here, second, there, coal.DistanceRequest(), coal.DistanceResult()))
    return least


@pytest.mark.parametrize(
    "shape",
    [
        mk.Shape("sphere", (0.1,)), mk.Shape("capsule", (0.1, 0.3)), mk.Shape("cylinder", (0.1, 0.3)),
        mk.Shape("box", (0.1, 0.2, 0.3)),
    ],
)  # fmt: skip
def test_points_are_on_the_surface(shape):
    points = surface_points(shape)
    np.testing.assert_allclose(distance_from(shape, points), 0.0, atol=1e-12)
    assert len(points) > 200


def test_lifting_runs(tmp_path):
    lifting.run(tmp_path, steps=30)
    rows = {row["method"]: row for row in json.loads((tmp_path / "lifting.json").read_text())["rows"]}
    own = rows[lifting.TRACK]
    assert own["reached [%]"] == 100.0 and own["DoF"] == 64 and own["apart [mm]"] > 0.0
    assert own["processor [us]"] < rows[lifting.BIOIK]["processor [us]"]
    assert (tmp_path / "lifting.svg").exists()
