"""Followers: limits hold in every tick, goals are reached in the time that ruckig takes, and nothing overshoots."""

import math

import numpy as np
import pytest

import memetik as mk
from tests.naive.followers import trapezoid_seconds
from tests.stress.servo import broken, follow_goals

RATE = 1000.0


@pytest.fixture(scope="module")
def body():
    return mk.build.planar_chain(3)


def run(follower, goal, most=20_000):
    """The path until it arrives, with the start."""
    path = [follower.q]
    for _ in range(most):
        path.append(follower.step(goal))
        if not follower.moving:
            return np.array(path)
    raise AssertionError("it never arrived")


def test_one_radian_at_one_and_two(body):
    """Speeds up for half a second, cruises for half a second, brakes: 1.5 s."""
    follower = mk.motion.Follower(body, rate=RATE, velocity=1.0, acceleration=2.0)
    path = run(follower, np.array([1.0, 0.0, 0.0]))
    assert trapezoid_seconds(1.0, 1.0, 2.0) == 1.5
    assert (len(path) - 1) / RATE == pytest.approx(1.5, abs=2.5 / RATE)
    assert not broken(path, body.lower, body.upper, follower.velocity_limit, follower.acceleration_limit)
    assert path[:, 0].max() == path[-1, 0] == 1.0 and (np.diff(path[:, 0]) >= 0.0).all()


def arrival(start, goal, velocity, acceleration, jerk=None):
    """What ruckig, which is time-optimal, takes for one joint from rest to rest [s]."""
    ruckig = pytest.importorskip("ruckig")
    given, trajectory = ruckig.InputParameter(1), ruckig.Trajectory(1)
    given.current_position, given.target_position = [start], [goal]
    given.max_velocity, given.max_acceleration = [velocity], [acceleration]
    if jerk is not None:
        given.max_jerk = [jerk]
    ruckig.Ruckig(1).calculate(given, trajectory)
    return trajectory.duration


def test_arrival_is_that_of_ruckig(body):
    rng = np.random.default_rng(1)
    for _ in range(30):
        way, velocity, acceleration = rng.uniform(0.01, 3.0), rng.uniform(0.2, 3.0), rng.uniform(1.0, 20.0)
        path = run(
            mk.motion.Follower(body, rate=RATE, velocity=velocity, acceleration=acceleration),
            np.array([0.0, -way, 0.0]),
        )
        best = arrival(0.0, -way, velocity, acceleration)
        assert abs((len(path) - 1) / RATE - best) <= 3.0 / RATE


def test_arrival_from_any_velocity_is_that_of_ruckig(body):
    """The goal changes on the way, also to one behind."""
    ruckig = pytest.importorskip("ruckig")
    rng = np.random.default_rng(2)
    for _ in range(20):
        follower = mk.motion.Follower(body, rate=RATE, velocity=1.5, acceleration=6.0)
        for _ in range(int(rng.integers(50, 400))):
            follower.step(np.array([2.5, 0.0, 0.0]))
        goal = rng.uniform(-2.5, 2.5)
        given, trajectory = ruckig.InputParameter(1), ruckig.Trajectory(1)
        given.current_position, given.current_velocity = [follower.q[0]], [follower.velocity[0]]
        given.target_position, given.max_velocity, given.max_acceleration = [goal], [1.5], [6.0]
        ruckig.Ruckig(1).calculate(given, trajectory)
        path = run(follower, np.array([goal, 0.0, 0.0]))
        assert abs((len(path) - 1) / RATE - trajectory.duration) <= 4.0 / RATE


def test_jerk_is_limited_and_late_by_no_more_than_its_share(body):
    rng = np.random.default_rng(3)
    for _ in range(10):
        velocity, acceleration = rng.uniform(0.5, 2.0), rng.uniform(2.0, 10.0)
        jerk = acceleration * rng.uniform(2.0, 20.0)
        follower = mk.motion.Follower(body, rate=RATE, velocity=velocity, acceleration=acceleration, jerk=jerk)
        goal = np.array([rng.uniform(0.1, 3.0), 0.0, 0.0])
        path = run(follower, goal)
        limits = follower.velocity_limit, follower.acceleration_limit, follower.jerk_limit
        assert not broken(path, body.lower, body.upper, *limits)
        assert path[:, 0].max() <= goal[0] + 1e-12 and path[-1, 0] == goal[0]
        best = arrival(0.0, goal[0], velocity, acceleration, jerk)
        assert best - 3.0 / RATE <= (len(path) - 1) / RATE <= best + 2.0 * acceleration / jerk + 4.0 / RATE


def test_joints_arrive_together_on_a_straight_line():
    body = mk.load("panda")
    goal = body.clip(body.home + np.array([0.5, -0.3, 0.1, 0.4, -0.02, 0.3, 0.0, 0.01]))
    alone, together = (mk.motion.Follower(body, rate=RATE, synchronise=each) for each in (False, True))
    one, all_ = run(alone, goal), run(together, goal)
    moved = goal != body.home
    last = [int(np.flatnonzero(path[:, moved] != goal[moved])[-1] // moved.sum()) for path in (one, all_)]
    assert last[0] == pytest.approx(last[1], abs=3)  # the slowest joint takes no longer
    arrivals = [(all_[:, k] != goal[k]).sum() for k in np.flatnonzero(moved)]
    assert min(arrivals) == max(arrivals)
    share = (all_[:, moved] - body.home[moved]) / (goal - body.home)[moved]
    np.testing.assert_allclose(share, share[:, :1] @ np.ones((1, moved.sum())), atol=1e-9)
    assert not broken(all_, body.lower, body.upper, together.velocity_limit, together.acceleration_limit)


def test_ruckig_synchronises_to_the_same_time():
    ruckig = pytest.importorskip("ruckig")
    body = mk.load("iiwa14")
    goal = body.clip(body.home + 0.7)
    follower = mk.motion.Follower(body, rate=RATE, synchronise=True)
    given, trajectory = ruckig.InputParameter(body.dof), ruckig.Trajectory(body.dof)
    given.current_position, given.target_position = body.home, goal
    given.max_velocity, given.max_acceleration = follower.velocity_limit, follower.acceleration_limit
    ruckig.Ruckig(body.dof).calculate(given, trajectory)
    assert abs((len(run(follower, goal)) - 1) / RATE - trajectory.duration) <= 3.0 / RATE


@pytest.mark.parametrize("settings", [{}, {"synchronise": True}, {"jerk": 150.0}, {"smoothing": 0.5}], ids=str)
def test_random_goals_break_nothing(settings):
    for number, name in enumerate(("panda", "ur5", "nao")):
        found = follow_goals(mk.load(name), 25, np.random.default_rng(number), **settings)
        assert set(+found) == {"ticks"}


def test_some_joints_are_there_at_once(body):
    follower = mk.motion.Follower(body, rate=RATE, realistic={"joint_2": False})
    goal = np.array([1.0, -2.0, 0.5])
    q = follower.step(goal)
    assert q[1] == -2.0 and 0.0 < q[0] < 0.01 and follower.moving
    instantaneous = mk.motion.Follower(body, realistic=False)
    np.testing.assert_array_equal(instantaneous.step(goal), goal)
    assert not instantaneous.moving


def test_time_that_is_no_whole_number_of_ticks_counts_next_time(body):
    steady, uneven = (mk.motion.Follower(body, rate=240.0, velocity=1.5, acceleration=6.0) for _ in range(2))
    goal = np.array([2.0, -1.0, 0.003])
    for _ in range(100):
        steady.advance(goal, 1.0 / 60.0)
    for seconds in np.random.default_rng(0).dirichlet(np.ones(137)) * 100.0 / 60.0:
        uneven.advance(goal, seconds)
    uneven.advance(goal, 0.0)
    assert np.abs(steady.q - uneven.q).max() <= 1.5 / 240.0 + 1e-12


def test_smoothing_leaves_its_share_of_the_way(body):
    follower = mk.motion.Follower(body, rate=60.0, realistic=False, smoothing=0.5)
    path = np.array([follower.step(np.ones(3)) for _ in range(2)])
    np.testing.assert_allclose(path, [[0.5] * 3, [0.75] * 3])
    quick = mk.motion.Follower(body, rate=240.0, realistic=False, smoothing=0.5)
    np.testing.assert_allclose(quick.advance(np.ones(3), 1.0 / 60.0), 0.5)


def test_limits_come_from_the_body_and_have_defaults():
    arm = mk.Body(
        "arm",
        [mk.build.Link(name) for name in "abcd"],
        [
            mk.build.Joint(
                "turn", "revolute", "a", "b", lower=(-1.0,), upper=(1.0,), velocity=(2.0,), acceleration=(3.0,)
            ),
            mk.build.Joint("round", "continuous", "b", "c"),
            mk.build.Joint("slide", "prismatic", "c", "d", lower=(0.0,), upper=(1.0,)),
        ],
    )
    follower = mk.motion.Follower(arm)
    np.testing.assert_allclose(follower.velocity_limit, [2.0, math.pi, 1.0])
    np.testing.assert_allclose(follower.acceleration_limit, [3.0, 5.0 * math.pi, 5.0])
    named = mk.motion.Follower(arm, velocity={"round": 0.5}, acceleration=[1.0, 2.0, 3.0])
    np.testing.assert_allclose(named.velocity_limit, [2.0, 0.5, 1.0])
    np.testing.assert_allclose(named.acceleration_limit, [1.0, 2.0, 3.0])


def test_zeros_are_doubted_in_a_body_and_refused_from_a_caller():
    joint = mk.build.Joint("turn", "revolute", "a", "b", lower=(-1.0,), upper=(1.0,), velocity=(0.0,))
    arm = mk.Body("arm", [mk.build.Link("a"), mk.build.Link("b")], [joint])
    with pytest.warns(mk.MemetikWarning, match="velocity limit of 0 for 'turn'"):
        assert mk.motion.Follower(arm).velocity_limit == math.pi
    assert mk.motion.Follower(arm, velocity=1.0).velocity_limit == 1.0
    assert mk.motion.Follower(arm, velocity={"turn": 1.0}).velocity_limit == 1.0
    with pytest.raises(mk.errors.ProblemError, match="it must be above zero"):
        mk.motion.Follower(arm, velocity=0.0)


@pytest.mark.parametrize("rate", [60.0, 1000.0])
@pytest.mark.parametrize("way", [0.04, 0.1, 0.3])
def test_a_smaller_acceleration_near_a_limit_brakes_evenly(rate, way):
    """With the new one the joint cannot stop before its limit any more, so it takes what it needs, and no more than before."""
    joint = mk.build.Joint("slide", "prismatic", "base", "tip", lower=-1.0, upper=1.0)
    body = mk.Body("slider", [mk.build.Link("base"), mk.build.Link("tip")], [joint])
    follower = mk.motion.Follower(body, np.array([-0.9]), rate=rate, velocity=3.0, acceleration=10.0)
    path = [follower.q[0]]
    while path[-1] < 1.0 - way:
        path.append(follower.step([1.0])[0])
    follower.limit(velocity=3.0, acceleration=1.0)
    path += run(follower, [1.0])[1:, 0].tolist()
    accelerations = np.diff(path, n=2) * rate**2
    assert np.abs(accelerations).max() <= 10.0 * (1.0 + 1e-9)
    assert max(path) == path[-1] == 1.0


def test_goals_out_of_limits_count_as_the_limit():
    body = mk.load("ur5")
    follower = mk.motion.Follower(body, rate=100.0)
    path = run(follower, np.full(6, 50.0))
    np.testing.assert_array_equal(path[-1], body.upper)


def test_a_start_out_of_limits_moves_in(body):
    arm = mk.load("panda")
    start = arm.upper + 0.1
    follower = mk.motion.Follower(arm, start, rate=RATE)
    np.testing.assert_array_equal(follower.q, start)
    path = run(follower, arm.home)
    assert (np.abs(np.diff(path, axis=0)) * RATE <= follower.velocity_limit + 1e-9).all()
    np.testing.assert_array_equal(path[-1], arm.home)


def test_what_makes_no_sense_is_refused(body):
    for wrong in (
        {"rate": 0.0}, {"smoothing": 1.0}, {"velocity": [1.0, 2.0]}, {"acceleration": math.nan}, {"jerk": 1e-9},
        {"realistic": "yes"},
    ):  # fmt: skip
        with pytest.raises(mk.MemetikError):
            mk.motion.Follower(body, **wrong)
    with pytest.raises(mk.errors.UnknownNameError, match="joint_7"):
        mk.motion.Follower(body, velocity={"joint_7": 1.0})
    follower = mk.motion.Follower(body)
    for goal in ([0.0], [math.nan, 0.0, 0.0], "home"):
        with pytest.raises(mk.errors.ProblemError):
            follower.step(goal)
    with pytest.raises(mk.errors.ProblemError, match="seconds"):
        follower.advance(body.home, -1.0)
    follower = mk.motion.Follower(body, jerk=50.0)
    follower.step([1.0, 0.0, 0.0])
    with pytest.raises(mk.errors.ProblemError, match="at rest"):
        follower.limit(jerk=10.0)


def test_smoothed_poses_are_between_the_frames():
    body = mk.load("ur5")
    last, current = body.forward(body.home), body.forward(body.clip(body.home + 0.3))
    both = mk.motion.smooth_poses(last, current, 0.25)
    link = "wrist_2_link"
    np.testing.assert_allclose(both[link][:3, 3], 0.75 * current[link][:3, 3] + 0.25 * last[link][:3, 3])
    Rotation, Slerp = (getattr(pytest.importorskip("scipy.spatial.transform"), name) for name in ("Rotation", "Slerp"))
    turns = Slerp([0.0, 1.0], Rotation.from_matrix([current[link][:3, :3], last[link][:3, :3]]))
    np.testing.assert_allclose(both[link][:3, :3], turns(0.25).as_matrix(), atol=1e-12)
    assert set(both) == set(current)
    np.testing.assert_allclose(mk.motion.smooth_poses(last, current, 0.0)[link], current[link])
    with pytest.raises(mk.errors.ProblemError, match="share from 0"):
        mk.motion.smooth_poses(last, current, 1.5)
    with pytest.raises(mk.errors.UnknownNameError, match="elbow"):
        mk.motion.smooth_poses({"elbow": np.eye(4)}, current, 0.5)


@pytest.mark.quick
@pytest.mark.parametrize(
    "settings", [{}, {"synchronise": True}, {"jerk": 4e4}, {"smoothing": 0.5}, {"realistic": False}]
)
def test_a_goal_that_moves_on_the_way_breaks_nothing(body, settings):
    follower = mk.motion.Follower(body, rate=RATE, velocity=8.0, acceleration=400.0, **settings)
    path = [follower.q]
    for goal in (np.full(3, 0.6), np.array([-0.4, 0.9, 0.0]), np.zeros(3)):
        for _ in range(40):
            path.append(follower.step(goal))
    path.extend(run(follower, np.zeros(3))[1:])
    limits = follower.velocity_limit, follower.acceleration_limit
    assert settings == {"realistic": False} or not broken(np.array(path), body.lower, body.upper, *limits)
    np.testing.assert_allclose(path[-1], 0.0, atol=1e-4)
