"""plan: ways that check_motion and MuJoCo agree are free, the same for the same seed, and reasons where there is none."""

import threading
import time

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import memetik as mk
from memetik.errors import ProblemError
from memetik.problem.cancel import CancelToken
from tests.naive.motions import Judge, crowded, straight

ROUNDING = 1e-6  # m, of MuJoCo's distances
FINGERS = {"panda_finger_joint1": 0.04}


def arm_and_post():
    """A Panda, a post in front of it, and postures to either side."""
    body = mk.load("panda")
    world = mk.World({"post": mk.Shape("cylinder", (0.03, 0.9), mk.translation(0.45, 0.0, 0.45))})
    hand = mk.Position("panda_hand", (0.4, -0.3, 0.4))
    problem = mk.Problem(body, [hand, mk.Distance(body, world), mk.SelfDistance(body)], lock=FINGERS)
    left = mk.solve(problem).q
    hand.target = (0.4, 0.3, 0.4)
    return body, world, hand, problem, left


def sphere_arm():
    """Six links of a snake in the plane, covered by spheres, and a wall with a gap on the way."""
    body = mk.build.planar_chain([0.2] * 6)
    shapes = [mk.Shape("sphere", (0.03,), mk.translation(x, 0.0, 0.0)) for x in (0.05, 0.1, 0.15)]
    parents = {joint.parent for joint in body.joints.values()}
    links = [mk.build.Link(name, shapes=shapes if name in parents else ()) for name in body.links]
    return mk.Body("snake", links, list(body.joints.values()))


# ---- Ways -----------------------------------------------------------------------------------------------------


def test_a_way_around_a_post_is_free_by_check_motion_and_by_mujoco():
    body, world, hand, problem, left = arm_and_post()
    found = mk.plan(problem, left, hand)
    assert found and found.success and found.status == mk.Status.REACHED
    assert_array_equal(found.q[0], left)
    assert_allclose(body.forward(found.q[-1], "panda_hand")[:3, 3], hand.target, atol=1e-4)
    assert_array_equal(found.q[-1], found.goals[found.goal])
    assert found.check_motion()
    judge = Judge(body, world)
    for one, two in zip(found.q[:-1], found.q[1:], strict=True):
        assert judge.least(straight(one, two, 60)) >= -ROUNDING
    assert found.length == pytest.approx(np.linalg.norm(np.diff(found.q, axis=0), axis=1).sum())
    assert "proved" in found.explain()


@pytest.mark.parametrize("name", ["panda", "ur5"])
def test_ways_in_crowded_worlds_are_proved(name):
    body, world = crowded(name)
    problem = mk.Problem(body, [mk.SelfDistance(body), mk.Distance(body, world)])
    rng = np.random.default_rng(3)

    def free():
        while not mk.Solution.of(problem, q := body.sample(rng)).success:
            pass
        return q

    for _ in range(6):
        found = mk.plan(problem, free(), free(), budget=mk.Budget(evaluations=2_000_000))
        if found:
            assert found.check_motion(), found.check_motion()
            assert (found.q >= body.lower - 1e-12).all() and (found.q <= body.upper + 1e-12).all()


def test_the_same_call_gives_the_same_way_and_another_seed_another():
    _, _, hand, problem, left = arm_and_post()
    first, again = (mk.plan(problem, left, hand, seed=3) for _ in range(2))
    assert_array_equal(first.q, again.q)
    assert first.evaluations == again.evaluations
    others = [mk.plan(problem, left, hand, seed=seed) for seed in range(4, 8)]
    assert any(other.q.shape != first.q.shape or (other.q != first.q).any() for other in others)


def test_shortening_makes_a_way_no_longer():
    _, _, hand, problem, left = arm_and_post()
    for seed in range(3):
        rough, short = (mk.plan(problem, left, hand, seed=seed, shorten=n) for n in (0, 60))
        assert short.length <= rough.length + 1e-12


def test_any_of_several_postures_will_do():
    _, _, _hand, problem, left = arm_and_post()
    goals = np.array([each.q for each in mk.solve_all(problem, left, count=4)])
    found = mk.plan(problem, left, goals)
    assert_array_equal(found.q[-1], goals[found.goal])
    blocked = np.array([left, goals[0]])
    blocked[0, 3] = -0.0699  # stretched out, through the post or not: the other one stays
    assert mk.plan(problem, left, blocked)


def test_without_a_goal_it_plans_to_a_solution_of_the_problem():
    body, _, hand, problem, left = arm_and_post()
    found = mk.plan(problem, left)
    assert_allclose(body.forward(found.q[-1], "panda_hand")[:3, 3], hand.target, atol=1e-4)


def test_a_goal_that_the_problem_does_not_have():
    body, _, _, problem, left = arm_and_post()
    pose = mk.Pose("panda_hand", mk.transform((0.3, 0.35, 0.4), mk.euler(180, 0, 0, degrees=True)))
    for _ in range(2):  # the second time what was compiled is known
        found = mk.plan(problem, left, pose)
        assert found.check_motion()
        assert_allclose(body.forward(found.q[-1], "panda_hand"), pose.target, atol=1e-3)


def test_locked_joints_stay_and_others_that_nothing_reads():
    body = mk.load("panda")
    world = mk.World({"post": mk.Shape("cylinder", (0.03, 0.9), mk.translation(0.45, 0.0, 0.45))})
    hand = mk.Position("panda_hand", (0.4, 0.3, 0.4))
    problem = mk.Problem(body, [hand, mk.Distance(body, world)], lock={"panda_joint3": 0.1})
    start = mk.solve(mk.Problem(body, [mk.Position("panda_hand", (0.4, -0.3, 0.4)), mk.Distance(body, world)])).q
    found = mk.plan(problem, start, hand)
    assert (found.q[:, body.index("panda_joint3")] == 0.1).all()
    finger = body.index("panda_finger_joint1")
    assert (found.q[:, finger] == start[finger]).all()


def test_only_the_named_joints_move():
    body = sphere_arm()
    problem = mk.Problem(
        body, [mk.Distance(body, mk.World({"ball": mk.Shape("sphere", (0.1,), mk.translation(1.05, 0.5, 0))}))]
    )
    start, goal = body.home.copy(), body.home.copy()
    goal[0] = 1.0
    names = list(body.joint_names[:3])
    found = mk.plan(problem, start, goal, joints=names)
    assert found
    assert (found.q[:, 3:] == start[3:]).all()
    with pytest.raises(ProblemError, match=body.joint_names[0]):
        mk.plan(problem, start, goal, joints=[body.joint_names[5]])


def test_a_clearance_is_kept():
    _, _, hand, problem, left = arm_and_post()
    found = mk.plan(problem, left, hand, clearance=0.01)
    assert found.check_motion(clearance=0.01)


def test_what_the_hand_holds_keeps_off_the_world():
    body, world, hand, _problem, left = arm_and_post()
    world.add("stick", mk.Shape("capsule", (0.01, 0.3), body.forward(left, "panda_hand") @ mk.translation(0, 0, 0.2)),
              touching=["panda_leftfinger", "panda_rightfinger"])  # fmt: skip
    holding = world.attach("stick", body, "panda_hand", left, touching=["panda_leftfinger", "panda_rightfinger"])
    held = mk.Problem(holding, [hand, mk.Distance(holding, world), mk.SelfDistance(holding)], lock=FINGERS)
    found = mk.plan(held, left, hand)
    assert found, found.explain()
    assert found.check_motion()


def test_a_world_that_changes_counts_from_the_next_call_on():
    _, world, hand, problem, left = arm_and_post()
    goal = mk.plan(problem, left, hand).q[-1]
    world.move("post", mk.translation(5.0, 0.0, 0.0))
    assert len(mk.plan(problem, left, goal).q) == 2
    world.move("post", mk.translation(0.45, 0.0, 0.45))
    assert mk.plan(problem, left, goal).check_motion()


def test_a_way_in_time_keeps_the_limits():
    body, _, hand, problem, left = arm_and_post()
    found = mk.plan(problem, left, hand)
    trajectory = found.retime(velocity=1.0, acceleration=3.0)
    moved = trajectory.sample(500)
    assert np.abs(moved.qd).max() <= 1.0 + 1e-9
    assert np.abs(moved.qdd).max() <= 3.0 + 1e-6
    assert_allclose(moved.q[[0, -1]], found.q[[0, -1]], atol=1e-9)
    assert len(found.sample(0.05)) > len(found.q)
    assert found.to_columns()["way"][-1] == pytest.approx(found.length)
    assert len(found.to_joint_trajectory()["points"]) == len(found.q)
    assert body.joint_names[0] in found.to_columns()


def test_trees_outgrow_the_room_that_they_begin_with():
    """A ball on two slides on one side of a wall, its goal on the other."""
    builder = mk.build.BodyBuilder("table")
    builder.add("base", "x", "prismatic", "cart", axis=(1, 0, 0), lower=-2, upper=2)
    builder.add(
        "cart", "y", "prismatic", "ball", axis=(0, 1, 0), lower=-2, upper=2, shapes=[mk.Shape("sphere", (0.05,))]
    )
    body = builder.build()
    wall = {"low": mk.Shape("box", (0.1, 2.4, 0.2), mk.translation(0.0, -0.9, 0.0)),
            "high": mk.Shape("box", (0.1, 1.0, 0.2), mk.translation(0.0, 1.6, 0.0))}  # fmt: skip
    problem = mk.Problem(body, [mk.Distance(body, mk.World(wall))])
    closed = mk.Problem(
        body,
        [mk.Distance(body, mk.World({**wall, "gap": mk.Shape("box", (0.1, 1.0, 0.2), mk.translation(0.0, 0.7, 0.0))}))],
    )
    found = mk.plan(closed, [-1.0, 0.0], [1.0, 0.0], extension=0.1, budget=mk.Budget(evaluations=100_000))
    assert not found
    assert max(found.found.nodes) > 1024
    through = mk.plan(problem, [-1.0, 0.0], [1.0, 0.0], extension=0.1)
    assert through.check_motion()
    assert 2.0 < through.length < 2.9


# ---- What holds all along ---------------------------------------------------------------------------------------


def level_cup():
    """A hand that points down on one side of a post, and is to get to the other side so."""
    body = mk.load("panda")
    world = mk.World({"post": mk.Shape("cylinder", (0.04, 0.7), mk.translation(0.5, 0.0, 0.35))})
    level = mk.Direction("panda_hand", (0, 0, -1), tolerance=0.05)
    reach = mk.Position("panda_hand", (0.5, -0.35, 0.3))
    problem = mk.Problem(body, [reach, level, mk.Distance(body, world), mk.SelfDistance(body)], lock=FINGERS)
    start = mk.solve(problem).q
    reach.target = (0.5, 0.35, 0.3)
    return body, problem, level, reach, start


def test_a_cup_stays_level_all_along():
    body, problem, level, reach, start = level_cup()
    found = mk.plan(problem, start, reach, along=level)
    assert found, found.explain()
    assert found.check_motion()
    tilts = [np.arccos(-body.forward(q, "panda_hand")[2, 2]) for q in found.sample(0.01)]
    assert max(tilts) <= 0.05
    again = mk.plan(problem, start, reach, along=level)
    assert_array_equal(found.q, again.q)
    free = mk.plan(problem, start, found.q[-1])
    assert max(np.arccos(-body.forward(q, "panda_hand")[2, 2]) for q in free.sample(0.01)) > 0.05


def test_start_and_goal_that_do_not_hold_what_holds_all_along():
    _body, problem, level, reach, start = level_cup()
    tilted = start.copy()
    tilted[5] += 0.3
    assert "start does not satisfy" in mk.plan(problem, tilted, reach, along=level).explain()
    assert "goal does not satisfy" in mk.plan(problem, start, tilted, along=level).explain()
    assert mk.plan(problem, start, reach, along=level, budget=mk.Budget(evaluations=100)).explain().startswith("No way")


# ---- Reasons --------------------------------------------------------------------------------------------------


def test_a_goal_in_contact_is_named():
    _, world, hand, problem, left = arm_and_post()
    goal = mk.plan(problem, left, hand).q[-1]
    world.add("ball", mk.Shape("sphere", (0.1,), mk.translation(0.4, 0.3, 0.4)))
    found = mk.plan(problem, left, goal)
    assert not found and found.status == mk.Status.CLOSEST and found.goal == -1
    assert "ball" in found.explain() and "panda_" in found.explain()
    back = mk.plan(problem, goal, left)
    assert back.status == mk.Status.INVALID and "start" in back.explain() and "ball" in back.explain()
    with pytest.raises(ProblemError, match="no path"):
        back.check_motion()
    with pytest.raises(ProblemError, match="no path"):
        back.retime()


def test_a_goal_that_cannot_be_reached_is_explained():
    _, _, _, problem, left = arm_and_post()
    found = mk.plan(problem, left, mk.Position("panda_hand", (3.0, 0.0, 0.4)))
    assert not found
    assert "cannot be reached" in found.explain()


def test_joints_beyond_their_limits_are_named():
    _body, _, _, problem, left = arm_and_post()
    far = left.copy()
    far[3] = 1.0
    assert "panda_joint4" in mk.plan(problem, far, left).explain()
    assert "panda_joint4" in mk.plan(problem, left, far).explain()
    assert mk.plan(problem, far, left).status == mk.Status.INVALID


def walled():
    """A slide with a ball between two walls, and a goal behind one of them."""
    builder = mk.build.BodyBuilder("slider")
    builder.add("base", "slide", "prismatic", "car", axis=(1, 0, 0), lower=-5, upper=5,
                shapes=[mk.Shape("sphere", (0.1,))])  # fmt: skip
    body = builder.build()
    wall = mk.Shape("box", (0.01, 1.0, 1.0), mk.translation(1.0, 0.0, 0.0))
    return mk.Problem(body, [mk.Distance("car", mk.World({"wall": wall}))])


def test_a_thin_wall_is_not_passed():
    problem = walled()
    found = mk.plan(problem, [0.0], [2.0], budget=mk.Budget(evaluations=100_000))
    assert not found and not found.timed_out
    assert "evaluations" in found.explain()
    assert mk.plan(problem, [0.0], [0.85])


def test_time_ends_a_search():
    problem = walled()
    mk.plan(problem, [0.0], [2.0], budget=mk.Budget(evaluations=1000))
    begin = time.perf_counter()
    found = mk.plan(problem, [0.0], [2.0], budget=mk.Budget(evaluations=10**12, seconds=0.1))
    assert found.timed_out and "seconds" in found.explain()
    assert 0.09 <= time.perf_counter() - begin < 1.0


def test_another_thread_cancels_a_search():
    problem, token = walled(), CancelToken()
    timer = threading.Timer(0.1, token.cancel)
    timer.start()
    found = mk.plan(problem, [0.0], [2.0], budget=mk.Budget(evaluations=10**12, seconds=30.0, token=token))
    assert not found
    assert found.seconds < 10.0


def test_no_room_between_start_and_wall_is_told():
    problem = walled()
    found = mk.plan(problem, [0.89495], [0.0])  # 0.05 mm from the wall, less than the resolution
    assert not found and "resolution" in found.explain()
    assert mk.plan(problem, [0.89495], [0.0], resolution=1e-5)


def test_wrong_arguments_are_named():
    _, _, hand, problem, left = arm_and_post()
    with pytest.raises(ProblemError, match="goal has shape"):
        mk.plan(problem, left, [0.0, 1.0])
    with pytest.raises(ProblemError, match="no objectives"):
        mk.plan(problem, left, [])
    with pytest.raises(ProblemError, match="extension"):
        mk.plan(problem, left, hand, extension=0.0)
    with pytest.raises(ProblemError, match="only says what keeps apart"):
        mk.plan(walled(), [0.0])


# ---- Without the compiler, too ----------------------------------------------------------------------------------


@pytest.mark.quick
def test_two_links_go_around_a_post():
    """Small enough to run as plain Python: spheres against a sphere, a box and each other."""
    body = mk.build.planar_chain([0.4, 0.3])
    shapes = [mk.Shape("sphere", (0.04,), mk.translation(x, 0.0, 0.0)) for x in (0.1, 0.25)]
    parents = {joint.parent for joint in body.joints.values()}
    links = [mk.build.Link(name, shapes=shapes if name in parents else ()) for name in body.links]
    arm = mk.Body("arm", links, list(body.joints.values()))
    solids = {
        "post": mk.Shape("sphere", (0.05,), mk.translation(0.55, 0.0, 0.0)),
        "wall": mk.Shape("box", (0.1, 2.0, 0.1), mk.translation(-0.9, 0.0, 0.0)),
    }
    problem = mk.Problem(arm, [mk.Distance(arm, mk.World(solids)), mk.SelfDistance(arm)])
    start, goal = np.array([0.7, 0.1]), np.array([-0.7, -0.1])
    assert not mk.motion.check_motion(problem, np.array([start, goal]))
    plan = mk.plan(problem, start, goal, shorten=6, budget=mk.Budget(evaluations=20_000))
    assert plan, plan.explain()
    assert len(plan.q) > 2 and mk.motion.check_motion(problem, plan.q)
    blocked = mk.plan(problem, start, np.zeros(2), budget=mk.Budget(evaluations=200))
    assert not blocked and "post" in blocked.explain()
