"""Is it a tree? The order in which a body is walked: parents first, each limb to its end before the next."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from memetik.body.joint import Joint
from memetik.body.link import Link
from memetik.errors import BodyError, UnknownNameError


def walk(links: Sequence[Link], joints: Sequence[Joint]) -> tuple[str, list[Joint]]:
    """The root link and all joints depth-first, siblings in the order given; raise if links and joints are no tree."""
    _unique((link.name for link in links), "link")
    _unique((joint.name for joint in joints), "joint")
    names = dict.fromkeys(link.name for link in links)
    if not names:
        raise BodyError("a body needs at least one link.")
    children: dict[str, list[Joint]] = {name: [] for name in names}
    held_by: dict[str, Joint] = {}
    for joint in joints:
        for role, link in (("parent", joint.parent), ("child", joint.child)):
            if link not in names:
                raise UnknownNameError("link", link, names, f"the links of the body ({role} of joint {joint.name!r})")
        if joint.child in held_by:
            raise BodyError(
                f"link {joint.child!r} hangs on two joints, {held_by[joint.child].name!r} and {joint.name!r}. A body is "
                "a tree: remove one and close the loop with a relative target instead."
            )
        held_by[joint.child] = joint
        children[joint.parent].append(joint)
    roots = [link.name for link in links if link.name not in held_by]
    if not roots:
        raise BodyError("the joints form a circle, so no link is the root. Remove the joint that closes it.")
    if len(roots) > 1:
        raise BodyError(
            f"{len(roots)} links have no parent: {', '.join(map(repr, roots[:6]))}. A body has one root: connect the "
            "others with joints (fixed ones, if they do not move) or remove them."
        )
    order: list[Joint] = []
    stack = [iter(children[roots[0]])]
    while stack:
        for joint in stack[-1]:
            order.append(joint)
            stack.append(iter(children[joint.child]))
            break
        else:
            stack.pop()
    if len(order) < len(joints):
        reached = {joint.name for joint in order}
        lost = next(joint for joint in joints if joint.name not in reached)
        raise BodyError(f"joint {lost.name!r} is part of a circle that the root {roots[0]!r} does not reach.")
    return roots[0], order


def _unique(names: Iterable[str], what: str) -> None:
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise BodyError(f"two {what}s are named {name!r}. Rename one; names are how everything is found.")
        seen.add(name)
