"""Joints of a USD stage as a tree from the world, each with the direction in which it is walked, and those that close loops."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from memetik.errors import FormatError
from memetik.read.usd.joint import UsdJoint

WORLD = ""  # the path of no prim


class Tree(NamedTuple):
    """What holds what."""

    joints: list[tuple[UsdJoint, bool]]  # in the order of the stage; whether it leads from its second body to its first
    roots: list[str]  # bodies that no chain of joints leads to from the world, one of each part
    loops: list[UsdJoint]


def grow(joints: Sequence[UsdJoint], bodies: Sequence[str], marked: Iterable[str]) -> Tree:
    """The tree of these joints. `marked` are the bodies that the stage calls roots of articulations.

    A joint of the articulation that closes a loop is an error: which one to open is for the stage to say.
    """
    part = {body: body for body in (WORLD, *bodies)}

    def find(body: str) -> str:
        while part[body] != body:
            part[body] = body = part[part[body]]
        return body

    held: list[UsdJoint] = []
    loops: list[UsdJoint] = []
    for joint in sorted(joints, key=lambda joint: joint.excluded):  # stable: those of the articulation first
        one, other = (find(end.body) for end in joint.ends)
        if one != other:
            part[one] = other
            held.append(joint)
        elif joint.excluded:
            loops.append(joint)
        else:
            raise FormatError(_circle(joint, held))
    roots = _roots(joints, bodies, list(marked), find)
    toward = _directions(held, [WORLD, *roots])
    order = {joint.path: k for k, joint in enumerate(joints)}
    held.sort(key=lambda joint: order[joint.path])
    return Tree([(joint, toward[joint.path]) for joint in held], roots, loops)


def _roots(
    joints: Sequence[UsdJoint], bodies: Sequence[str], marked: list[str], find: Callable[[str], str]
) -> list[str]:
    """Of each part apart from the world: the marked body, else the first that is no joint's second body, else the first."""
    seconds = {joint.ends[1].body for joint in joints}
    preferred = [*marked, *(body for body in bodies if body not in seconds), *bodies]
    found: dict[str, str] = {}
    for body in preferred:
        found.setdefault(find(body), body)
    found.pop(find(WORLD), None)
    return sorted(found.values(), key=list(bodies).index)


def _directions(held: Iterable[UsdJoint], starts: Iterable[str]) -> dict[str, bool]:
    """Whether each joint, by path, is reached at its second body first."""
    around: dict[str, list[UsdJoint]] = {}
    for joint in held:
        for end in joint.ends:
            around.setdefault(end.body, []).append(joint)
    result: dict[str, bool] = {}
    stack = list(starts)
    while stack:
        body = stack.pop()
        for joint in around.get(body, ()):
            if joint.path not in result:
                result[joint.path] = joint.ends[1].body == body
                stack.append(joint.ends[0 if result[joint.path] else 1].body)
    return result


def _circle(last: UsdJoint, held: Sequence[UsdJoint]) -> str:
    one, other = (end.body or "the world" for end in last.ends)
    pair = {one, other}
    beside = [joint.path for joint in held if {end.body or "the world" for end in joint.ends} == pair]
    if beside:
        return (
            f"{last.path}: {one} and {other} are joined by {beside[0]} already, and would be held by both. "
            "Remove one, or put a rigid body between them if both are to move."
        )
    twice = [joint for joint in held if joint.ends[1].body == last.ends[1].body]
    also = f" {twice[0].path} holds {other} already." if twice else ""
    return (
        f"{last.path}: it closes a loop between {one} and {other}, which other joints of the articulation connect.{also} "
        "A body is a tree: set physics:excludeFromArticulation = true on the joint that is to close the loop, and it becomes "
        "one of body.loops; or remove it."
    )
