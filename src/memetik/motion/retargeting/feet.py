"""Feet that stand: where they are held, and how they get there without a pop.

While a foot of the source stands, the body's own is held still and flat on the floor; while it rolls off its toes, these are
held. In between it follows the source, moved by an offset that leads smoothly from what one contact needs to what the next
one does. Nothing of a sole is below the floor.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from memetik.body import Body
from memetik.motion.clips.contacts import standing
from memetik.motion.clips.turns import quaternions_of_matrices, quaternions_of_vectors, rotation_vectors
from memetik.motion.retargeting.figure import axes_between
from memetik.motion.retargeting.plan import BoneMatch
from memetik.motion.retargeting.soles import sole_of
from memetik.motion.retargeting.targets import Targets
from memetik.types import Array

Mask = NDArray[np.bool_]

# Of a standing person, by the length of a leg: a foot is lower and slower than this while it stands.
HIGH = 0.07
FAST = 0.35  # 1/s
SETTLE = 0.12  # s; within which the speed of an offset at the edge of a contact dies away
CLEARANCE = 0.015  # m; between the floor and the sole of a foot that swings
STRAIGHT = 0.2  # the sine of the angle of a knee below which it is straight; from twice that on it is bent
EASE = 0.08  # s; how long before and after a sole has to be lifted its foot begins and ends to rise
TILT = 0.6  # rad; how far a leg tilts whose end is looked at
SOLE = 0.01  # m; points of a foot this near to its lowest one belong to the sole


class Foot(NamedTuple):
    """A foot of the body."""

    link: str
    ankle: Array  # (3,) the point of the link that the plan leads [m]
    sole: Array  # (n, 3) points of the link under it [m]
    toe: Array  # (3,) the middle of the front edge of the sole [m]
    flat: Array  # (3, 3) how the link is turned on flat ground when the body faces along x
    height: float  # of the ankle above the lowest point of sole and toes, when the foot is flat [m]
    two_axes: bool  # whether the ankle has at most two axes, so that it cannot turn the foot about the shin
    toes: tuple[tuple[str, Array], ...]  # links that move below the foot, and their points [m]
    source: str  # what the sole is known from
    above: float = 0.0  # of the point `toe` above the floor while the foot stands, as of a leg that ends in a ball [m]

    def lowest(self, poses: Mapping[str, Array]) -> Array:
        """The height of the lowest point of sole and toes (frames,) [m], at poses of links (frames, 4, 4)."""
        parts = ((self.link, self.sole), *self.toes)
        return np.asarray(np.min([_lowest(poses[link], points) for link, points in parts], axis=0))


class Contact(NamedTuple):
    """In which frames a foot stands: flat, or at least on its toes."""

    flat: Mask
    any: Mask


def foot_of(body: Body, match: BoneMatch, shin: BoneMatch | None, leg: float, faces: Array) -> Foot:
    """The foot of a body, flat as it is in the posture at home.

    leg: the length from hip to ankle [m]. faces: world_from_figure (3, 3), how the body faces at home.
    """
    link, ankle = match.link, np.array(match.point)
    home = body.forward(body.home)
    flat = faces.T @ home[link][:3, :3]
    sole = sole_of(body, link, ankle, flat, leg)
    heights = sole.points @ flat[2]
    low = sole.points[heights < heights.min() + SOLE]
    forward = low @ flat[0]
    toe = low[forward > forward.max() - SOLE].mean(axis=0)
    toe = toe - flat[2] * (toe @ flat[2] - heights.min())
    axes = axes_between(body, shin.link, link) if shin is not None and shin.link != link else 0
    two_axes = shin is not None and 0 < axes < 3
    if shin is not None and axes == 0:  # a shank that ends in a point, which is held
        under = sole_of(body, link, ankle, flat, leg)
        knee = home[shin.link][:3, :3] @ np.array(shin.point) + home[shin.link][:3, 3]
        way = ankle - (knee - home[link][:3, 3]) @ home[link][:3, :3]
        middle, above = _round_end(ankle, way / max(float(np.linalg.norm(way)), 1e-12), under.points, leg)
        points = ((link, under.points), *under.toes)
        return Foot(link, middle, middle[None], middle, flat, above, False, points, under.source, above)
    at = home[link][2, :3] @ ankle + home[link][2, 3]
    found = Foot(link, ankle, sole.points, toe, flat, 0.0, two_axes, sole.toes, sole.source)
    return found._replace(height=float(at - found.lowest({name: home[name] for name in body.links})))


def _round_end(tip: Array, way: Array, points: Array, leg: float) -> tuple[Array, float]:
    """The point inside the end of a leg that is as high above the floor however the leg tilts, and that height [m].

    tip: the end of the leg; way: the unit vector along the shank towards it; points: of its surface (n, 3). For a ball it is
    the centre. It is looked for on the shank.
    """
    side = np.cross(way, np.eye(3)[np.abs(way).argmin()])
    side = side / np.linalg.norm(side)
    across = np.stack((side, np.cross(way, side), -side, -np.cross(way, side)))
    tilts = np.vstack((way, way * np.cos(TILT) + across * np.sin(TILT)))
    back = np.linspace(0.0, 0.2 * leg, 41)
    middles = tip - back[:, None] * way
    heights = (points @ tilts.T).max(axis=0) - middles @ tilts.T
    best = int(np.ptp(heights, axis=1).argmin())
    return middles[best], max(float(heights[best].mean()), 0.0)


def _lowest(poses: Array, points: Array) -> Array:
    """The height of the lowest of a link's points, at one pose or at many."""
    return np.asarray((poses[..., 2, :3] @ points.T).min(axis=-1) + poses[..., 2, 3])


def find_contact(times: Array, ankle: Array, toe: Array | None, leg: float) -> Contact:
    """Where a foot of the source stands, from the ways (n, 3) of its ankle and toes; `leg` is the length of its leg [m]."""
    heel = _stands(times, ankle, leg)
    if toe is None:
        return Contact(heel, heel)
    front = _stands(times, toe, leg)
    return Contact(heel & front, front)


def _stands(times: Array, way: Array, leg: float) -> Mask:
    """Where a point (n, 3) is low, as heights go in this motion, and slow."""
    if len(times) < 2:
        return np.ones(len(times), dtype=bool)
    heights = way[:, 2] - np.quantile(way[:, 2], 0.05)
    speeds = np.linalg.norm(np.gradient(way, times, axis=0), axis=1)
    return standing(times, heights, speeds, height=HIGH * leg, speed=FAST * leg)


def turned_with_knee(foot: Foot, hip: Array, knee: Array, ankle: Array, rotations: Array) -> Array:
    """Rotations of a foot (n, 3, 3), turned about the shin so that the foot points where the knee does.

    An ankle of two axes cannot turn a foot about the shin. Where the knee is bent, its plane says where the leg points; a
    straight leg leaves that to the foot. Points are (n, 3).
    """
    thigh, shin = knee - hip, knee - ankle
    shin = shin / np.maximum(np.linalg.norm(shin, axis=1, keepdims=True), 1e-12)
    axis = np.cross(shin, thigh) / np.maximum(np.linalg.norm(thigh, axis=1, keepdims=True), 1e-12)
    bent = np.clip((np.linalg.norm(axis, axis=1) - STRAIGHT) / STRAIGHT, 0.0, 1.0)
    left = rotations @ (foot.flat.T @ (0.0, 1.0, 0.0))
    axis = np.where(((axis * left).sum(axis=1) < 0.0)[:, None], -axis, axis)
    left = left - (left * shin).sum(axis=1, keepdims=True) * shin
    angle = np.arctan2((np.cross(left, axis) * shin).sum(axis=1), (left * axis).sum(axis=1))
    turn = (angle * bent * bent * (3.0 - 2.0 * bent))[:, None] * shin
    return np.asarray(_matrices(quaternions_of_vectors(turn)) @ rotations)


def planted(
    foot: Foot, times: Array, points: Array, rotations: Array, contact: Contact, floor: float
) -> tuple[Array, Array]:
    """The targets of a foot: points of its ankle (n, 3) and rotations (n, 3, 3), so that it stands where it is in contact."""
    held = np.zeros((len(times), 3))
    for start, end in runs(contact.flat):
        flat = _heading(rotations[start:end], foot.flat) @ foot.flat
        held[start:end] = rotation_vectors(quaternions_of_matrices(flat @ np.swapaxes(rotations[start:end], 1, 2)))
    turn = _matrices(quaternions_of_vectors(bridged(times, held, contact.flat))) @ rotations

    toes = points + turn @ (foot.toe - foot.ankle)
    held = np.zeros((len(times), 3))
    for start, end in runs(contact.any):
        still = contact.flat[start:end]
        spot = toes[start:end][still].mean(axis=0) if still.any() else toes[start:end].mean(axis=0)
        spot[2] = floor + foot.above
        held[start:end] = spot - toes[start:end]
    moved = points + bridged(times, held, contact.any)
    return moved + _lift(foot, times, moved, turn, contact, floor), turn


def toes_of(targets: Targets, part: str, foot: Foot) -> Array:
    """Where the targets of a foot have its toes (n, 3) [m]."""
    return np.asarray(targets.points[part] + targets.rotations[part] @ (foot.toe - foot.ankle))


def runs(mask: Mask) -> list[tuple[int, int]]:
    """First frame and frame after the last of each run of True."""
    edges = np.flatnonzero(np.diff(np.concatenate(([0], mask.astype(np.int8), [0]))))
    return [(int(a), int(b)) for a, b in zip(edges[::2], edges[1::2], strict=True)]


def bridged(times: Array, values: Array, held: Mask) -> Array:
    """`values` (n, 3) where they are held; in between they change smoothly from one hold to the next, at rest outside of all.

    The speed that values have at the edge of a hold dies away within SETTLE seconds, so that nothing bulges far into the gap.
    """
    spans = runs(held)
    if not spans:
        return np.zeros_like(values)
    found = values.copy()
    found[: spans[0][0]], found[spans[-1][1] :] = values[spans[0][0]], values[spans[-1][1] - 1]
    for (_, end), (following, _) in pairwise(spans):
        share = (times[end:following] - times[end - 1]) / (times[following] - times[end - 1])
        share = share**3 * (10.0 - 15.0 * share + 6.0 * share * share)
        found[end:following] = values[end - 1] + share[:, None] * (values[following] - values[end - 1])
    for start, end in spans:
        after, before = slice(end, _next(held, end)), slice(_before(held, start), start)
        for edge, inner, gap in ((end - 1, start, after), (start, end - 1, before)):
            away = times[gap] - times[edge]
            span = min(SETTLE, float(np.abs(away).max(initial=0.0)))
            if span > 0.0:
                left = np.maximum(1.0 - np.abs(away) / span, 0.0)
                found[gap] += (away * left**3)[:, None] * _slope(times, values, edge, inner)
    return found


def _next(held: Mask, at: int) -> int:
    """The first frame from `at` on that is held, or the number of frames."""
    later = np.flatnonzero(held[at:])
    return at + int(later[0]) if len(later) else len(held)


def _before(held: Mask, at: int) -> int:
    """The frame after the last one before `at` that is held."""
    earlier = np.flatnonzero(held[:at])
    return int(earlier[-1]) + 1 if len(earlier) else 0


def _slope(times: Array, values: Array, at: int, towards: int) -> Array:
    """The rate of the values at a frame, from its neighbour in the hold."""
    if at == towards:
        return np.zeros(values.shape[1])
    near = at + (1 if towards > at else -1)
    return np.asarray((values[near] - values[at]) / (times[near] - times[at]))


def _heading(rotations: Array, flat: Array) -> Array:
    """The rotation about the vertical that is nearest, on average, to these, seen from the foot flat and forward."""
    relative = (rotations @ flat.T).mean(axis=0)
    angle = np.arctan2(relative[1, 0] - relative[0, 1], relative[0, 0] + relative[1, 1])
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])


def _lift(foot: Foot, times: Array, points: Array, rotations: Array, contact: Contact, floor: float) -> Array:
    """How far up each frame has to go, so that no point of the sole is below the floor; it comes and goes smoothly.

    A foot that swings has some clearance, growing from the contact before it and shrinking towards the one after it.
    """
    low = points[:, 2] - foot.above + (rotations[:, 2] @ (foot.sole - foot.ankle).T).min(axis=1)
    away = np.minimum(_frames_away(times, contact.any) / SETTLE, 1.0)
    away = away * away * (3.0 - 2.0 * away)
    need = np.maximum(floor + CLEARANCE * away - low, 0.0)
    lift = np.zeros((len(times), 3))
    lift[:, 2] = np.maximum(need, _eased(times, need) * away)  # where a foot stands, nothing may move
    return lift


def sunken(foot: Foot, times: Array, poses: Mapping[str, Array], floor: float) -> Array:
    """How far below the floor the sole of a foot is (n,) [m], at poses of links (n, 4, 4); it comes and goes smoothly."""
    return _eased(times, np.maximum(floor - foot.lowest(poses), 0.0))


def _eased(times: Array, need: Array) -> Array:
    """At least what is needed (n,), rising before it and falling after it within EASE seconds."""
    if len(times) < 2 or not need.any():
        return need
    width = max(1, round(EASE / float(np.median(np.diff(times)))))
    windows = np.lib.stride_tricks.sliding_window_view(np.pad(need, 2 * width, mode="edge"), 2 * width + 1)
    kernel = np.hanning(2 * width + 3)[1:-1]
    # The mean of the largest in windows of the same width is nowhere below what is needed.
    return np.convolve(windows.max(axis=1), kernel / kernel.sum(), mode="valid")


def _frames_away(times: Array, held: Mask) -> Array:
    """How far each frame is from the nearest one that is held [s]; infinitely if there is none."""
    away = np.full(len(times), np.inf)
    at = times[held]
    if len(at):
        after = np.searchsorted(at, times).clip(0, len(at) - 1)
        away = np.minimum(np.abs(at[after] - times), np.abs(at[(after - 1).clip(0)] - times))
    return away


def _matrices(quaternions: Array) -> Array:
    w, x, y, z = quaternions.T
    return np.stack(
        [
            1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y),
            2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x),
            2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y),
        ],
        axis=1,
    ).reshape(-1, 3, 3)  # fmt: skip
