"""The judge of contacts: what it skips hides nothing, and it knows who ran into whom."""

import numpy as np
import pytest

import memetik as mk

pytest.importorskip("pinocchio", reason="pip install pin")
pytest.importorskip("coal", reason="pip install pin")

from memetik_lab.contact_judge import TOLERANCE, ContactJudge

HAND = "panda_hand"


@pytest.fixture(scope="module")
def body():
    return mk.load("panda")


def path_of(body, ticks):
    """A smooth path of all joints, the fingers included, and then the way from home to a posture in which links overlap."""
    rng = np.random.default_rng(0)
    phase, pace = rng.uniform(0.0, 6.0, body.dof), rng.uniform(1.0, 3.0, body.dof)
    t = np.arange(ticks)[:, None] * 4e-3
    middle, half = 0.5 * (body.upper + body.lower), 0.4 * (body.upper - body.lower)
    folded = body.vector({"panda_joint2": 1.7, "panda_joint4": -3.0, "panda_joint6": 0.1})
    return np.concatenate([middle + half * np.sin(phase + pace * t), np.linspace(body.home, folded, ticks // 2)])


def tumbling(k):
    return mk.transform((0.4, 0.3 * np.sin(0.01 * k), 0.5), mk.euler(0.003 * k, 0.002 * k, 0.0))


def judged(body, path, *, exhaustive):
    world = mk.World({"post": mk.Shape("cylinder", (0.05, 0.9), mk.translation(-0.4, 0.0, 0.45))})
    world.add("box", mk.Shape("box", (0.3, 0.1, 0.05)), tumbling(0))
    judge = ContactJudge(body, world, mk.SelfDistance(body).pairs, exhaustive=exhaustive)
    found = []
    for k, q in enumerate(path):
        judge.place("box", tumbling(k))
        new = [(each.first, each.second, each.of_world, each.by_robot) for each in judge.check(q)]
        found.append((sorted(new), sorted(judge.overlaps()), round(judge.depth, 5)))
    return found, judge


def test_skipping_hides_nothing(body):
    path = path_of(body, 600)
    found, judge = judged(body, path, exhaustive=False)
    every, thorough = judged(body, path, exhaustive=True)
    assert found == every
    kinds = {(of_world, second) for new, _, _ in found for _, second, of_world, _ in new}
    assert {(True, "post"), (True, "box")} < kinds and any(not of_world for of_world, _ in kinds)
    assert judge.calls < 0.2 * thorough.calls


def test_distances_change_no_more_than_their_bounds(body):
    """Of every pair, by joints; what the budgets stand on."""
    judge = ContactJudge(body, mk.World({"post": mk.Shape("sphere", (0.1,), mk.translation(0.3, 0.2, 0.5))}), [])
    rng = np.random.default_rng(1)
    for _ in range(50):
        q = body.sample(rng)
        for k in range(body.dof):
            moved = q.copy()
            moved[k] = rng.uniform(body.lower[k], body.upper[k])
            judge._pose(q)
            before = np.array([judge._one(pair) for pair in range(len(judge._first))])
            judge._pose(moved)
            after = np.array([judge._one(pair) for pair in range(len(judge._first))])
            free = (before > 0.0) & (after > 0.0)
            assert (np.abs(after - before) <= judge._reach[:, k] * abs(moved[k] - q[k]) + TOLERANCE)[free].all()


def test_gradients_of_near_pairs(body):
    ball = mk.Shape("sphere", (0.05,), mk.translation(0.55, 0.1, 0.6))
    judge = ContactJudge(body, mk.World({"ball": ball}), [])
    q = body.home
    judge.check(q)
    near = min(judge.near(1.0), key=lambda each: each.distance)
    step = 1e-5 * np.eye(body.dof)
    slopes = [(judge.distance(q + each) - judge.distance(q - each)) / 2e-5 for each in step]
    assert near.second == "ball" and near.distance == pytest.approx(judge.distance(q), abs=TOLERANCE)
    np.testing.assert_allclose(near.jacobian, slopes, atol=2e-3)


@pytest.mark.parametrize("by_robot", [True, False])
def test_who_ran_into_whom(body, by_robot):
    q = body.home
    at = body.forward(q)[HAND][:3, 3]
    beside = at + np.array([0.0, 0.4, 0.0])
    judge = ContactJudge(body, mk.World({"ball": mk.Shape("sphere", (0.05,), mk.translation(*beside))}), [])
    away = q.copy()
    away[0] += 1.0
    first, second = (at, at) if by_robot else (beside, at)
    judge.place("ball", mk.translation(*first))
    assert judge.check(away if by_robot else q) == []
    judge.place("ball", mk.translation(*second))
    new = judge.check(q)
    assert {each.by_robot for each in new} == {by_robot} and {each.second for each in new} == {"ball"}
    assert judge.contacts() == (True, False) and judge.depth > 0.01


def test_links_that_may_touch_and_links_that_do_not_move_are_left_out(body):
    world = mk.World()
    world.add("table", mk.Shape("box", (2.0, 2.0, 0.4)), mk.translation(0.0, 0.0, 0.1), touching=["panda_link1"])
    judge = ContactJudge(body, world, [])
    judge.check(body.home)
    assert "panda_link0" not in {first for first, _ in judge.overlaps()}
    assert "panda_link1" not in {first for first, _ in judge.overlaps()}


def test_joints_without_limits_are_refused():
    link, tip = mk.build.Link("root"), mk.build.Link("tip", shapes=(mk.Shape("sphere", (0.1,)),))
    body = mk.Body("wheel", [link, tip], [mk.build.Joint("turn", "continuous", "root", "tip")])
    with pytest.raises(mk.errors.BodyError, match="without limits"):
        ContactJudge(body, mk.World(), [])
