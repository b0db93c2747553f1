"""Structure: all of a request but its targets and where it starts, for which one problem is compiled and kept."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import NamedTuple

import memetik as mk
from memetik.scenes import KINDS, Field, Kind, Wish

LONGEST_KEY = 1000  # characters of what is compared; longer ones are hashed


class _Changed(NamedTuple):
    """What a request may change of an objective without compiling anew."""

    kind: Kind
    fields: dict[str, Field]


def _changed(kind: Kind) -> _Changed:
    names = kind.moved + (("target",) if kind.name == "JointValue" else ())
    return _Changed(kind, {name: kind.field(name) for name in names})


CHANGED = {name: _changed(kind) for name, kind in KINDS.items()}


@dataclass
class Prepared:
    """A problem that one call at a time retargets and solves."""

    problem: mk.Problem
    objectives: tuple[mk.Objective, ...]  # of the request, without those that avoid collisions
    solved: bool = False  # its kernels are compiled


class Structure:
    """All requests that differ in targets, starts and locked values only."""

    def __init__(self, wishes: tuple[Wish, ...], held: tuple[str, ...]) -> None:
        self.wishes = wishes  # checked, with every value filled in
        self.held = held  # joints that stay where the state has them
        self.idle: dict[tuple[float, ...], list[Prepared]] = {}  # by the values of these


def movers(body: mk.Body) -> dict[str, frozenset[str]]:
    """The free joints that move each link."""
    drives, names = body.variables.drives, body.joint_names
    found: dict[str, frozenset[str]] = {body.root: frozenset()}
    for joint in body.joints.values():  # depth-first: parents are met before their children
        own = {names[drive.variable] for drive in drives.get(joint.name, ())}
        found[joint.child] = found[joint.parent] | own
    return found


def fixed(wish: Wish) -> str:
    """The values of a wish that cannot change without compiling anew, as a text that is the same for the same values."""
    changed = CHANGED.get(wish.kind)
    names = {} if changed is None else changed.fields
    text = repr([item for item in wish.values.items() if item[0] not in names])
    return text if len(text) < LONGEST_KEY else hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()
