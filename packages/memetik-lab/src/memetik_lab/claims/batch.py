"""Many poses of one arm at once, on one thread and on more, beside other solvers' one at a time."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

import memetik as mk
from memetik.batch import cores
from memetik.types import Array
from memetik_lab.harness import Report, Row, beside, column, progress, subplots
from memetik_lab.judge import Judge
from memetik_lab.peers import Peer, find, serial_chain
from memetik_lab.queries import Task, pose_of

BASE, TIP = "panda_link0", "panda_link8"
TASK = Task(position=1e-5, orientation=1e-5, seconds=0.1)
ROUNDS = 7
SHARE = 50  # a peer gets one in so many of the targets, because it takes that much longer
REFERENCE = "roboticstoolbox ik_LM"


@dataclass
class Entry:
    """A way to solve many targets, and what came of it."""

    name: str
    threads: int
    solve: Callable[[Array, Array], Iterable[Array | None]]
    count: int  # targets a round
    whole_turns: bool = False
    seconds: list[float] = field(default_factory=list)  # of each round
    processor: float = 0.0  # s of all threads
    targets: int = 0
    solved: int = 0
    wrong: int = 0

    def take(self, targets: Array, starts: Array, judge: Judge) -> None:
        """Solve a round; the answers are judged when no time is taken."""
        begin, used = time.perf_counter(), time.process_time()
        answers = self.solve(targets, starts)
        self.seconds.append(time.perf_counter() - begin)
        self.processor += time.process_time() - used
        self.targets += len(targets)
        for answer, target in zip(answers, targets, strict=True):
            right = judge.right(answer, target, whole_turns=self.whole_turns)
            self.solved += right
            self.wrong += answer is not None and not right

    def speed(self) -> float:
        """Targets a second in the median round: one that others on the machine disturbed does not count."""
        return self.count / float(np.median(self.seconds))

    def gain(self, other: Entry) -> float:
        """How many times as fast as another, by the median of the rounds: within a round the machine changes least."""
        ratios = np.array(other.seconds) / np.array(self.seconds)
        return float(np.median(ratios)) * self.count / other.count

    def rate(self) -> float:
        """Targets a second and thread, by the time that the processor took, which others on the machine do not change."""
        return self.targets / self.processor


def run(
    folder: Path, *, quick: bool = False, count: int | None = None, peers: Sequence[str] = ("roboticstoolbox", "optik")
) -> Report:
    """Measure, print, save and plot."""
    count = count or (20_000 if quick else 100_000)
    body = mk.load("panda").chain(BASE, TIP)
    found = find(peers)
    entries = [_own(body, threads, count) for threads in _steps(cores())]
    entries += [_peer(peer, count) for peer in found.build(serial_chain(body), TASK) if "threads" not in peer.name]
    report = Report(
        "batch",
        f"{count} poses of the panda, of postures drawn uniformly within the limits, starts drawn the same way apart from "
        f"them; {TASK.position:g} m and {TASK.orientation:g} rad, default budget. Each of {ROUNDS} rounds draws new ones and "
        f"gives them to memetik on each number of threads in one call; the others, which solve one at a time, get one in "
        f"{SHARE} of them. Solved: one forward kinematics, the same for all, finds the answer within tolerance and limits. "
        "Wrong: an answer was given and is not. CPU: what the processor took for a target, all threads together, whatever "
        "else ran on the machine. A second: in the median round. Speed-up: against one thread, the median of the rounds.",
        remarks=[*found.remarks],
    )
    _measure(body, entries, count)
    reference = next((entry for entry in entries if entry.name == REFERENCE), None)
    report.rows.extend(_row(entry, entries[0], reference) for entry in entries)
    return report.publish(folder, lambda: _plot(report))


def _measure(body: mk.Body, entries: Sequence[Entry], count: int) -> None:
    rng, judge = np.random.default_rng(1), Judge(body, TIP, TASK)
    for entry in entries:  # compilation and the first touch of memory, not counted
        entry.solve(*_draw(body, min(100, count), rng))
    for turn in progress(range(ROUNDS), ROUNDS, "batch"):
        targets, starts = _draw(body, count, rng)
        for j in range(len(entries)):
            entry = entries[(j + turn) % len(entries)]
            entry.take(targets[: entry.count], starts[: entry.count], judge)


def _draw(body: mk.Body, count: int, rng: np.random.Generator) -> tuple[Array, Array]:
    targets = np.array([body.forward(body.sample(rng))[TIP] for _ in range(count)])
    return targets, np.array([body.sample(rng) for _ in range(count)])


def _own(body: mk.Body, threads: int, count: int) -> Entry:
    pose = pose_of(TIP, TASK)
    problem = mk.Problem(body, pose)

    def solve(targets: Array, starts: Array) -> Iterable[Array | None]:
        batch = mk.solve_batch(problem, {pose: targets}, starts, threads=threads, progress=False)
        return (q if good else None for q, good in zip(batch.q, batch.success, strict=True))  # taken apart by the judge

    return Entry(f"memetik, {threads} thread{'s' if threads > 1 else ''}", threads, solve, count)


def _peer(peer: Peer, count: int) -> Entry:
    def solve(targets: Array, starts: Array) -> list[Array | None]:
        return [peer.solve(target, start) for target, start in zip(targets, starts, strict=True)]

    return Entry(peer.name, 1, solve, max(count // SHARE, 1), peer.whole_turns)


def _steps(most: int) -> list[int]:
    """1, 2, 4 and so on, and all of them."""
    return sorted({2**k for k in range(most.bit_length()) if 2**k <= most} | {most})


def _row(entry: Entry, first: Entry, reference: Entry | None) -> Row:
    return {
        "solver": entry.name,
        "targets": entry.targets,
        "solved [%]": 100.0 * entry.solved / entry.targets,
        "wrong [%]": 100.0 * entry.wrong / entry.targets,
        "a second": round(entry.speed()),
        "speed-up": entry.gain(first),
        "CPU [us]": 1e6 * entry.processor / entry.targets,
        "rate of a core / ik_LM": entry.rate() / reference.rate() if reference else None,
    }


def _plot(report: Report) -> Any:
    figure, axes = subplots(figsize=(8, 0.6 * len(report.rows) + 1.2))
    names, speeds = column(report.rows, "solver"), column(report.rows, "a second")
    axes.barh(names, speeds, color=["#0072B2" if name.startswith("memetik") else "#E69F00" for name in names])
    texts = [f"{row['a second']:,.0f} ({row['solved [%]']:.2f} % solved)" for row in report.rows]
    beside(axes, speeds, range(len(names)), texts)
    axes.invert_yaxis()
    axes.set(xlabel="poses a second, panda, 1e-5 m and 1e-5 rad", xlim=(0.0, 1.35 * max(speeds)))
    return figure
