"""Position, Orientation, Pose, Direction, LookAt, Cone: what they accept, what they ask for, what they report."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.spatial.transform import Rotation

from memetik.build.chains import serial_chain
from memetik.errors import MemetikError, ProblemError
from memetik.geometry import angle_between, euler, random_rotation, transform
from memetik.objectives import Cone, Direction, LookAt, MinDistance, Orientation, Pose, Position
from memetik.problem import Problem
from memetik.solvers import Budget, Memetic
from tests.naive import kinematics
from tests.naive.kinematics import slide, turn

pytestmark = pytest.mark.quick

BUDGET = Budget(evaluations=1000)


def solve(body, objectives, start=None):
    return Memetic().solve(Problem(body, objectives), start, BUDGET)


@pytest.fixture
def arm():
    return serial_chain([0.3, 0.3, 0.1, 0.1, 0.1, 0.1], "zyyxyx", limits=(-2.5, 2.5))


@pytest.fixture
def tip(arm, rng):
    """A pose that the tip can take."""
    return kinematics.pose(arm, "tip", arm.sample(rng))


# ---- Targets ----------------------------------------------------------------------------------------------


NAN = math.nan


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Position("tip", (0.1, NAN, 0.2)), "Position: target has an entry that is NaN or infinite"),
        (lambda: Position("tip", (0.1, 0.2, math.inf)), "NaN or infinite"),
        (lambda: Position("tip", (0.1, 0.2)), "target must be three numbers"),
        (lambda: Position("tip", "here"), "target must be three numbers"),
        (lambda: Position("tip", np.zeros((3, 1))), "target must be three numbers"),
        (lambda: Position("tip", (0, 0, 0), mask=(0, 0, 0)), "mask"),
        (lambda: Position("tip", (0, 0, 0), mask=(1, 1)), "mask"),
        (lambda: Position("tip", (0, 0, 0), tolerance=-1e-3), "tolerance is -0.001"),
        (lambda: Position("tip", (0, 0, 0), tolerance=NAN), "tolerance is nan"),
        (lambda: Position("tip", (0, 0, 0), tolerance=(0.1, -0.1, 0.1)), "tolerance"),
        (lambda: Position("tip", (0, 0, 0), tolerance=(0.1, NAN, 0.1)), "tolerance"),
        (lambda: Position("tip", (0, 0, 0), tolerance=(0.1, 0.1)), "tolerance must be three numbers"),
        (lambda: Position("tip", (0, 0, 0), weight=-1.0), "weight is -1.0; it must be from 1e-100"),
        (lambda: Position("tip", (0, 0, 0), weight=0.0), "Leave the objective out"),
        (lambda: Position("tip", (0, 0, 0), weight=NAN), "weight is nan"),
        (lambda: Position("tip", (0, 0, 0), weight=math.inf), "weight is inf"),
        (lambda: Position("tip", (0, 0, 0), mask_axes=np.ones((3, 3))), "is not a rotation"),
        (lambda: Orientation("tip", (1.0, 0.1, 0.0, 0.0)), "norm"),
        (lambda: Orientation("tip", (NAN, 0.0, 0.0, 0.0)), "nan"),
        (lambda: Orientation("tip", np.diag([1.0, 1.0, -1.0])), "left-handed"),
        (lambda: Orientation("tip", np.eye(3), mask=(0, 0, 0)), "mask"),
        (lambda: Pose("tip", np.eye(4), mask=(1, 1, 1)), "mask .* for x, y, z, turns about x, about y and about z"),
        (lambda: Pose("tip", np.eye(4), mask=(0,) * 6), "at least one of them"),
        (lambda: Pose("tip", np.eye(3)), "Pose"),
        (lambda: Pose("tip", np.full((4, 4), NAN)), "NaN or infinite"),
        (lambda: Pose("tip", 2.0 * np.eye(4)), "Pose"),
        (lambda: Pose("tip", np.diag([1.0, 1.0, 2.0, 1.0])), "not a rotation"),
        (lambda: Pose("tip", np.eye(4), position_tolerance=-1.0), "tolerance is -1"),
        (lambda: Pose("tip", np.eye(4), orientation_tolerance=-1.0), "tolerance is -1"),
        (lambda: Pose("tip", np.eye(4), orientation_tolerance=NAN), "tolerance is nan"),
        (lambda: Direction("tip", (0, 0, 0)), "must be a direction"),
        (lambda: Direction("tip", (0, NAN, 1)), "target"),
        (lambda: LookAt("tip", (0, 0, 1), axis=(0, 0, 0)), "axis must be a direction"),
        (lambda: LookAt("tip", (NAN, 0, 1)), "NaN or infinite"),
        (lambda: Cone("tip", (0, 0, 1), -0.1), "half_angle is -0.1"),
        (lambda: Cone("tip", (0, 0, 1), 4.0), "half_angle is 4.0"),
        (lambda: Cone("tip", (0, 0, 1), NAN), "half_angle is nan"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said_at_once(make, message):
    with pytest.raises(MemetikError, match=message) as caught:
        make()
    assert isinstance(caught.value, ProblemError)


def test_targets_may_be_written_in_many_ways(rng):
    R = random_rotation(rng)
    rotation = Rotation.from_matrix(R)
    x, y, z, w = rotation.as_quat()
    for target in (R, rotation, (w, x, y, z), transform((0, 0, 0), R), R.tolist()):
        assert_allclose(Orientation("tip", target).target, R, atol=1e-9)
    T = transform((1.0, 2.0, 3.0), R)
    for target in (T, T.tolist(), T.astype(np.float32), np.asfortranarray(T)):
        assert_allclose(Pose("tip", target).target, T, atol=1e-6)
    over = Orientation("tip", euler(180, 0, 0, degrees=True))
    assert_allclose(over.target, turn((1, 0, 0), math.pi)[:3, :3], atol=1e-12)


def test_a_target_is_a_copy():
    point = np.array([0.1, 0.2, 0.3])
    reach = Position("tip", point)
    point[0] = 9.0
    with pytest.raises(ValueError, match="read-only"):
        reach.target[1] = 9.0
    assert_allclose(reach.target, [0.1, 0.2, 0.3])


def test_an_almost_unit_quaternion_is_normalised():
    face = Orientation("tip", (1.0 + 1e-8, 0.0, 0.0, 0.0))
    assert_allclose(face.target, np.eye(3), atol=1e-12)


# ---- What they ask for ------------------------------------------------------------------------------------


def test_errors_are_in_metres_and_radians(arm, tip):
    """Held fast by tolerances that anything satisfies, the start is the answer and its errors can be checked."""
    q = np.full(6, 0.2)
    T = kinematics.pose(arm, "tip", q)
    wide = {"tolerance": 100.0}
    place, face = Position("tip", tip[:3, 3], **wide), Orientation("tip", tip[:3, :3], **wide)
    pose = Pose("tip", tip, position_tolerance=100.0, orientation_tolerance=100.0)
    look, along = LookAt("tip", (1, 2, 3), **wide), Direction("tip", (1, 2, 3), axis=(0, 1, 0), **wide)
    cone = Cone("tip", (1, 2, 3), 0.5, axis=(0, 1, 0), **wide)
    solution = solve(arm, [place, face, pose, look, along, cone], q)
    assert solution.success and np.array_equal(solution.q, q)
    distance, angle = math.dist(T[:3, 3], tip[:3, 3]), angle_between(T[:3, :3], tip[:3, :3])
    assert_allclose(solution.errors[place], distance)
    assert_allclose(solution.errors[face], angle)
    assert_allclose(solution.errors[pose], (distance, angle))
    assert solution.errors[pose].position == pytest.approx(solution.errors[place], rel=1e-15)

    def between(u, v):
        return math.acos(u @ v / np.linalg.norm(u) / np.linalg.norm(v))

    assert_allclose(solution.errors[look], between(T[:3, 0], np.array([1, 2, 3]) - T[:3, 3]))
    assert_allclose(solution.errors[along], between(T[:3, 1], np.array([1, 2, 3])))
    assert_allclose(solution.errors[cone], between(T[:3, 1], np.array([1, 2, 3])) - 0.5)


def test_a_mask_frees_axes(arm):
    column = Position("tip", (0.4, 0.3, 99.0), mask=(True, True, False))
    solution = solve(arm, [column])
    assert solution.success
    assert_allclose(arm.forward(solution.q)["tip"][:2, 3], (0.4, 0.3), atol=1e-4)


def test_masks_are_meant_in_the_axes_given(arm):
    """A slope: only the distance from the plane through the point counts."""
    R = turn((1, 1, 0), 0.7)[:3, :3]
    slope = Position("tip", (0.3, 0.1, 0.2), mask=(0, 0, 1), mask_axes=R)
    solution = solve(arm, [slope])
    assert solution.success
    off = R.T @ (arm.forward(solution.q)["tip"][:3, 3] - (0.3, 0.1, 0.2))
    assert abs(off[2]) <= 1e-4 and np.abs(off[:2]).max() > 1e-3


def test_an_orientation_mask_lets_the_frame_spin(arm, tip):
    spin = Orientation("tip", tip[:3, :3], mask=(1, 1, 0))
    solution = solve(arm, [spin, Position("tip", tip[:3, 3])])
    assert solution.success
    assert_allclose(arm.forward(solution.q)["tip"][:3, 2], tip[:3, 2], atol=2e-3)


@pytest.mark.parametrize(
    "mask", [(1, 1, 1, 1, 1, 0), (1, 1, 0, 1, 1, 0), (1, 0, 1, 0, 1, 1), (1, 1, 1, 0, 0, 0), (0, 0, 0, 1, 1, 1)]
)
def test_a_pose_mask_counts_in_the_axes_of_the_target(arm, tip, mask):
    pose = Pose("tip", tip, mask=mask)
    solution = solve(arm, pose)
    assert solution.success
    away = np.linalg.inv(tip) @ kinematics.pose(arm, "tip", solution.q)
    error = np.array(mask) * np.concatenate([away[:3, 3], Rotation.from_matrix(away[:3, :3]).as_rotvec()])
    assert np.linalg.norm(error[:3]) <= 1e-4 and np.linalg.norm(error[3:]) <= 1e-3
    assert_allclose(solution.errors[pose], (np.linalg.norm(error[:3]), np.linalg.norm(error[3:])), atol=1e-9)


def test_what_a_pose_mask_leaves_out_is_free(arm, tip):
    at_tip = solve(arm, Pose("tip", tip)).q
    slid, spun = tip @ transform((0.0, 0.0, 7.0)), tip @ transform((0.0, 0.0, 0.0), euler(0.0, 0.0, 0.5))
    for target, mask in ((slid, (1, 1, 0, 1, 1, 1)), (spun, (1, 1, 1, 1, 1, 0))):
        assert_allclose(solve(arm, Pose("tip", target, mask=mask), at_tip).q, at_tip, atol=1e-9)
        assert not np.allclose(solve(arm, Pose("tip", target), at_tip).q, at_tip, atol=1e-3)


def test_a_part_of_a_pose_of_which_nothing_counts_is_not_spoken_of(arm, tip):
    solution = solve(arm, Pose("tip", tip, mask=(1, 1, 1, 0, 0, 0)))
    assert "orientation" not in str(solution) and solution.success
    far = solve(arm, Pose("tip", transform((9.0, 0.0, 0.0)), mask=(1, 1, 1, 1, 1, 0)))
    assert "reaches at most 1 m" in far.explain() and not far.success
    slides = solve(arm, Pose("tip", transform((9.0, 0.0, 0.3)), mask=(0, 1, 1, 0, 0, 0)))
    assert slides.success


def test_tolerances_of_single_axes(arm):
    """A slot: exact across, anywhere within 0.2 m along."""
    q = np.full(6, 0.2)
    here = arm.forward(q)["tip"][:3, 3]
    slot = Position("tip", here + np.array([0.0, 0.15, 0.0]), tolerance=(1e-4, 0.2, 1e-4))
    solution = solve(arm, [slot], q)
    assert solution.success and np.array_equal(solution.q, q)  # within already
    assert_allclose(solution.errors[slot], 0.15)
    slot.target = here + np.array([0.0, 0.15, 0.01])
    moved = solve(arm, [slot], q)
    off = np.abs(arm.forward(moved.q)["tip"][:3, 3] - slot.target)
    assert moved.success and (off <= (1e-4, 0.2, 1e-4)).all()


def test_a_wide_axis_yields_to_a_narrow_one(arm):
    """The middle of the slot is out of reach, its near end is not."""
    far = Position("tip", (0.8, 0.0, 0.8), tolerance=(1e-4, 1e-4, 0.5))  # the arm is 1 m long
    solution = solve(arm, [far])
    off = arm.forward(solution.q)["tip"][:3, 3] - far.target
    assert solution.success and np.abs(off[:2]).max() <= 1e-4 and -0.5 <= off[2] < -0.15
    assert_allclose(solution.errors[far], np.linalg.norm(off))
    assert not solve(arm, [Position("tip", (0.8, 0.0, 0.8), tolerance=(1e-4, 1e-4, 0.1))]).success


@pytest.mark.parametrize("objective", [Position, Orientation])
def test_axes_of_which_none_counts_are_satisfied(arm, objective):
    """The mask leaves one axis, and its tolerance is infinite."""
    target = (0.4, 0.3, 99.0) if objective is Position else np.eye(3)
    free = objective("tip", target, mask=(0, 1, 0), tolerance=(0.01, math.inf, 0.01))
    solution = solve(arm, [free])
    assert solution.success and solution.errors[free] == 0.0


def test_an_infinite_tolerance_frees_an_axis(arm):
    free = Position("tip", (0.4, 0.3, 99.0), tolerance=(1e-4, 1e-4, math.inf))
    solution = solve(arm, [free])
    assert solution.success
    assert_allclose(arm.forward(solution.q)["tip"][:2, 3], (0.4, 0.3), atol=1e-4)


@pytest.mark.parametrize("make", [Position, LookAt, lambda frame, target: MinDistance(frame, target, 0.1)])
def test_a_point_that_is_refused_changes_nothing(make):
    objective = make("tip", (1.0, -2.0, 3.0))
    for bad in (math.nan, math.inf, -math.inf):
        for k in range(3):
            target = np.zeros(3)
            target[k] = bad
            with pytest.raises(ProblemError, match="target has an entry that is NaN or infinite"):
                objective.target = target
    assert objective.target.tolist() == [1.0, -2.0, 3.0]


def test_tolerances_may_change_their_kind(arm):
    reach = Position("tip", (0.4, 0.3, 0.1), tolerance=(0.1, 0.2, 0.3))
    problem = Problem(arm, reach)
    assert reach.tolerance == 0.0 and reach.axis_tolerance.tolist() == [0.1, 0.2, 0.3]
    reach.tolerance = 1e-6
    assert reach.tolerance == 1e-6 and reach.axis_tolerance is None
    assert Memetic().solve(problem, budget=BUDGET).errors[reach] <= 1e-6
    reach.tolerance = (1.0, 2.0, 3.0)
    assert Memetic().solve(problem, arm.home, BUDGET).evaluations <= 1
    with pytest.raises(ProblemError, match="tolerance is -1"):
        reach.tolerance = (0.1, -1.0, 0.1)
    assert reach.axis_tolerance.tolist() == [1.0, 2.0, 3.0]


def test_orientation_tolerances_of_single_axes(arm):
    q = np.full(6, 0.2)
    here = arm.forward(q)["tip"][:3, :3]
    turned = here @ turn((0, 0, 1), 0.5)[:3, :3]
    assert np.array_equal(solve(arm, [Orientation("tip", turned, tolerance=(0.01, 0.01, 0.6))], q).q, q)
    assert not np.array_equal(solve(arm, [Orientation("tip", turned, tolerance=(0.01, 0.01, 0.4))], q).q, q)


def test_targets_ride_on_other_frames(arm, rng):
    """The tip stays where it is seen from link 2 while link 2 goes elsewhere."""
    poses = arm.forward(np.full(6, 0.4))
    wanted = np.linalg.inv(poses["link_2"]) @ poses["tip"]
    elsewhere = Direction("link_2", (0, 1, 0), axis=(1, 0, 0))
    offset = slide((0, 0, 1), 0.3) @ turn((1, 1, 0), 0.7)
    from_offset = np.linalg.inv(offset) @ wanted
    for hold in (
        [Pose("tip", wanted, relative_to="link_2")],
        [Pose("tip", from_offset, relative_to=arm.frame("link_2", offset=offset))],
        [
            Position("tip", wanted[:3, 3], relative_to="link_2"),
            Orientation("tip", wanted[:3, :3], relative_to="link_2"),
        ],
    ):
        solution = solve(arm, [*hold, elsewhere], arm.sample(rng))
        assert solution.success
        poses = arm.forward(solution.q)
        assert_allclose(poses["link_2"][:3, 0], (0, 1, 0), atol=2e-3)
        assert_allclose(np.linalg.inv(poses["link_2"]) @ poses["tip"], wanted, atol=2e-3)


def test_aims_ride_on_other_frames(arm):
    look = LookAt("tip", (0.0, 0.2, 0.3), relative_to="link_2")
    along = Direction("tip", (0.0, 1.0, 1.0), axis=(0, 0, 1), relative_to="link_1")
    solution = solve(arm, [look, along])
    assert solution.success
    poses = arm.forward(solution.q)
    towards = poses["link_2"][:3, :3] @ (0.0, 0.2, 0.3) + poses["link_2"][:3, 3] - poses["tip"][:3, 3]
    assert_allclose(poses["tip"][:3, 0], towards / np.linalg.norm(towards), atol=2e-3)
    assert_allclose(poses["tip"][:3, 2], poses["link_1"][:3, :3] @ np.array([0, 1, 1]) / math.sqrt(2), atol=2e-3)


def test_a_cone_is_free_inside(arm):
    q = np.full(6, 0.2)
    axis = arm.forward(q)["tip"][:3, 2]
    tilted = turn(np.cross(axis, (1, 0, 0)), 0.3)[:3, :3] @ axis
    inside = solve(arm, [Cone("tip", tilted, 0.31)], q)
    assert inside.success and np.array_equal(inside.q, q)
    outside = solve(arm, [Cone("tip", tilted, 0.2)], q)
    assert outside.success
    assert math.acos(arm.forward(outside.q)["tip"][:3, 2] @ tilted) <= 0.2 + 1e-3


def test_looking_the_opposite_way_turns_round(arm):
    """Straight behind is a saddle for many methods: the angle does not change to first order."""
    for target in ((-5.0, 0.0, 0.0), (-5.0, 1e-12, 0.0)):
        assert solve(arm, [LookAt("tip", target)], arm.home).success
    assert solve(arm, [Direction("tip", -arm.forward(arm.home)["tip"][:3, 1], axis=(0, 1, 0))], arm.home).success


def test_a_half_turn_is_found(arm):
    """Orientation errors near pi, where the shortest way round is not unique."""
    start = np.full(6, 0.1)
    for axis in np.eye(3):
        target = arm.forward(start)["tip"][:3, :3] @ turn(axis, math.pi)[:3, :3]
        assert solve(arm, [Orientation("tip", target)], start).success


def test_guides_shape_the_solution_and_never_block(arm):
    q = np.full(6, 0.3)
    reach = Position("tip", arm.forward(q)["tip"][:3, 3])
    guide = Direction("tip", (0, 0, 1), axis=(0, 1, 0), tolerance=None)
    alone, guided = solve(arm, [reach], arm.home), solve(arm, [reach, guide], arm.home)
    assert alone.success and guided.success
    assert guided.errors[reach] <= 1e-4

    def off(solution):
        return math.acos(arm.forward(solution.q)["tip"][2, 1])

    assert_allclose(guided.errors[guide], off(guided), atol=1e-6)
    assert off(guided) < off(alone) - 0.1
    hopeless = Position("tip", (9.0, 0.0, 0.0), tolerance=None)
    assert solve(arm, [reach, hopeless]).success


def test_frames_with_an_offset(arm):
    tool = arm.frame("tip", offset=slide((0, 0, 1), 0.1) @ turn((1, 0, 0), 0.5))
    q = np.full(6, 0.3)
    wanted = kinematics.pose(arm, "tip", q) @ tool.link_from_frame
    solution = solve(arm, [Pose(tool, wanted)])
    assert solution.success
    assert_allclose(arm.forward(solution.q)["tip"] @ tool.link_from_frame, wanted, atol=2e-3)


def test_names_and_representations():
    assert repr(Position("tip", (0, 0, 0))) == "<Position tip>"
    assert repr(Pose("tip", np.eye(4), name="grasp", relative_to="link_1")) == "<grasp tip link_1>"


@pytest.mark.parametrize("point", [(0.5, 0.1, 0.4), [1, 2, 3], np.ones(3)])
def test_a_pose_is_more_than_a_position(point):
    message = r"Give a 4x4 transform, mk\.translation\(x, y, z\) .* or mk\.Position"
    with pytest.raises(ProblemError, match=message):
        Pose("hand", point)
    pose = Pose("hand", (point, np.eye(3)))
    with pytest.raises(ProblemError, match=message):
        pose.target = point
    assert_allclose(pose.target, transform(point))
