"""Motion of whole bodies: what is judged, what can be reached, and that the ball is kept clear of."""

import json
import math

import numpy as np

from memetik_lab.thesis import trajectories
from memetik_lab.thesis.clearance import clearance


def test_the_scenes_are_what_they_say():
    moving, beyond = (trajectories._mannequin(20, beyond=flag) for flag in (False, True))
    hand = {str(pose.frame): path for pose, path in beyond.poses.items()}["right_hand_tip"]
    near = {str(pose.frame): path for pose, path in moving.poses.items()}["right_hand_tip"]
    np.testing.assert_allclose(hand[[0, -1]], near[[0, -1]], atol=1e-12)  # it comes back
    assert np.abs(hand - near)[:, 1, 3].max() > 0.9
    assert "right_hand_tip" not in beyond.judged and len(moving.judged) == 4
    around = trajectories._valkyrie(20, trajectories.AROUND, trajectories.BESIDE)
    assert around.problem.body.dof == 13
    assert clearance(around.problem.body, around.start, around.links, around.ball) > 0.0


def test_the_judge_counts_tips_and_limits():
    scene = trajectories._mannequin(3, beyond=False)
    body = scene.problem.body
    path = np.tile(scene.start, (3, 1))
    targets = {tip: np.tile(body.forward(scene.start)[tip], (3, 1, 1)) for tip in scene.judged}
    targets["left_foot"][1, 0, 3] += 0.1
    path[2] = body.upper + 1.0
    reached, worst = trajectories._judge(body, path, targets, scene.judged)
    assert reached.tolist() == [True, False, False]
    assert math.isclose(worst[1], 0.1, abs_tol=1e-9)


def test_trajectories_run(tmp_path):
    trajectories.run(tmp_path, steps=60)
    rows = json.loads((tmp_path / "trajectories.json").read_text())["rows"]
    found = {(row["scene"], row["method"]): row for row in rows}
    assert len(rows) == 4 + 4 + 4 + 5  # a hand out of reach is smoothed, too
    own = found[trajectories.MOVING, "memetik track"]
    assert own["reached [%]"] == 100.0 and own["DoF"] == 37
    assert own["jerk [deg]"] < found[trajectories.MOVING, "ga"]["jerk [deg]"]
    around = [row for row in rows if row["scene"] in (trajectories.AROUND, trajectories.THROUGH)]
    assert all(row["free [%]"] == 100.0 and row["clearance [mm]"] >= 0.0 for row in around)
    assert found[trajectories.AROUND, trajectories.LOCAL]["farthest [mm]"] > 10.0  # it does go around
    smooth, plain = (found[trajectories.THROUGH, name] for name in (trajectories.SMOOTH, "memetik track"))
    assert smooth["palm step"] <= 2.0 < plain["palm step"]
    assert smooth["largest step [deg]"] < 0.5 * plain["largest step [deg]"]
    assert (tmp_path / "trajectories.svg").exists()
