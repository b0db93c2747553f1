"""The bench of servos among obstacles: every servo gets the same robot, and its rows say what it did."""

import json
from importlib.util import find_spec

import numpy as np
import pytest

import memetik as mk

pytest.importorskip("pinocchio", reason="pip install pin")

from memetik_lab.claims import servo_obstacle_peers as peers
from memetik_lab.claims import servo_obstacles as bench
from memetik_lab.contact_judge import ContactJudge

PEERS = [name for name in ("mink", "pink") if find_spec(name)]


def slow(robot):
    return robot._replace(acceleration=np.full(robot.body.dof, 10.0))


@pytest.mark.parametrize("name", PEERS)
def test_a_peer_follows_where_nothing_is_in_the_way(name):
    stream = bench.post_slide(150)
    servo = peers.KINDS[name](stream.robot, 1e-3)
    path = np.array([servo.step(targets, {}) for targets in stream.targets])
    assert np.median(bench.hand_error(stream, path)) < 2e-3  # pink damps where it knows of pairs
    assert np.abs(np.diff(path, axis=0)).max() * 1e3 <= stream.robot.velocity.max() + 1e-6


@pytest.mark.parametrize("name", PEERS)
def test_a_peer_stops_at_the_post(name):
    """A target inside the post, straight ahead of the hand."""
    stream = bench.post_slide(2)
    robot = stream.robot
    target = stream.targets[0].copy()
    target[0, :3, 3] = (0.45, 0.0, 0.4)
    servo = peers.KINDS[name](robot, 1e-3)
    judge = ContactJudge(robot.body, mk.World(robot.obstacles), robot.pairs)
    distances = [judge.distance(servo.step(target, {})) for _ in range(400)]
    assert 0.3 * peers.SELF_CLEARANCE < min(distances) < 2.0 * bench.CLEARANCE
    assert judge.distance(robot.start) > 2.0 * bench.CLEARANCE


@pytest.mark.skipif("mink" not in PEERS, reason="pip install mink")
def test_mink_has_the_same_shapes_at_the_same_places():
    import mujoco

    stream = bench.ball_into_hand(2)
    servo = peers.KINDS["mink"](stream.robot, 1e-3)
    q = servo.step(stream.targets[0], {"ball": mk.translation(0.5, 0.2, 0.5)})
    data, model = servo._now.data, servo._model
    shapes = sum(len(link.shapes) for link in stream.robot.body.links.values())
    assert model.ngeom == shapes + 1
    judge = ContactJudge(stream.robot.body, mk.World(stream.robot.obstacles), [])
    judge.place("ball", mk.translation(0.5, 0.2, 0.5))
    ball = next(k for k in range(model.ngeom) if model.geom_bodyid[k] == model.body("obstacle ball").id)
    moving = [k for k in range(model.ngeom) if model.body_weldid[model.geom_bodyid[k]] and k != ball]
    least = min(mujoco.mj_geomDistance(model, data, k, ball, 2.0, None) for k in moving)
    assert least == pytest.approx(judge.distance(q), abs=1e-5)


def test_reversals_are_counted_by_direction():
    t = np.arange(2_000) / 1e3
    assert bench.reversals(np.sin(2.0 * np.pi * t)[:, None], 1e3) == pytest.approx(2.0, abs=0.5)
    chatter = 1e-5 * (np.arange(2_000) % 2)  # 0.01 rad/s to and fro
    assert bench.reversals(chatter[:, None], 1e3) == pytest.approx(1e3, rel=0.01)
    assert bench.reversals(0.01 * chatter[:, None], 1e3) == 0.0


def test_rows_say_what_was_done(tmp_path, monkeypatch):
    pytest.importorskip("matplotlib", reason="pip install matplotlib")
    monkeypatch.setattr(bench, "STREAMS", {bench.post_jump: 0, bench.ball_into_hand: 0})
    bench.run(tmp_path, count=450, peers=())
    content = json.loads((tmp_path / "servo-obstacles.json").read_text())
    assert [row["servo"] for row in content["rows"]] == ["memetik", "memetik, 10 rad/s2"] * 2
    assert all(row["ticks"] == 450 and row["contact"] == 0 for row in content["rows"])
    assert (tmp_path / "servo-obstacles.svg").exists()
