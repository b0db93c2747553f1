"""Objects turned in the hand: the joints of the thesis, tips that ride on the object, errors by forward kinematics."""

import json
import math

import numpy as np
import pytest

from memetik.build.chains import planar_chain
from memetik.errors import UnknownNameError
from memetik.geometry import pose_distance, transform
from memetik.read.load import load
from memetik.solvers import Budget
from memetik_lab.paths import Path
from memetik_lab.thesis import manipulation
from memetik_lab.thesis.manipulation import mount


def test_a_mounted_tool_moves_with_the_arm(rng):
    arm, tool = planar_chain(2), load("shadow_hand").chain("first_finger")
    origin = transform((0.1, 0.2, 0.3), np.eye(3))
    both = mount(arm, "tip", tool, origin)
    assert both.joint_names == (*arm.joint_names, *tool.joint_names)
    np.testing.assert_array_equal(both.home, [*arm.home, *tool.home])
    q, t = arm.sample(rng), tool.sample(rng)
    expected = arm.forward(q)["tip"] @ origin @ tool.forward(t)["rh_fftip"]
    np.testing.assert_allclose(both.forward([*q, *t])["rh_fftip"], expected, atol=1e-12)
    with pytest.raises(UnknownNameError):
        mount(arm, "nowhere", tool, origin)


def test_the_tips_ride_on_the_object():
    scene = manipulation.capsule_on_iiwa(12)
    at = scene.body.forward(scene.start)
    for k, tip in enumerate(scene.tips):
        assert max(pose_distance(at[tip], scene.poses[0, k])) < 1e-5
    gaps = np.linalg.norm(scene.poses[:, 0, :3, 3] - scene.poses[:, 1, :3, 3], axis=1)
    np.testing.assert_allclose(gaps, manipulation.WIDTH, atol=1e-5)  # it turns, and is not squeezed
    assert np.ptp(scene.poses[:, :, 2, 3], axis=0).max() < 1e-9  # about the vertical
    assert math.degrees(np.abs(scene.turn).max()) > 25.0


def test_manipulation_keeps_the_tips_on_the_object(tmp_path, monkeypatch):
    monkeypatch.setattr(manipulation, "BUDGET", Budget(evaluations=500))
    manipulation.run(tmp_path, steps=24)
    rows = json.loads((tmp_path / "manipulation.json").read_text())["rows"]
    assert [row["DoF"] for row in rows] == [17] * 4 + [16] * 4
    own = [row for row in rows if row["method"].startswith("memetik")]
    assert all(row["worst tip [mm]"] <= 1e3 * manipulation.TOLERANCE and row["below 1 mm [%]"] == 100.0 for row in own)
    for restless, calm in zip(own[::2], own[1::2], strict=True):
        assert calm["largest step [deg]"] < restless["largest step [deg]"]
    assert (tmp_path / "manipulation.svg").exists()


def test_a_step_outside_the_limits_is_infinitely_wrong():
    scene = manipulation.capsule_on_iiwa(2)
    path = np.tile(scene.start, (len(scene.poses), 1))
    path[1] += 10.0
    outcome = manipulation._judge(scene, Path("broken", path, 1.0))
    assert np.isfinite(outcome.position[0]).all() and np.isinf(outcome.position[1]).all()


def test_recorded_paths_of_fingertips_are_followed(tmp_path):
    """The scene's own path, written as poses in the frame of the palm, comes back as it was; places take the grasp's turns."""
    scene = manipulation.capsule_on_iiwa(6)
    palm_from_world = np.linalg.inv(scene.body.forward(scene.start)["rh_palm"])
    poses = palm_from_world @ scene.poses
    for numbers, oriented in ((poses, True), (poses[..., :3, 3], False)):
        path = tmp_path / "mine.npz"
        np.savez(path, tip_links=list(scene.tips), poses=numbers)
        found = manipulation.recorded(scene, path)
        np.testing.assert_allclose(found.poses[..., :3, 3], scene.poses[..., :3, 3], atol=1e-9)
        assert found.label == "mine, iiwa" and found.turn.shape == (len(poses), 3)
        assert np.allclose(found.poses, scene.poses, atol=1e-9) == oriented
        at = scene.body.forward(found.start)
        for k, tip in enumerate(scene.tips):
            assert np.linalg.norm(at[tip][:3, 3] - found.poses[0, k, :3, 3]) < 1e-5
