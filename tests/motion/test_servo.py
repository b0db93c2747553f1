"""Servo: limits hold on what is returned, whatever targets do; smooth targets are followed; no valley holds it for ever."""

import math
import time

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import memetik as mk
from memetik_lab.claims.servo_obstacles import reversals
from tests.naive import kinematics
from tests.stress import goals
from tests.stress.servo import broken, servo_jumps, servo_streams

RATE = 1000.0
FEW = mk.Budget(evaluations=50)  # without a time, so that a busy machine changes nothing
FORWARD = np.array([0.2, 0.3, 0.1, -1.6, 0.1, 1.9, 0.8])


@pytest.fixture(scope="module")
def panda():
    return mk.load("panda").chain("panda_link0", "panda_link8")


def servo_of(body, tip, start, **settings):
    pose = mk.Pose(tip, body.forward(start)[tip])
    return mk.Servo(mk.Problem(body, pose), start=start, rate=RATE, budget=FEW, **settings), pose


def keeps_limits(servo, path):
    limits = servo.velocity_limit, servo.acceleration_limit
    return not broken(np.array(path), servo.problem.lower, servo.problem.upper, *limits)


def test_a_far_target_is_reached_within_all_limits(panda):
    servo, pose = servo_of(panda, "panda_link8", FORWARD)
    target = panda.forward(FORWARD + np.array([0.5, -0.3, 0.2, 0.3, 0.1, -0.2, 0.4]))["panda_link8"]
    path = [servo.q]
    for _ in range(1_000):
        path.append(servo.step({pose: target}))
    assert servo.success and servo.status == servo.goal_status == mk.Status.REACHED
    assert servo.errors[pose].position < 1e-6 and not servo.velocity.any()
    assert keeps_limits(servo, path)
    found = kinematics.pose(panda, "panda_link8", path[-1])
    assert_allclose(found, target, atol=1e-6)
    assert_array_equal(servo.q, path[-1])


def test_a_smooth_target_is_followed_without_lag(panda):
    """A hand at up to 0.3 m/s: hundredths of a millimetre, where a lag of one tick alone were 0.3 mm."""
    servo, pose = servo_of(panda, "panda_link8", FORWARD)
    home, missed, path = pose.target.copy(), [], [servo.q]
    for k in range(2_000):
        target = home.copy()
        target[1, 3] -= 0.15 * (1.0 - math.cos(2.0 * k / RATE))
        path.append(servo.step({pose: target}))
        missed.append(np.linalg.norm(kinematics.pose(panda, "panda_link8", path[-1])[:3, 3] - target[:3, 3]))
    assert max(missed) < 2e-5
    assert keeps_limits(servo, path)


def test_targets_that_come_less_often_lead_to_no_chatter(panda):
    """90 targets a second: velocities stay near those of the hand, which a joint that leaps from each to the next exceeds."""
    servo, pose = servo_of(panda, "panda_link8", FORWARD, response=0.05)
    home, path = pose.target.copy(), [servo.q]
    for k in range(2_000):
        target = home.copy()
        target[1, 3] += 0.1 * (k // 11) * 11 / RATE
        path.append(servo.step({pose: target}))
    velocity = np.diff(path, axis=0)[500:] * RATE
    assert np.abs(velocity - velocity.mean(axis=0)).max() < 0.25
    assert keeps_limits(servo, path)


@pytest.mark.parametrize(
    ("settings", "turns", "off"), [({"acceleration": np.inf, "synchronise": False}, 800, 0.01), ({}, 200, 0.03)]
)
def test_joints_do_not_shake_with_their_target(panda, settings, turns, off):
    """A target that moves by 0.1 m/s and trembles by 2 cm in every tick: what is followed is its mean, with little delay.

    Without averages there are 2,860 and 610 reversals a second, and with limits on acceleration the hand is 95 mm off.
    """
    servo, pose = servo_of(panda, "panda_link8", FORWARD, **settings)
    home, path, errors, rng = pose.target.copy(), [servo.q], [], np.random.default_rng(0)
    for k in range(2_000):
        mean = home.copy()
        mean[1, 3] += 0.1 * k / RATE
        target = mean.copy()
        target[:3, 3] += rng.normal(0.0, 0.02, 3)
        path.append(servo.step({pose: target}))
        errors.append(np.linalg.norm(panda.forward(path[-1])["panda_link8"][:3, 3] - mean[:3, 3]))
    assert reversals(np.array(path), RATE) < turns
    assert np.median(errors[500:]) < off


@pytest.mark.parametrize(
    ("name", "guide", "number"),
    [
        ("panda", "LookAt", 0),
        ("panda", "Orientation", 0),
        ("panda", "CenterJoints", 2),
        ("panda", "custom", 1),
        ("panda", "several, moving", 1),
        ("iiwa14", "LookAt", 10),
        ("pr2", "Orientation", 6),
        ("pr2", "Direction", 6),
    ],
)
def test_guides_that_cannot_be_met_leave_the_hand_in_its_place(name, guide, number):
    """The target stands still, moves or jumps. That of the iiwa14 leads a joint to its limit, and so do the guides of
    the PR2."""
    rng, whole = np.random.default_rng(0), goals.robot(name)
    for k in range(number + 1):
        scene = goals.scene(whole, guide, goals.PATHS[k % 3], rng)
    found = goals.run(scene)
    assert found.reached and found.kept and found.lost == 0 and found.switches == 0
    assert found.off < 2e-4
    assert found.leap < 0.01
    assert found.reversals <= 5.0


@pytest.mark.parametrize(
    ("name", "guide", "number"),
    [("ur5", "several, moving", 19), ("panda", "several", 14), ("iiwa14", "several, obstacles", 1)],
)
def test_guides_wait_for_joints_that_cannot_follow(name, guide, number):
    """Near singularities guides moved the goal faster than joints can: the hand was 29, 4 and 40 mm off its place."""
    rng, whole = np.random.default_rng(0), goals.robot(name)
    for k in range(number + 1):
        scene = goals.scene(whole, guide, goals.PATHS[k % 3], rng)
    found = goals.run(scene)
    assert found.reached and found.off < 5e-4


def test_guides_take_few_evaluations(panda):
    """One step towards their balance a tick, and what brings the hand back: a longer search would take half of the budget."""
    reach = mk.Position("panda_link8", panda.forward(FORWARD)["panda_link8"][:3, 3])
    gaze = mk.LookAt("panda_link8", (0.0, 1.0, 2.0), tolerance=None)
    servo, taken = mk.Servo(mk.Problem(panda, [reach, gaze]), start=FORWARD, rate=RATE, budget=FEW), []
    for _ in range(300):
        servo.step()
        taken.append(servo.evaluations)
    assert max(taken) <= 8
    assert servo.success


@pytest.mark.parametrize(("name", "link"), [("panda", "panda_hand"), ("ur5", "tool0"), ("nao", "l_wrist")])
def test_random_streams_break_nothing(name, link):
    body, rng = mk.load(name), np.random.default_rng(7)
    assert not set(+servo_streams(body, link, 14, 120, rng)) - {"ticks", "switches"}
    assert set(+servo_jumps(body, link, 40, 40, rng)) == {"ticks"}


def test_over_the_edge_and_back():
    """A target beyond reach stretches the arm; when it comes back, so does the tip, and no joint was ever too fast."""
    body = mk.load("ur5").chain("base_link", "tool0")
    start = np.array([0.3, -1.0, 1.6, -0.6, 1.0, 0.2])
    servo, pose = servo_of(body, "tool0", start)
    home = pose.target.copy()
    outwards = home[:3, 3] * (1.0, 1.0, 0.0) / np.linalg.norm(home[:2, 3])
    path, seen = [servo.q], []
    for k in range(4_000):
        target = home.copy()
        target[:3, 3] += 0.8 * max(0.0, math.sin(math.pi * k / 3_000)) * outwards
        path.append(servo.step({pose: target}))
        seen.append(servo.goal_status)
    assert mk.Status.CLOSEST in seen and servo.success
    assert servo.switches <= 1  # the elbow bends again; no limb swings round
    assert keeps_limits(servo, path)
    assert_allclose(kinematics.pose(body, "tool0", path[-1]), home, atol=1e-6)


def test_a_target_out_of_reach_gives_the_closest_posture():
    body = mk.build.planar_chain([0.5, 0.5])
    reach = mk.Position("tip", (0.0, 0.0, 0.0))
    servo = mk.Servo(mk.Problem(body, reach), start=[0.8, -1.0], budget=FEW)
    path = [servo.q] + [servo.step({reach: (1.2, 0.1, 0.0)}) for _ in range(3_000)]
    assert servo.status == mk.Status.CLOSEST
    assert servo.errors[reach] == pytest.approx(math.hypot(1.2, 0.1) - 1.0, abs=1e-6)
    assert keeps_limits(servo, path) and np.abs(servo.velocity).max() < 1e-6


def test_no_valley_holds_it_for_ever():
    """The elbow stands at a limit on the wrong side: what the target needs is the other branch, which no slope leads to."""
    body = mk.build.planar_chain([0.5, 0.5], limits=(-2.5, 2.5))
    reach, face = mk.Position("tip", (0.0, 0.0, 0.0)), mk.Orientation("tip", np.eye(3))
    problem = mk.Problem(body, [reach, face], limits={"joint_2": (-2.5, 1.0)})
    q = np.array([1.0, -1.8])
    wanted = body.forward(q)["tip"]
    stuck, free = (mk.Servo(problem, start=[-1.7, 0.9], budget=FEW, reconfigure=each) for each in (False, True))
    paths = {servo: [servo.q] for servo in (stuck, free)}
    for servo, path in paths.items():
        for _ in range(4_000):
            path.append(servo.step({reach: wanted[:3, 3], face: wanted[:3, :3]}))
        assert keeps_limits(servo, path)
    assert stuck.status == mk.Status.CLOSEST and stuck.switches == 0
    assert free.success and free.switches >= 1
    assert_allclose(free.q, q, atol=1e-3)


def test_bad_targets_are_held_and_said(panda):
    servo, pose = servo_of(panda, "panda_link8", FORWARD)
    good = pose.target.copy()
    good[1, 3] += 0.05
    for _ in range(500):
        servo.step({pose: good})
    q = servo.q
    for wrong in (np.full((4, 4), np.nan), good + np.inf, 2.0 * good, np.full((4, 4), np.nan).tolist()):
        assert_array_equal(servo.step({pose: wrong}), q)
        assert servo.held == (pose,) and servo.success and "1 targets held" in repr(servo)
    servo.step({})
    assert servo.held == (pose,)
    servo.step({pose: good})
    assert servo.held == ()


def test_what_is_no_target_at_all_is_refused(panda):
    servo, pose = servo_of(panda, "panda_link8", FORWARD)
    other = mk.Pose("panda_link8", pose.target)
    for wrong in ({pose: "there"}, {pose: np.eye(3)}, {other: pose.target}, {"pose": pose.target}, [pose.target]):
        with pytest.raises(mk.errors.ProblemError):
            servo.step(wrong)
    assert_array_equal(servo.q, FORWARD)
    for wrong in ({"rate": 0.0}, {"response": -1.0}, {"synchronise": 2}, {"velocity": -1.0}, {"budget": 5}):
        with pytest.raises(mk.errors.ProblemError):
            mk.Servo(servo.problem, **wrong)
    with pytest.raises(mk.errors.ProblemError, match="not a problem"):
        mk.Servo(panda)


def test_a_released_servo_brakes_and_goes_on_when_asked(panda):
    servo, pose = servo_of(panda, "panda_link8", FORWARD)
    target = pose.target.copy()
    target[1, 3] -= 0.3
    path = [servo.q] + [servo.step({pose: target}) for _ in range(150)]
    assert np.abs(servo.velocity).max() > 0.5
    path += [servo.step({pose: None}) for _ in range(300)]
    assert servo.released == (pose,) and not servo.velocity.any()
    path += [servo.step({pose: target}) for _ in range(900)]
    assert servo.released == () and servo.success and keeps_limits(servo, path)


def test_what_trembled_before_it_was_released_is_forgotten(panda):
    """Once at rest, it goes to a new target as a servo that starts there."""
    servo, pose = servo_of(panda, "panda_link8", FORWARD)
    home, rng = pose.target.copy(), np.random.default_rng(0)
    for _ in range(200):
        target = home.copy()
        target[:3, 3] += rng.normal(0.0, 0.02, 3)
        servo.step({pose: target})
    for _ in range(500):
        servo.step({pose: None})
    assert not servo.velocity.any()
    fresh = mk.Servo(servo.problem, start=servo.q, rate=RATE, budget=servo.budget)
    for k in range(100):
        target = home.copy()
        target[1, 3] += 0.1 * k / RATE
        assert servo.step({pose: target}) == pytest.approx(fresh.step({pose: target}), abs=1e-9)


def test_of_several_objectives_one_may_be_released(panda):
    reach, face = mk.Position("panda_link8", (0.0, 0.0, 0.0)), mk.Orientation("panda_link8", np.eye(3))
    servo = mk.Servo(mk.Problem(panda, [reach, face, mk.Displacement(weight=1e-3)]), start=FORWARD, budget=FEW)
    pose = panda.forward(FORWARD)["panda_link8"]
    point = pose[:3, 3] + [0.0, 0.1, -0.05]
    turned = mk.euler(0.0, 0.0, 2.0) @ pose[:3, :3]
    for _ in range(800):
        servo.step({reach: point, face: pose[:3, :3]})
    assert servo.success
    for _ in range(800):
        servo.step({reach: point, face: None})
    before = servo.q
    assert servo.released == (face,) and servo.errors[reach] < 1e-4
    servo.step({reach: point})
    assert servo.released == (face,)
    for _ in range(1_500):
        servo.step({face: turned})
    assert servo.released == () and servo.success and np.abs(servo.q - before).max() > 0.1


def test_locked_joints_and_joints_that_nothing_reads_stay():
    body = mk.load("panda")
    reach = mk.Position("panda_link7", (0.0, 0.0, 0.0))
    problem = mk.Problem(body, reach, lock={"panda_joint2": 0.2})
    servo = mk.Servo(problem, budget=FEW)
    start = servo.q
    for _ in range(1_000):
        servo.step({reach: body.forward(start)["panda_link7"][:3, 3] + [-0.05, 0.05, 0.0]})
    assert servo.success
    still = [body.index(name) for name in ("panda_joint2", "panda_joint7", "panda_finger_joint1")]
    assert_array_equal(servo.q[still], start[still])


def test_weights_and_tolerances_may_change_on_the_way(panda):
    servo, pose = servo_of(panda, "panda_link8", FORWARD)
    target = pose.target.copy()
    target[1, 3] += 0.2
    path = [servo.q] + [servo.step({pose: target}) for _ in range(100)]
    pose.position_tolerance = 1e-2
    path += [servo.step() for _ in range(900)]
    assert servo.success and servo.errors[pose].position < 1e-6 and keeps_limits(servo, path)


def test_the_same_steps_give_the_same_bits(panda):
    servo, pose = servo_of(panda, "panda_link8", FORWARD)
    far = pose.target.copy()
    far[0, 3] += 1.0

    def run():
        servo.reset(FORWARD)
        return np.array([servo.step({pose: far}) for _ in range(200)]).tobytes()

    first = run()
    assert run() == first


def test_reset_is_at_rest(panda):
    servo, pose = servo_of(panda, "panda_link8", FORWARD)
    for _ in range(50):
        servo.step({pose: panda.forward(panda.home)["panda_link8"]})
    servo.reset(FORWARD)
    assert_array_equal(servo.q, FORWARD)
    assert not servo.velocity.any()


def fails(frame):
    if frame.position[1] > 0.05:
        raise ValueError("too far left")
    return 0.0


def test_what_a_function_raises_is_not_lost():
    body = mk.build.planar_chain([0.5, 0.5])
    reach = mk.Position("tip", (0.7, 0.0, 0.0))
    own = mk.objective(reads=["tip"])(fails)
    servo = mk.Servo(mk.Problem(body, [reach, own]), start=[-0.8, 1.6], budget=FEW)
    with pytest.raises(mk.errors.ProblemError, match="too far left"):
        for _ in range(2_000):
            servo.step({reach: (0.5, 0.3, 0.0)})


@pytest.mark.timed
def test_a_step_is_quick(panda):
    """The bound is ten times what it takes; `memetik bench servo` measures."""
    servo, pose = servo_of(panda, "panda_link8", FORWARD)
    target, taken = pose.target.copy(), []
    for k in range(2_000):
        target[1, 3] += 1e-4 * math.cos(k / 300.0)
        begin = time.thread_time()
        servo.step({pose: target})
        taken.append(time.thread_time() - begin)
    assert np.median(taken) < 50e-6


@pytest.mark.quick
@pytest.mark.parametrize("whole", [True, False])
def test_a_small_servo_keeps_its_limits(whole):
    """Without the compiler, too: a jump, a target out of reach, so that it searches elsewhere, one that is none, and back."""
    body = mk.build.planar_chain([1.0, 0.5, 0.5])
    start = np.array([0.2, 0.4, -0.3])
    tips = [body.forward(q)["tip"] for q in (start + 0.3, start + np.array([0.0, -1.2, 1.0]))]
    far = mk.translation(4.0, 0.0, 0.0)
    wish = mk.Pose("tip", tips[0]) if whole else mk.Position("tip", tips[0][:3, 3])
    problem, few = mk.Problem(body, wish), mk.Budget(evaluations=12)
    servo = mk.Servo(problem, start=start, rate=RATE, velocity=8.0, acceleration=200.0, budget=few)
    path = [start]
    for target in (tips[0], tips[1], far, np.full((4, 4), np.nan), tips[0]):
        for _ in range(20):
            path.append(servo.step({wish: target if whole else target[:3, 3]}))
        assert (wish in servo.held) == bool(np.isnan(target).any())
    for _ in range(300):
        path.append(servo.step())
    assert keeps_limits(servo, path) and servo.status == mk.Status.REACHED
    assert_allclose(body.forward(path[-1])["tip"][:3, 3], tips[0][:3, 3], atol=1e-3)
