"""Servos among obstacles: no tick from free into contact, as coal says at poses by Pinocchio, in a world that changes."""

import copy
import math
import pickle

import numpy as np
import pytest

import memetik as mk
from memetik.kernels.runtime.record import table_of
from memetik_lab.claims.servo_obstacles import reversals
from memetik_lab.contact_judge import ContactJudge
from tests.stress.servo import RATE, broken
from tests.stress.servo_obstacles import make_servo
from tests.stress.servo_worlds import ROBOTS, draw_trial

DOWN = mk.axis_angle((1.0, 0.0, 0.0), math.pi)
POST = mk.Shape("cylinder", (0.03, 0.9), mk.translation(0.45, 0.0, 0.45))


@pytest.fixture(scope="module")
def panda():
    return mk.load("panda").fix({"panda_finger_joint1": 0.035})


def hand_at(x, y, z):
    return mk.transform((x, y, z), DOWN)


def kept_apart(body, world, pose, clearance=0.01):
    """A hand that follows a pose among obstacles, and the objective that it does so by."""
    wanted = mk.Pose("panda_hand", pose)
    problem = mk.Problem(
        body, [wanted, mk.Distance(body, world, clearance=clearance), mk.SelfDistance(body, ignore="always")]
    )
    return problem, wanted


def run(servo, wanted, targets, judge, before=None):
    """All postures, and how many ticks coal finds in contact."""
    path, touching = [servo.q], 0
    judge.check(servo.q)
    for k, target in enumerate(targets):
        for name, pose in (before(k) if before else {}).items():
            judge.place(name, pose)
        path.append(servo.step({wanted: target}))
        judge.check(path[-1])
        touching += any(judge.contacts())
    return np.array(path), touching


def judged(body, world):
    return ContactJudge(body, world, mk.SelfDistance(body, ignore="always").pairs)


def limits_broken(servo, path):
    problem = servo.problem
    return broken(path, problem.lower, problem.upper, servo.velocity_limit, np.minimum(servo.acceleration_limit, 1e12))


@pytest.mark.parametrize("acceleration", [None, math.inf])
@pytest.mark.parametrize("jumps", [False, True])
def test_a_post_in_the_way_is_never_touched(panda, acceleration, jumps):
    world = mk.World({"post": POST})
    problem, wanted = kept_apart(panda, world, hand_at(0.5, -0.3, 0.4))
    start = mk.solve(problem).q
    servo = mk.Servo(problem, start=start, rate=RATE, acceleration=acceleration)
    ys = [0.3] * 1500 if jumps else np.linspace(-0.3, 0.3, 1500)
    path, touching = run(servo, wanted, [hand_at(0.5, y, 0.4) for y in ys], judged(panda, world))
    assert touching == 0
    assert not limits_broken(servo, path)
    assert np.abs(path[-1] - start).max() > 0.1


@pytest.mark.parametrize("rate", [100.0, RATE])
@pytest.mark.parametrize("synchronise", [True, False])
def test_a_post_is_not_touched_with_limited_jerk(panda, rate, synchronise):
    """The postures that are returned are those that were looked at: their third differences are within the limit."""
    world = mk.World({"post": POST})
    problem, wanted = kept_apart(panda, world, hand_at(0.5, -0.3, 0.4))
    start = mk.solve(problem).q
    jerk = np.linspace(150.0, 400.0, panda.dof)
    servo = mk.Servo(problem, start=start, rate=rate, jerk=jerk, acceleration=8.0, synchronise=synchronise)
    targets = [hand_at(0.5, 0.3 * (-1.0) ** (k * 1.0 // (0.7 * rate)), 0.4) for k in range(int(2.0 * rate))]
    path, touching = run(servo, wanted, targets, judged(panda, world))
    assert touching == 0
    assert not broken(
        path, problem.lower, problem.upper, servo.velocity_limit, servo.acceleration_limit, jerk, rate=rate
    )
    assert np.abs(path[-1] - start).max() > 0.1
    found = np.abs(np.diff(path, 3, axis=0)).max(axis=0) * rate**3 / jerk
    assert 0.3 < found.max() <= 1.0 + 1e-6
    assert servo.q == pytest.approx(path[-1], abs=0.0) and servo.velocity == pytest.approx(
        (path[-1] - path[-2]) * rate, abs=1e-9
    )


def test_distance_and_errors_are_those_of_the_mean_that_is_returned(panda):
    home = panda.forward(panda.home)["panda_hand"]
    world = mk.World({"table": mk.Shape("box", (0.3, 0.3, 0.1), mk.translation(*(home[:3, 3] - (0.0, 0.0, 0.25))))})
    problem, wanted = kept_apart(panda, world, home)
    servo = mk.Servo(problem, rate=RATE, jerk=100.0)
    down = home.copy()
    down[2, 3] -= 0.1
    for _ in range(250):
        q = servo.step({wanted: down})
        off = np.linalg.norm(panda.forward(q)["panda_hand"][:3, 3] - down[:3, 3])
        assert servo.errors[wanted][0] == pytest.approx(off, abs=1e-12)
    assert np.abs(servo.velocity).max() > 0.1
    there = mk.Servo(problem, start=q, rate=RATE)
    assert servo.distance == pytest.approx(there.distance, abs=1e-12)


def test_a_jerk_that_takes_forever_is_refused(panda):
    problem = mk.Problem(panda, mk.Pose("panda_hand", hand_at(0.5, 0.0, 0.4)))
    with pytest.raises(mk.errors.ProblemError, match=r"larger jerk"):
        mk.Servo(problem, jerk=1e-6)
    with pytest.raises(mk.errors.ProblemError, match=r"larger jerk"):
        mk.Servo(problem, acceleration=math.inf, jerk=100.0)


def test_a_tick_whose_time_is_over_brakes_and_stays_free(panda):
    """With no time at all, no motion is tried: the joints come to rest on the way that was tried before."""
    world = mk.World({"post": POST})
    problem, wanted = kept_apart(panda, world, hand_at(0.5, -0.3, 0.4))
    start = mk.solve(problem).q
    judge = judged(panda, world)
    servo = mk.Servo(problem, start=start, rate=RATE, budget=mk.Budget(seconds=5.0))
    path, touching = run(servo, wanted, [hand_at(0.5, 0.3, 0.4)] * 400, judge)
    assert touching == 0 and servo.velocity.any() and not servo.timed_out
    servo._own = servo._own._replace(seconds=1e-9)
    servo._table = table_of(servo._own)
    late, touching = run(servo, wanted, [hand_at(0.5, 0.3, 0.4)] * 1000, judge)
    assert touching == 0 and servo.timed_out and servo.braking
    assert not servo.velocity.any()
    assert not limits_broken(servo, np.concatenate([path, late[1:]]))


def test_the_hand_slides_along_and_goes_on(panda):
    """A target goes along a line that a ball bars in part; beyond it, the hand is where it should be."""
    home = panda.forward(panda.home)["panda_hand"]
    beside = home[:3, 3] + (0.09, -0.2, 0.0)
    world = mk.World({"ball": mk.Shape("sphere", (0.06,), mk.translation(*beside))})
    problem, wanted = kept_apart(panda, world, home)
    servo = mk.Servo(problem, rate=RATE)
    targets = np.tile(home, (2000, 1, 1))
    targets[:, 1, 3] -= np.linspace(0.0, 0.4, 2000)
    _, touching = run(servo, wanted, [*targets, *[targets[-1]] * 1500], judged(panda, world))
    assert touching == 0
    assert servo.success and servo.errors[wanted][0] < 1e-3


def test_an_obstacle_that_comes_near_is_evaded(panda):
    home = panda.forward(panda.home)["panda_hand"]
    begin = home[:3, 3] + (0.3, 0.0, 0.05)
    world = mk.World({"ball": mk.Shape("sphere", (0.05,), mk.translation(*begin))})
    problem, wanted = kept_apart(panda, world, home)
    servo = mk.Servo(problem, rate=RATE)

    def move(k):
        pose = mk.translation(*(begin - (0.3 * k / RATE, 0.0, 0.0)))
        world.move("ball", pose)
        return {"ball": pose}

    path, touching = run(servo, wanted, [home] * 1200, judged(panda, copy.deepcopy(world)), move)
    assert touching == 0
    assert not limits_broken(servo, path)
    assert np.linalg.norm(panda.forward(path[-1])["panda_hand"][:3, 3] - home[:3, 3]) > 0.01


def test_an_arm_beside_one_obstacle_gets_away_from_another():
    """A ball comes at a hand at 0.1 m/s. The wrist is a little closer to a post than its clearance: what the joints cannot do at
    once for the hand must not push the wrist towards the post, or nothing is left but to stand still and be run into."""
    trial = draw_trial(ROBOTS["g1"](), np.random.default_rng([0, 143]), 0.1)
    start = np.array(
        [
            0.16921, -0.31503, 0.51721, 1.0716, -0.03524, 2.0652, 1.97443, 1.97071, 0.30945, -0.47988, 1.16346, -0.15225,
            2.57497, 0.58086, 0.7578, 0.51275, -0.74173,
        ]
    )  # fmt: skip
    ball, way = np.array([-0.2078, 0.1467, 0.4459]), np.array([-0.0182, -0.0882, -0.0435])
    for name, place in (
        ("mover 0", (-0.0116, -0.2673, 0.4435)),
        ("mover 1", (-0.2347, 0.384, 0.2316)),
        ("mover 2", ball),
    ):
        trial.world.move(name, mk.transform(place, trial.world[name].pose[:3, :3]))
    trial = trial._replace(start=start)
    loop, judge = make_servo(trial, None), judged(trial.robot.body, trial.world)
    wanted = [[next(stream) for stream in trial.streams] for _ in range(1_720)][-1]
    judge.check(start)
    for k in range(300):
        moved = mk.transform(ball + way * k / RATE, trial.world["mover 2"].pose[:3, :3])
        trial.world.move("mover 2", moved)
        judge.place("mover 2", moved)
        judge.check(loop.step(wanted, {}))
        assert not any(judge.contacts())


def test_the_world_is_read_at_every_tick(panda):
    home = panda.forward(panda.home)["panda_hand"]
    world = mk.World({"ball": mk.Shape("sphere", (0.05,), mk.translation(2.0, 0.0, 0.0))}, capacity=2)
    problem, wanted = kept_apart(panda, world, home)
    servo = mk.Servo(problem, rate=RATE)
    servo.step({wanted: home})
    assert servo.success
    in_the_hand = mk.translation(*home[:3, 3])
    world.move("ball", in_the_hand)
    servo.step({wanted: home})
    assert not servo.success and servo.distance < 0.0
    world.move("ball", mk.translation(2.0, 0.0, 0.0))
    servo.step({wanted: home})
    assert servo.distance > 0.0
    world["cup"] = mk.Shape("box", (0.05, 0.05, 0.05), in_the_hand)  # within the capacity
    servo.step({wanted: home})
    assert servo.distance < 0.0
    world["cup"] = mk.Shape("box", (0.05, 0.05, 0.05), mk.translation(2.0, 1.0, 0.0))
    for k in range(3):  # beyond it
        world.add(f"more {k}", mk.Shape("sphere", (0.02,), in_the_hand))
    servo.step({wanted: home})
    assert servo.distance < 0.0
    for k in range(3):
        world.remove(f"more {k}")
    servo.step({wanted: home})
    assert servo.distance > 0.0


def test_a_root_that_moves_carries_the_body_into_the_world(panda):
    home = panda.forward(panda.home)["panda_hand"]
    far = home[:3, 3] + (0.3, 0.0, 0.0)
    world = mk.World({"ball": mk.Shape("sphere", (0.05,), mk.translation(*far))})
    wanted = mk.Pose("panda_hand", home)
    problem = mk.Problem(panda, [wanted, mk.Distance(panda, world, clearance=0.01)], root=np.eye(4))
    servo = mk.Servo(problem, rate=RATE)
    before = servo.distance
    problem.root = mk.translation(0.1, 0.0, 0.0)
    servo.step({wanted: home})
    assert servo.distance < before - 0.05


def test_what_limits_the_motion_has_a_name(panda):
    home = panda.forward(panda.home)["panda_hand"]
    below = home[:3, 3] - (0.0, 0.0, 0.25)
    world = mk.World({"table": mk.Shape("box", (0.3, 0.3, 0.1), mk.translation(*below))})
    problem, wanted = kept_apart(panda, world, home)
    servo = mk.Servo(problem, rate=RATE)
    down = home.copy()
    down[2, 3] -= 0.3
    assert servo.limited_by == ()
    for _ in range(1500):
        servo.step({wanted: down})
    assert servo.limited_by and all("table" in pair for pair in servo.limited_by)
    assert 0.01 <= servo.distance < 0.013
    exact = ContactJudge(panda, world, mk.SelfDistance(panda, ignore="always").pairs).distance(servo.q)
    assert servo.distance <= exact + 1e-6


def test_limits_and_locks_that_change_count_from_the_next_tick(panda):
    home = panda.forward(panda.home)["panda_hand"]
    wanted = mk.Pose("panda_hand", home)
    problem = mk.Problem(panda, wanted)
    servo = mk.Servo(problem, rate=RATE)
    joint = panda.joint_names[0]
    q = servo.step()
    problem.lock = {joint: q[0]}
    aside = home.copy()
    aside[1, 3] += 0.05
    for _ in range(300):
        moved = servo.step({wanted: aside})
    assert moved[0] == pytest.approx(q[0], abs=1e-9) and np.abs(moved - q).max() > 1e-3
    problem.lock = {joint: q[0] + 0.3}
    with pytest.raises(mk.errors.ProblemError, match="does not jump"):
        servo.step()


def test_a_servo_says_why_it_cannot_be_pickled(panda):
    servo = mk.Servo(mk.Problem(panda, mk.Pose("panda_hand", hand_at(0.5, 0.0, 0.4))))
    with pytest.raises(mk.errors.ProblemError, match=r"make a new one"):
        pickle.dumps(servo)


@pytest.mark.parametrize(
    "guide",
    [
        lambda home: mk.LookAt("panda_hand", (-1.0, 0.5, 0.9), tolerance=None),
        lambda home: mk.Orientation("panda_hand", home[:3, :3] @ mk.euler(60, 0, 0, degrees=True), tolerance=None),
        lambda home: mk.CenterJoints(tolerance=None),
    ],
)
def test_a_guide_that_cannot_be_met_moves_neither_hand_nor_goal_by_leaps(guide):
    body = mk.load("panda")
    home = body.forward(body.home)["panda_hand"]
    position = mk.Position("panda_hand", home[:3, 3], tolerance=1e-3)
    servo = mk.Servo(mk.Problem(body, [position, guide(home)]), rate=RATE)
    goal = servo.goal
    for k in range(2500):
        t = k / RATE
        target = home[:3, 3] + 0.05 * (1.0 - math.cos(t)) * np.array([1.0, 0.5, -1.0])
        servo.step({position: target})
        assert servo.errors[position] < 1e-3
        assert np.abs(servo.goal - goal).max() < 0.2
        goal = servo.goal


def test_joints_without_a_limit_on_acceleration_do_not_swing_along_obstacles():
    """A target out of reach goes round: what the hand does not need of the joints' velocities dies away, and does not go on."""
    rng = np.random.default_rng([0, 6])
    rng.random()
    trial = draw_trial(ROBOTS["panda"](), rng, 0.1)
    loop, path = make_servo(trial, np.inf, synchronise=False), [trial.start]
    for _ in range(4_000):
        path.append(loop.step([next(stream) for stream in trial.streams], {}))
    assert not trial.movers
    assert reversals(np.array(path), 1000.0) < 100.0  # 145 where all of the last velocity was kept


def test_joints_do_not_turn_round_with_every_tick_in_which_contacts_stop_them():
    """Of joints that are told to be far faster than they can, contacts leave some at their limits, now these and now those."""
    trial = draw_trial(ROBOTS["panda"](), np.random.default_rng([0, 5]), 0.1)
    loop, path = make_servo(trial, np.inf, synchronise=False), [trial.start]
    for _ in range(4_000):
        path.append(loop.step([next(stream) for stream in trial.streams], {}))
    assert not trial.movers
    assert reversals(np.array(path), 1000.0) < 100.0  # 686 without a bound of what joints would like
