"""The loop around local solvers, and the adapters whose packages the tests have anyway."""

import math
import time

import numpy as np
import pytest

from memetik.build.chains import planar_chain
from memetik.read.load import load
from memetik_lab import peers
from memetik_lab.contest import contest
from memetik_lab.harness import BLOCK
from memetik_lab.judge import Judge
from memetik_lab.peers.restarts import Restarted

TASK = peers.Task(position=1e-5, orientation=1e-5, seconds=0.2)


class Lucky(Restarted):
    """Finds what it is told to find at its n-th try."""

    name = "lucky"

    def __init__(self, body, answers, task=TASK):
        super().__init__(peers.serial_chain(body), task)
        self.answers, self.starts = list(answers), []

    def aim(self, target):
        self.target = target

    def descend(self, q, deadline):
        self.starts.append(q)
        return self.answers.pop(0) if self.answers else None


def test_it_starts_where_it_is_told_and_goes_on_within_the_limits():
    body = planar_chain(2, limits=(-1.0, 2.0))
    peer = Lucky(body, [None, None, np.array([0.5, 0.5])])
    start = np.array([0.1, 0.2])
    np.testing.assert_array_equal(peer.solve(np.eye(4), start), [0.5, 0.5])
    np.testing.assert_array_equal(peer.starts[0], start)
    assert len(peer.starts) == 3
    assert all((q >= -1.0).all() and (q <= 2.0).all() for q in peer.starts)


def test_whole_turns_are_taken_off_and_broken_limits_are_no_answer():
    body = planar_chain(2, limits=(-1.0, 2.0))
    peer = Lucky(body, [np.array([0.5, 3.0]), np.array([0.5 + 4.0 * math.pi, 0.5 - 2.0 * math.pi])])
    np.testing.assert_allclose(peer.solve(np.eye(4), np.zeros(2)), [0.5, 0.5], atol=1e-12)


@pytest.mark.timed
def test_it_gives_up_when_time_is_up():
    peer = Lucky(planar_chain(2), [], TASK)
    begin = time.perf_counter()
    assert peer.solve(np.eye(4), np.zeros(2)) is None
    assert time.perf_counter() - begin >= TASK.seconds and len(peer.starts) > 1


def test_a_contest_hands_slow_solvers_a_share():
    body = planar_chain(2)
    slow = Lucky(body, [], TASK._replace(seconds=1e-6))
    tally = contest(body, "tip", TASK, [slow], 2 * BLOCK + 1, "slow")[0]
    assert len(tally.seconds) == 2 * BLOCK // slow.slow + 1


@pytest.mark.parametrize(
    ("name", "base", "tip"), [("panda", "panda_link0", "panda_link8"), ("ur5", "base_link", "tool0")]
)
def test_pinocchio_solves_what_the_judge_accepts(name, base, tip, rng):
    body = load(name).chain(base, tip)
    (peer,) = peers.build("pinocchio", peers.serial_chain(body), TASK)
    judge = Judge(body, tip, TASK)
    found = 0
    for _ in range(10):
        target = body.forward(body.sample(rng))[tip]
        answer = peer.solve(target, body.sample(rng))
        assert answer is None or judge.right(answer, target)
        found += answer is not None
    assert found >= 6


def test_links_can_have_mass(tmp_path):
    path = tmp_path / "arm.urdf"
    path.write_text(peers.serial_chain(planar_chain(2)).urdf(mass=1.5))
    assert load(path).mass == pytest.approx(4 * 1.5)
