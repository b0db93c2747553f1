"""Motions as BVH.

A skeleton that has no rotations in its rest pose, as every one that is read from BVH, is written as it is: its joint
values are the numbers of the file. Any other body is written by the rotations of its bones from its posture at home: with
G = R R_home^T of a bone and of its parent, the local rotation is G_parent^T G. Position channels take the place of OFFSET.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from memetik.body import Body, Joint
from memetik.errors import FormatError
from memetik.motion.clips.motion import Motion
from memetik.motion.clips.turns import quaternions_of_matrices, steady_turns
from memetik.read.skeleton import UPRIGHT
from memetik.types import Array
from memetik.write.bones import bones_of

END = "_EndSite"
ORDER = "zxy"  # of the turns of bodies that are no skeletons
UNEVEN = 1e-3  # by how much a step between frames may differ from the others, as a share


class Node(NamedTuple):
    """A joint of the file."""

    name: str
    offset: Array  # [units of the file]
    is_end: bool  # an end site
    channels: list[str]
    values: Array  # (frames, channels)
    children: list[Node]


def bvh_text(motion: Motion, up: str | None, scale: float, digits: int) -> str:
    """The file as text."""
    steps = np.diff(motion.times)
    if len(steps) and np.ptp(steps) > UNEVEN * steps.mean():
        raise FormatError(
            "BVH has one time between frames, but those of the motion differ. Call resampled(rate) first."
        )
    own = _own_up(motion.body)
    direct = own is not None and up in (None, own)
    root = _as_it_is(motion, own or "z", scale) if direct else _by_bones(motion, up or "y", scale)
    lines = ["HIERARCHY"]
    columns: list[Array] = []
    _hierarchy(root, "ROOT", 0, lines, columns, digits)
    step = motion.duration / len(steps) if len(steps) else 1.0 / 30.0
    lines += ["MOTION", f"Frames: {len(motion)}", f"Frame Time: {step:.9g}"]
    table = np.concatenate(columns, axis=1)
    form = f"%.{digits}f"
    lines += [" ".join([form % value for value in row]) for row in table]
    return "\n".join(lines) + "\n"


def _hierarchy(root: Node, keyword: str, depth: int, lines: list[str], columns: list[Array], digits: int) -> None:
    """The lines of a joint and those below it, and the columns of their values. Iterative: skeletons may be deep."""
    waiting: list[tuple[Node | None, int]] = [(root, depth)]
    while waiting:
        node, depth = waiting.pop()
        tab = "\t" * depth
        if node is None:
            lines.append(tab + "}")
            continue
        lines.append(tab + ("End Site" if node.is_end else f"{keyword if depth == 0 else 'JOINT'} {node.name}"))
        lines.append(tab + "{")
        lines.append(f"{tab}\tOFFSET " + " ".join(f"{x:.{digits}f}" for x in node.offset))
        if not node.is_end:
            lines.append(" ".join([f"{tab}\tCHANNELS {len(node.channels)}", *node.channels]))
        columns.append(node.values)
        waiting.append((None, depth))
        waiting += [(child, depth + 1) for child in reversed(node.children)]


def _own_up(body: Body) -> str | None:
    """The vertical axis of a body that is a skeleton, None of any other."""
    joints = list(body.joints.values())
    if not joints or joints[0].kind != "floating" or sum(joint.parent == body.root for joint in joints) != 1:
        return None
    for joint in joints[1:]:
        unit_axis = joint.kind != "continuous" or float(np.abs(joint.axis).max()) == 1.0 == joint.axis.sum()
        known = joint.kind in ("spherical", "floating", "xyz", "fixed", "continuous") and joint.mimic is None
        if not (known and unit_axis and np.array_equal(joint.origin[:3, :3], np.eye(3))):
            return None
    return next((up for up, turn in UPRIGHT.items() if np.array_equal(turn, joints[0].origin[:3, :3])), None)


def _as_it_is(motion: Motion, up: str, scale: float) -> Node:
    """The joints of a skeleton with their own values."""
    body = motion.body
    parents = {joint.parent for joint in body.joints.values()}
    nodes: dict[str, Node] = {}
    for joint in body.joints.values():
        offset = joint.origin[:3, 3]
        if joint.parent == body.root:
            first = body.index(joint.variables[0])
            offset = UPRIGHT[up].T @ offset + body.home[first : first + 3]
        channels, values = _own_channels(motion, joint, up, scale)
        is_end = not channels and joint.child not in parents and END in joint.child
        node = nodes[joint.child] = Node(joint.child, offset / scale, is_end, channels, values, [])
        if joint.parent in nodes:
            nodes[joint.parent].children.append(node)
    return next(iter(nodes.values()))


def _own_channels(motion: Motion, joint: Joint, up: str, scale: float) -> tuple[list[str], Array]:
    """The channels of a joint that can move, and their values. All three turns or none: Blender reads no others."""
    body = motion.body
    start = UPRIGHT[up].T @ joint.origin[:3, 3] if joint.parent == body.root else joint.origin[:3, 3]
    order = joint.order
    slides: dict[str, Array] = {}
    turns: dict[str, Array] = {}
    for moved, variable in zip(joint.motions(), joint.variables, strict=True):
        k, axis = body.index(variable), int(np.argmax(moved.axis))
        is_free = not body.lower[k] == body.upper[k] == 0.0
        if moved.turns and joint.dof == 1:
            order = "xyz"[axis] + "xyz".replace("xyz"[axis], "")
        if moved.turns and is_free:
            turns["xyz"[axis]] = np.degrees(motion.q[:, k])
        elif is_free:
            slides["xyz"[axis]] = (start[axis] + motion.q[:, k]) / scale
    still = np.zeros(len(motion))
    channels = [f"{axis.upper()}position" for axis in slides] + [f"{a.upper()}rotation" for a in order if turns]
    columns = [*slides.values(), *(turns.get(axis, still) for axis in order if turns)]
    return channels, np.stack(columns, axis=1) if columns else np.zeros((len(motion), 0))


def _by_bones(motion: Motion, up: str, scale: float) -> Node:
    """The bones of any body, turned from where they are at home."""
    body, turn = motion.body, UPRIGHT[up].T
    rest, now = body.forward(body.home), motion.forward()
    bones = bones_of(body, rest)
    turned = [turn @ now[bone.name][:, :3, :3] @ rest[bone.name][:3, :3].T @ turn.T for bone in bones]
    places = [now[bone.name][:, :3, 3] @ turn.T / scale for bone in bones]
    names = [*(f"{axis}position" for axis in "XYZ"), *(f"{axis.upper()}rotation" for axis in ORDER)]
    nothing = np.zeros((len(motion), 0))
    nodes: list[Node] = []
    for k, bone in enumerate(bones):
        offset, place, parent = turn @ rest[bone.name][:3, 3] / scale, places[k], np.eye(3)[None]
        if bone.parent >= 0:
            parent = turned[bone.parent].transpose(0, 2, 1)
            offset = offset - turn @ rest[bones[bone.parent].name][:3, 3] / scale
            place = np.einsum("fij,fj->fi", parent, place - places[bone.parent])
        first = bone.parent < 0
        channels = (names[:3] if bone.slides or first else []) + (names[3:] if bone.turns or first else [])
        columns = [nothing, *([place] if bone.slides or first else [])]
        if bone.turns or first:
            columns.append(_angles(parent @ turned[k]))
        nodes.append(Node(bone.name, offset, False, channels, np.concatenate(columns, axis=1), []))
        if bone.parent >= 0:
            nodes[bone.parent].children.append(nodes[-1])
        if bone.end is not None:
            end = turn @ rest[bone.name][:3, :3] @ bone.end / scale
            nodes[-1].children.append(Node(bone.name + END, end, True, [], nothing, []))
    return nodes[0]


def _angles(rotations: Array) -> Array:
    """Turns [degrees] of rotations (frames, 3, 3)."""
    turns = steady_turns(ORDER, quaternions_of_matrices(rotations), np.zeros(3))
    return np.asarray(turns * (180.0 / math.pi))
