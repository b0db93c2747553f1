"""Solvers that take turns at the same queries, all timed alike, and judged when no time is taken."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import memetik as mk
from memetik_lab.harness import BLOCK, Row, percent, progress, solved, spread
from memetik_lab.judge import Judge
from memetik_lab.queries import Peer, Query, Task, aim, draw_many, pose_of

LEAST = 5  # queries that a slow way gets
Way = Callable[[Query], Any]  # to answer a query


@dataclass
class Tally:
    """What one way did, query by query."""

    queries: list[Query] = field(default_factory=list)
    answers: list[Any] = field(default_factory=list)
    verdicts: list[Any] = field(default_factory=list)  # what the judge says of the answers
    seconds: list[float] = field(default_factory=list)
    cold: list[float] = field(default_factory=list)  # those of the seconds that began a turn

    def mean(self, attribute: str) -> float:
        """The mean of a number that all answers have."""
        return float(np.mean(self.each(attribute)))

    def each(self, attribute: str) -> list[Any]:
        """A number that all answers have."""
        return [getattr(answer, attribute) for answer in self.answers]

    def milliseconds(self) -> float:
        """The mean time of an answer [ms]."""
        return 1e3 * float(np.mean(self.seconds))

    def solved(self) -> Row:
        """The share of answers that the judge accepts, as columns of a table."""
        return solved(sum(self.verdicts), len(self.verdicts))

    @property
    def missed(self) -> list[Query]:
        """Queries without an answer that the judge accepts."""
        return [query for query, right in zip(self.queries, self.verdicts, strict=True) if not right]

    def columns(self, task: Task) -> Row:
        """The outcome as columns of a table; `wrong` was answered and is not right, `late` took longer than allowed."""
        pairs = zip(self.answers, self.verdicts, strict=True)
        return {
            **self.solved(),
            "wrong [%]": percent([answer is not None and not right for answer, right in pairs]),
            "late [%]": percent(np.array(self.seconds) > task.seconds),
            **spread(self.seconds),
            "cold [us]": float(np.mean(self.cold)) * 1e6,
        }


def race(
    ways: Sequence[Way],
    queries: Sequence[Query],
    label: str,
    *,
    judge: Callable[[Any, Query], Any] = lambda answer, query: None,
    turn: int = BLOCK,
    slow: Sequence[int] = (),
    warm_up: Sequence[Query] | None = None,
    clock: Callable[[], float] = time.perf_counter,
    aimed: mk.Problem | None = None,
) -> list[Tally]:
    """Let all ways answer the queries, by turns of about `turn` in changing order.

    slow: each way gets one in so many of the queries, the first ones; all of them unless given. warm_up: queries for
    compilation and thread pools that are not counted; the first one unless given. aimed: a problem whose targets are set
    before the clock runs.
    """
    tallies = [Tally() for _ in ways]
    slow = slow or [1] * len(ways)
    warm_up = queries[:1] if warm_up is None else warm_up
    for way, number in zip(ways, slow, strict=True):
        for query in _part(warm_up, number):
            way(query)
    turns = -(-len(queries) // turn)
    order = [(k, (k + j) % len(ways)) for k in range(turns) for j in range(len(ways))]
    for k, which in progress(order, len(order), label):
        own = _part(queries, slow[which])
        block = own[len(own) * k // turns : len(own) * (k + 1) // turns]
        _take_turn(ways[which], tallies[which], block, judge, clock, aimed)
    return tallies


def _part(queries: Sequence[Query], slow: int) -> Sequence[Query]:
    return queries[: max(LEAST, -(-len(queries) // slow))]


def _take_turn(
    way: Way, tally: Tally, block: Sequence[Query], judge: Callable[[Any, Query], Any], clock: Callable[[], float],
    aimed: mk.Problem | None,
) -> None:  # fmt: skip
    """Answer some queries in a row; the answers are judged afterwards, when no time is taken."""
    answers, seconds = [], []
    for query in block:
        if aimed is not None:
            aim(aimed, query)
        begin = clock()
        answer = way(query)
        seconds.append(clock() - begin)
        answers.append(answer)
    tally.queries += block
    tally.answers += answers
    tally.seconds += seconds
    tally.cold += seconds[:1]
    tally.verdicts += map(judge, answers, block)


def contest(body: mk.Body, tip: str, task: Task, solvers: Sequence[Peer], count: int, label: str) -> list[Tally]:
    """Random poses of one tip, the same for all solvers."""
    queries, judge = draw_many(body, [pose_of(tip, task)], BLOCK + count), Judge(body, tip, task)
    ways = [_way(solver) for solver in solvers]
    tallies = race(ways, queries[BLOCK:], label, warm_up=queries[:BLOCK], slow=[solver.slow for solver in solvers])
    for solver, tally in zip(solvers, tallies, strict=True):
        pairs = zip(tally.answers, tally.queries, strict=True)
        turns = solver.whole_turns
        tally.verdicts = [judge.right(answer, query.targets[0], whole_turns=turns) for answer, query in pairs]
    return tallies


def _way(solver: Peer) -> Way:
    return lambda query: solver.solve(query.targets[0], query.start)  # type: ignore[arg-type]
