"""SelfDistance: the links of a body keep apart from each other."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import combinations
from typing import Literal

from memetik.body import Body
from memetik.collision.pairs import always_touching
from memetik.collision.parts import welded
from memetik.collision.solids import link_solids
from memetik.errors import ProblemError, shown
from memetik.geometry.checks import several, text
from memetik.objectives.apart import Apart
from memetik.objectives.attributes import fixed
from memetik.objectives.broad_phase import place_group
from memetik.objectives.objective import FrameLike, Packer, checked_name


class SelfDistance(Apart):
    """The links of a body keep apart from each other: the penetration of the deepest pair <= tolerance [m].

    links: which to look at, by name; all that have collision shapes unless given. Left out are pairs that
    `body.touching` allows, pairs joined by one joint or welded together, and those in `ignore`; `pairs` lists the rest.
    ignore: pairs of links; or "always", the pairs that are in contact at home or in at least 95 % of 1,000 random postures, which
    no posture would satisfy: covers of neighbours often are (body.with_shapes). `ignored` lists what was left out so.
    Distances, clearance, margin, tolerance and loss are as in Distance.
    """

    def __init__(
        self, body: Body, links: Iterable[str] | None = None, *,
        ignore: Iterable[tuple[str, str]] | Literal["always"] = (), clearance: float = 0.0, margin: float = 0.005,
        tolerance: float | None = 0.0, weight: float = 1.0, name: str | None = None, priority: int = 1, loss: str = "margin",
    ) -> None:  # fmt: skip
        if not isinstance(body, Body):
            raise ProblemError(f"SelfDistance: {shown(body)} is not a body. Give the one whose links keep apart.")
        usual = f"SelfDistance of {body.name}"
        super().__init__(
            clearance=clearance, margin=margin, tolerance=tolerance, weight=weight, name=checked_name(name) or usual,
            priority=priority, loss=loss,
        )  # fmt: skip
        names = [link.name for link in body.links.values() if link.shapes]
        if links is not None:
            given = several(links, ProblemError, f"{self.name}: links", "['hand', 'elbow']")
            names = [text(link, ProblemError, f"{self.name}: a link") for link in given]
        for link in names:
            body.frame(link)
        if isinstance(ignore, str):
            if ignore != "always":
                raise ProblemError(f"{self.name}: ignore is {ignore!r}. Give pairs, [('hand', 'elbow')], or 'always'.")
            given_out = always_touching(body, names)
        else:
            pairs = several(ignore, ProblemError, f"{self.name}: ignore", "[('hand', 'elbow')]")
            given_out = frozenset(_pair(pair, self.name) for pair in pairs)
        for link in {link for pair in given_out for link in pair}:
            body.frame(link)
        part = welded(body)
        joined = {frozenset((part[joint.parent], part[joint.child])) for joint in body.joints.values()}
        apart = [
            (a, b)
            for a, b in combinations(dict.fromkeys(names), 2)
            if part[a] != part[b]
            and frozenset((part[a], part[b])) not in joined
            and frozenset((a, b)) not in body.touching
        ]
        self.pairs = [pair for pair in apart if frozenset(pair) not in given_out]
        self.ignored = [pair for pair in apart if frozenset(pair) in given_out]
        if not self.pairs:
            raise ProblemError(
                f"{self.name}: no two of the links {', '.join(names) or '(none has shapes)'} can collide. Name links "
                "with at least two joints between them."
            )

    @fixed
    def pairs(self, value: Iterable[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
        """The pairs of links that keep apart."""
        return tuple(value)

    @fixed
    def ignored(self, value: Iterable[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
        """The pairs of links that `ignore` left out."""
        return tuple(value)

    def frames(self) -> tuple[FrameLike, ...]:
        return tuple(dict.fromkeys(link for pair in self.pairs for link in pair))

    def pack(self, packer: Packer) -> None:
        part = welded(packer.body)  # locked joints weld more links together
        pairs = [(a, b) for a, b in self.pairs if part[a] != part[b]]
        groups = {
            link: place_group(packer, link, link_solids(packer.body, link, self.name))
            for link in dict.fromkeys(link for pair in pairs for link in pair)
        }
        self._pack_pairs(packer, [(groups[a], groups[b]) for a, b in pairs], list(groups))

    def __repr__(self) -> str:
        return f"<{self.name} {len(self.pairs)} pairs of links>"


def _pair(pair: object, name: str) -> frozenset[str]:
    links = several(pair, ProblemError, f"{name}: a pair in ignore", "('hand', 'elbow')")
    return frozenset(text(link, ProblemError, f"{name}: a link in ignore") for link in links)
