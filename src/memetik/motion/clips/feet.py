"""Feet on the ground: soles that have sunk into a terrain are put on it, all else stays as the clip has it.

After 5.10 of the thesis (Fig. 5.24 and 5.25): a ray runs from 0.5 m above each contact point of a sole to exactly this
point. Where none meets the terrain, the foot keeps the pose of the clip. Where one does, the sole is turned with the
terrain, rotation Delta(V, -n) X with V straight down, and raised until no contact point is below it. For a flat foot, whose
own normal is V, that is the formula of the thesis; a foot that rolls over its toes goes on to do so on a slope.

Turning at once at the first touch would be a jump, so the turn grows with the depth d to which the clip has sunk,
w = 3 s² - 2 s³ with s = d / `settle`. Everything is then continuous in the pose of the clip: a foot that touches down
begins to differ from the clip by nothing.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from memetik.body import Body, Frame
from memetik.errors import ProblemError
from memetik.geometry.checks import instance, real_array, real_number, several
from memetik.kernels.body.forward import frame_matrices
from memetik.kernels.terms.geometry.feet import SPOT_NUMBERS, deepest_point, place_sole
from memetik.motion.clips.contacts import checked_above_zero
from memetik.motion.clips.motion import Motion
from memetik.objectives import Orientation, Pose, Position
from memetik.objectives.terrain import Surface
from memetik.problem import Problem
from memetik.solvers import Budget, bind, solve
from memetik.types import Array

ABOVE = 0.5  # m, where rays start
SETTLE = 0.04  # m; a sole that has sunk deeper is turned all the way
POSITION, ROTATION = 1e-5, 1e-5  # m and rad, tolerances of a foot
RAISES = 4  # of a sole that cannot be turned to the terrain


class Sole(NamedTuple):
    """A foot, and the joints that move it."""

    frame: Frame  # at the contact point
    points: Array  # (k, 3), contact points in the frame [m]
    base: str  # the link that carries the leg
    columns: NDArray[np.int64]  # of the leg's joints in the joint vector
    leg: Problem  # its pose in the frame of the base
    as_it_can: Problem  # its position there, turned as well as limits allow
    place: Position
    turn: Orientation


class Placed(NamedTuple):
    """A frame of a motion with its feet on the ground."""

    q: Array  # joint vector
    standing: tuple[bool, ...]  # of each foot: whether it was moved
    success: bool  # whether all feet are where they should be; how they are turned may give way to limits


class FootPlacer:
    """Puts feet on a terrain, frame by frame: `q = placer(q_of_the_clip).q`.

    body: with the base that moves it, such as mk.load("kyle", base="floating").
    terrain: Ground, HeightField or TriangleMesh; assign another to `terrain`.
    feet: a frame at the contact point of each sole, such as body.frame("left_midfoot", offset=(0.03, 0, -0.095)).
    sole: length along the frame's x and width along its y [m]; its corners are contact points, too. (0, 0) for a point.
    settle: the depth from which a sole is turned all the way to the terrain [m].

    The joints of each leg are solved, up to the link where it joins another one: the pelvis of a biped, pelvis and chest of
    a quadruped. That link stays as the clip has it, so the other limbs do, bit for bit. Where the limits of a leg do not let
    its sole turn to the terrain, it is turned as far as they do and raised until no contact point is in the ground.
    """

    def __init__(
        self, body: Body, terrain: Surface, feet: Iterable[str | Frame], *, sole: Sequence[float] = (0.0, 0.0),
        settle: float = SETTLE,
    ) -> None:  # fmt: skip
        self.body = instance(body, Body, ProblemError, "a body. Give mk.load(...).")
        self.terrain = terrain
        self.settle = checked_above_zero(settle, "FootPlacer: settle", "m")
        corners = _corners(sole)
        given = several(feet, ProblemError, "FootPlacer: feet", "[body.frame('left_foot')]")
        if not given:
            raise ProblemError("FootPlacer: feet is empty. Name at least one frame at a contact point.")
        frames = [self.body.frame(foot) for foot in given]
        self.soles = tuple(
            _sole(self.body, frame, corners, base)
            for frame, base in zip(frames, leg_bases(self.body, frames), strict=True)
        )
        self._steps = [bind(each.leg, *each.leg.objectives, budget=Budget(evaluations=400)) for each in self.soles]
        self._parts = [f for each in self.soles for f in (each.frame, each.base)]
        self._flat, self._frames = self.body.flatten(self._parts)

    @property
    def terrain(self) -> Surface:
        """What the feet stand on."""
        return self._terrain

    @terrain.setter
    def terrain(self, value: Surface) -> None:
        self._terrain = instance(
            value, Surface, ProblemError, "a surface. Give mk.Ground(...), mk.HeightField(...) or mk.TriangleMesh(...)."
        )

    def __call__(self, q: ArrayLike) -> Placed:
        """One frame of a clip with its feet on the terrain."""
        posture = np.array(real_array(q, ProblemError, "a frame of a clip is a joint vector"))
        if posture.shape != (self.body.dof,) or not np.isfinite(posture).all():
            raise ProblemError(f"a frame of body {self.body.name!r} has {self.body.dof} finite numbers.")
        poses = np.empty((self._frames.size, 4, 4))
        frame_matrices(self._flat.nodes, self._frames, posture, np.empty((self._flat.nodes.size, 7)), poses)
        return self._placed(posture, list(poses))

    def _target(self, pose: Array, points: Array) -> tuple[Array, bool]:
        """Where a foot belongs that has this pose (4x4) in the clip and these contact points, and whether it was moved."""
        target, spots = np.empty((4, 4)), np.empty((len(points), SPOT_NUMBERS))
        down = -pose[2, :3]  # in the frame of the foot
        moved = place_sole(self._terrain.numbers, pose, points, down, ABOVE, self.settle, spots, target)
        return target, bool(moved)

    def _placed(self, q: Array, poses: Sequence[Array]) -> Placed:
        result, moved, success = q, [], True
        for k, sole in enumerate(self.soles):
            target, is_moved = self._target(poses[2 * k], sole.points)
            moved.append(is_moved)
            if is_moved:
                result = q.copy() if result is q else result
                base = poses[2 * k + 1]
                step = self._steps[k]
                values = step(_back(base, target), q[sole.columns])
                if not step.success:
                    values, reached = self._nearest(k, base, target, q[sole.columns])
                    success = success and reached
                result[sole.columns] = values
        return Placed(result, tuple(moved), success)

    def _nearest(self, k: int, base: Array, target: Array, start: Array) -> tuple[Array, bool]:
        """A leg whose limits leave it no way to the pose: its foot is put there as it can be turned, and out of the ground."""
        sole, numbers = self.soles[k], self._terrain.numbers
        spots = np.empty((len(sole.points), SPOT_NUMBERS))
        goal = target.copy()
        for _ in range(RAISES):
            seen = _back(base, goal)
            sole.place.target, sole.turn.target = seen[:3, 3], seen[:3, :3]
            solution = solve(sole.as_it_can, start, budget=Budget(evaluations=400))
            foot = base @ sole.leg.body.forward(solution.q, sole.frame)
            deep = deepest_point(numbers, foot, sole.points, ABOVE, spots)
            if deep <= POSITION:
                break
            goal[2, 3] += deep
        return solution.q, solution.success


def _back(base: Array, target: Array) -> Array:
    """base^-1 target, of poses."""
    pose = np.eye(4)
    turn = base[:3, :3].T
    pose[:3, :3], pose[:3, 3] = turn @ target[:3, :3], turn @ (target[:3, 3] - base[:3, 3])
    return pose


def place_feet(
    motion: Motion, terrain: Surface, feet: Iterable[str | Frame], *, sole: Sequence[float] = (0.0, 0.0),
    settle: float = SETTLE, follow: float | None = None,
) -> Motion:  # fmt: skip
    """A clip with its feet on a terrain: soles that would sink into it stand on it, all else stays as it is.

    follow: None leaves the height of the root to the clip. A time [s] lets the whole body follow the terrain: it is raised
        by the height of the terrain under its lowest foot, as a mean over this time, which suits clips of flat ground.

    The other arguments are those of FootPlacer, which does the same for single frames, live.
    """
    clip = instance(motion, Motion, ProblemError, "a motion. Give mk.read_motion(...).")
    placer = FootPlacer(clip.body, terrain, feet, sole=sole, settle=settle)
    if follow is not None:
        clip = _following(clip, placer, checked_above_zero(follow, "place_feet: follow", "s"))
    poses = [clip.poses(frame) for frame in placer._parts]
    rows = [placer._placed(q, [each[k] for each in poses]).q for k, q in enumerate(clip.q)]
    return clip.with_q(np.array(rows))


def _following(clip: Motion, placer: FootPlacer, over: float) -> Motion:
    """The clip raised by the height of the terrain, smoothed over a time."""
    heights = np.full(len(clip), math.inf)
    for sole in placer.soles:
        places = clip.poses(sole.frame)[:, :3, 3]
        under = np.array([placer.terrain.beside(place)[0][2] for place in places])
        heights = np.minimum(heights, under)
    distance = (clip.times[:, None] - clip.times[None, :]) / (0.5 * over)
    weights = np.exp(-0.5 * distance * distance)
    smooth = weights @ heights / weights.sum(axis=1)
    ups = clip.moved((0.0, 0.0, 1.0)).q - clip.q  # what raises the root by a metre
    first = clip.body.index(clip.root.variables[0])
    q = clip.q.copy()
    q[:, first : first + 3] += smooth[:, None] * ups[:, first : first + 3]
    return clip.with_q(q)


def _corners(sole: Sequence[float]) -> Array:
    """The contact points of a sole in its frame: the middle, and the corners if it has any."""
    numbers = several(sole, ProblemError, "sole", "(0.24, 0.08)")
    sizes = [real_number(size, ProblemError, "sole: a length") for size in numbers]
    if len(sizes) != 2 or not all(0.0 <= size < math.inf for size in sizes):
        raise ProblemError(f"sole is {sole}. Give length and width in metres, (0, 0) for a single point.")
    x, y = 0.5 * sizes[0], 0.5 * sizes[1]
    corners = {(0.0, 0.0): 0, (x, y): 1, (-x, y): 2, (-x, -y): 3, (x, -y): 4}
    return np.array([(a, b, 0.0) for a, b in corners])


def leg_bases(body: Body, feet: Sequence[Frame]) -> list[str]:
    """For each foot the link that carries its leg: the last on the way to it that carries another foot, too."""
    held_by = {joint.child: joint.parent for joint in body.joints.values()}
    ways = []
    for foot in feet:
        way = [foot.link]
        while way[-1] in held_by:
            way.append(held_by[way[-1]])
        ways.append(way)
    moving = {joint.child for joint in body.joints.values() if joint.dof}
    bases = []
    for k, way in enumerate(ways):
        others = {link for i, other in enumerate(ways) if i != k for link in other}
        carried = next((link for link in way[1:] if link in others), None)
        if carried is None:  # a single foot: all but a base that floats
            first = next((joint for joint in body.joints.values() if joint.dof), None)
            carried = first.child if first is not None and first.kind == "floating" else body.root
        if not any(link in moving for link in way[: way.index(carried)]):
            raise ProblemError(f"foot {feet[k]} cannot move on {carried!r}. Give feet on legs of their own.")
        bases.append(carried)
    return bases


def leg_problem(body: Body, frame: Frame, base: str) -> tuple[NDArray[np.int64], Problem]:
    """The columns of a leg's joints, and the problem of the pose of its foot in the frame of its base."""
    leg = body.chain(base, frame.link)
    pose = Pose(frame, leg.forward(leg.home, frame), position_tolerance=POSITION, orientation_tolerance=ROTATION)
    return np.array([body.index(name) for name in leg.joint_names]), Problem(leg, [pose])


def _sole(body: Body, frame: Frame, points: Array, base: str) -> Sole:
    columns, leg = leg_problem(body, frame, base)
    place = Position(frame, (0.0, 0.0, 0.0), tolerance=POSITION)
    turn = Orientation(frame, np.eye(3), tolerance=None, weight=0.1)
    return Sole(frame, points, base, columns, leg, Problem(leg.body, [place, turn]), place, turn)
