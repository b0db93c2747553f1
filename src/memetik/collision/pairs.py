"""Which pairs of links can collide: sampled as MoveIt's Setup Assistant does, and proved where that is possible."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from os import PathLike
from typing import Literal, NamedTuple
from xml.sax.saxutils import quoteattr

import numpy as np
from numpy.typing import NDArray

from memetik.body import Body
from memetik.collision.parts import Groups, groups_of, meeting, neighbours, solid_links
from memetik.collision.solids import link_solids
from memetik.errors import BodyError, FormatError
from memetik.files import path_of, write_whole
from memetik.geometry.checks import instance, real_number, several, text, whole_number
from memetik.kernels.body.records import TURN
from memetik.kernels.collision.pairs import APART, MET, count_contacts, search_contact
from memetik.kernels.collision.solids_record import Box
from memetik.kernels.runtime.record import allocate
from memetik.kernels.terms.distance import GROUP_FRAME
from memetik.progress import Report, teller
from memetik.tables import aligned
from memetik.types import Array

__all__ = ["CollisionPairs", "LinkPair", "find_collision_pairs"]

Reason = Literal["adjacent", "default", "always", "never", "sometimes"]
REASONS: tuple[Reason, ...] = ("adjacent", "default", "always", "never", "sometimes")
MOST = 1_000_000_000
BLOCK = 512  # samples between two looks at the line of progress
LOOK = 1_000  # samples that tell which pairs always touch
SHOWN = 40  # pairs in the printed table


class LinkPair(NamedTuple):
    """Two links with shapes, and how they meet.

    reason: "adjacent" (joined, or with nothing but links without shapes between them), "default" (in contact at home), "always"
    or "never" (in contact in nearly all samples, or in none), "sometimes": the pairs that a planner has to look at.
    share: of the samples in which they are in contact; 0 for adjacent ones, which are not sampled.
    proved: whether it is certain that they never meet, or known from a posture that they do. "Never" from samples is no proof.
    """

    link1: str
    link2: str
    reason: Reason
    share: float
    proved: bool


@dataclass(frozen=True, eq=False)
class CollisionPairs:
    """What `find_collision_pairs` found: every pair of links that have shapes, `print(pairs)` shows how many of each kind."""

    body: Body
    samples: int
    pairs: tuple[LinkPair, ...]

    def of(self, *reasons: Reason) -> tuple[LinkPair, ...]:
        """The pairs of these kinds: `pairs.of("sometimes")` are those that can collide."""
        for reason in reasons:
            if reason not in REASONS:
                raise BodyError(f"{reason!r} is no reason. There are: {', '.join(REASONS)}.")
        return tuple(pair for pair in self.pairs if pair.reason in reasons)

    @property
    def touching(self) -> frozenset[frozenset[str]]:
        """The pairs that need no look, for `body.with_touching`: all but those that sometimes collide."""
        return frozenset(frozenset(pair[:2]) for pair in self.pairs if pair.reason != "sometimes")

    @property
    def proved_touching(self) -> frozenset[frozenset[str]]:
        """The same without the pairs of which only samples say that they never meet."""
        return frozenset(
            frozenset(pair[:2])
            for pair in self.pairs
            if pair.reason != "sometimes" and (pair.reason != "never" or pair.proved)
        )

    def to_srdf(self) -> str:
        """The pairs that need no look as SRDF, a `<disable_collisions>` each; `mk.load(urdf, srdf=file)` reads it back."""
        rows = [
            f"  <disable_collisions link1={quoteattr(one)} link2={quoteattr(two)} reason={quoteattr(reason.title())}/>"
            for one, two, reason, _, _ in self.pairs
            if reason != "sometimes"
        ]
        return "\n".join([f"<robot name={quoteattr(self.body.name)}>", *rows, "</robot>", ""])

    def write_srdf(self, path: str | PathLike[str]) -> None:
        """Write `to_srdf` to a file."""
        write_whole(path_of(path, FormatError, "the path of the SRDF"), self.to_srdf().encode())

    def __len__(self) -> int:
        return len(self.pairs)

    def __str__(self) -> str:
        counts, proved = Counter(pair.reason for pair in self.pairs), sum(p.proved for p in self.of("never"))
        lines = [f"{len(self.pairs)} pairs of links of {self.body.name}, {self.samples:,} samples"]
        words: dict[Reason, str] = {
            "adjacent": "joined, not looked at", "default": "in contact at home", "always": "in contact in nearly all samples",
            "never": f"in contact in no sample; {proved} of them proved never to meet",
            "sometimes": "can collide",
        }  # fmt: skip
        lines += aligned([[reason, str(counts[reason]), words[reason]] for reason in REASONS], {1}, ruled=False)
        often = sorted(self.of("sometimes"), key=lambda pair: -pair.share)
        if often:
            rows = [[pair.link1, pair.link2, f"{100.0 * pair.share:.2f} %"] for pair in often[:SHOWN]]
            lines += ["", *aligned([["link", "and link", "in contact"], *rows], {2})]
        if len(often) > SHOWN:
            lines.append(f"and {len(often) - SHOWN} more, see pairs.of('sometimes')")
        return "\n".join(lines)

    def __repr__(self) -> str:
        return f"<CollisionPairs of {self.body.name}: {len(self.of('sometimes'))} of {len(self.pairs)} can collide>"


def find_collision_pairs(
    body: Body, samples: int = 10_000, *, links: Sequence[str] | None = None, seed: int = 0, always: float = 0.95,
    boxes: int = 2_000, progress: Report = None,
) -> CollisionPairs:  # fmt: skip
    """Find out which pairs of links can collide, in random postures within the limits, as MoveIt's Setup Assistant does.

    samples: postures, drawn as `body.sample` does. The same seed gives the same answer.
    links: those to look at; all that have shapes unless given.
    always: pairs that are in contact in at least this share of the samples are "always" in contact.
    boxes: how much work goes into each proof that a pair never meets. The postures of the joints between the two links are cut
    into boxes; in the middle of one the distance is measured, and no point can move farther than the joints allow to its
    edge. Pairs with few joints between them are soon proved; a contact that samples have missed may be found on the way, and
    counts as "sometimes". 0 leaves it out.
    progress: a function that takes (done, total) samples, or False for silence; a line on the terminal otherwise.

    "Never" is only as good as the samples: ten thousand postures of a hand of twenty joints miss most of what it can do. The
    pairs that are `proved` never to meet are certain; leave `body.touching` to `proved_touching` if that matters.
    """
    instance(body, Body, BodyError, "a body. Give mk.load(...) and the like.")
    samples = whole_number(samples, BodyError, "samples", least=1, most=MOST)
    seed = whole_number(seed, BodyError, "seed", least=0)
    boxes = whole_number(boxes, BodyError, "boxes", least=0, most=10_000_000)
    share = real_number(always, BodyError, "always")
    if not 0.0 < share <= 1.0:
        raise BodyError(f"always is {share:g}; it is a share of the samples, above 0 and at most 1.")
    names = solid_links(body) if links is None else _named(body, links)
    beside = neighbours(body)
    every = list(combinations(names, 2))
    joined = [pair for pair in every if frozenset(pair) in beside]
    apart = [pair for pair in every if frozenset(pair) not in beside]
    made = groups_of(body, [(name, link_solids(body, name, "find_collision_pairs")) for name in names])
    row = {name: k for k, name in enumerate(names)}
    places = np.array([[made.places[row[a]], made.places[row[b]]] for a, b in apart], dtype=np.int64).reshape(-1, 2)
    at_home = _contacts(made, places, body.home[None].copy()) > 0
    counts = np.zeros(len(apart), dtype=np.int64)
    rng = np.random.default_rng(seed)
    with teller(progress, samples, "samples", patience=1.0) as tell:
        for done in range(0, samples, BLOCK):
            tell(done)
            rows = min(BLOCK, samples - done)
            q = rng.uniform(body.variables.sample_lower, body.variables.sample_upper, (rows, body.dof))
            counts += _contacts(made, places, q)
    found = {pair: LinkPair(*pair, "adjacent", 0.0, False) for pair in joined}
    for k, pair in enumerate(apart):
        part = float(counts[k] / samples)
        reason: Reason = (
            "default" if at_home[k] else "always" if part >= share else "sometimes" if counts[k] else "never"
        )
        proved = bool(at_home[k] or counts[k])
        if reason == "never" and boxes:
            verdict = _searched(body, made, [row[pair[0]], row[pair[1]]], boxes)
            proved = verdict != "open"
            reason = "sometimes" if verdict == "met" else "never"
        found[pair] = LinkPair(*pair, reason, part, proved)
    return CollisionPairs(body, samples, tuple(found[pair] for pair in every))


def always_touching(body: Body, links: Sequence[str] | None = None) -> frozenset[frozenset[str]]:
    """The pairs that are in contact at home or in nearly all of a thousand random postures, as covers of neighbours are."""
    found = find_collision_pairs(body, LOOK, links=links, boxes=0, progress=False)
    return frozenset(frozenset(pair[:2]) for pair in found.of("default", "always"))


def _named(body: Body, links: Sequence[str]) -> list[str]:
    names = [text(link, BodyError, "a link") for link in several(links, BodyError, "links", "['hand', 'elbow']")]
    for name in names:
        body.frame(name)
    return list(dict.fromkeys(names))


def _contacts(made: Groups, places: NDArray[np.int64], q: Array) -> NDArray[np.int64]:
    """In how many of these postures each pair is in contact."""
    counts = np.zeros(len(places), dtype=np.int64)
    poses, world = np.empty((made.nodes.size, 7)), np.empty((made.frames.size, 7))
    count_contacts(made.nodes, made.frames, made.data, places, q, poses, world, counts)
    return counts


def _searched(body: Body, made: Groups, rows: list[int], most: int) -> Literal["apart", "met", "open"]:
    """Whether two groups are proved never to meet, are found in contact, or neither."""
    ends = [int(made.frames[row]["node"]) for row in rows]
    meet = meeting(made.nodes, *ends)
    between: list[int] = []  # the motions between the two links; those above carry both
    for end in ends:
        while end != meet:
            between.append(end)
            end = int(made.nodes[end]["parent"])
    between.sort()
    nodes = made.nodes[between]
    number = {old: new for new, old in enumerate(between)} | {meet: -1}
    nodes["parent"] = [number[int(parent)] for parent in nodes["parent"]]
    read = sorted(set(nodes["variable"].tolist()))
    if not all(_is_bounded(body, nodes, variable) for variable in read):
        return "open"
    nodes["variable"] = [read.index(variable) for variable in nodes["variable"].tolist()]
    frames = made.frames[rows]
    frames["node"] = [number[int(end)] for end in made.frames["node"][rows]]
    data = made.data.copy()
    places = np.array([made.places[row] for row in rows])
    data[places + GROUP_FRAME] = 0.0, 1.0
    boxes = np.empty((most, 2, len(read)))
    boxes[0] = body.variables.sample_lower[read], body.variables.sample_upper[read]
    verdict = search_contact(
        nodes, frames, data, places, boxes, np.empty((nodes.size, 7)), np.empty((2, 7)),
        allocate(Box, {"variables": len(read), "nodes": nodes.size}),
    )  # fmt: skip
    return "apart" if verdict == APART else "met" if verdict == MET else "open"


def _is_bounded(body: Body, nodes: NDArray[np.void], variable: int) -> bool:
    """Whether the range that is sampled is all that the variable can do: within limits, or a full turn of what only turns."""
    if np.isfinite(body.lower[variable]) and np.isfinite(body.upper[variable]):
        return True
    own = nodes[nodes["variable"] == variable]
    return bool((own["motion"] == TURN).all() and (own["ratio"] == np.round(own["ratio"])).all())
