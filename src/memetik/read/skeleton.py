"""Skeletons of animation files -> Body: balls at every joint, a floating root, bones to see.

The local axes of the file are kept, so the angles of a clip are the joint values of the body, number for number. The
world of memetik is z up and in metres: the joint of the root turns the file's vertical to z, and lengths are scaled.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from memetik.body import Body, Joint, Link, Shape
from memetik.build.builder import VOLUMES, WATER, rod
from memetik.errors import FormatError, shown, warn
from memetik.geometry.checks import real_number
from memetik.types import Array

# file -> world: a quarter turn about x takes y up to z up; a third of a turn takes x up to z up.
UPRIGHT = {
    "x": np.array([[0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [1.0, 0.0, 0.0]]),
    "y": np.array([[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]]),
    "z": np.eye(3),
}
STOUT = 0.12  # radius of a bone as a share of its length
STOUTEST = 0.05  # and of the size of the skeleton, at most
LARGEST = 1e6  # m; longer bones are a slip of unit
STILL = 1e-4  # of the reach of a skeleton; a bone that slides less than that does not, but is rounded
HOLDERS = {"root", "reference", "armature", "scene", "world"}  # roots that hold a figure and are no bone of it


class Bone(NamedTuple):
    """A joint of a skeleton as its file has it: where it stands on its parent, and what of it moves."""

    name: str
    parent: int  # -1 for the root
    offset: tuple[float, float, float]  # at rest: from the parent, in its axes; of the root in the file [its units]
    slides: str = ""  # which of "xyz" move
    turns: str = ""  # the turns about moving axes, first to last, such as "zxy"
    turn: tuple[float, float, float] | None = None  # values of the three turns at rest [rad]
    is_end: bool = False  # a point without channels: the end of the bone before it
    is_holder: bool = False  # a root that is no bone, such as the armature of a file with several roots


def checked_up(up: object) -> str:
    """Which axis of a file is vertical."""
    if not isinstance(up, str) or up not in UPRIGHT:
        raise FormatError(f"up is {shown(up)}. Give 'y', 'z' or 'x': the axis of the file that points up.")
    return up


def checked_scale(scale: object) -> float:
    """The length of a unit of a file [m]."""
    number = real_number(scale, FormatError, "scale")
    if not 0.0 < number < math.inf:
        raise FormatError(f"scale is {number}. Give the length of a unit of the file in metres, such as 0.01.")
    return number


def order_of(turns: str) -> str:
    """All three axes: those that turn, in their order, then the others."""
    return turns + "".join(axis for axis in "xyz" if axis not in turns)


def reach(bones: Sequence[Bone]) -> float:
    """The length of the longest way from the root along bones [units of the file]."""
    ways: list[float] = []
    for bone in bones:
        ways.append(0.0 if bone.parent < 0 else ways[bone.parent] + math.hypot(*bone.offset))
    return max(ways, default=0.0)


def slides_of(values: Array, size: float) -> bool:
    """Whether places (n, 3) of a bone on its parent change, in a skeleton of that reach; rounding is no change."""
    return float(np.ptp(values, axis=0).max(initial=0.0)) > STILL * size


def skeleton(
    name: str, bones: Sequence[Bone], *, up: str, scale: float, parts: Mapping[str, int] | None = None, read_as: str = ""
) -> Body:  # fmt: skip
    """The body of bones whose parents come before them. The link of a bone has its name; so has the joint that moves it.

    A bone with all turns is a ball without limits, one that also slides is floating, one that has neither is fixed. The
    root is always floating, and its values are its place and turns in the axes of the file; slides of all others count from
    where they are at rest. What a bone of some turns or slides lacks is locked at zero.
    parts: bones, by their number, that are parts of a human-like figure.
    """
    if len({bone.name for bone in bones}) < len(bones):
        bones = _renamed(name, bones)
    taken = {bone.name for bone in bones}
    world = next(each for each in ("world", *(f"world_{k}" for k in range(2, len(bones) + 3))) if each not in taken)
    offsets = scale * np.array([bone.offset for bone in bones], dtype=float).reshape(-1, 3)
    if not (np.abs(offsets) < LARGEST).all():
        raise FormatError(f"{name}: a bone is longer than {LARGEST:g} m. Correct it, or give another scale.")
    joints: list[Joint] = []
    home: dict[str, float] = {}
    for k, bone in enumerate(bones):
        origin = np.eye(4)
        origin[:3, 3] = offsets[k]
        if bone.parent < 0:
            origin[:3, :3], origin[:3, 3] = UPRIGHT[up], 0.0
        parent = world if bone.parent < 0 else bones[bone.parent].name
        joint = _joint(bone, parent, origin)
        joints.append(joint)
        if bone.parent < 0:
            home.update(zip(joint.variables[:3], offsets[k].tolist(), strict=True))
        if bone.turn is not None and joint.dof >= 3:
            home.update(zip(joint.variables[-3:], bone.turn, strict=True))
    visuals = _rods(bones, offsets)
    links = [Link(world)]
    links += [_link(bone.name, visuals[k]) for k, bone in enumerate(bones)]
    figure = {part: bones[k].name for part, k in (parts or {}).items()}
    return Body(name, links, joints, home=home, parts=figure, read_as=read_as)


def _joint(bone: Bone, parent: str, origin: Array) -> Joint:
    """The joint that moves a bone."""
    slides, turns, order = bone.slides, bone.turns, order_of(bone.turns)
    lower: tuple[float, ...] = ()
    if bone.parent < 0:
        kind = "floating"
    elif not slides and not turns:
        kind = "fixed"
    elif not slides and len(turns) == 1:
        axis = np.eye(3)["xyz".index(turns)]
        return Joint(bone.name, "continuous", parent, bone.name, origin, axis=axis)
    else:
        kind = "floating" if slides and turns else "xyz" if slides else "spherical"
        moving = [axis in slides for axis in "xyz"] if slides else []
        moving += [axis in turns for axis in order] if turns else []
        lower = () if all(moving) else tuple(-math.inf if moves else 0.0 for moves in moving)
    upper = tuple(-low for low in lower)
    return Joint(bone.name, kind, parent, bone.name, origin, lower=lower, upper=upper, order=order)


def _rods(bones: Sequence[Bone], offsets: Array) -> list[list[Shape]]:
    """The rods of each bone, one to each of its children that does not slide; a root that is no bone has none."""
    lengths = np.linalg.norm(offsets, axis=1)
    size = float(lengths[1:].sum()) / max(1.0, math.sqrt(len(bones)))
    rods: list[list[Shape]] = [[] for _ in bones]
    for bone, offset, length in zip(bones, offsets, lengths, strict=True):
        if bone.parent < 0 or bone.slides or (bones[bone.parent].parent < 0 and _holds(bones[bone.parent])):
            continue
        if length > 1e-6 * size:
            radius = min(STOUT * float(length), STOUTEST * size)
            rods[bone.parent].append(rod((0.0, 0.0, 0.0), offset, radius))
    return rods


def _holds(root: Bone) -> bool:
    """Whether a root only holds a figure: an armature, or a bone on the floor that is called root."""
    return root.is_holder or root.name.rpartition(":")[2].lower() in HOLDERS


def _link(name: str, rods: list[Shape]) -> Link:
    """A link with its rods full of water."""
    volumes = np.array([VOLUMES[each.kind](*each.size) for each in rods])
    total = float(volumes.sum())
    if total == 0.0:
        return Link(name, visuals=tuple(rods))
    middles = np.array([each.link_from_shape[:3, 3] for each in rods])
    x, y, z = (volumes @ middles / total).tolist()
    return Link(name, WATER * total, (x, y, z), visuals=tuple(rods))


def _renamed(name: str, bones: Sequence[Bone]) -> list[Bone]:
    """Bones whose names are all different: a number is added to those that are not."""
    taken = {bone.name for bone in bones}
    seen: set[str] = set()
    counts: dict[str, int] = {}
    result, changed = [], []
    for bone in bones:
        own = bone.name
        if own in seen:
            k = counts.get(bone.name, 1)
            while own in seen or own in taken:
                k += 1
                own = f"{bone.name}_{k}"
            counts[bone.name] = k
            changed.append(own)
        seen.add(own)
        result.append(bone._replace(name=own))
    warn(f"{name}: {len(changed)} joints have the name of another; they are now {', '.join(changed[:6])}.")
    return result
