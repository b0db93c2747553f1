"""Groups of SRDF -> chains of a body."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from memetik.body import Body, Chain
from memetik.errors import BodyError, FormatError


@dataclass(frozen=True)
class Group:
    """A group as the file gives it: links, joints, (base, tip) chains and the names of other groups."""

    name: str
    place: str  # where it stands, for messages
    links: tuple[str, ...] = ()
    joints: tuple[str, ...] = ()
    chains: tuple[tuple[str, str], ...] = ()
    groups: tuple[str, ...] = ()


def chains_of(body: Body, groups: Iterable[Group]) -> dict[str, Chain]:
    """A chain for each group that moves at least one joint; links alone have nothing to solve for."""
    by_name = {group.name: group for group in groups}
    tree = _Tree(body)
    chains = {name: _chain(tree, _merged(group, by_name)) for name, group in by_name.items()}
    return {name: chain for name, chain in chains.items() if chain is not None}


def _merged(group: Group, by_name: dict[str, Group]) -> Group:
    """The group with the content of its subgroups, and of theirs."""
    parts: dict[str, Group] = {}
    waiting = [group.name]
    while waiting:
        part = by_name[waiting.pop()]
        if part.name in parts:
            continue
        parts[part.name] = part
        if group.name in part.groups:
            raise FormatError(f"{group.place}: the group contains itself, through {part.name!r}. Remove one of them.")
        waiting.extend(reversed(part.groups))
    return Group(
        group.name,
        group.place,
        links=tuple(dict.fromkeys(link for part in parts.values() for link in part.links)),
        joints=tuple(dict.fromkeys(joint for part in parts.values() for joint in part.joints)),
        chains=tuple(dict.fromkeys(chain for part in parts.values() for chain in part.chains)),
    )


class _Tree:
    """Ways through a body, from its links to its root."""

    def __init__(self, body: Body) -> None:
        self.body = body
        self.above = {joint.child: joint for joint in body.joints.values()}
        self.variables = {joint.name: joint.variables if joint.mimic is None else () for joint in body.joints.values()}
        self.depth = {body.root: 0}
        for joint in body.joints.values():  # parents come before their children
            self.depth[joint.child] = self.depth[joint.parent] + 1

    def meeting(self, links: Iterable[str]) -> str:
        """The lowest link that all of these hang below, or are."""
        first, *others = links
        for other in others:
            while first != other:
                if self.depth[first] >= self.depth[other]:
                    first = self.above[first].parent
                else:
                    other = self.above[other].parent
        return first

    def way(self, base: str, tip: str) -> list[str]:
        """The joints from a link down to another, nearest to the tip first; base must be above tip."""
        joints = []
        while tip != base:
            joints.append(self.above[tip].name)
            tip = self.above[tip].parent
        return joints

    def free(self, joints: Iterable[str]) -> set[str]:
        """The variables of these joints that are free."""
        return {variable for name in joints for variable in self.variables[name]}

    def ends(self, links: Iterable[str]) -> list[str]:
        """Those of the links that have none of the others below them, in the order given."""
        given = dict.fromkeys(links)
        passed = {above for link in given for above in self._links_above(link)}
        return [link for link in given if link not in passed]

    def _links_above(self, link: str) -> list[str]:
        return [self.body.joints[name].parent for name in self.way(self.body.root, link)]


def _chain(tree: _Tree, group: Group) -> Chain | None:
    # A virtual joint is not one of the body's.
    held = [tree.body.joints[name] for name in group.joints if name in tree.body.joints]
    named = [joint.name for joint in held]
    for base, tip in group.chains:
        if tree.meeting((base, tip)) != base:
            raise BodyError(
                f"{group.place}: tip link {tip!r} does not hang below base link {base!r}. Swap them, or "
                f"start at {tree.meeting((base, tip))!r}, which both hang below."
            )
        named.extend(tree.way(base, tip))
    free = tree.free(named)
    if not free:
        return None
    chain_tips = [tip for _, tip in group.chains]
    # Groups of joints often list every link on the way: only the last of them are tips.
    ends = tree.ends((*chain_tips, *group.links, *(joint.child for joint in held)))
    tips = tuple(dict.fromkeys((*chain_tips, *ends)))
    base = tree.meeting((*(base for base, _ in group.chains), *(joint.parent for joint in held), *tips))
    passed = tree.free(name for tip in tips for name in tree.way(base, tip))
    only = None if free == passed else tuple(name for name in tree.body.joint_names if name in free)
    return Chain(base, tips, only)
