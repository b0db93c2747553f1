"""Grasps of the Shadow hand: how they are drawn and read, and how they are judged."""

import json

import numpy as np
import pytest

from memetik.errors import FormatError
from memetik.geometry import to_quaternion
from memetik.solvers import Budget
from memetik_lab.thesis import grasps, hand


@pytest.fixture(scope="module")
def body():
    return grasps.shadow_hand()


def test_the_hand_has_the_joints_of_the_thesis(body):
    assert body.dof == 19
    postures = grasps.draw_postures(body, 50)
    assert (postures >= body.lower).all() and (postures <= body.upper).all()
    bent = (postures - body.lower) / (body.upper - body.lower)
    knuckles = [body.index(f"rh_{finger}J3") for finger in ("FF", "MF", "RF", "LF")]
    assert np.ptp(bent[:, knuckles], axis=1).max() <= 0.4 + 1e-9  # the fingers close together


def test_own_grasps_are_tips_of_postures_and_foreign_ones_have_other_fingers(body):
    own = grasps.own_grasps(body, 3)
    at = body.forward(grasps.draw_postures(body, 3)[1])
    np.testing.assert_allclose(own.poses[1, 0], at["rh_thtip"], atol=1e-12)
    foreign = grasps.foreign_grasps(body, 3)
    q = grasps.draw_postures(body, 3, seed=3)[2]
    tip, knuckle = (body.forward(q)[link][:3, 3] for link in grasps.FINGERS["ring"])
    ratio = np.linalg.norm(foreign.poses[2, 3, :3, 3] - knuckle) / np.linalg.norm(tip - knuckle)
    assert 1e-3 < abs(ratio - 1.0) <= grasps.STRETCH


def test_recorded_grasps_are_read_in_any_order(body, tmp_path):
    at = body.forward(body.home)
    palm_from_world = np.linalg.inv(at[grasps.PALM])
    links = sorted(grasps.TIPS)
    tips = [(palm_from_world @ at[link])[:3, 3].tolist() for link in links]
    path = tmp_path / "mine.json"
    path.write_text(json.dumps({"tip_links": links, "postures": [{"tips": tips}]}))
    read = grasps.recorded_grasps(body, path)
    np.testing.assert_allclose(read.poses[0, :, :3, 3], [at[tip][:3, 3] for tip in grasps.TIPS], atol=1e-12)


@pytest.mark.parametrize(
    ("kind", "numbers"),
    [("json", 3), ("json", 7), ("json", 16), ("npz", 3), ("npz", 7), ("npz", 16), ("csv", 3), ("csv", 7)],
)
def test_recorded_grasps_may_be_poses(body, tmp_path, kind, numbers):
    """Places, places with quaternions, and matrices, from each kind of file; links in another order, and one more."""
    at = body.forward(grasps.draw_postures(body, 1)[0])
    palm_from_world, world_from_palm = np.linalg.inv(at[grasps.PALM]), body.forward(body.home)[grasps.PALM]
    links = [*sorted(grasps.TIPS), "another"]
    poses = [palm_from_world @ at[link] if link in at else np.eye(4) for link in links]
    tips = [
        pose.tolist() if numbers == 16 else [*pose[:3, 3], *(to_quaternion(pose[:3, :3]) if numbers == 7 else ())]
        for pose in poses
    ]
    path = tmp_path / f"mine.{kind}"
    if kind == "json":
        path.write_text(json.dumps({"tip_links": links, "postures": [{"tips": np.array(tips).tolist()}] * 2}))
    elif kind == "npz":
        np.savez(path, tip_links=links, poses=np.array([tips, tips]))
    else:
        columns = ["x", "y", "z", "qw", "qx", "qy", "qz"][:numbers]
        rows = [[k, link, *tip] for k in range(2) for link, tip in zip(links, tips, strict=True)]
        path.write_text("\n".join(",".join(map(str, row)) for row in [["posture", "link", *columns], *rows]))
    read = grasps.recorded_grasps(body, path)
    assert read.oriented == (numbers > 3) and read.poses.shape == (2, 5, 4, 4)
    expected = world_from_palm @ palm_from_world @ np.array([at[tip] for tip in grasps.TIPS])
    np.testing.assert_allclose(read.poses[1, :, :3, 3], expected[:, :3, 3], atol=1e-9)
    if read.oriented:
        np.testing.assert_allclose(read.poses[1], expected, atol=1e-9)


@pytest.mark.parametrize("content", ["", "[]", '{"tip_links": [], "postures": []}', "{}"])
def test_a_file_without_grasps_says_what_is_expected(body, tmp_path, content):
    path = tmp_path / "empty.json"
    path.write_text(content)
    with pytest.raises(FormatError, match="tip_links"):
        grasps.recorded_grasps(body, path)


def test_hand_measures_every_finger(tmp_path, monkeypatch):
    monkeypatch.setattr(hand, "BUDGET", Budget(evaluations=1_000_000, seconds=0.2))
    report = hand.run(tmp_path, count=4)
    rows = json.loads((tmp_path / "hand.json").read_text())["rows"]
    assert [row["finger"] for row in rows] == list(grasps.FINGERS) * 4
    own = [row for row in rows if row["grasps"] == "own, full poses"]
    assert all(
        row["solved [%]"] == 100.0 and row["p95 [m]"] < hand.TASK.position for row in own if row["method"] == "memetic"
    )
    assert all(row["median [rad]"] is not None for row in own)
    assert "positions" in report.remarks[-1]
    assert (tmp_path / "hand.svg").exists()


def test_broken_limits_are_no_grasp(body):
    own = grasps.own_grasps(body, 1)
    posture = grasps.draw_postures(body, 1)[0]
    assert hand._errors(body, own, posture, own.poses[0]).max() < 1e-7
    assert np.isinf(hand._errors(body, own, posture + 10.0, own.poses[0])).all()
