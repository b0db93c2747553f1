"""Random poses of one tip, solvers that take turns at them, and one judge: what `arms` and `snakes` have in common."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from memetik.bench.harness import BLOCK, progress, solved, spread
from memetik.bench.judge import Judge
from memetik.bench.peers import Peer, Slow, Task
from memetik.body import Body
from memetik.types import Array

Query = tuple[Array, Array]  # target 4x4, start


@dataclass
class Tally:
    """What one solver did."""

    solver: Peer
    seconds: list[float] = field(default_factory=list)
    cold: list[float] = field(default_factory=list)  # those of them that began a turn
    missed: list[Query] = field(default_factory=list)  # queries without a right answer
    wrong: int = 0  # answers that the judge does not accept

    def columns(self, task: Task) -> dict[str, Any]:
        """The outcome as columns of a table; `late` took longer than the task allows."""
        count = len(self.seconds)
        return {
            **solved(count - len(self.missed), count),
            "wrong [%]": self.wrong / count * 100.0,
            "late [%]": float(np.mean(np.array(self.seconds) > task.seconds)) * 100.0,
            **spread(self.seconds),
            "cold [us]": float(np.mean(self.cold)) * 1e6,
        }


def contest(body: Body, tip: str, task: Task, solvers: Sequence[Peer], count: int, label: str) -> list[Tally]:
    """Let the solvers take turns of BLOCK solves in changing order, all with the same targets and starts.

    Slow ones get the first few of every turn, one in `share` of theirs.
    """
    judge = Judge(body, tip, task)
    tallies = [Tally(solver) for solver in solvers]
    rng = np.random.default_rng(1)
    warm_up = [_draw(body, tip, rng) for _ in range(BLOCK)]  # compilation and thread pools, not counted
    for solver in solvers:
        for target, start in _part(solver, warm_up):
            solver.solve(target, start)
    for turn, begin in enumerate(progress(range(0, count, BLOCK), -(-count // BLOCK), label)):
        block = [_draw(body, tip, rng) for _ in range(min(BLOCK, count - begin))]
        for j in range(len(tallies)):
            tally = tallies[(j + turn) % len(tallies)]
            _take_turn(tally, _part(tally.solver, block), judge)
    return tallies


def _part(solver: Peer, block: Sequence[Query]) -> Sequence[Query]:
    return block[: -(-len(block) // solver.share)] if isinstance(solver, Slow) else block


def _draw(body: Body, tip: str, rng: np.random.Generator) -> Query:
    """A target that can be reached, and a start that has nothing to do with it."""
    return body.forward(body.sample(rng))[tip], body.sample(rng)


def _take_turn(tally: Tally, block: Sequence[Query], judge: Judge) -> None:
    """Solve a block of queries in a row; the answers are judged afterwards, when no time is taken."""
    solve, answers, seconds = tally.solver.solve, [], []
    for target, start in block:
        begin = time.perf_counter()
        answer = solve(target, start)
        seconds.append(time.perf_counter() - begin)
        answers.append(answer)
    tally.seconds += seconds
    tally.cold.append(seconds[0])
    for answer, query in zip(answers, block, strict=True):
        if not judge.right(answer, query[0], whole_turns=tally.solver.whole_turns):
            tally.missed.append(query)
            tally.wrong += answer is not None
