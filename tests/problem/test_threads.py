"""Threads that change objectives, worlds and problems while others construct, and processes that are forked meanwhile."""

import copy
import itertools
import os
import sys
import threading
import time

import numpy as np
import pytest

import memetik as mk
from tests.conftest import COMPILED

BODY = mk.load("panda")
HAND, POSE = "panda_hand", BODY.forward(BODY.home + 0.2)["panda_hand"]
SECONDS = 0.5
BUDGET = mk.Budget(evaluations=200)


def meanwhile(*works):
    """Call all of them again and again, each in a thread of its own, and raise what they raise."""
    raised, end = [], time.monotonic() + SECONDS

    def run(work):
        try:
            for k in itertools.count():
                work(k)
                if time.monotonic() > end or raised:
                    return
        except BaseException as error:
            raised.append(error)

    threads = [threading.Thread(target=run, args=(work,)) for work in works]
    usual = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)  # so that threads are interrupted wherever they are
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(usual)
    for error in raised:
        raise error


def bits(problem):
    solution = mk.solve(problem, BODY.home, budget=BUDGET)
    return solution.q.tobytes(), solution.status


def same_as_fresh(problem):
    """Whether a problem that was changed by threads answers as one that is made of the same objectives again."""
    return bits(problem) == bits(copy.deepcopy(problem))


def test_an_objective_changes_while_problems_are_constructed():
    pose = mk.Pose(HAND, POSE)
    kept = mk.Problem(BODY, [pose, mk.Displacement(weight=0.1)])

    def weigh(k):
        pose.weight = 1.0 + k % 7
        pose.mask = (1, 1, 1, 1, 1, k % 2)

    meanwhile(weigh, lambda k: mk.Problem(BODY, pose), lambda k: mk.Problem(BODY, pose), lambda k: bits(kept))
    assert same_as_fresh(kept)


def test_obstacles_change_their_number_while_problems_are_constructed_and_solved():
    distance = mk.Distance([HAND, "panda_link5"], [(0.5, 0.1, 0.4, 0.1)])
    kept = mk.Problem(BODY, [mk.Pose(HAND, POSE), distance])

    def move(k):
        distance.obstacles = [(0.5, 0.1, 0.1 * each, 0.05) for each in range(1 + k % 3)]

    meanwhile(move, move, lambda k: mk.Problem(BODY, distance), lambda k: bits(kept), lambda k: distance.obstacles)
    assert same_as_fresh(kept)


def test_obstacles_leave_a_world_while_somebody_begins_to_keep_off_it():
    world = mk.World({"table": mk.Shape("box", (1.0, 1.0, 0.1), mk.translation(0.5, 0, -0.2))}, capacity=2)
    kept = mk.Problem(BODY, [mk.Pose(HAND, POSE), mk.Distance([HAND, "panda_link5"], world)])
    ball = mk.Shape("sphere", (0.05,))

    def come_and_go(k):
        world.add(f"ball {k % 5}", ball, mk.translation(0.5, 0.1 * (k % 5), 0.4), touching=(HAND,) if k % 3 else ())
        if k >= 3:
            world.remove(f"ball {(k - 3) % 5}")

    def construct(k):
        mk.Problem(BODY, mk.Distance([HAND, "panda_link5"], world))

    def look(k):
        dict(zip(world, world.shapes, strict=False))
        copy.deepcopy(world)

    meanwhile(come_and_go, construct, construct, lambda k: bits(kept), look)
    assert same_as_fresh(kept)


def test_no_target_is_lost_while_problems_are_constructed():
    """The numbers of a target move into the problem that is compiled last; what is assigned meanwhile must move with them."""
    pose, place = mk.Pose(HAND, POSE), mk.Position(HAND, (0.4, 0.0, 0.4))
    problems = [mk.Problem(BODY, [pose, place])]
    lost = []

    def retarget(k):
        T = mk.translation(0.4, 0.0, 0.1 + 1e-6 * k)
        pose.target, place.target = T, T[:3, 3]
        known = problems[-1]
        data = known.compiled.data
        if not np.array_equal(pose.target, T) or not np.array_equal(place.target, T[:3, 3]):
            lost.append(k)
        for objective, wanted in ((pose, T[:3, 3]), (place, T[:3, 3])):
            _, target, _ = objective.target_kind()
            at = target.place(data)
            if not np.array_equal(data[at + 4 : at + 7], wanted):
                lost.append(k)

    def construct(k):
        mk.Problem(BODY, [pose, place])

    meanwhile(retarget, construct)
    assert not lost


def test_a_change_while_a_problem_is_compiled_is_not_lost():
    """The change comes when an objective has packed itself already."""
    pose = mk.Pose(HAND, POSE)
    changing = mk.JointValue("panda_joint1", 0.4)
    pack = mk.JointValue.pack

    def change(packer):
        pack(changing, packer)
        if pose.weight == 1.0:
            pose.weight = 3.0

    vars(changing)["pack"] = change
    problem = mk.Problem(BODY, [pose, changing])
    assert problem.compiled.terms["weight"].tolist() == [3.0, 3.0, 1.0]


def test_locks_and_limits_change_while_problems_are_solved():
    problem = mk.Problem(BODY, mk.Pose(HAND, POSE))

    def change(k):
        problem.lock = {"panda_joint3": 0.1 * (k % 2)} if k % 3 else {}
        problem.limits = {"panda_joint1": (-0.1 * (1 + k % 4), 2.0)}

    meanwhile(change, lambda k: bits(problem), lambda k: copy.deepcopy(problem))
    assert same_as_fresh(problem)


@pytest.mark.only_if(hasattr(os, "fork") and COMPILED, "systems that fork")
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_a_process_forked_while_a_problem_is_constructed_can_construct_and_solve():
    pose = mk.Pose(HAND, POSE)
    expected = bits(mk.Problem(BODY, pose))
    world = mk.World({"ball": mk.Shape("sphere", (0.05,), mk.translation(2, 0, 0))})
    forks = itertools.count(1)

    def construct(k):
        mk.Problem(BODY, [mk.Pose(HAND, POSE), mk.Distance(HAND, world)])

    def fork(k):
        child = os.fork()
        if child == 0:
            world.move("ball", mk.translation(2, 1, 0))
            mk.Problem(BODY, [mk.Pose(HAND, POSE), mk.Distance(HAND, world)])
            os._exit(0 if bits(mk.Problem(BODY, mk.Pose(HAND, POSE))) == expected else 1)
        assert ends_well(child)
        next(forks)

    meanwhile(construct, construct, fork)
    assert next(forks) > 1


def ends_well(child, patience=10.0):
    """Whether a process ends without an error, and without being ended."""
    latest = time.monotonic() + patience
    while time.monotonic() < latest:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            return status == 0
        time.sleep(0.01)
    os.kill(child, 9)
    os.waitpid(child, 0)
    return False
