"""Do the answers stay the same? A file of answers, made before a change and compared after it:

    python -m tests.stress.answers write answers.npz [--problems 13000]
    python -m tests.stress.answers compare answers.npz

Every bundled body, every method, one objective and several, targets within reach and out of it, guides, a locked joint, single
solves and batches. Budgets are evaluations, so the same code gives the same file on the same machine. A comparison passes if
every status is the same, the evaluations of at least 99.9 % are, and the joint values of those agree to 1e-9.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[2]))

import memetik as mk

SEED = 20260101
SLOW = {"ga", "de", "pso", "hgsa", "learned", "portfolio"}  # methods that get fewer problems
EVALUATIONS = {"ga": 300, "de": 300, "pso": 300, "hgsa": 300, "bioik": 1_500}  # 1,000 for all others
CLOSE = 1e-9  # rad or m
SAME = 0.999  # share of the answers that must have taken the same evaluations
BODIES = (
    "ur5", "m10ia", "iiwa14", "kr120", "panda", "pr2", "baxter", "valkyrie", "shadow_hand", "nao", "scara", "h1", "go2",
    "mannequin", "kyle", "wolf",
)  # fmt: skip


class Task(NamedTuple):
    """A problem and where to solve it from."""

    label: str
    problem: mk.Problem
    start: Any


def tips_of(body: mk.Body) -> list[str]:
    """Links that some joint moves and that carry no others."""
    parents = {joint.parent for joint in body.joints.values()}
    q, other = body.home, body.sample(np.random.default_rng(0))
    at_home, elsewhere = body.forward(q), body.forward(other)
    moved = [link for link in body.links if not np.allclose(at_home[link], elsewhere[link])]
    return [link for link in moved if link not in parents] or moved[-1:]


def tasks(name: str, count: int, rng: np.random.Generator) -> Iterator[Task]:
    """Random problems on one body; what is wanted is taken from a random posture, now and then moved out of reach."""
    body = mk.load(name)
    tips = tips_of(body)
    for number in range(count):
        poses = body.forward(body.sample(rng))
        away = rng.normal(0.0, 2.0, 3) if rng.random() < 0.1 else np.zeros(3)
        chosen = rng.permutation(tips)[: 1 + int(rng.random() < 0.5) * int(rng.integers(0, 3))]
        objectives: list[mk.Objective] = []
        for tip in chosen:
            pose = poses[tip].copy()
            pose[:3, 3] += away
            kind = rng.integers(0, 3)
            if kind == 0:
                objectives.append(mk.Pose(tip, pose))
            elif kind == 1:
                objectives.append(mk.Position(tip, pose[:3, 3], tolerance=1e-4))
            else:
                objectives.append(mk.Orientation(tip, pose[:3, :3], tolerance=1e-4))
        if rng.random() < 0.25:
            objectives.append(mk.Displacement(weight=0.01))
        if rng.random() < 0.15:
            objectives.append(mk.LookAt(chosen[0], target=rng.normal(0.0, 1.0, 3), axis=(0, 0, 1), tolerance=0.2))
        lock = {}
        if rng.random() < 0.1:
            joint = body.joint_names[int(rng.integers(body.dof))]
            lock[joint] = float(body.home[body.index(joint)])
        start = body.home if rng.random() < 0.5 else body.sample(rng)
        try:
            yield Task(f"{name} {number}", mk.Problem(body, objectives, lock=lock), start)
        except mk.errors.ProblemError:  # a lock took the last joint that moves it
            continue


def answers(problems: int) -> Iterator[tuple[str, int, int, np.ndarray]]:
    """Label, status, evaluations and joint values of every answer."""
    names = [method.name for method in mk.methods()]
    share = problems / (len(BODIES) * (len(names) + 1))  # the batches count as one more method
    rng = np.random.default_rng(SEED)
    for body in BODIES:
        for task in tasks(body, round(share), rng):
            for name in names:
                if name in SLOW and not task.label.endswith(("0", "5")):
                    continue
                budget = mk.Budget(evaluations=EVALUATIONS.get(name, 1_000))
                if name == "learned":
                    continue  # it trains for each problem; tests of its own hold it
                try:
                    solution = mk.solve(task.problem, task.start, method=name, budget=budget)
                except mk.errors.ProblemError:
                    yield f"{task.label} {name}", -1, 0, np.zeros(0)
                    continue
                yield f"{task.label} {name}", int(solution.status), solution.evaluations, solution.q
        yield from batch_answers(body, round(share), rng)


def batch_answers(name: str, rows: int, rng: np.random.Generator) -> Iterator[tuple[str, int, int, np.ndarray]]:
    """The same of a batch of poses, and of a path followed."""
    body = mk.load(name)
    tip = tips_of(body)[0]
    pose = mk.Pose(tip, np.eye(4))
    problem = mk.Problem(body, pose)
    targets = np.array([body.forward(body.sample(rng))[tip] for _ in range(rows)])
    batch = mk.solve_batch(problem, {pose: targets}, budget=mk.Budget(evaluations=1_000), progress=False)
    for k in range(rows):
        yield f"{name} row {k}", int(batch.status[k]), int(batch.evaluations[k]), batch.q[k]
    path = mk.track(problem, {pose: targets[:8]}, budget=mk.Budget(evaluations=500))
    for k in range(len(path.q)):
        yield f"{name} step {k}", int(path.status[k]), path.evaluations, path.q[k]
    for k, solution in enumerate(mk.solve_all(problem, count=4, budget=mk.Budget(evaluations=5_000))):
        yield f"{name} of all {k}", int(solution.status), solution.evaluations, solution.q


def gather(problems: int) -> dict[str, np.ndarray]:
    """All answers as arrays; joint values lie end to end."""
    begin = time.perf_counter()
    rows = list(answers(problems))
    print(f"{len(rows)} answers in {time.perf_counter() - begin:.0f} s", flush=True)
    labels, statuses, evaluations, vectors = zip(*rows, strict=True)
    return {
        "problems": np.array(problems),
        "labels": np.array(labels),
        "status": np.array(statuses),
        "evaluations": np.array(evaluations),
        "sizes": np.array([vector.size for vector in vectors]),
        "q": np.concatenate(vectors),
    }


def compare(before: Any, after: dict[str, np.ndarray]) -> bool:
    """Print what differs; whether all is as it was."""
    if not np.array_equal(before["labels"], after["labels"]):
        print("other problems than before")
        return False
    ends = np.cumsum(before["sizes"])[:-1]
    far = np.array([
        np.abs(a - b).max(initial=0.0)
        for a, b in zip(np.split(before["q"], ends), np.split(after["q"], ends), strict=True)
    ])  # fmt: skip
    status = before["status"] != after["status"]
    evaluations = before["evaluations"] != after["evaluations"]
    moved = ~evaluations & (far > CLOSE)
    print(
        f"{len(far)} answers: {status.sum()} other statuses, {evaluations.sum()} other evaluations, {moved.sum()} other joint "
        f"values, {(far == 0.0).sum()} equal to the last bit"
    )
    for k in np.flatnonzero(status | moved)[:20]:
        print(
            f"  {before['labels'][k]}: status {before['status'][k]} -> {after['status'][k]}, evaluations "
            f"{before['evaluations'][k]} -> {after['evaluations'][k]}, off by {far[k]:.3g}"
        )
    return not status.any() and evaluations.mean() <= 1.0 - SAME and not moved.any()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("act", choices=("write", "compare"))
    parser.add_argument("file", type=Path)
    parser.add_argument("--problems", type=int, default=13_000)
    given = parser.parse_args()
    warnings.simplefilter("ignore", mk.MemetikWarning)
    if given.act == "write":
        np.savez_compressed(given.file, **gather(given.problems))
        return 0
    before = np.load(given.file)
    return 0 if compare(before, gather(int(before["problems"]))) else 1


if __name__ == "__main__":
    sys.exit(main())
