"""Does memetik tell the truth? Random problems, every answer checked by plain matrices that share nothing with it:

    python -m tests.stress.honesty COUNT [--method M] [--seed S] [--processes P] [--block B]

Bodies bundled and generated, of all kinds of joints; one to four objectives of every class; targets within reach and
out of it; starts out of limits; locked and mimic joints; narrowed limits; small budgets. Checked of each answer: limits
are kept to the last bit, locked joints and joints that no objective reads are where they were (or at the limit, where
they were outside), the budget is kept, REACHED is said exactly when every objective with a tolerance is within it, and
every error reported is the true one.

A block is one problem with many targets; a complaint names it, and --block runs it alone.
"""

from __future__ import annotations

import argparse
import dataclasses
import functools
import math
import multiprocessing
import sys
import time
import warnings
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[2]))

import memetik as mk
from memetik.errors import MemetikWarning, ProblemError, RefusedError
from memetik.objectives import Displacement
from memetik.problem import Problem
from memetik.solution import Status
from memetik.solvers import Budget, solver
from tests.naive.bodies import KINDS, random_body, random_shape
from tests.stress.batch import Postures, Setting
from tests.stress.wishes import FACTORIES, Part, Wish

EACH = 100  # problems in a block
CLOSE = 1e-9  # how well errors agree, and how near to a tolerance a verdict may go either way, as a share of it
HAIR = 1e-7  # m, a shift that brings the other answer to light where an error jumps (edges of facets)
BUDGETS = (1, 2, 5, 15, 40, 80, 150, 400)
ARMS = ("panda", "ur5", "iiwa14", "scara", "shadow_hand", "pr2", "nao")
LARGE = ("h1", "go2", "baxter", "valkyrie", "mannequin", "wolf")
POSTURES = ("AvoidLimits", "CenterJoints", "Displacement")


class Block(NamedTuple):
    """A problem and the twins of its objectives."""

    setting: Setting
    wishes: Sequence[Wish]
    problem: Problem


# ---- Random problems ----------------------------------------------------------------------------------------


@functools.cache
def bundled(name: str) -> mk.Body:
    return mk.load(name)


def some_body(rng) -> mk.Body:
    kind = rng.random()
    if kind < 0.65:
        body = random_body(rng, int(rng.integers(3, 11)), KINDS, mimics=0.3)
        return clothed(body, rng) if rng.random() < 0.7 else body
    body = bundled(str(rng.choice(ARMS if kind < 0.95 else LARGE)))
    if rng.random() < 0.2:
        base = str(rng.choice(["planar", "xyz", "floating"]))
        return body.with_base(base, lower=-1.0, upper=1.0) if rng.random() < 0.5 else body.with_base(base)
    return body


def clothed(body: mk.Body, rng) -> mk.Body:
    """The body with a solid on most links, on all of them round ones or of any kind."""
    kinds = ("sphere", "capsule") if rng.random() < 0.5 else ("sphere", "capsule", "box", "cylinder")
    links = [
        dataclasses.replace(link, shapes=(random_shape(rng, kinds),) if rng.random() < 0.8 else ())
        for link in body.links.values()
    ]
    return mk.Body(body.name, links, body.joints.values())


def some_setting(rng) -> Setting:
    """A body with some joints locked and some limits narrowed."""
    body = some_body(rng)
    low, high = body.variables.sample_lower, body.variables.sample_upper
    lock, limits = {}, {}
    for k, name in enumerate(body.joint_names):
        ends = np.sort(rng.uniform(low[k], high[k], 2))
        if rng.random() < 0.1:
            limits[name] = (float(ends[0]), float(ends[1]))
        if rng.random() < 0.1:
            lock[name] = float(rng.uniform(*ends))
    return Setting(body, lock, limits)


def some_block(rng) -> Block:
    """Draws until a problem can be posed: some have nothing that moves, or ask for nothing."""
    while True:
        setting = some_setting(rng)
        if not any(map(setting.moving, setting.body.links)):
            continue
        kinds = rng.choice(len(FACTORIES), rng.integers(1, 5))
        drawn = [list(FACTORIES.values())[kind](setting, rng) for kind in kinds]
        wishes = list({id(wish.objective): wish for wish in drawn if wish is not None}.values())
        if not wishes:
            continue
        try:
            problem = Problem(setting.body, [w.objective for w in wishes], lock=setting.lock, limits=setting.limits)
        except ProblemError:
            continue
        return Block(setting, wishes, problem)


# ---- Solving and checking -----------------------------------------------------------------------------------


def variables(block: Block) -> tuple[list[Any], set[str]]:
    """For each wish what its twin needs to know of the others, and the variables that the problem reads."""
    reads, follows = [], []
    for wish in block.wishes:
        objective = wish.objective
        follows.append(isinstance(objective, Displacement) and objective.reference is None)
        posture = type(objective).__name__ in POSTURES
        reads.append(set(block.setting.free) if posture and not follows[-1] else set(wish.reads))
    concerned = set().union(*(r for r, f in zip(reads, follows, strict=True) if not f))
    touched = set().union(*(wish.reads for wish in block.wishes))
    for wish, follow in zip(block.wishes, follows, strict=True):
        if follow:
            stiff = wish.objective.stiffness
            touched |= {name for name in concerned if stiff.get(name, 1.0) > 0.0}
    return [concerned if follow else None for follow in follows], touched


def some_starts(setting: Setting, rng):
    """Within the limits, at them, and out of them."""
    starts = setting.sample(rng, EACH)
    kind = rng.random(starts.shape)
    starts = np.where(kind < 0.1, starts + rng.normal(scale=2.0, size=starts.shape), starts)
    low, high = setting.lower[:, None], setting.upper[:, None]
    starts = np.where((kind > 0.9) & np.isfinite(low), low, starts)
    return np.where((kind > 0.95) & np.isfinite(high), high, starts)


def solve_block(block: Block, rng, method: str = "memetic"):
    """Every target of a block solved: targets, starts and solutions with their budgets."""
    wishes = block.wishes
    there = Postures(block.setting, block.setting.sample(rng, EACH))
    possible = rng.random(EACH) < 0.6
    targets: list[Any] = []
    for wish in wishes:
        if wish.targets is None or wish.astray is None:
            targets.append(None)
            continue
        near, far = wish.targets(rng, there), wish.astray(rng, EACH)
        targets.append(np.where(possible.reshape(-1, *(1,) * (near.ndim - 1)), near, far))
    starts = some_starts(block.setting, rng)
    budgets = rng.choice(BUDGETS, EACH).tolist()
    seeds = rng.integers(0, 2**31, EACH).tolist()
    solutions = []
    for k in range(EACH):
        for wish, values in zip(wishes, targets, strict=True):
            if values is not None:
                setattr(wish.objective, wish.assign, values[k])
        solving = solver(method, seed=seeds[k])
        solutions.append(solving.solve(block.problem, starts[:, k], Budget(evaluations=budgets[k])))
    return targets, starts, solutions, budgets


def parts_of(block: Block, postures: Postures, targets, others) -> list[list[Part]]:
    """The errors of all wishes by their twins."""
    return [
        wish.parts(postures, values if others_read is None else others_read)
        for wish, values, others_read in zip(block.wishes, targets, others, strict=True)
    ]


def check_block(block: Block, targets, starts, solutions, budgets) -> tuple[list[str], Counter[str]]:
    """What is wrong, and how many there were of what."""
    setting, names = block.setting, list(block.setting.body.joint_names)
    others, touched = variables(block)
    read = np.array([name in touched for name in names])
    given = setting.locked(starts)
    start = setting.clamped(given)
    q = np.array([solution.q for solution in solutions]).T
    status = np.array([int(solution.status) for solution in solutions])
    wrong: list[str] = []
    seen = Counter(Status(s).name for s in status.tolist())

    def complain(bad, what):
        wrong.extend(f"problem {k}: {what} [{solutions[k].status.name}]" for k in np.flatnonzero(bad)[:3])

    within = (q >= setting.lower[:, None]) & (q <= setting.upper[:, None])
    complain(~within.all(axis=0), "a limit is broken")
    complain((q != start)[~read].any(axis=0), "a joint that nothing reads, or a locked one, has moved")
    moved = (given != start).any(axis=0)
    complain(moved != [s.start_moved for s in solutions], "start_moved is not true")
    complain([s.evaluations > most for s, most in zip(solutions, budgets, strict=True)], "the budget is exceeded")

    postures = Postures(setting, q, start)
    parts = parts_of(block, postures, targets, others)
    strict, loose, finite = np.ones(EACH, bool), np.ones(EACH, bool), np.ones(EACH, bool)
    findings = []
    for wish, wish_parts in zip(block.wishes, parts, strict=True):
        told = np.array([np.atleast_1d(solution.errors[wish.objective]) for solution in solutions])
        for part, reported in zip(wish_parts, told.T, strict=True):
            findings.append((~agree(reported, part), f"the error of {wish.objective!r} is not the one reported"))
            if part.limits is not None:
                limits = np.array(part.limits)
                room = 1e-12 + np.reshape(part.slack, (-1, 1))
                strict &= (part.sizes <= limits * (1.0 - CLOSE) - room).all(axis=1)
                loose &= (part.sizes <= limits * (1.0 + CLOSE) + room).all(axis=1)
                finite &= np.isfinite(part.error)
    only_guides = all(part.limits is None for wish_parts in parts for part in wish_parts)
    success = Status.MINIMUM if only_guides else Status.REACHED
    reached = status == success
    findings.append((reached & ~loose, "REACHED is said, but a tolerance is missed"))
    findings.append((~reached & strict, "all is within tolerance, but not said so"))
    others_status = ~np.isin(status, (success, Status.CLOSEST, Status.INVALID))
    findings.append((others_status, "MINIMUM is said of tolerances, or REACHED without"))
    findings.append(((status == Status.INVALID) == finite, "INVALID must be said exactly where an error is no number"))
    if any(bad.any() for bad, _ in findings):
        edges = edge_cases(block, postures, targets, others, parts)
        seen["on the edge of a facet"] += int((edges & np.any([bad for bad, _ in findings], axis=0)).sum())
        for bad, what in findings:
            complain(bad & ~edges, what)
    seen["on the edge of a tolerance"] += int((strict != loose).sum())
    return wrong, seen


def agree(reported, part: Part) -> Any:
    """Whether errors are the same to rounding; what is not defined agrees with itself."""
    gap = np.abs(reported - part.error)
    return (gap <= CLOSE * np.maximum(1.0, np.abs(part.error)) + part.slack) | (
        np.isnan(part.error) & np.isnan(reported)
    )


def edge_cases(block: Block, postures: Postures, targets, others, parts) -> Any:
    """Where a hair decides: an error that jumps when all frames move by a ten-millionth of a metre."""
    edges = np.zeros(EACH, bool)
    if not any(type(wish.objective).__name__ in ("Projection", "Custom") for wish in block.wishes):
        return edges
    for shift in HAIR * np.vstack([np.eye(3), -np.eye(3)]):
        for before, after in zip(parts, parts_of(block, postures.shifted(shift), targets, others), strict=True):
            for a, b in zip(before, after, strict=True):
                edges |= ~(np.abs(a.error - b.error) <= 100.0 * HAIR) & ~(np.isnan(a.error) & np.isnan(b.error))
    return edges


def run_block(number: int, seed: int, method: str = "memetic") -> tuple[int, list[str], Counter[str]]:
    """Pose, solve and check one block; the same number and seed give the same block on any machine."""
    rng = np.random.default_rng([seed, number])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MemetikWarning)  # a random mimic joint may leave its source no room to move
        block = some_block(rng)
    try:
        wrong, seen = check_block(block, *solve_block(block, rng, method))
    except RefusedError:
        return number, [], Counter({"refused": EACH})
    seen.update(type(wish.objective).__name__ for wish in block.wishes)
    what = f"{block.setting.body.name}, {', '.join(type(w.objective).__name__ for w in block.wishes)}"
    return number, [f"block {number}, {line} ({what})" for line in wrong], seen


# ---- The command line ---------------------------------------------------------------------------------------


def run(
    count: int, seed: int = 0, processes: int = 1, progress: bool = False, method: str = "memetic"
) -> tuple[int, list[str], Counter[str]]:
    """Check at least `count` problems: how many it were, what is wrong, and how many there were of what."""
    blocks = math.ceil(count / EACH)
    task = functools.partial(run_block, seed=seed, method=method)
    wrong: list[str] = []
    seen: Counter[str] = Counter()
    begin = last = time.perf_counter()
    pool = multiprocessing.get_context("spawn").Pool(processes) if processes > 1 else None
    try:
        done = 0
        for _, complaints, counts in pool.imap_unordered(task, range(blocks)) if pool else map(task, range(blocks)):
            done += EACH
            wrong.extend(complaints)
            seen.update(counts)
            if progress and time.perf_counter() - last > 5.0:
                last = time.perf_counter()
                print(
                    f"{done:,} of {count:,} problems, {done / (last - begin):,.0f} a second, {len(wrong)} mismatches",
                    flush=True,
                )
    finally:
        if pool:
            pool.terminate()
    return done, wrong, seen


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("count", type=int, help=f"how many problems, rounded up to blocks of {EACH}")
    parser.add_argument("--method", default="memetic")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--block", type=int, help="check this block only, and say all that is wrong")
    asked = parser.parse_args(arguments)
    if asked.block is not None:
        _, wrong, seen = run_block(asked.block, asked.seed, asked.method)
        done = EACH
    else:
        done, wrong, seen = run(asked.count, asked.seed, asked.processes, progress=True, method=asked.method)
    for what, number in seen.most_common():
        print(f"{number:>12,}  {what}")
    for line in wrong[:20]:
        print(line)
    print(f"{done} problems, {len(wrong)} mismatches")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
