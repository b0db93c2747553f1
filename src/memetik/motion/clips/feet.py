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
from memetik.body.rows import poses_of
from memetik.errors import ProblemError
from memetik.geometry.checks import instance, real_array, real_number, several
from memetik.kernels.body.forward import frame_matrices
from memetik.kernels.terms.geometry.feet import SPOT_NUMBERS, deepest_point, place_sole
from memetik.motion.clips.contacts import checked_above_zero
from memetik.motion.clips.motion import Motion
from memetik.motion.guided import follow
from memetik.objectives import Displacement, Orientation, Pose, Position
from memetik.objectives.pose_target import pose_rows
from memetik.objectives.terrain import Surface
from memetik.problem import Problem
from memetik.problem.columns import Columns, target_columns
from memetik.solvers import Budget, solve
from memetik.types import Array

ABOVE = 0.5  # m, where rays start
SETTLE = 0.04  # m; a sole that has sunk deeper is turned all the way
POSITION, ROTATION = 1e-5, 1e-5  # m and rad, tolerances of a foot of a gait
PLACE, TURN, NEAR = 1e4, 1.0, 1e-4  # weights of where a foot is, how it is turned, and how near its leg is to the clip
REACHED = 1e-4  # m; a foot that is farther from its place is not there
DEEP = 1e-4  # m; soles that are deeper in the ground are raised ...
RAISES = 4  # ... so often at most


class Sole(NamedTuple):
    """A foot, and the joints that move it."""

    frame: Frame  # at the contact point
    points: Array  # (k, 3), contact points in the frame [m]
    base: str  # the link that carries the leg
    columns: NDArray[np.int64]  # of the leg's joints in the joint vector
    flat: tuple[NDArray[np.void], NDArray[np.void]]  # nodes of the leg, and the frame on them
    problem: Problem  # place and turn of the foot in the frame of the base, near the clip
    places: NDArray[np.int64]  # of both targets in the data of the problem
    strict: Problem  # the same where the place comes first, for legs that their limits hold elsewhere
    place: Position  # its objectives
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
        placed, moved, reached = self._placed(posture[None], list(poses[:, None]))
        return Placed(placed[0], tuple(moved[0].tolist()), bool(reached.all()))

    def _target(self, pose: Array, points: Array) -> tuple[Array, bool]:
        """Where a foot belongs that has this pose (4x4) in the clip and these contact points, and whether it was moved."""
        target, spots = np.empty((4, 4)), np.empty((len(points), SPOT_NUMBERS))
        down = -pose[2, :3]  # in the frame of the foot
        moved = place_sole(self._terrain.numbers, pose, points, down, ABOVE, self.settle, spots, target)
        return target, bool(moved)

    def _placed(self, q: Array, poses: Sequence[Array]) -> tuple[Array, NDArray[np.bool_], NDArray[np.bool_]]:
        """Frames q (n, dof), whose soles and bases have these poses (n, 4, 4) each, with their feet on the ground.

        Also which feet were moved, and which are where they should be (n, feet).
        """
        result, moved, reached = (
            q.copy(),
            np.zeros((len(q), len(self.soles)), bool),
            np.ones((len(q), len(self.soles)), bool),
        )
        for k, sole in enumerate(self.soles):
            goals, base = np.empty((len(q), 4, 4)), poses[2 * k + 1]
            for frame, pose in enumerate(poses[2 * k]):
                goals[frame], moved[frame, k] = self._target(pose, sole.points)
            on = np.flatnonzero(moved[:, k])
            if on.size:
                values, missed = self._stand(sole, base[on], goals[on], q[np.ix_(on, sole.columns)])
                result[np.ix_(on, sole.columns)] = values
                reached[on, k] = missed <= REACHED
        return result, moved, reached

    def _stand(self, sole: Sole, base: Array, goals: Array, clip: Array) -> tuple[Array, Array]:
        """A leg whose foot has these goals (n, 4, 4), near the postures of the clip, and how far from there its foot is [m].

        Where limits do not let a foot turn to the terrain, it is raised until no contact point is in the ground.
        """
        spots = np.empty((len(sole.points), SPOT_NUMBERS))
        back = np.swapaxes(base[:, :3, :3], 1, 2)
        wanted, seen = goals[:, :3, 3].copy(), np.tile(np.eye(4), (len(goals), 1, 1))
        seen[:, :3, :3] = back @ goals[:, :3, :3]
        values, missed, todo = np.empty_like(clip), np.empty(len(clip)), np.arange(len(clip))
        for _ in range(RAISES):
            seen[todo, :3, 3] = (back[todo] @ (wanted[todo] - base[todo, :3, 3])[..., None])[..., 0]
            rows, near = pose_rows(seen[todo], "place_feet"), clip[todo]
            values[todo] = follow(sole.problem, Columns(sole.places, np.hstack((rows, rows)), ()), near[0], rest=near)
            feet = base[todo] @ poses_of(*sole.flat, values[todo])[:, 0]
            missed[todo] = np.linalg.norm(feet[:, :3, 3] - wanted[todo], axis=1)
            for k in np.flatnonzero(missed[todo] > REACHED):
                frame = todo[k]
                sole.place.target, sole.turn.target = seen[frame, :3, 3], seen[frame, :3, :3]
                values[frame] = solve(sole.strict, clip[frame], budget=Budget(evaluations=400)).q
                feet[k] = base[frame] @ poses_of(*sole.flat, values[frame : frame + 1])[0, 0]
                missed[frame] = np.linalg.norm(feet[k, :3, 3] - wanted[frame])
            deep = np.array([deepest_point(self._terrain.numbers, foot, sole.points, ABOVE, spots) for foot in feet])
            todo, deep = todo[deep > DEEP], deep[deep > DEEP]
            if not todo.size:
                break
            wanted[todo, 2] += deep
        return values, missed


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
    return clip.with_q(placer._placed(clip.q, poses)[0])


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
    """A leg has often more joints than its foot needs, or too few: the clip decides the rest, so that nothing jumps."""
    columns, pose = leg_problem(body, frame, base)
    place = Position(frame, (0.0, 0.0, 0.0), tolerance=None, weight=PLACE)
    turn = Orientation(frame, np.eye(3), tolerance=None, weight=TURN)
    problem = Problem(pose.body, [place, turn, Displacement(weight=NEAR)])
    both = target_columns(problem, {place: np.zeros((1, 3)), turn: np.eye(3)[None]}, "FootPlacer")
    held = Position(frame, (0.0, 0.0, 0.0), tolerance=POSITION)
    turned = Orientation(frame, np.eye(3), tolerance=None, weight=0.1)
    strict = Problem(pose.body, [held, turned])
    flat, frames = pose.body.flatten([frame])
    return Sole(frame, points, base, columns, (flat.nodes, frames), problem, both.places, strict, held, turned)
