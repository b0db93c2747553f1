"""Paths of a frame: arrays of 4x4 targets along lines, arcs and waypoints, for `track`, `solve_batch` or anything else."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from memetik.errors import GeometryError
from memetik.geometry import TransformLike, as_transform
from memetik.geometry.checks import finite_array, finite_number, flag, several, whole_number
from memetik.geometry.lie import exp_transform, log_transform
from memetik.geometry.rotation import quaternion_of_matrix
from memetik.geometry.transform import invert
from memetik.types import Array

FINE = 512  # points of a corner by which its length is measured
MOST = 1_000_000  # poses of a path
GRID = 2000  # points of the path at which its speed is planned


def straight_line(
    start_pose: TransformLike, end_pose: TransformLike, *, steps: int = 100, screw: bool = False
) -> Array:
    """Poses (steps, 4, 4), places in metres, from one to another, both included, evenly spaced.

    The origin moves along a straight line while the rotation follows the shortest arc (slerp). With `screw` both are one
    motion, start exp(t log(start^-1 end)): a turn about an axis in space and a slide along it, as a rigid body on a hinge or a
    thread moves.
    """
    first, last = as_transform(start_pose, name="start_pose"), as_transform(end_pose, name="end_pose")
    _near(first[:3, 3], last[:3, 3])
    shares = np.linspace(0.0, 1.0, whole_number(steps, GeometryError, "steps", least=2, most=MOST))
    if flag(screw, GeometryError, "screw"):
        twist = log_transform(invert(first) @ last)
        return np.array([first @ exp_transform(share * twist) for share in shares])
    a, b = _pose(first), _pose(last)
    return _matrices(_between(np.tile(a, (len(shares), 1)), np.tile(b, (len(shares), 1)), shares))


def arc(start_pose: TransformLike, via_pose: TransformLike, end_pose: TransformLike, *, steps: int = 100) -> Array:
    """Poses (steps, 4, 4), places in metres, along the circle through three points, from start over via to end, evenly spaced.

    The rotation follows the shortest arc from that of start to that of end; of `via_pose` the position alone counts, so a point
    will do.
    """
    first, last = as_transform(start_pose, name="start_pose"), as_transform(end_pose, name="end_pose")
    middle = as_transform(via_pose, name="via_pose")[:3, 3]
    _near(first[:3, 3], middle, last[:3, 3])
    a, b = middle - first[:3, 3], last[:3, 3] - first[:3, 3]
    normal = np.cross(a, b)
    square = float(normal @ normal)
    if square <= 1e-18 * float(a @ a) * max(float(b @ b), float(a @ a)) or not b.any():
        raise GeometryError(
            "start_pose, via_pose and end_pose lie on one line, which no circle passes through. Move via_pose aside, or take "
            "mk.motion.straight_line."
        )
    center = np.cross(float(a @ a) * b - float(b @ b) * a, normal) / (2.0 * square)
    axis = normal / math.sqrt(square)
    radius = -center  # from the centre to the start
    far = b - center
    angle = math.atan2(float(np.cross(radius, far) @ axis), float(radius @ far)) % (2.0 * math.pi)
    shares = np.linspace(0.0, 1.0, whole_number(steps, GeometryError, "steps", least=2, most=MOST))
    poses = _matrices(_between(np.tile(_pose(first), (len(shares), 1)), np.tile(_pose(last), (len(shares), 1)), shares))
    turned = np.outer(np.cos(angle * shares), radius) + np.outer(np.sin(angle * shares), np.cross(axis, radius))
    poses[:, :3, 3] = first[:3, 3] + center + turned
    return poses


def waypoints(
    poses: Iterable[TransformLike],
    *,
    speed: float | Sequence[float] = 0.25,
    turn_speed: float | Sequence[float] = 1.0,
    tip_acceleration: float = math.inf,
    blend: float = 0.0,
    rate: float = 100.0,
) -> Array:
    """Poses (n, 4, 4) at `rate` a second along straight lines from waypoint to waypoint.

    speed, turn_speed: how fast the origin moves [m/s] and the frame turns [rad/s], one number or one for each line; whichever
    takes longer decides.
    tip_acceleration: of the origin along the path [m/s^2]. The path then begins and ends at rest, and slows down in time before a
    slower line. Corners without a blend are passed at speed; `Track.retime` brings a joint path made from them within limits.
    blend: how far before and after a waypoint the corner is cut [m], at most half a line; the path then passes the waypoint at
    half of that or less, and its direction does not jump. It is 0 where a waypoint must be hit.
    """
    given = several(poses, GeometryError, "poses", "[pose, pose, ...]")
    places = [_pose(as_transform(pose, name=f"waypoint {k}")) for k, pose in enumerate(given)]
    if len(places) < 2:
        raise GeometryError(f"waypoints needs two poses or more, not {len(places)}.")
    _near(*(place[4:] for place in places))
    lines = len(places) - 1
    fast, turning = _each(speed, lines, "speed"), _each(turn_speed, lines, "turn_speed")
    tip_acceleration, rate = _above_zero(tip_acceleration, "tip_acceleration"), _above_zero(rate, "rate", most=1e6)
    cut = finite_number(blend, "blend")
    if cut < 0.0:
        raise GeometryError(f"blend is {cut}; it must be zero or positive, in metres.")
    pieces = _pieces(places, fast, turning, cut)
    if not pieces:
        return _matrices(np.array([places[0]]))
    edges = np.append(0.0, np.cumsum([piece.length for piece in pieces]))
    at = _run(pieces, edges, tip_acceleration, rate)
    found = np.empty((len(at), 7))
    which = np.clip(np.searchsorted(edges, at, side="right") - 1, 0, len(pieces) - 1)
    for k, piece in enumerate(pieces):
        rows = which == k
        found[rows] = piece.at((at[rows] - edges[k]) / piece.length)
    return _matrices(found)


class _Piece(NamedTuple):
    """A line from one pose to another, or a corner that is cut between them."""

    start: Array
    corner: Array | None
    end: Array
    length: float  # m, of the origin, or what a turn takes as long as
    speed: float  # m/s

    def at(self, shares: Array) -> Array:
        """Poses at these shares of the length."""
        start, end = (np.tile(pose, (len(shares), 1)) for pose in (self.start, self.end))
        if self.corner is None:
            return _between(start, end, shares)
        # de Casteljau: the corner leads from one line into the other, with the direction of each at its ends.
        corner = np.tile(self.corner, (len(shares), 1))
        fine = np.linspace(0.0, 1.0, FINE + 1)
        ways = _parabola(self.start[4:], self.corner[4:], self.end[4:], fine)
        walked = np.append(0.0, np.cumsum(np.linalg.norm(np.diff(ways, axis=0), axis=1)))
        t = np.interp(shares * walked[-1], walked, fine) if walked[-1] > 0.0 else shares
        return _between(_between(start, corner, t), _between(corner, end, t), t)


def _pieces(places: Sequence[Array], fast: Array, turning: Array, blend: float) -> list[_Piece]:
    """Lines and corners in their order."""
    # The length of a line is that of its origin, or what it turns by, at the pace at which both take equally long.
    lengths = [
        max(float(np.linalg.norm(b[4:] - a[4:])), _angle(a, b) * v / w)
        for a, b, v, w in zip(places[:-1], places[1:], fast, turning, strict=True)
    ]
    legs = [k for k, length in enumerate(lengths) if length > 0.0]
    cuts = [min(blend, 0.5 * lengths[a], 0.5 * lengths[b]) for a, b in itertools.pairwise(legs)]
    pieces: list[_Piece] = []
    for n, k in enumerate(legs):
        before, after = (cuts[n - 1] if n > 0 else 0.0), (cuts[n] if n < len(cuts) else 0.0)
        first = _part(places[k], places[k + 1], before / lengths[k])
        last = _part(places[k], places[k + 1], 1.0 - after / lengths[k])
        rest = lengths[k] - before - after
        if rest > 1e-12 * lengths[k]:
            pieces.append(_Piece(first, None, last, rest, float(fast[k])))
        if after > 0.0:
            follows = legs[n + 1]
            end = _part(places[follows], places[follows + 1], after / lengths[follows])
            corner = places[k + 1]
            ways = _parabola(last[4:], corner[4:], end[4:], np.linspace(0.0, 1.0, FINE + 1))
            pace = min(float(fast[k]), float(fast[follows]))
            turn = _angle(last, corner) + _angle(corner, end)
            slow = turn * pace / min(float(turning[k]), float(turning[follows]))
            length = max(float(np.linalg.norm(np.diff(ways, axis=0), axis=1).sum()), slow)
            pieces.append(_Piece(last, corner, end, length, pace))
    return pieces


def _run(pieces: Sequence[_Piece], edges: Array, acceleration: float, rate: float) -> Array:
    """The length that is reached at each moment: at the speed of each piece, or as fast as the acceleration lets it be."""
    s, most = edges, np.array([piece.speed for piece in pieces])
    first = last = most
    if acceleration < math.inf:
        s = np.unique(np.concatenate([edges, np.linspace(0.0, edges[-1], GRID)]))
        inside = np.clip(np.searchsorted(edges, 0.5 * (s[1:] + s[:-1])) - 1, 0, len(pieces) - 1)
        squared = (
            np.minimum(np.append(most[inside], 0.0), np.append(0.0, most[inside])) ** 2
        )  # the slower side, rest at ends
        gain = 2.0 * acceleration * np.diff(s)
        for k in range(len(gain)):
            squared[k + 1] = min(squared[k + 1], squared[k] + gain[k])
        for k in range(len(gain) - 1, -1, -1):
            squared[k] = min(squared[k], squared[k + 1] + gain[k])
        first, last = np.sqrt(squared[:-1]), np.sqrt(squared[1:])
    times = np.append(0.0, np.cumsum(2.0 * np.diff(s) / (first + last)))
    if not times[-1] * rate < MOST:
        raise GeometryError(
            f"the path takes {times[-1]:g} s, which at rate {rate:g} are more than {MOST} poses; lower the rate."
        )
    due = np.append(np.arange(0.0, times[-1] - 1e-9, 1.0 / rate), times[-1])
    part = np.clip(np.searchsorted(times, due, side="right") - 1, 0, len(first) - 1)
    t = due - times[part]
    gained = t * (first[part] + 0.5 * t * (last - first)[part] / np.diff(times)[part])
    return np.asarray(np.minimum(s[part] + gained, edges[-1]))


def _near(*points: Array) -> None:
    """Complain of points that are too far away for lengths between them to be numbers."""
    if max(float(np.abs(point).max()) for point in points) > 1e9:
        raise GeometryError("a position is more than 1e9 m away; give it in metres.")


def _each(value: float | Sequence[float], count: int, what: str) -> Array:
    """A number above zero for each line."""
    array = finite_array(value, what, f"one number, or {count}, one for each line", (), (count,))
    if not (array > 0.0).all():
        raise GeometryError(f"{what} is {value}; it must be above zero.")
    return np.broadcast_to(array, count)


def _above_zero(value: float, what: str, most: float = math.inf) -> float:
    number = math.inf if isinstance(value, float) and value == math.inf else finite_number(value, what)
    if not 0.0 < number <= most:
        raise GeometryError(f"{what} is {value}; it must be above zero.")
    return number


# ---- Poses as rows (w, x, y, z, px, py, pz) ----------------------------------------------------------------


def _pose(matrix: Array) -> Array:
    return np.append(quaternion_of_matrix(matrix), matrix[:3, 3])


def _part(a: Array, b: Array, share: float) -> Array:
    return np.asarray(_between(a[None], b[None], np.array([share]))[0])


def _between(a: Array, b: Array, shares: Array) -> Array:
    """Rows between rows: positions straight, rotations along the shortest arc."""
    p, q = a[:, :4], b[:, :4]
    cosine = np.sum(p * q, axis=1, keepdims=True)
    q = np.where(cosine < 0.0, -q, q)
    # 2 atan2(|p - q|, |p + q|) is exact for small and large angles, where acos is not.
    half = 2.0 * np.arctan2(np.linalg.norm(p - q, axis=1, keepdims=True), np.linalg.norm(p + q, axis=1, keepdims=True))
    t = shares[:, None]
    sine = np.sin(half)
    near = half < 1e-8
    safe = np.where(near, 1.0, sine)
    first = np.where(near, 1.0 - t, np.sin((1.0 - t) * half) / safe)
    second = np.where(near, t, np.sin(t * half) / safe)
    turned = first * p + second * q
    turned /= np.linalg.norm(turned, axis=1, keepdims=True)
    return np.hstack([turned, a[:, 4:] + t * (b[:, 4:] - a[:, 4:])])


def _angle(a: Array, b: Array) -> float:
    """The angle between two rotations [rad]."""
    p, q = a[:4], b[:4] if a[:4] @ b[:4] >= 0.0 else -b[:4]
    return 4.0 * math.atan2(float(np.linalg.norm(p - q)), float(np.linalg.norm(p + q)))


def _parabola(a: Array, b: Array, c: Array, t: Array) -> Array:
    t = t[:, None]
    return np.asarray((1.0 - t) ** 2 * a + 2.0 * t * (1.0 - t) * b + t**2 * c)


def _matrices(rows: Array) -> Array:
    """Rows as 4x4 transforms."""
    w, x, y, z = rows[:, :4].T
    out = np.zeros((len(rows), 4, 4))
    out[:, 0, :3] = np.stack([1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - w * z), 2.0 * (x * z + w * y)], axis=1)
    out[:, 1, :3] = np.stack([2.0 * (x * y + w * z), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - w * x)], axis=1)
    out[:, 2, :3] = np.stack([2.0 * (x * z - w * y), 2.0 * (y * z + w * x), 1.0 - 2.0 * (x * x + y * y)], axis=1)
    out[:, :3, 3] = rows[:, 4:]
    out[:, 3, 3] = 1.0
    return out
