"""Loops of a body: joints that a tree has no room for, each as two frames that meet when the loop is closed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from memetik.body.link import Frame, Link
from memetik.errors import BodyError, known, shown
from memetik.geometry.checks import several, text

# What holds between the two frames of a loop that is closed: the places along x, y and z, and the turns about them.
CLOSED: dict[str, tuple[int, int, int, int, int, int]] = {
    "fixed": (1, 1, 1, 1, 1, 1),
    "revolute": (1, 1, 1, 1, 1, 0),
    "prismatic": (1, 1, 0, 1, 1, 1),
    "cylindrical": (1, 1, 0, 1, 1, 0),
    "spherical": (1, 1, 1, 0, 0, 0),
}


class Loop(NamedTuple):
    """A joint that closes a loop: the tree has it open, and `frame` and `other` on two of its branches meet when it is closed.

    kind: what the joint leaves free: nothing ("fixed"), the turn about the z axis of the frames ("revolute"), the slide along
    it ("prismatic"), both ("cylindrical"), or all turns ("spherical").
    """

    name: str
    frame: Frame
    other: Frame
    kind: str = "spherical"

    def __repr__(self) -> str:
        return f"Loop({', '.join(f'{field}={shown(value)}' for field, value in self._asdict().items())})"


def checked_loops(loops: Iterable[Loop], links: Mapping[str, Link], body: str) -> tuple[Loop, ...]:
    """Loops between links of a body, each with a name of its own."""
    found: dict[str, Loop] = {}
    for loop in several(
        loops, BodyError, "loops of a body", "[mk.build.Loop('tip', mk.Frame('left'), mk.Frame('right'))]"
    ):
        if not isinstance(loop, Loop):
            raise BodyError(f"{shown(loop)} is not a loop. Give mk.build.Loop(name, frame, other).")
        name = text(loop.name, BodyError, "the name of a loop")
        where = f"loop {name!r}"
        if not isinstance(loop.kind, str) or loop.kind not in CLOSED:
            raise BodyError(f"{where}: kind is {shown(loop.kind)}. The kinds are: {', '.join(CLOSED)}.")
        for frame in (loop.frame, loop.other):
            if not isinstance(frame, Frame):
                raise BodyError(f"{where}: {shown(frame)} is not a frame. Give body.frame(link) or mk.Frame(link).")
            known(frame.link, links, "link", f"body {body!r}")
        if loop.frame.link == loop.other.link:
            raise BodyError(f"{where} joins link {loop.frame.link!r} to itself. Name two links.")
        if name in found:
            raise BodyError(f"body {body!r} has two loops named {name!r}. Give each a name of its own.")
        found[name] = loop
    return tuple(found.values())


def renamed(loop: Loop, prefix: str) -> Loop:
    """The loop of a body whose names get a prefix."""
    frame, other = (Frame(prefix + each.link, each.link_from_frame) for each in (loop.frame, loop.other))
    return loop._replace(name=prefix + loop.name, frame=frame, other=other)


def inside(loops: Iterable[Loop], links: Iterable[str]) -> list[Loop]:
    """The loops of which both links are there."""
    there = set(links)
    return [loop for loop in loops if {loop.frame.link, loop.other.link} <= there]
