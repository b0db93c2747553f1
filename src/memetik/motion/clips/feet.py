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
from memetik.errors import ProblemError, warn
from memetik.geometry.checks import instance, real_array, real_number, several
from memetik.kernels.feet.soles import SPOT_NUMBERS, depths_of, place_soles
from memetik.motion.clips.contacts import checked_above_zero
from memetik.motion.clips.legs import REACHED, Leg, Standing, leg_bases, leg_of, stand
from memetik.motion.clips.motion import Motion
from memetik.motion.clips.soles import below_frame, is_marker, sole_frame
from memetik.motion.clips.turns import (
    matrices,
    quaternions_of_matrices,
    quaternions_of_vectors,
    rotation_vectors,
)
from memetik.objectives.terrain import HeightField, Surface
from memetik.types import Array

ABOVE = 0.5  # m, where rays start
SPACING = 0.01  # m; between points along the rim of a sole, at most
RISES = (math.inf, 3.0, 1.5, 0.75)  # m/s; how fast the terrain may move feet: the first that keeps the limits of joints
LEVER = 0.3  # m; a foot may turn as fast as this lever moves by a rise
FAST = 20.0  # rad/s; of joints whose limit is unknown
RAISES = 3  # how often a foot is raised whose rim still is in the ground
THERE = 0.001  # m; a foot that is farther from its place, or deeper in the ground, is not there
TOLD = 0.005  # m; a foot that is farther off its place is told
SUNK = 0.01  # m; a foot whose shapes reach farther below its frame is told
SETTLE = 0.04  # m; a sole that has sunk deeper is turned all the way
NEXT = 0.5  # rad or m; a frame whose legs are farther from those before is not the next one


class Sole(NamedTuple):
    """A foot, and what carries it."""

    frame: Frame  # at the contact point
    points: Array  # (k, 3), contact points in the frame [m]: the middle, and the corners of a sole that has some
    rim: Array  # (m, 3), points along its rim [m]
    base: str  # the link that carries the leg
    leg: Leg


class Placed(NamedTuple):
    """A frame of a motion with its feet on the ground."""

    q: Array  # joint vector
    standing: tuple[bool, ...]  # of each foot: whether it was moved
    success: bool  # whether all feet are where they should be, to 1 mm; how they are turned may give way to limits


class FootPlacer:
    """Puts feet on a terrain, frame by frame: `q = placer(q_of_the_clip).q`.

    body: with the base that moves it, such as mk.load("kyle", base="floating").
    terrain: Ground, HeightField or TriangleMesh; assign another to `terrain`.
    feet: links, whose soles are found by their shapes, or frames at the contact point of each sole, such as
        body.frame("left_midfoot", offset=(0.03, 0, -0.095)).
    sole: of frames: length along the frame's x and width along its y [m]; its rim meets the ground, too. (0, 0) for a point.
    settle: the depth from which a sole is turned all the way to the terrain [m].

    The joints of each leg are solved, up to the link where it joins another one: the pelvis of a biped, pelvis and chest of
    a quadruped. That link stays as the clip has it, so the other limbs do, bit for bit. Where the limits of a leg do not let
    its sole turn to the terrain, it is turned as far as they do and raised until no contact point is in the ground.

    Frames are taken to come one after another: of several postures that a standing leg could have, it keeps to that of the
    frame before.
    """

    def __init__(
        self, body: Body, terrain: Surface, feet: Iterable[str | Frame], *, sole: Sequence[float] = (0.0, 0.0),
        settle: float = SETTLE,
    ) -> None:  # fmt: skip
        self.body = instance(body, Body, ProblemError, "a body. Give mk.load(...).")
        self.terrain = terrain
        self.settle = checked_above_zero(settle, "FootPlacer: settle", "m")
        size = _sole_size(sole)
        given = several(feet, ProblemError, "FootPlacer: feet", "[body.frame('left_foot')]")
        if not given:
            raise ProblemError("FootPlacer: feet is empty. Name at least one frame at a contact point.")
        found = [_frame_and_size(self.body, self.body.frame(foot), size) for foot in given]
        bases = leg_bases(self.body, [frame for frame, _ in found])
        self.soles = tuple(
            _sole(self.body, frame, sizes, base) for (frame, sizes), base in zip(found, bases, strict=True)
        )
        parts = [f for each in self.soles for f in (each.frame, each.base)]
        flat, flat_frames = self.body.flatten(parts)
        self._flat = flat.nodes, flat_frames
        self._last: list[Array | None] = [None] * len(self.soles)  # Standing.last, where it stood

    @property
    def terrain(self) -> Surface:
        """What the feet stand on."""
        return self._terrain

    @terrain.setter
    def terrain(self, value: Surface) -> None:
        self._terrain = instance(
            value,
            Surface,
            ProblemError,
            "a surface. Give mk.objectives.Ground(...), mk.objectives.HeightField(...) or mk.objectives.TriangleMesh(...).",
        )

    def __call__(self, q: ArrayLike) -> Placed:
        """One frame of a clip with its feet on the terrain."""
        posture = np.array(real_array(q, ProblemError, "a frame of a clip is a joint vector"))
        if posture.shape != (self.body.dof,) or not np.isfinite(posture).all():
            raise ProblemError(f"a frame of body {self.body.name!r} has {self.body.dof} finite numbers.")
        placed, moved, off = self._placed(posture[None], live=True)
        for k, sole in enumerate(self.soles):
            columns = sole.leg.columns
            self._last[k] = np.stack((placed[0, columns], posture[columns])) if moved[0, k] else None
        return Placed(placed[0], tuple(moved[0].tolist()), bool((off <= THERE).all()))

    def _placed(self, q: Array, *, live: bool) -> tuple[Array, NDArray[np.bool_], Array]:
        """Frames q (n, dof) with their feet on the ground; live, the first may follow the one that was placed last.

        Also which feet were moved, and how far each is off its place or in the ground (n, feet) [m].
        """
        poses = np.ascontiguousarray(np.swapaxes(poses_of(*self._flat, q), 0, 1))
        result = q.copy()
        moved, off = np.zeros((len(q), len(self.soles)), bool), np.zeros((len(q), len(self.soles)))
        for k, sole in enumerate(self.soles):
            on, goals = self._goals(sole, poses[2 * k])
            if on.size:
                before = self._last[k] if live else None
                joints, off[on, k] = self._solved(sole, q, poses[2 * k + 1], on, goals, before)
                result[np.ix_(on, sole.leg.columns)] = joints
                moved[on, k] = True
        return result, moved, off

    def _goals(self, sole: Sole, poses: Array) -> tuple[NDArray[np.int64], Array]:
        """The frames in which a foot with these poses (n, 4, 4) is in the ground, and where it belongs in them."""
        depths = self._depths(sole, poses)
        on = np.flatnonzero(depths > 0.0)
        goals, spots = np.empty((on.size, 4, 4)), np.empty((len(sole.points), SPOT_NUMBERS))
        shares = np.minimum(depths[on] / self.settle, 1.0)
        shares = shares * shares * (3.0 - 2.0 * shares)
        place_soles(self._terrain.numbers, poses[on], sole.points, ABOVE, shares, spots, goals)
        if on.size and len(sole.rim) > 1:
            goals[:, 2, 3] += self._depths(sole, goals)  # edges of the ground between the corners
        return on, goals

    def _depths(self, sole: Sole, poses: Array) -> Array:
        """How deep the rim of a sole is in the ground (n,) [m]; 0 where it is not."""
        depths, spots = np.empty(len(poses)), np.empty((len(sole.rim), SPOT_NUMBERS))
        depths_of(self._terrain.numbers, np.ascontiguousarray(poses), sole.rim, ABOVE, spots, depths)
        return depths

    def _solved(
        self, sole: Sole, q: Array, bases: Array, on: NDArray[np.int64], goals: Array, before: Array | None
    ) -> tuple[Array, Array]:
        """The joints of a leg whose foot belongs at goals (m, 4, 4) in some frames, and how far it is off or too deep [m]."""
        follows, last = np.zeros(on.size, np.uint8), np.zeros((2, len(sole.leg.columns)))
        follows[1:] = on[1:] == on[:-1] + 1
        clip = q[np.ix_(on, sole.leg.columns)]
        if before is not None and np.abs(clip[0] - before[1]).max() <= NEXT:
            last, follows[0] = before, 1
        goals = goals.copy()
        for attempt in range(RAISES):
            asked = Standing(bases[on], goals, clip, follows, last)
            joints, missed, left = stand(sole.leg, asked, sole.points, self._terrain.numbers, ABOVE)
            if len(sole.rim) > 1:
                left = self._depths(sole, bases[on] @ sole.leg.problem.body.forward(joints, sole.frame))
            if left.max() <= REACHED or attempt == RAISES - 1:
                break
            goals[:, 2, 3] += np.where(left > REACHED, left, 0.0)
        return joints, np.maximum(missed, left)


def place_feet(
    motion: Motion, terrain: Surface, feet: Iterable[str | Frame], *, sole: Sequence[float] = (0.0, 0.0),
    settle: float = SETTLE, follow: float | None = None,
) -> Motion:  # fmt: skip
    """A clip with its feet on a terrain: soles that would sink into it stand on it, all else stays as it is.

    Velocity limits of leg joints are kept: where a terrain has steps, feet rise before they meet one, as early as that takes.
    A MemetikWarning says which joint is still too fast, or that a foot cannot be where it should.

    Beyond the rim of a terrain there is nothing to stand on: feet stay as the clip has them. A clip that leaves a height
    field gives a MemetikWarning.

    follow: None leaves the height of the root to the clip. A time [s] lets the whole body follow the terrain: it is raised
        by the height of the terrain under its lowest foot, as a mean over this time, which suits clips of flat ground.

    The other arguments are those of FootPlacer, which does the same for single frames, live.
    """
    clip = instance(motion, Motion, ProblemError, "a motion. Give mk.read_motion(...).")
    placer = FootPlacer(clip.body, terrain, feet, sole=sole, settle=settle)
    if follow is not None:
        clip = _following(clip, placer, checked_above_zero(follow, "place_feet: follow", "s"))
    _warn_outside(clip, placer)
    best, worst, missed, fastest = clip, math.inf, np.zeros(len(clip)), ""
    for rise in RISES:
        q, off = _placed_ahead(clip, placer, rise)
        excess, which = _too_fast(clip, clip.with_q(q), placer)
        if excess < worst:
            best, worst, missed, fastest = clip.with_q(q), excess, off.max(axis=1), which
        if excess <= 1.0:
            break
    advice = " Give follow=0.4, so that the body follows the height of the terrain." if follow is None else ""
    far = missed > TOLD
    if far.any():
        warn(
            f"place_feet: a foot is up to {1e3 * missed.max():.0f} mm off its place or in the ground in {int(far.sum())} of "
            f"{len(clip)} frames, first at {clip.times[int(far.argmax())]:.2f} s: its leg is too short or at a limit.{advice}"
        )
    if worst > 1.0:
        warn(f"place_feet: {fastest}{advice}")
    return best


def _placed_ahead(clip: Motion, placer: FootPlacer, rise: float) -> tuple[Array, Array]:
    """Joint vectors with feet on the ground, and how far feet are off their places or in the ground (n, feet) [m].

    rise: feet rise before they meet a step, and sink after it, so that the terrain never moves them faster up or down [m/s].
    """
    if math.isinf(rise):
        q, _, off = placer._placed(clip.q, live=False)
        return q, off
    result, off = clip.q.copy(), np.zeros((len(clip), len(placer.soles)))
    for k, sole in enumerate(placer.soles):
        poses, bases = clip.poses(sole.frame), clip.poses(sole.base)
        on, goals = placer._goals(sole, poses)
        if not on.size:
            continue
        need, turn = np.zeros((len(clip), 1)), np.zeros((len(clip), 3))
        need[on, 0] = goals[:, 2, 3] - poses[on, 2, 3]
        turn[on] = rotation_vectors(quaternions_of_matrices(goals[:, :3, :3] @ np.swapaxes(poses[on, :3, :3], 1, 2)))
        eased = poses.copy()
        eased[:, :3, :3] = matrices(quaternions_of_vectors(_spread(clip.times, turn, rise / LEVER))) @ poses[:, :3, :3]
        eased[:, 2, 3] += need[:, 0]
        need[:, 0] += placer._depths(sole, eased)
        eased[:, 2, 3] = poses[:, 2, 3] + _spread(clip.times, need, rise)[:, 0]
        rows = np.flatnonzero(np.abs(eased - poses).max(axis=(1, 2)) > 1e-9)
        joints, off[rows, k] = placer._solved(sole, clip.q, bases, rows, eased[rows], None)
        result[np.ix_(rows, sole.leg.columns)] = joints
    return result, off


def _spread(times: Array, vectors: Array, rate: float) -> Array:
    """Vectors (n, k) that begin before those that are given and end after them: their length changes no faster than a rate."""
    lengths = np.linalg.norm(vectors, axis=1)
    found, longest = vectors.copy(), lengths.copy()
    for j in np.flatnonzero(lengths > 0.0):
        reach = lengths[j] / rate
        first, last = np.searchsorted(times, (times[j] - reach, times[j] + reach))
        near = slice(int(first), int(last))
        share = 1.0 - np.abs(times[near] - times[j]) / reach
        better = share * lengths[j] > longest[near]
        longest[near] = np.where(better, share * lengths[j], longest[near])
        found[near] = np.where(better[:, None], share[:, None] * vectors[j], found[near])
    return found


def _too_fast(clip: Motion, placed: Motion, placer: FootPlacer) -> tuple[float, str]:
    """How many times as fast as it may be a joint of a leg is at most, and which; joints may be as fast as in the clip."""
    if len(clip) < 2:
        return 0.0, ""
    columns = np.unique(np.concatenate([sole.leg.columns for sole in placer.soles]))
    steps = np.diff(clip.times)[:, None]
    rates, own = (np.abs(np.diff(motion.q[:, columns], axis=0)) / steps for motion in (placed, clip))
    limits = clip.body.variables.velocity[columns]
    limits = np.where((limits > 0.0) & np.isfinite(limits), limits, FAST)
    excess = rates / np.maximum(limits, 1.05 * own.max(axis=0))
    frame, k = np.unravel_index(int(excess.argmax()), excess.shape)
    return float(excess[frame, k]), (
        f"joint {clip.body.joint_names[columns[k]]!r} moves at {rates[frame, k]:.1f} rad/s at {clip.times[frame]:.2f} s, where "
        f"{limits[k]:g} are allowed; in {int((excess > 1.0).any(axis=1).sum())} of {len(clip)} frames some joint is too fast."
    )


def _warn_outside(clip: Motion, placer: FootPlacer) -> None:
    """Who gives a height field means the ground; a mesh may be a single step on it."""
    field = placer.terrain
    if not isinstance(field, HeightField):
        return
    far = field.origin + field.spacing * (np.array(field.heights.shape) - 1)
    for sole in placer.soles:
        places = clip.poses(sole.frame)[:, :2, 3]
        outside = np.flatnonzero(((places < field.origin) | (places > far)).any(axis=1))
        if outside.size:
            low, high = places.min(axis=0), places.max(axis=0)
            warn(
                f"place_feet: {sole.frame} leaves the height field in {outside.size} of {len(clip)} frames, first at "
                f"{clip.times[outside[0]]:.2f} s; there it stays as the clip has it. Its way goes from ({low[0]:.2f}, "
                f"{low[1]:.2f}) to ({high[0]:.2f}, {high[1]:.2f}) m, the field from ({field.origin[0]:.2f}, "
                f"{field.origin[1]:.2f}) to ({far[0]:.2f}, {far[1]:.2f}) m: give a larger one, or move the clip."
            )


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


def _sole_size(sole: Sequence[float]) -> tuple[float, float]:
    """Length and width of a sole [m], checked."""
    numbers = several(sole, ProblemError, "sole", "(0.24, 0.08)")
    sizes = [real_number(size, ProblemError, "sole: a length") for size in numbers]
    if len(sizes) != 2 or not all(0.0 <= size < math.inf for size in sizes):
        raise ProblemError(f"sole is {sole}. Give length and width in metres, (0, 0) for a single point.")
    return sizes[0], sizes[1]


def _frame_and_size(body: Body, foot: Frame, size: tuple[float, float]) -> tuple[Frame, tuple[float, float]]:
    """The frame of a sole and its size: of a link that is only named, those of its shapes."""
    if size == (0.0, 0.0) and not is_marker(body, foot):
        return sole_frame(body, foot)
    deep = below_frame(body, foot)
    if deep > SUNK:
        named = "" if is_marker(body, foot) else "the link by its name without a sole, or "
        warn(
            f"place_feet: the shapes of {foot} reach {100 * deep:.1f} cm below its frame, which is taken for the contact "
            f"point, so they will be in the ground. Give {named}a frame at the sole."
        )
    return foot, size


def _sole(body: Body, frame: Frame, size: tuple[float, float], base: str) -> Sole:
    x, y = 0.5 * size[0], 0.5 * size[1]
    points = np.array([(0.0, 0.0, 0.0), (x, y, 0.0), (-x, y, 0.0), (-x, -y, 0.0), (x, -y, 0.0)])
    if x == 0.0 and y == 0.0:
        return Sole(frame, points[:1], points[:1], base, leg_of(body, frame, base))
    sides = []
    for a, b in zip(points[1:], np.roll(points[1:], -1, axis=0), strict=True):
        parts = max(1, math.ceil(float(np.linalg.norm(b - a)) / SPACING))
        sides.append(a + np.arange(parts)[:, None] / parts * (b - a))
    return Sole(frame, points, np.vstack((points[:1], *sides)), base, leg_of(body, frame, base))
