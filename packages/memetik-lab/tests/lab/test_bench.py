"""Every experiment with tiny sizes and without peers: it runs, and its file says what was done and on what machine."""

from __future__ import annotations

import io
import json
import math
import sys

import numpy as np
import pytest

import memetik_lab as lab
from memetik.build.chains import planar_chain, snake
from memetik.errors import BodyError
from memetik.geometry import axis_angle
from memetik.read.load import load
from memetik.solvers import Budget
from memetik_lab import harness, peers
from memetik_lab.claims import batch, clips, servo, smoothest, solutions, tracking
from memetik_lab.contest import contest
from memetik_lab.harness import BLOCK
from memetik_lab.judge import Judge
from memetik_lab.queries import Memetik
from memetik_lab.thesis import arms, snakes, valkyrie

TASK = peers.Task(position=1e-5, orientation=1e-5, seconds=0.1)


def saved(folder, name):
    content = json.loads((folder / f"{name}.json").read_text())
    assert content["name"] == name
    assert content["environment"]["memetik"]
    assert len(content["protocol"]) > 100
    assert all(list(row) == list(content["rows"][0]) for row in content["rows"])
    return content["rows"]


def test_a_figure_that_cannot_be_drawn_costs_no_results(tmp_path, capsys):
    report = harness.Report("tried", "A protocol.", [{"joints": 3}])
    with pytest.raises(ZeroDivisionError):
        report.publish(tmp_path, lambda: 1 / 0)
    assert json.loads((tmp_path / "tried.json").read_text())["rows"] == [{"joints": 3}]
    assert "A protocol." in capsys.readouterr().out


def test_arms_solves_every_arm_and_saves(tmp_path, monkeypatch):
    monkeypatch.setattr(arms, "TASK", arms.TASK._replace(seconds=10.0))  # no deadline that a busy machine could miss
    arms.run(tmp_path, count=5, peers=())
    rows = saved(tmp_path, "arms")
    both = ("memetik", "memetik, bound")
    assert [(row["arm"], row["solver"]) for row in rows] == [(arm.label, name) for arm in arms.ARMS for name in both]
    assert all(row["wrong [%]"] == 0.0 and row["solved [%]"] == 100.0 for row in rows)
    assert all(row["mean / memetik"] == 1.0 for row in rows if row["solver"] == "memetik")
    assert all(0.0 < row["median [us]"] <= row["p99 [us]"] for row in rows)
    assert (tmp_path / "arms.svg").exists()
    assert (tmp_path / "arms.png").exists()


def test_valkyrie_has_the_rows_of_the_published_table(tmp_path, monkeypatch):
    monkeypatch.setattr(valkyrie, "BUDGET", Budget())
    valkyrie.run(tmp_path, count=5)
    rows = saved(tmp_path, "valkyrie")
    assert [row["DoF"] for row in rows] == [10, 6, 17, 13, 20, 23, 32, 35]
    assert all(row["solved [%]"] == 100.0 for row in rows)
    for row in rows:
        assert row["published / memetik"] == pytest.approx(row["published [us]"] / row["mean [us]"])
    assert (tmp_path / "valkyrie.svg").exists()


def test_snakes_reports_growth(tmp_path):
    report = snakes.run(tmp_path, count=5, joints=(10, 20, 240))
    rows = saved(tmp_path, "snakes")
    assert [(row["joints"], row["targets"]) for row in rows] == [(10, 5), (20, 5), (240, 2)]
    assert all(row["solved [%]"] == 100.0 for row in rows)
    assert sum("joints^" in remark for remark in report.remarks) == 2
    assert (tmp_path / "snakes.svg").exists()


def test_growth_of_a_power_law_is_found():
    report = harness.Report("snakes", "", [{"joints": n, "median [us]": 3.0 * n**0.8} for n in (10, 20, 40, 500)])
    assert snakes._growth(report, 120) == pytest.approx((0.8, 3.0))
    assert snakes._growth(report, 10) is None


def test_a_servo_keeps_limits_over_the_edge(tmp_path, monkeypatch):
    monkeypatch.setattr(servo, "OUT_AND_BACK", 1.0)
    monkeypatch.setattr(servo, "HOLD", 0.1)
    report = servo.run(tmp_path, count=150, peers=())
    rows = saved(tmp_path, "servo")
    assert [row["servo"] for row in rows] == ["memetik", "memetik"]
    assert all(0.0 < row["median [us]"] <= row["p99.9 [us]"] for row in rows)
    own = [remark for remark in report.remarks if "edge, memetik" in remark]
    assert len(own) == 2 and all("largest speed 1 and acceleration 1 of" in remark for remark in own)
    assert (tmp_path / "servo.svg").exists()


def test_tracking_compares_with_the_smoothest_path(tmp_path, monkeypatch):
    monkeypatch.setattr(smoothest, "STAGES", ((4, 8, 20), (1, 8, 8)))
    monkeypatch.setattr(tracking, "ROUNDS", 1)
    monkeypatch.setattr(tracking, "TASK", tracking.TASK._replace(seconds=10.0))
    report = tracking.run(tmp_path, count=40, peers=())
    rows = saved(tmp_path, "tracking")
    assert len(rows) == 4 * 2
    assert all(row["reached [%]"] == 100.0 for row in rows)
    assert all(row["least found [rad]"] <= row["largest step [rad]"] + 1e-12 for row in rows)
    # Two turns in 39 steps are 0.32 rad a step; a wrist that fell back by a turn would jump by 6.
    assert all(row["largest step [rad]"] < 1.0 for row in rows if row["path"] == tracking.ROLLING)
    assert "ends at" in report.remarks[-1]
    assert (tmp_path / "tracking.svg").exists()


def test_solutions_are_counted_and_judged(tmp_path):
    solutions.run(tmp_path, count=3, peers=())
    rows = saved(tmp_path, "solutions")
    assert [row["arm"] for row in rows] == list(solutions.ARMS)
    assert all(row["found a pose"] >= 1.0 and row["wrong"] == 0 for row in rows)
    assert all(row["complete [%]"] is None for row in rows)  # nothing to hold it against


def test_batch_counts_threads(tmp_path, monkeypatch):
    monkeypatch.setattr(batch, "ROUNDS", 2)
    monkeypatch.setattr(batch, "cores", lambda: 3)
    batch.run(tmp_path, count=40, peers=())
    rows = saved(tmp_path, "batch")
    assert [row["solver"] for row in rows] == [f"memetik, {n}" for n in ("1 thread", "2 threads", "3 threads")]
    assert all(row["solved [%]"] == 100.0 and row["wrong [%]"] == 0.0 and row["targets"] == 80 for row in rows)
    assert rows[0]["speed-up"] == pytest.approx(1.0) and all(row["CPU [us]"] > 0.0 for row in rows)
    assert (tmp_path / "batch.svg").exists()


def test_clips_at_once_are_those_alone(tmp_path, monkeypatch):
    monkeypatch.setattr(clips, "cores", lambda: 2)
    monkeypatch.setattr(clips, "COMPARED", 2)
    clips.run(tmp_path, quick=True)
    rows = saved(tmp_path, "clips")
    assert [row["by"] for row in rows][:2] == ["1 thread", "2 threads"]
    assert all(row["frames"] == 6 * 300 and row["the same [rad]"] < 2e-5 and row["other verdicts"] == 0 for row in rows)
    assert all(row["the same [rad]"] == 0.0 for row in rows[:2])


def test_batch_gives_peers_a_share_and_judges_them(rng):
    body = load("panda").chain(batch.BASE, batch.TIP)
    own = batch._own(body, 1, 100)

    class Liar(peers.Peer):
        name = "liar"

        def solve(self, target, start):
            return start if start[0] > 0.0 else None

    peer = batch._peer(Liar(), 100)
    assert peer.count == 100 // batch.SHARE
    targets, starts = batch._draw(body, 20, rng)
    for entry in (own, peer):
        entry.take(targets, starts, Judge(body, batch.TIP, batch.TASK))
    assert (own.solved, own.wrong) == (20, 0)
    assert peer.solved == 0 and peer.wrong == (starts[:, 0] > 0.0).sum()
    assert batch._row(own, own, peer)["rate of a core / ik_LM"] == pytest.approx(own.rate() / peer.rate())


def test_steps_of_threads():
    assert [batch._steps(most) for most in (1, 2, 6, 8)] == [[1], [1, 2], [1, 2, 4, 6], [1, 2, 4, 8]]


def test_a_solution_is_known_again_whole_turns_aside():
    q = np.array([0.1, -3.1, 2.0])
    assert solutions._among(q + np.array([2.0 * math.pi, 0.0, 0.0]), q[None])
    assert solutions._among(np.array([0.1, math.pi, 2.0]), q[None])  # -3.1 and pi are 0.04 apart
    assert not solutions._among(q + 0.1, q[None])
    assert not solutions._among(q, np.empty((0, 3)))


@pytest.mark.parametrize("name", ["arms", "valkyrie", "snakes", "tracking", "solutions", "batch"])
def test_experiments_are_listed(name):
    assert name in lab.experiments()


# Peers


@pytest.mark.parametrize("name", list(peers.PEERS))
def test_a_missing_peer_is_listed(name, monkeypatch):
    for module in (name, "eaik.IK_Homogeneous", "PyKDL"):  # as if it were not installed
        monkeypatch.setitem(sys.modules, module, None)
    monkeypatch.delitem(sys.modules, f"memetik_lab.peers.{name}", raising=False)
    found = peers.find((name,))
    assert found.adapters == ()
    assert len(found.remarks) == 1
    assert found.remarks[0].startswith(f"Not importable, so not measured: {peers.PEERS[name]}.")
    assert found.build(peers.serial_chain(snake(3)), TASK) == []


def test_the_chain_of_a_peer_is_the_arm(rng):
    body = load("pr2").chain("torso_lift_link", "r_wrist_roll_link")
    chain = peers.serial_chain(body)
    q = body.sample(rng)
    first, *rest = chain.steps()
    pose = first
    for angle, step in zip(q, rest, strict=True):
        turn = np.eye(4)
        turn[:3, :3] = axis_angle((0.0, 0.0, 1.0), angle)
        pose = pose @ turn @ step
    np.testing.assert_allclose(pose, body.forward(q)["r_wrist_roll_link"], atol=1e-12)
    assert np.isfinite(chain.limits()).all()


def test_the_urdf_for_a_peer_is_the_arm(rng, tmp_path):
    body = load("baxter").chain("torso", "left_gripper")
    path = tmp_path / "arm.urdf"
    path.write_text(peers.serial_chain(body).urdf())
    again = load(path)
    for _ in range(5):
        q = body.sample(rng)
        np.testing.assert_allclose(again.forward(q)["tip"], body.forward(q)["left_gripper"], atol=1e-12)
    np.testing.assert_allclose([again.lower, again.upper], [body.lower, body.upper])


def test_a_tree_is_no_chain():
    with pytest.raises(BodyError, match="not a row"):
        peers.serial_chain(load("baxter"))


# The judge


def test_the_judge_goes_by_pose_and_limits():
    body = planar_chain(2, limits=(-1.0, 1.0))
    judge = Judge(body, "tip", TASK)
    q = np.array([0.5, -0.5])
    target, around = body.forward(q)["tip"], q + np.array([2.0 * math.pi, 0.0])
    assert judge.right(q, target)
    assert not judge.right(None, target)
    assert not judge.right(q + 1e-3, target)
    assert not judge.right(q * np.nan, target)
    assert not judge.right(around, target)
    assert judge.right(around, target, whole_turns=True)
    assert judge.right(np.array([q + 0.1, q]), target)
    beyond = np.array([1.0 + 1e-6, 0.0])
    assert not judge.right(beyond, body.forward(beyond)["tip"])


class Stubborn(peers.Peer):
    """Answers with where it starts, or not at all if that is to the right of the base."""

    name = "stubborn"

    def solve(self, target, start):
        return None if start[0] > 0.0 else start


def test_a_contest_counts_misses_and_wrong_answers():
    body, count = planar_chain(2), BLOCK + 10
    own, stubborn = contest(
        body, "tip", TASK, [Memetik(body, "tip", TASK._replace(seconds=10.0)), Stubborn()], count, "two"
    )
    columns = stubborn.columns(TASK)
    assert columns["solved [%]"] == 0.0
    assert 0.0 < columns["wrong [%]"] == sum(start[0] <= 0.0 for _, start in stubborn.missed) / count * 100.0 < 100.0
    assert own.columns(TASK)["solved [%]"] == 100.0
    assert [len(t.seconds) for t in (own, stubborn)] == [count, count]
    assert len(own.cold) == 2  # a full turn and the rest


def test_memetik_says_none_if_it_cannot():
    body = planar_chain(2)
    far = np.eye(4)
    far[0, 3] = 10.0
    assert Memetik(body, "tip", TASK).solve(far, body.home) is None


def test_the_smoothest_path_is_not_far_from_a_straight_one(rng, monkeypatch):
    """From a rough path through the poses of a straight motion of the joints, one as smooth as that motion is found."""
    monkeypatch.setattr(smoothest, "STAGES", ((4, 15, 40), (1, 8, 24), (1, 8, 24), (1, 40, 24)))
    body = load("iiwa14").chain("base_link", "tool0")
    chain = peers.serial_chain(body)
    straight = body.home + np.outer(np.linspace(0.0, 1.0, 40), 0.3 * np.array([1.0, 0.5, -0.8, 0.6, 1.0, -0.4, 0.9]))
    poses = np.array([body.forward(q)["tool0"] for q in straight])
    rough = smoothest._settle(chain, straight + 0.02 * rng.standard_normal(straight.shape), poses)[0]
    rough[0] = straight[0]
    path = smoothest.smoothest(chain, poses, rough)
    assert smoothest.largest_step(rough) > 2.0 * smoothest.largest_step(straight)
    assert smoothest.largest_step(path) < 1.05 * smoothest.largest_step(straight)
    np.testing.assert_allclose(path[0], straight[0], atol=1e-12)
    reached = np.array([body.forward(q)["tool0"] for q in path])
    np.testing.assert_allclose(reached, poses, atol=1e-8)


# The harness


def test_progress_passes_all_items_and_is_silent_in_files(capsys):
    assert list(harness.progress(range(3), 3, "items")) == [0, 1, 2]
    assert capsys.readouterr().err == ""


def test_progress_speaks_on_a_terminal_and_wipes_its_line(monkeypatch):
    terminal = io.StringIO()
    terminal.isatty = lambda: True
    monkeypatch.setattr(sys, "stderr", terminal)
    assert list(harness.progress(iter("ab"), 2, "letters")) == ["a", "b"]
    assert "letters: 0 %" in terminal.getvalue()
    assert terminal.getvalue().endswith("\r\033[K")


def test_wilson_interval():
    """Newcombe (1998), Table I, method 3: 81 of 263, 15 of 148, 0 of 20 and 1 of 29."""
    assert harness.wilson(81, 263) == pytest.approx((0.2553, 0.3662), abs=5e-5)
    assert harness.wilson(15, 148) == pytest.approx((0.0624, 0.1605), abs=5e-5)
    assert harness.wilson(0, 20) == pytest.approx((0.0, 0.1611), abs=5e-5)
    assert harness.wilson(1, 29) == pytest.approx((0.0061, 0.1718), abs=5e-5)
    low, high = harness.wilson(29, 29)
    assert (1.0 - high, 1.0 - low) == pytest.approx(harness.wilson(0, 29))  # heads are as good as tails
    for hits, count in ((1, 0), (3, 2), (-1, 2)):
        with pytest.raises(ValueError, match="not a share"):
            harness.wilson(hits, count)


def test_the_share_solved_comes_with_its_interval():
    assert harness.solved(100, 100) == {"solved [%]": 100.0, "95 % interval": "96.3 to 100"}


def test_spread_is_in_microseconds():
    assert harness.spread([1e-6, 2e-6, 6e-6]) == pytest.approx({"mean [us]": 3.0, "median [us]": 2.0, "p99 [us]": 5.92})
