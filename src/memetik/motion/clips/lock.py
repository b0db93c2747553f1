"""Foot lock: feet that stand do not slide.

While a foot stands, the points of its sole that bear it keep their places: from each frame to the next the rigid motion of these
points on the ground is taken back, so the foot goes on to roll from its heel to its toes. What has added up goes away smoothly
while the foot is in the air. Legs are solved for the feet, near the clip; where one is too short, the root gives way downwards.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from memetik.body import Body, Frame
from memetik.motion.clips.legs import Standing, leg_bases, leg_of, stand
from memetik.motion.clips.root_path import floating_joint, moved_roots
from memetik.objectives.terrain import Ground
from memetik.types import Array

Mask = NDArray[np.bool_]

BEARING = 0.02  # m; points of a sole bear the more the nearer they are to the lowest one, up to this
DOWN = 0.01  # m; a foot is down if its lowest point is so near to the height of the contact
RETURN = 0.3  # s; within which a foot leaves or comes back to the clip, where no other contact is near
SETTLE = 0.12  # s; within which the velocity that a correction has at the edge of a contact dies away
EASE = 0.15  # s; how long before and after a root gives way it begins and ends to do so
CLEARANCE = 0.015  # m; between the floor and the sole of a foot in the air
SHORT = 1e-3  # m; a leg that misses its foot by more is too short
ROUNDS = 5


def bearing(stands: Mask, low: Array) -> Mask:
    """The frames of contacts in which the lowest point of a sole (n,) [m] is down: a foot that rolls off still is slow."""
    found = stands.copy()
    for start, end in runs(stands):
        found[start:end] = low[start:end] < np.quantile(low[start:end], 0.2) + DOWN
    return found


class Contact(NamedTuple):
    """A foot: the frame, its sole and when it stands."""

    frame: Frame
    points: Array  # (k, 3) of the sole, in the frame [m]
    stands: Mask  # (n,)


def lock_feet(
    body: Body, times: Array, q: Array, feet: Sequence[Contact], sliding: Mask, floor: float | None
) -> tuple[Array, float]:
    """Return joint vectors (n, dof) whose standing feet do not slide, and how far a foot is off its place at most [m].

    sliding: the frames in which feet slide; in others a foot that stands keeps the way it has.
    floor: no point of a sole is below this height in frames that slide [m]; None does not look.
    """
    frames = [foot.frame for foot in feet]
    bases = leg_bases(body, frames)
    goals = [_goals(body.forward(q, foot.frame), times, foot, sliding, floor) for foot in feet]
    found, missed = q, np.zeros(len(q))
    for _ in range(ROUNDS if floating_joint(body) is not None else 1):
        solved = found.copy()
        missed[:] = 0.0
        for foot, base, (wanted, changed) in zip(feet, bases, goals, strict=True):
            rows = np.flatnonzero(changed | (found != q).any(axis=1))
            if not rows.size:
                continue
            leg, follows = leg_of(body, foot.frame, base), np.zeros(len(rows), np.uint8)
            follows[1:] = rows[1:] == rows[:-1] + 1
            asked = Standing(
                np.ascontiguousarray(body.forward(found[rows], base)), np.ascontiguousarray(wanted[rows]),
                np.ascontiguousarray(q[np.ix_(rows, leg.columns)]), follows, np.zeros((2, len(leg.columns))),
            )  # fmt: skip
            joints, short, _ = stand(leg, asked, np.empty((0, 3)), Ground().numbers, 0.0)
            solved[np.ix_(rows, leg.columns)] = joints
            missed[rows] = np.maximum(missed[rows], short)
        if missed.max(initial=0.0) <= SHORT or floating_joint(body) is None:
            break
        down = np.tile(np.eye(4), (len(q), 1, 1))
        down[:, 2, 3] = -1.2 * eased(times, np.where(missed > SHORT, missed, 0.0), EASE)
        found = moved_roots(body, found, down)
    return solved, float(missed.max(initial=0.0))


def _goals(poses: Array, times: Array, foot: Contact, sliding: Mask, floor: float | None) -> tuple[Array, Mask]:
    """Where a foot belongs (n, 4, 4), and in which frames that is not where the clip has it."""
    places = np.einsum("nij,kj->nki", poses[:, :3, :3], foot.points) + poses[:, None, :3, 3]
    low = places[..., 2].min(axis=1)
    weights = np.square(np.clip(1.0 - (places[..., 2] - low[:, None]) / BEARING, 0.0, 1.0))
    moves = np.zeros((len(poses), 4))  # of the frame's origin (x, y, z) [m], and its turn about the vertical [rad]
    spans = runs(foot.stands)
    for start, end in spans:
        moves[start:end] = _held(
            poses[start:end, :3, 3], places[start:end], weights[start:end], sliding[start:end], floor
        )
    moves = _bridged(times, moves, spans)
    goals = poses.copy()
    goals[:, :3, 3] += moves[:, :3]
    goals[:, :3, :3] = _turns(moves[:, 3]) @ poses[:, :3, :3]
    if floor is not None:  # a foot in the air keeps off the floor, the farther the longer it is from a contact
        off = CLEARANCE * _smooth(_away(times, foot.stands) / SETTLE)
        deep = np.where(sliding & ~foot.stands, floor + off - low - moves[:, 2], 0.0)
        need = np.maximum(deep, 0.0)
        goals[:, 2, 3] += np.maximum(need, eased(times, need, SETTLE) * off / CLEARANCE)
    return goals, np.abs(goals - poses).max(axis=(1, 2)) > 1e-9


def _held(origins: Array, places: Array, weights: Array, sliding: Mask, floor: float | None) -> Array:
    """The moves (n, 4) of a foot in one contact, so that what bears it stays where it is."""
    count = len(origins)
    angles, shifts = np.zeros(count), np.zeros((count, 2))  # place -> R(angle) place + shift
    for k in range(count - 1):
        turn, shift = 0.0, np.zeros(2)
        if sliding[k] and sliding[k + 1]:
            turn, shift = _rigid(places[k + 1, :, :2], places[k, :, :2], weights[k] * weights[k + 1] + 1e-12)
        c, s = np.cos(angles[k]), np.sin(angles[k])
        shifts[k + 1] = (c * shift[0] - s * shift[1], s * shift[0] + c * shift[1]) + shifts[k]
        angles[k + 1] = angles[k] + turn
    moved = (_turns(angles)[:, :2, :2] @ origins[:, :2, None])[..., 0] + shifts
    if not sliding[0]:  # the foot comes from a place where nothing is changed,
        angle, here, there = 0.0, np.zeros(2), np.zeros(2)
    elif not sliding[-1]:  # goes on to one,
        angle, here, there = angles[-1], moved[-1], origins[-1, :2]
    else:  # or stands as near to the clip as it can
        angle, here, there = angles.mean(), moved.mean(axis=0), origins[:, :2].mean(axis=0)
    moved = (moved - here) @ _turns(np.array([angle]))[0, :2, :2] + there
    low = places[..., 2].min(axis=1)
    level = floor if floor is not None else float(np.median(low))
    rises = np.where(sliding, level - low, 0.0)
    return np.column_stack([moved - origins[:, :2], rises, angles - angle])


def _rigid(source: Array, goal: Array, weights: Array) -> tuple[float, Array]:
    """The turn and shift in the plane that take points (k, 2) nearest to others, by weighted least squares."""
    share = weights / weights.sum()
    a, b = share @ source, share @ goal
    x, y = source - a, goal - b
    cosine = float((share[:, None] * x * y).sum())
    sine = float((share * (x[:, 0] * y[:, 1] - x[:, 1] * y[:, 0])).sum())
    turn = np.arctan2(sine, cosine) if np.hypot(sine, cosine) > 1e-6 else 0.0  # points 1 mm apart say nothing of a turn
    c, s = np.cos(turn), np.sin(turn)
    return float(turn), b - (c * a[0] - s * a[1], s * a[0] + c * a[1])


def _bridged(times: Array, held: Array, spans: Sequence[tuple[int, int]]) -> Array:
    """Moves (n, k) as they are held in spans; in between they go smoothly to the next, and to zero where none is near."""
    found = held.copy()
    ends = [(0, 0), *spans, (len(times), len(times))]
    for (before, start), (end, after) in pairwise(ends):
        if start >= end:
            continue
        gap = slice(start, end)
        first = held[start - 1] if start else np.zeros(held.shape[1])
        last = held[end] if end < len(times) else np.zeros(held.shape[1])
        since = times[gap] - times[start - 1] if start else np.full(end - start, np.inf)
        until = times[end] - times[gap] if end < len(times) else np.full(end - start, np.inf)
        whole = times[end] - times[start - 1] if start and end < len(times) else np.inf
        span = min(RETURN, 0.5 * whole)
        near = _smooth(1.0 - since / span)[:, None], _smooth(1.0 - until / span)[:, None]
        if whole < 2.0 * RETURN:  # the next contact is near: straight there
            share = _smooth(since / whole)[:, None]
            found[gap] = first + share * (last - first)
        else:
            found[gap] = near[0] * first + near[1] * last
        settle = min(SETTLE, whole)
        for away, edge, inner in ((since, start - 1, start - 2), (until, end, end + 1)):
            if before <= inner < after and inner != edge and 0 <= edge < len(times):
                drift = np.where(away < settle, away * np.maximum(1.0 - away / settle, 0.0) ** 3, 0.0)
                found[gap] += drift[:, None] * (held[edge] - held[inner]) / abs(times[edge] - times[inner])
    return found


def _away(times: Array, stands: Mask) -> Array:
    """How far each frame is from the nearest one in which a foot stands [s]."""
    at = times[stands]
    if not len(at):
        return np.full(len(times), np.inf)
    after = np.searchsorted(at, times).clip(0, len(at) - 1)
    return np.asarray(np.minimum(np.abs(at[after] - times), np.abs(at[(after - 1).clip(0)] - times)))


def eased(times: Array, need: Array, ease: float) -> Array:
    """At least what is needed (n,), rising before it and falling after it within `ease` seconds."""
    if len(times) < 2 or not need.any():
        return need
    width = max(1, round(ease / float(np.median(np.diff(times)))))
    windows = np.lib.stride_tricks.sliding_window_view(np.pad(need, 2 * width, mode="edge"), 2 * width + 1)
    kernel = np.hanning(2 * width + 3)[1:-1]
    # The mean of the largest in windows of the same width is nowhere below what is needed.
    return np.convolve(windows.max(axis=1), kernel / kernel.sum(), mode="valid")


def runs(mask: Mask) -> list[tuple[int, int]]:
    """First frame and frame after the last of each run of True."""
    edges = np.flatnonzero(np.diff(np.concatenate(([0], mask.astype(np.int8), [0]))))
    return [(int(a), int(b)) for a, b in zip(edges[::2], edges[1::2], strict=True)]


def _smooth(share: Array) -> Array:
    """The quintic from 0 to 1 that begins and ends at rest."""
    s = np.clip(share, 0.0, 1.0)
    return np.asarray(s**3 * (10.0 - 15.0 * s + 6.0 * s * s))


def _turns(angles: Array) -> Array:
    """Rotations about the vertical (n, 3, 3)."""
    c, s = np.cos(angles), np.sin(angles)
    found = np.zeros((len(angles), 3, 3))
    found[:, 0, 0], found[:, 0, 1], found[:, 1, 0], found[:, 1, 1], found[:, 2, 2] = c, -s, s, c, 1.0
    return found
