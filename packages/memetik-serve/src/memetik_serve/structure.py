"""Structure: all of a request but its targets and where it starts, for which one problem is compiled and kept."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

import memetik as mk
from memetik.scenes import KINDS, Field, Kind, Wish

MOST_MISSES = 6  # that count: of 64 requests, one is always looked at quickly
LONGEST_KEY = 1000  # characters of what is compared; longer ones are hashed


class _Changed(NamedTuple):
    """What a request may change of an objective without compiling again."""

    kind: Kind
    fields: dict[str, Field]


def _changed(kind: Kind) -> _Changed:
    names = kind.moved + (("target",) if kind.name == "JointValue" else ())
    return _Changed(kind, {name: kind.field(name) for name in names})


CHANGED = {name: _changed(kind) for name, kind in KINDS.items()}


@dataclass(eq=False)
class Prepared:
    """A problem that one call at a time retargets and solves.

    client: who asked for it first. `kept` ends when the store forgets it, maybe while a call uses it.
    """

    problem: mk.Problem
    objectives: tuple[mk.Objective, ...]  # of the request, without those that avoid collisions
    client: str = ""
    solved: bool = False  # its kernels are compiled
    uses: int = 0
    kept: bool = True
    misses: int = 0  # quick looks in a row that found nothing
    skipped: int = 0  # requests since the last quick look

    def worth_a_look(self) -> bool:
        """Whether to look quickly: each look in vain doubles the number of requests that go without one."""
        if not self.misses:
            return True
        self.skipped += 1
        return self.skipped >= 1 << min(self.misses, MOST_MISSES)


class Structure:
    """All requests that differ in targets, starts and locked values only."""

    def __init__(self, wishes: tuple[Wish, ...], held: tuple[str, ...]) -> None:
        self.wishes = wishes  # checked, with every value filled in
        self.held = held  # joints that stay where the state has them
        self.idle: dict[tuple[float, ...], list[Prepared]] = {}  # by the values of these
        self.count = 0  # problems of it that are kept, idle or in use


def movers(body: mk.Body, links: Iterable[str]) -> set[str]:
    """The free joints that move any of some links."""
    drives, names = body.variables.drives, body.joint_names
    above = {joint.child: joint for joint in body.joints.values()}
    found: set[str] = set()
    seen = {body.root}
    for link in links:
        while link not in seen:
            seen.add(link)
            joint = above[link]
            found |= {names[drive.variable] for drive in drives.get(joint.name, ())}
            link = joint.parent
    return found


def fixed(wish: Wish) -> str:
    """The values of a wish that cannot change without compiling again, as a text that is the same for the same values."""
    changed = CHANGED.get(wish.kind)
    names = {} if changed is None else changed.fields
    items = [item for item in wish.values.items() if item[0] not in names]
    if any(
        isinstance(value, (list, tuple, dict)) and (len(value) > 16 or isinstance(value, dict)) for _, value in items
    ):
        text = _listed(items)
    else:
        text = repr(items)
    return text if len(text) < LONGEST_KEY else hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()


def _listed(value: object) -> str:
    """A text that is the same for the same values, as repr makes it, but other threads go on in between."""
    if isinstance(value, dict):
        return "{" + ", ".join([f"{key!r}: {_listed(each)}" for key, each in value.items()]) + "}"
    if isinstance(value, (list, tuple)):
        ends = "[]" if isinstance(value, list) else "()"
        if value and isinstance(value[0], (list, tuple, dict)):
            parts = [_listed(each) for each in value]
        else:
            parts = [repr(value[k : k + 1_000])[1:-1] for k in range(0, len(value), 1_000)]
        return ends[0] + ", ".join(parts) + ends[1]
    return repr(value)
