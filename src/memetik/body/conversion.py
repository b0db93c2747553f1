"""Joint vectors of other libraries: MuJoCo's qpos and Pinocchio's configuration, single vectors and many rows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from memetik.body.joint import Joint
from memetik.errors import BodyError, said, shown
from memetik.geometry.checks import real_array
from memetik.geometry.rotation import quaternion_of_matrix
from memetik.types import Array

if TYPE_CHECKING:
    from memetik.body.body import Body

BASE_SIZES = {"floating": 7, "planar": 4, "xyz": 3}  # numbers of a joint that holds the root of a body
LEAST = 1e-6  # a quaternion, or a cosine and a sine, that are shorter have no direction


class Library(NamedTuple):
    """How another library writes joint vectors."""

    name: str
    scalar_first: bool  # quaternions as w, x, y, z
    by_name: bool  # the children of a link in the order of the names of their joints
    circles: bool  # angles without limits as cosine and sine
    from_parent: bool  # a floating joint as the pose of its child in its parent, and not in the joint's frame


MUJOCO = Library("qpos", scalar_first=True, by_name=False, circles=False, from_parent=True)
PINOCCHIO = Library("the configuration of Pinocchio", scalar_first=False, by_name=True, circles=True, from_parent=False)


class Part(NamedTuple):
    """What one joint has in both vectors."""

    joint: Joint
    numbers: slice  # in the other library's
    columns: list[int]  # in ours
    ratios: Array  # value = ratio * column + offset, of mimic joints
    offsets: Array

    @property
    def more(self) -> int:
        """How many numbers the library has beyond ours: 1 for a quaternion, or for cosine and sine."""
        return int(self.numbers.stop - self.numbers.start - len(self.columns))


def to_other(body: Body, q: ArrayLike, library: Library, model: Any = None) -> Array:
    """A joint vector, or rows of them, as the library writes it; by the names of a model's joints if one is given."""
    parts, rest = _parts(body, library) if model is None else _parts_of(body, library, layout_of(model, library))
    known = {part.joint.name for part in parts}
    lost = [
        joint.name for joint in body.joints.values() if joint.dof and joint.mimic is None and joint.name not in known
    ]
    if lost:
        raise BodyError(
            f"the model has no joint {lost[0]!r} that body {body.name!r} has{f', and {len(lost) - 1} more' if lost[1:] else ''}. "
            "Give the model that the body was made of, or one whose joints have the same names."
        )
    rows, single = _rows(q, body.dof, f"a joint vector of body {body.name!r}")
    found = np.tile(rest, (len(rows), 1))
    for part in parts:
        values = rows[:, part.columns] * part.ratios + part.offsets
        joint, there = part.joint, found[:, part.numbers]
        if _is_ball(part):
            there[:, :-4] = values[:, :-3]
            quaternions = quaternions_of_turns(joint.order, values[:, -3:])
            if joint.kind == "floating" and library.from_parent:
                there[:, :-4] = values[:, :-3] @ joint.origin[:3, :3].T + joint.origin[:3, 3]
                quaternions = _multiplied(quaternion_of_matrix(joint.origin), quaternions)
            there[:, -4:] = quaternions if library.scalar_first else np.roll(quaternions, -1, axis=1)
        elif part.more:
            there[:, :-2] = values[:, :-1]
            there[:, -2], there[:, -1] = np.cos(values[:, -1]), np.sin(values[:, -1])
        else:
            there[:] = values
    return found[0] if single else found


def from_other(body: Body, q: ArrayLike, library: Library, model: Any = None) -> Array:
    """The joint vector, or rows of them, that the library writes like this; what mimic joints have is not looked at."""
    parts, rest = _parts(body, library) if model is None else _parts_of(body, library, layout_of(model, library))
    rows, single = _rows(q, len(rest), f"{library.name} of body {body.name!r}")
    found = np.tile(body.home, (len(rows), 1))
    for part in parts:
        joint, given = part.joint, rows[:, part.numbers]
        if joint.mimic is not None:
            continue
        if _is_ball(part):
            quaternions = _directions(given[:, -4:], f"{library.name}: the quaternion of joint {joint.name!r}")
            if not library.scalar_first:
                quaternions = np.roll(quaternions, 1, axis=1)
            places = given[:, :-4]
            if joint.kind == "floating" and library.from_parent:
                places = (places - joint.origin[:3, 3]) @ joint.origin[:3, :3]
                back = quaternion_of_matrix(joint.origin) * (1.0, -1.0, -1.0, -1.0)
                quaternions = _multiplied(back, quaternions)
            values = np.hstack([places, turns_of_quaternions(joint.order, quaternions)])
        elif part.more:
            circle = _directions(given[:, -2:], f"{library.name}: cosine and sine of joint {joint.name!r}")
            values = np.hstack([given[:, :-2], np.arctan2(circle[:, 1:], circle[:, :1])])
        else:
            values = given
        found[:, part.columns] = values
    return found[0] if single else found


def _is_ball(part: Part) -> bool:
    """Whether the library writes a quaternion; its joints that turn about z, y and x one after the other have angles as ours."""
    return part.joint.kind in ("floating", "spherical") and part.more == 1


class Layout(NamedTuple):
    """Where a model of the library has the numbers of its joints."""

    numbers: dict[str, slice]  # by the name of the joint
    rest: Array  # the vector of the model at rest, for joints that the body lacks


def layout_of(model: Any, library: Library) -> Layout:
    """The layout of a mujoco.MjModel or a pinocchio.Model."""
    try:
        if library is MUJOCO:
            starts, rest = model.jnt_qposadr.tolist(), np.array(model.qpos0)
            names = [model.joint(k).name or f"joint{k}" for k in range(model.njnt)]
            sizes = [{0: 7, 1: 4}.get(kind, 1) for kind in model.jnt_type.tolist()]  # free, ball, others
        else:
            import pinocchio

            names, starts, sizes = list(model.names)[1:], list(model.idx_qs)[1:], list(model.nqs)[1:]
            rest = np.array(pinocchio.neutral(model))
    except Exception as reason:  # whatever a stranger's object raises
        kind = "mujoco.MjModel" if library is MUJOCO else "pinocchio.Model"
        raise BodyError(f"the model is {shown(model)}, not a {kind}: {said(reason)}.") from reason
    return Layout({n: slice(k, k + size) for n, k, size in zip(names, starts, sizes, strict=True) if size}, rest)


def _parts_of(body: Body, library: Library, layout: Layout) -> tuple[list[Part], Array]:
    """The joints of the body that a model has, by name, and the model's vector at rest.

    A base that moves may be called differently in both, if each has only one of its kind.
    """
    moving = [joint for joint in body.joints.values() if joint.dof]
    names = {joint.name: joint.name for joint in moving if joint.name in layout.numbers}
    for kind, size in BASE_SIZES.items():
        mine = [joint.name for joint in moving if joint.kind == kind and joint.name not in names]
        theirs = [n for n, where in layout.numbers.items() if where.stop - where.start == size and n not in names]
        if len(mine) == len(theirs) == 1:
            names[mine[0]] = theirs[0]
    parts = []
    for joint in moving:
        if joint.name not in names:
            continue
        part = _part(body, joint, layout.numbers[names[joint.name]])
        turning = joint.kind in ("revolute", "continuous", "planar", "floating", "spherical")
        if part.more not in ((0, 1) if turning else (0,)) or (joint.kind == "floating" and part.more != 1):
            size = part.numbers.stop - part.numbers.start
            raise BodyError(f"joint {joint.name!r} is {joint.kind}, but the model has {size} numbers for it.")
        if joint.kind == "spherical" and not part.more and joint.order != "zyx":
            raise BodyError(f"joint {joint.name!r} turns in the order {joint.order}, but that of the model in zyx.")
        parts.append(part)
    return parts, layout.rest


def _part(body: Body, joint: Joint, numbers: slice) -> Part:
    drives = body.variables.drives[joint.name]
    ratios, offsets = np.array([drive.ratio for drive in drives]), np.array([drive.offset for drive in drives])
    return Part(joint, numbers, [drive.variable for drive in drives], ratios, offsets)


def _parts(body: Body, library: Library) -> tuple[list[Part], Array]:
    """The joints that move, in the order in which the library reads them from a file, and a vector for all of them."""
    parts, width = [], 0
    for joint in _ordered(body) if library.by_name else body.joints.values():
        if joint.dof == 0:
            continue
        circle = library.circles and joint.kind in ("continuous", "planar")
        more = 1 if joint.kind in ("floating", "spherical") or circle else 0
        parts.append(_part(body, joint, slice(width, width + joint.dof + more)))
        width = parts[-1].numbers.stop
    return parts, np.zeros(width)


def _ordered(body: Body) -> Iterator[Joint]:
    """All joints depth-first, the children of a link by the names of their joints."""
    below: dict[str, list[Joint]] = {}
    for joint in sorted(body.joints.values(), key=lambda joint: joint.name, reverse=True):
        below.setdefault(joint.parent, []).append(joint)
    waiting = list(below.get(body.root, ()))
    while waiting:
        joint = waiting.pop()
        yield joint
        waiting.extend(below.get(joint.child, ()))


def _rows(q: ArrayLike, width: int, what: str) -> tuple[Array, bool]:
    """Vectors as rows, and whether only one was given."""
    array: Array = np.asarray(real_array(q, BodyError, f"{what} holds numbers"))
    if array.ndim not in (1, 2) or array.shape[-1] != width:
        raise BodyError(f"{what} has {width} numbers, but the shape given is {array.shape}. Give one vector, or rows.")
    if not np.isfinite(array).all():
        raise BodyError(f"{what} has an entry that is NaN or infinite.")
    return np.atleast_2d(array), array.ndim == 1


def _directions(vectors: Array, what: str) -> Array:
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    if (lengths < LEAST).any():
        row = int(np.flatnonzero(lengths[:, 0] < LEAST)[0])
        raise BodyError(f"{what} has no length in row {row}. Give numbers whose squares sum to 1.")
    return np.asarray(vectors / lengths)


def axes_of_turns(order: str) -> tuple[NDArray[np.int64], float]:
    """Where the axes of the turns stand in a quaternion w, x, y, z, and -1.0 if in their order they are left-handed."""
    return np.array([1 + "xyz".index(letter) for letter in order]), 1.0 if order in "xyzxy" else -1.0


def quaternions_of_turns(order: str, turns: Array) -> Array:
    """w, x, y, z of three turns about moving axes (kernels/body/balls.py)."""
    axes, sign = axes_of_turns(order)
    (ca, cb, cc), (sa, sb, sc) = np.cos(0.5 * sign * turns.T), np.sin(0.5 * sign * turns.T)
    found = np.empty((len(turns), 4))
    found[:, 0] = ca * cb * cc - sa * sb * sc
    along = sa * cb * cc + ca * sb * sc, ca * sb * cc - sa * cb * sc, ca * cb * sc + sa * sb * cc
    found[:, axes] = sign * np.stack(along, axis=1)
    return found


def turns_of_quaternions(order: str, quaternions: Array) -> Array:
    """The three turns about moving axes of w, x, y, z, the middle one within ±90°, the others within ±180°."""
    axes, sign = axes_of_turns(order)
    w, (x, y, z) = quaternions[:, 0], sign * quaternions[:, axes].T
    of_sum, of_difference = np.hypot(w + y, x + z), np.hypot(w - y, x - z)
    half_sum, half_difference = np.arctan2(x + z, w + y), np.arctan2(x - z, w - y)
    middle = 2.0 * np.arctan2(of_sum, of_difference) - 0.5 * np.pi
    found = sign * np.stack([half_sum + half_difference, middle, half_sum - half_difference], axis=1)
    return np.asarray(found - 2.0 * np.pi * np.round(found / (2.0 * np.pi)))


def quaternions_of_matrices(m: Array) -> Array:
    """Rotation matrices (n, 3, 3) as quaternions (n, 4), w never negative.

    The largest of four expressions that are 4 w², 4 x², 4 y² and 4 z² is the one that loses no digits.
    """
    xx, yy, zz = m[:, 0, 0], m[:, 1, 1], m[:, 2, 2]
    squares = np.stack([1 + xx + yy + zz, 1 + xx - yy - zz, 1 - xx + yy - zz, 1 - xx - yy + zz], axis=1)
    a, b, c = m[:, 2, 1] - m[:, 1, 2], m[:, 0, 2] - m[:, 2, 0], m[:, 1, 0] - m[:, 0, 1]
    d, e, f = m[:, 0, 1] + m[:, 1, 0], m[:, 0, 2] + m[:, 2, 0], m[:, 1, 2] + m[:, 2, 1]
    rows = np.stack(
        [
            np.stack([squares[:, 0], a, b, c], axis=1), np.stack([a, squares[:, 1], d, e], axis=1),
            np.stack([b, d, squares[:, 2], f], axis=1), np.stack([c, e, f, squares[:, 3]], axis=1),
        ],
        axis=1,
    )  # fmt: skip
    best = rows[np.arange(len(m)), squares.argmax(axis=1)]
    best = best / np.linalg.norm(best, axis=1, keepdims=True)
    return np.asarray(np.where(best[:, :1] < 0.0, -best, best))


def _multiplied(one: Array, quaternions: Array) -> Array:
    """The product of one quaternion with each row of others."""
    w, x, y, z = one
    matrix = np.array([[w, -x, -y, -z], [x, w, -z, y], [y, z, w, -x], [z, -y, x, w]])
    return np.asarray(quaternions @ matrix.T)
