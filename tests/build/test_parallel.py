"""Parallel robots: loops that close, against the closed forms of the books."""

import math

import numpy as np
import pytest

import memetik as mk

GAP = 1e-9


def gaps(body, q):
    """How far the two frames of each loop are apart [m]."""
    poses = body.forward(q)
    return [np.linalg.norm(poses[loop.frame][:3, 3] - poses[loop.other][:3, 3]) for loop in body.loops]


@pytest.mark.parametrize("make", [mk.build.five_bar, mk.build.stewart_platform, mk.build.delta_robot])
def test_loops_are_closed_at_home(make):
    body = make()
    assert max(gaps(body, body.home)) < 1e-14
    assert ((body.lower <= body.home) & (body.home <= body.upper)).all()


def anchors(body):
    """Where the legs of a Stewart platform stand on the base and end on the platform."""
    feet = [body.joints[f"leg_{k}_x"].origin[:3, 3] for k in range(1, 7)]
    tops = [loop.other.link_from_frame[:3, 3] for loop in body.loops]
    return np.array(feet), np.array(tops)


def leg_lengths(body, pose):
    """The closed form: |p + R b - a|."""
    feet, tops = anchors(body)
    return np.linalg.norm(pose[:3, 3] + tops @ pose[:3, :3].T - feet, axis=1)


def some_pose(rng):
    turn = mk.euler(*rng.uniform(-0.25, 0.25, 3))
    return mk.transform(np.array((0.0, 0.0, 0.63)) + rng.uniform(-0.08, 0.08, 3), turn)


def test_legs_of_a_stewart_platform_are_as_long_as_the_closed_form_says():
    body, rng = mk.build.stewart_platform(), np.random.default_rng(0)
    reach = mk.Pose("platform", np.eye(4), position_tolerance=1e-9, orientation_tolerance=1e-9)
    problem = mk.Problem(body, [reach, *mk.objectives.close_loops(body)])
    for _ in range(20):
        pose = reach.target = some_pose(rng)
        solution = mk.solve(problem)
        assert solution.success and max(gaps(body, solution.q)) < GAP
        legs = [solution[f"leg_{k}"] for k in range(1, 7)]
        np.testing.assert_allclose(legs, leg_lengths(body, pose), rtol=0, atol=5e-9)


def test_lengths_of_legs_give_the_pose_back():
    """Forward kinematics of a parallel robot, which have no closed form: legs are locked, the platform is solved for."""
    body, rng = mk.build.stewart_platform(), np.random.default_rng(1)
    for _ in range(5):
        pose = some_pose(rng)
        lengths = leg_lengths(body, pose)
        problem = mk.Problem(
            body, mk.objectives.close_loops(body), lock={f"leg_{k}": lengths[k - 1] for k in range(1, 7)}
        )
        solution = mk.solve(problem)
        assert solution.success
        found = body.forward(solution.q, "platform")  # near home there is one such pose of at most forty
        np.testing.assert_allclose(leg_lengths(body, found), lengths, rtol=0, atol=1e-8)
        np.testing.assert_allclose(found, pose, rtol=0, atol=1e-7)


def motors_of_delta(base, arm, rods, platform, point):
    """The closed form of a delta robot: for each arm the circle of its elbow meets the sphere of its rods."""
    found = []
    for k in range(3):
        angle = k * 2.0 * math.pi / 3.0
        x = math.cos(angle) * point[0] + math.sin(angle) * point[1] + platform - base
        y = -math.sin(angle) * point[0] + math.cos(angle) * point[1]
        z = point[2]
        # |(arm cos t - x, -y, -arm sin t - z)| = rods   <=>   a cos t + b sin t = c
        a, b = -2.0 * arm * x, 2.0 * arm * z
        c = rods**2 - arm**2 - x * x - y * y - z * z
        middle, half = math.atan2(b, a), math.acos(c / math.hypot(a, b))
        found.append(max(((t + math.pi) % math.tau - math.pi for t in (middle + half, middle - half)), key=math.cos))
    return found


def test_motors_of_a_delta_robot_are_those_of_the_closed_form():
    sizes = {"base_radius": 0.2, "arm_length": 0.25, "rod_length": 0.5, "platform_radius": 0.06}
    body, rng = mk.build.delta_robot(**sizes), np.random.default_rng(2)
    reach = mk.Position("platform", (0.0, 0.0, -0.45), tolerance=1e-9)
    problem = mk.Problem(body, [reach, *mk.objectives.close_loops(body)])
    for _ in range(20):
        point = reach.target = np.array((0.0, 0.0, -0.45)) + rng.uniform(-0.1, 0.1, 3)
        solution = mk.solve(problem)
        assert solution.success and max(gaps(body, solution.q)) < GAP
        # Nothing but the rods in parallel keeps the platform level.
        np.testing.assert_allclose(body.forward(solution.q, "platform")[:3, :3], np.eye(3), rtol=0, atol=1e-7)
        motors = [solution[f"motor_{k}"] for k in (1, 2, 3)]
        np.testing.assert_allclose(motors, motors_of_delta(*sizes.values(), point=point), rtol=0, atol=1e-7)


def test_motors_of_a_five_bar_linkage_are_those_of_two_triangles():
    body, rng = mk.build.five_bar(base_width=0.3, crank_length=0.3, rod_length=0.35), np.random.default_rng(3)
    reach = mk.Position("left_tip", (0.0, 0.45, 0.0), tolerance=1e-10)
    problem = mk.Problem(body, [reach, *mk.objectives.close_loops(body, position_tolerance=1e-10)])
    for _ in range(10):
        x, y, _ = reach.target = (rng.uniform(-0.1, 0.1), rng.uniform(0.35, 0.5), 0.0)
        solution = mk.solve(problem)
        assert solution.success and max(gaps(body, solution.q)) < GAP
        for side, sign in (("left", 1.0), ("right", -1.0)):
            dx = x + sign * 0.15
            span = math.hypot(dx, y)
            shoulder = math.acos((0.3**2 + span**2 - 0.35**2) / (2 * 0.3 * span))
            either = [math.atan2(y, dx) + bend * shoulder for bend in (1, -1)]
            assert min(abs(solution[f"{side}_motor"] - motor) for motor in either) < 1e-8


@pytest.mark.parametrize(
    ("make", "options"),
    [
        (mk.build.five_bar, {"base_width": 2.0}), (mk.build.five_bar, {"crank_length": 0.0}),
        (mk.build.delta_robot, {"rod_length": 0.1}),
        (mk.build.delta_robot, {"rod_spacing": math.nan}), (mk.build.stewart_platform, {"leg_range": (0.1, 0.2)}),
        (mk.build.stewart_platform, {"leg_range": (1.0,)}), (mk.build.stewart_platform, {"height": -1.0}),
    ],
)  # fmt: skip
def test_what_cannot_be_built_is_refused(make, options):
    with pytest.raises(mk.errors.BodyError):
        make(**options)
