"""Motions as BVH.

A skeleton that has no rotations in its rest pose, as every one that is read from BVH, is written as it is: its joint
values are the numbers of the file. Any other body is written by the rotations of its links from the posture of zeros:
with G = R R_zero^T of a link and of its parent, the local rotation is G_parent^T G.
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

END = "_EndSite"
ORDER = "zxy"  # of the turns of bodies that are no skeletons
UNEVEN = 1e-3  # by how much a step between frames may differ from the others, as a share


class Node(NamedTuple):
    """A joint of the file."""

    name: str
    offset: Array  # [units of the file]
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
    root = _as_it_is(motion, own or "z", scale) if direct else _by_links(motion, up or "y", scale)
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
        is_end = depth > 0 and not node.channels and not node.children and END in node.name
        lines.append(tab + ("End Site" if is_end else f"{keyword if depth == 0 else 'JOINT'} {node.name}"))
        lines.append(tab + "{")
        lines.append(f"{tab}\tOFFSET " + " ".join(f"{x:.{digits}f}" for x in node.offset))
        if not is_end:
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
    nodes: dict[str, Node] = {}
    for joint in body.joints.values():
        offset = joint.origin[:3, 3] / scale
        if joint.parent == body.root:
            offset = UPRIGHT[up].T @ offset
        channels, values = _own_channels(motion, joint, scale)
        node = nodes[joint.child] = Node(joint.child, offset, channels, values, [])
        if joint.parent in nodes:
            nodes[joint.parent].children.append(node)
    return next(iter(nodes.values()))


def _own_channels(motion: Motion, joint: Joint, scale: float) -> tuple[list[str], Array]:
    """The channels of a joint that can move, and their values; a turn that is locked at zero is none."""
    channels, columns = [], []
    body = motion.body
    for moved, variable in zip(joint.motions(), joint.variables, strict=True):
        k = body.index(variable)
        if body.lower[k] == body.upper[k] == 0.0:
            continue
        axis = "XYZ"[int(np.argmax(moved.axis))]
        channels.append(axis + ("rotation" if moved.turns else "position"))
        columns.append(np.degrees(motion.q[:, k]) if moved.turns else motion.q[:, k] / scale)
    return channels, np.stack(columns, axis=1) if columns else np.zeros((len(motion), 0))


def _by_links(motion: Motion, up: str, scale: float) -> Node:
    """The links of any body, turned from where they are in the posture of zeros."""
    body, turn = motion.body, UPRIGHT[up].T
    rest, now = body.forward(np.zeros(body.dof)), motion.forward()
    joints = list(body.joints.values())
    floats = joints and joints[0].kind == "floating" and sum(joint.parent == body.root for joint in joints) == 1
    top = joints[0].child if floats else body.root
    turned = {link: turn @ now[link][:, :3, :3] @ rest[link][:3, :3].T @ turn.T for link in body.links}
    places = {link: now[link][:, :3, 3] @ turn.T / scale for link in body.links}
    frames = len(motion)
    start = np.zeros(3) if floats else places[top][0]
    names = ["Xposition", "Yposition", "Zposition", *(f"{axis.upper()}rotation" for axis in ORDER)]
    values = np.concatenate([places[top] - start, _angles(turned[top])], axis=1)
    nodes = {top: Node(top, start, names, values, [])}
    for joint in joints[1:] if floats else joints:
        parent = turned[joint.parent].transpose(0, 2, 1)
        offset = turn @ (rest[joint.child][:3, 3] - rest[joint.parent][:3, 3]) / scale
        channels, columns = [], [np.zeros((frames, 0))]
        if any(moved.pitch for moved in joint.motions()):
            slid = np.einsum("fij,fj->fi", parent, places[joint.child] - places[joint.parent]) - offset
            channels, columns = names[:3], [slid]
        if any(moved.turns for moved in joint.motions()):
            channels = channels + names[3:]
            columns.append(_angles(parent @ turned[joint.child]))
        node = Node(joint.child, offset, channels, np.concatenate(columns, axis=1), [])
        nodes[joint.child] = node
        nodes[joint.parent].children.append(node)
    return nodes[top]


def _angles(rotations: Array) -> Array:
    """Turns [degrees] of rotations (frames, 3, 3)."""
    turns = steady_turns(ORDER, quaternions_of_matrices(rotations), np.zeros(3))
    return np.asarray(turns * (180.0 / math.pi))
