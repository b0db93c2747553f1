"""SRDF: what URDF leaves unsaid about a body: named chains, named postures, links that may touch."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from os import PathLike

from memetik.body import Body
from memetik.body.cut import home_by_name, rebuilt
from memetik.errors import BodyError, FormatError, known
from memetik.geometry.checks import instance
from memetik.read import xml
from memetik.read.groups import Group, chains_of
from memetik.read.notes import Notes, naming
from memetik.read.xml import Element

# Names of the group state that is the resting posture, the first that occurs wins.
HOME_STATES = ("home", "default", "ready")
TAGS = (
    "group", "group_state", "disable_collisions", "disable_default_collisions", "enable_collisions", "virtual_joint",
    "end_effector", "passive_joint",
)  # fmt: skip
ROUNDING = 1e-3  # a posture typed with few digits may pass a limit by this much; it is moved to the limit

Pair = tuple[str, str]


@dataclass(frozen=True)
class State:
    """A named posture of a group: the values of each joint, one for each of its variables."""

    name: str
    group: str
    values: Mapping[str, tuple[float, ...]]


@dataclass(frozen=True)
class Srdf:
    """The content of an SRDF file, not yet compared with any body."""

    file: str
    groups: Mapping[str, Group]
    states: tuple[State, ...]
    disabled: tuple[Pair, ...]  # pairs of links that may touch
    disabled_links: tuple[str, ...]  # links that may touch any other
    enabled: tuple[Pair, ...]  # pairs that are excepted from that
    virtual_joints: frozenset[str]  # join the body to the world; a URDF body does not have them
    lines: Mapping[tuple[str, str], int]  # ("link" or "joint", name) -> line where the name first occurs


def read_srdf(path: str | PathLike[str]) -> Srdf:
    """The content of an SRDF file."""
    return _Reader(xml.read(path)).srdf()


def parse_srdf(text: str | bytes, *, file: str = "SRDF text") -> Srdf:
    """The content of SRDF text; messages call the text `file`."""
    return _Reader(xml.parse(text, file)).srdf()


def apply(body: Body, srdf: Srdf) -> Body:
    """The body with the chains, the postures and the touching links of the SRDF added to its own.

    Every group that moves at least one joint becomes a chain, every group state a posture; if several groups have a state of
    one name, each gives the joints that those before it do not. Home is "home", or else "default", or else "ready".
    """
    instance(body, Body, FormatError, "a body that an SRDF could be applied to.")
    instance(srdf, Srdf, FormatError, "an SRDF. Give what read_srdf or parse_srdf returns.")
    for (what, name), line in srdf.lines.items():
        names = body.links.keys() if what == "link" else body.joints.keys()
        if what != "joint" or name not in srdf.virtual_joints:
            known(name, names, what, f"body {body.name!r} (named in {srdf.file}, line {line})")
    postures = {state.name: _posture(body, srdf, state.name) for state in srdf.states}
    chosen = next((name for name in HOME_STATES if name in postures), "")
    home = home_by_name(body) | postures.get(chosen, {})
    chains = body.chains | chains_of(body, srdf.groups.values())
    with naming(srdf.file):
        touching = _touching(body, srdf)
        return rebuilt(body, home=home, chains=chains, touching=touching, postures=body.named_values | postures)


# From the file


class _Reader:
    """Turns the elements into plain data and keeps the line where each link and joint is first named."""

    def __init__(self, root: Element) -> None:
        if root.tag != "robot":
            raise root.error(f"SRDF begins with <robot>, but this begins with <{root.tag}>.")
        self.root, self.notes = root, Notes()
        self.lines: dict[tuple[str, str], int] = {}

    def srdf(self) -> Srdf:
        root = self.root
        self.notes.misspelled(root, TAGS)
        groups = self.groups()
        srdf = Srdf(
            file=root.file,
            groups=groups,
            states=tuple(self.state(element, groups) for element in root.all("group_state")),
            disabled=self.pairs("disable_collisions"),
            disabled_links=tuple(self.link(e, "link") for e in root.all("disable_default_collisions")),
            enabled=self.pairs("enable_collisions"),
            virtual_joints=frozenset(e.text("name", "world_joint") for e in root.all("virtual_joint")),
            lines=self.lines,
        )
        self.notes.warn()
        return srdf

    def link(self, element: Element, attribute: str) -> str:
        name = element.text(attribute, "forearm")
        self.lines.setdefault(("link", name), element.line)
        return name

    def joint(self, element: Element) -> str:
        name = element.text("name", "elbow")
        self.lines.setdefault(("joint", name), element.line)
        return name

    def groups(self) -> dict[str, Group]:
        groups: dict[str, Group] = {}
        for element in self.root.all("group"):
            group = self.group(element)
            if group.name in groups:
                raise element.error(f"two groups are named {group.name!r}. Rename one.")
            groups[group.name] = group
        for group in groups.values():
            for inner in group.groups:
                known(inner, groups, "group", group.place)
        return groups

    def group(self, element: Element) -> Group:
        return Group(
            element.text("name", "right_arm"),
            place=element.place,
            links=tuple(self.link(e, "name") for e in element.all("link")),
            joints=tuple(self.joint(e) for e in element.all("joint")),
            chains=tuple((self.link(e, "base_link"), self.link(e, "tip_link")) for e in element.all("chain")),
            groups=tuple(e.text("name", "right_hand") for e in element.all("group")),
        )

    def state(self, element: Element, groups: Mapping[str, Group]) -> State:
        name, group = element.text("name", "home"), element.attributes.get("group", "").strip()
        if group not in groups:
            self.notes.add(element, f"the state is of group {group!r}, which the file does not have.")
        joints = element.all("joint")
        return State(name, group, {self.joint(e): e.vector("value", "radians or metres", "0.5") for e in joints})

    def pairs(self, tag: str) -> tuple[Pair, ...]:
        return tuple((self.link(e, "link1"), self.link(e, "link2")) for e in self.root.all(tag))


# To the body


def _posture(body: Body, srdf: Srdf, chosen: str) -> dict[str, float]:
    """The values of all states of one name."""
    posture: dict[str, float] = {}
    for state in srdf.states:
        for name, values in state.values.items() if state.name == chosen else ():
            joint = body.joints.get(name)
            if joint is None or joint.mimic is not None or joint.dof == 0:
                continue  # a virtual joint, or one whose value others decide
            if len(values) != joint.dof:
                line = srdf.lines["joint", name]
                raise BodyError(
                    f"{srdf.file}: group state {chosen!r} gives joint {name!r} (first named in line {line}) "
                    f"{len(values)} values, but it has {joint.dof}: {', '.join(joint.variables)}."
                )
            for variable, value in zip(joint.variables, values, strict=True):
                posture.setdefault(variable, _settle(body, variable, value))
    return posture


def _settle(body: Body, variable: str, value: float) -> float:
    """A value that passes a limit by no more than rounding, moved to the limit."""
    k = body.index(variable)
    nearest = float(min(max(value, body.lower[k]), body.upper[k]))
    return nearest if abs(nearest - value) <= ROUNDING else value


def _touching(body: Body, srdf: Srdf) -> set[Pair]:
    def sorted_pairs(pairs: Iterable[Iterable[str]]) -> set[Pair]:
        return {(min(pair), max(pair)) for pair in map(set, pairs) if len(pair) == 2}

    of_links = ((link, other) for link in srdf.disabled_links for other in body.links if other != link)
    default = sorted_pairs(of_links) - sorted_pairs(srdf.enabled)
    return sorted_pairs(body.touching) | default | sorted_pairs(srdf.disabled)
