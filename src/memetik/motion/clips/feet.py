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
from memetik.kernels.terms.geometry.feet import SPOT_NUMBERS, depths_of, place_soles
from memetik.motion.clips.contacts import checked_above_zero
from memetik.motion.clips.legs import REACHED, Leg, Standing, leg_bases, leg_of, stand
from memetik.motion.clips.motion import Motion
from memetik.objectives.terrain import HeightField, Surface
from memetik.types import Array

ABOVE = 0.5  # m, where rays start
SETTLE = 0.04  # m; a sole that has sunk deeper is turned all the way
NEXT = 0.5  # rad or m; a frame whose legs are farther from those before is not the next one


class Sole(NamedTuple):
    """A foot, and what carries it."""

    frame: Frame  # at the contact point
    points: Array  # (k, 3), contact points in the frame [m]
    base: str  # the link that carries the leg
    leg: Leg


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
        corners = _corners(sole)
        given = several(feet, ProblemError, "FootPlacer: feet", "[body.frame('left_foot')]")
        if not given:
            raise ProblemError("FootPlacer: feet is empty. Name at least one frame at a contact point.")
        frames = [self.body.frame(foot) for foot in given]
        self.soles = tuple(
            _sole(self.body, frame, corners, base)
            for frame, base in zip(frames, leg_bases(self.body, frames), strict=True)
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
            value, Surface, ProblemError, "a surface. Give mk.Ground(...), mk.HeightField(...) or mk.TriangleMesh(...)."
        )

    def __call__(self, q: ArrayLike) -> Placed:
        """One frame of a clip with its feet on the terrain."""
        posture = np.array(real_array(q, ProblemError, "a frame of a clip is a joint vector"))
        if posture.shape != (self.body.dof,) or not np.isfinite(posture).all():
            raise ProblemError(f"a frame of body {self.body.name!r} has {self.body.dof} finite numbers.")
        placed, moved, reached = self._placed(posture[None], live=True)
        for k, sole in enumerate(self.soles):
            columns = sole.leg.columns
            self._last[k] = np.stack((placed[0, columns], posture[columns])) if moved[0, k] else None
        return Placed(placed[0], tuple(moved[0].tolist()), bool(reached.all()))

    def _placed(self, q: Array, *, live: bool) -> tuple[Array, NDArray[np.bool_], NDArray[np.bool_]]:
        """Frames q (n, dof) with their feet on the ground; live, the first may follow the one that was placed last.

        Also which feet were moved, and which are where they should be (n, feet).
        """
        poses = np.ascontiguousarray(np.swapaxes(poses_of(*self._flat, q), 0, 1))
        result, numbers = q.copy(), self._terrain.numbers
        moved, reached = np.zeros((len(q), len(self.soles)), bool), np.ones((len(q), len(self.soles)), bool)
        for k, sole in enumerate(self.soles):
            spots, depths = np.empty((len(sole.points), SPOT_NUMBERS)), np.empty(len(q))
            depths_of(numbers, poses[2 * k], sole.points, ABOVE, spots, depths)
            on = np.flatnonzero(depths > 0.0)
            if not on.size:
                continue
            shares, goals = np.minimum(depths[on] / self.settle, 1.0), np.empty((on.size, 4, 4))
            shares = shares * shares * (3.0 - 2.0 * shares)
            place_soles(numbers, poses[2 * k][on], sole.points, ABOVE, shares, spots, goals)
            rows, follows = np.ix_(on, sole.leg.columns), np.zeros(on.size, np.uint8)
            follows[1:] = on[1:] == on[:-1] + 1
            clip, last = q[rows], np.zeros((2, len(sole.leg.columns)))
            before = self._last[k] if live else None
            if before is not None and np.abs(clip[0] - before[1]).max() <= NEXT:
                last, follows[0] = before, 1
            asked = Standing(poses[2 * k + 1][on], goals, clip, follows, last)
            result[rows], missed, deep = stand(sole.leg, asked, sole.points, numbers, ABOVE)
            moved[on, k], reached[on, k] = True, (missed <= REACHED) & (deep <= REACHED)
        return result, moved, reached


def place_feet(
    motion: Motion, terrain: Surface, feet: Iterable[str | Frame], *, sole: Sequence[float] = (0.0, 0.0),
    settle: float = SETTLE, follow: float | None = None,
) -> Motion:  # fmt: skip
    """A clip with its feet on a terrain: soles that would sink into it stand on it, all else stays as it is.

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
    return clip.with_q(placer._placed(clip.q, live=False)[0])


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


def _corners(sole: Sequence[float]) -> Array:
    """The contact points of a sole in its frame: the middle, and the corners if it has any."""
    numbers = several(sole, ProblemError, "sole", "(0.24, 0.08)")
    sizes = [real_number(size, ProblemError, "sole: a length") for size in numbers]
    if len(sizes) != 2 or not all(0.0 <= size < math.inf for size in sizes):
        raise ProblemError(f"sole is {sole}. Give length and width in metres, (0, 0) for a single point.")
    x, y = 0.5 * sizes[0], 0.5 * sizes[1]
    corners = {(0.0, 0.0): 0, (x, y): 1, (-x, y): 2, (-x, -y): 3, (x, -y): 4}
    return np.array([(a, b, 0.0) for a, b in corners])


def _sole(body: Body, frame: Frame, points: Array, base: str) -> Sole:
    return Sole(frame, points, base, leg_of(body, frame, base))
