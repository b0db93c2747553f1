"""track: a joint path for targets that move, without jumps."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from memetik.errors import ProblemError
from memetik.kernels.budget import EVALUATIONS
from memetik.kernels.compile_time import split_time
from memetik.kernels.finish import REACHED
from memetik.kernels.follow import JUMPED, follow
from memetik.objectives import Objective
from memetik.problem import Problem
from memetik.problem.columns import target_columns
from memetik.problem.seed import checked_seed
from memetik.solvers.budget import Budget, checked_budget

Array = NDArray[np.float64]

PER_STEP = Budget(evaluations=2_000)


@dataclass(frozen=True)
class Track:
    """A joint vector for every step of the path, and what became of each step."""

    problem: Problem
    q: Array  # (steps, dof)
    status: NDArray[np.int64]  # of each step, as in Status
    jumped: NDArray[np.bool_]  # steps whose solution lies far from the one before because none nearer was found
    errors: dict[Objective, Array]  # (steps,) for each objective, (steps, 2) for a pose
    rate: float  # steps per second
    evaluations: int
    seconds: float  # what it took to compute [s], without what kernels took to compile
    compile_seconds: float = 0.0  # what it took besides to compile kernels or load them from disk [s]

    @property
    def success(self) -> bool:
        """Whether every step is within tolerance and none jumps."""
        return bool((self.status == REACHED).all() and not self.jumped.any())

    @property
    def times(self) -> Array:
        """When each step is due [s]."""
        return np.arange(len(self.q)) / self.rate

    @property
    def largest_step(self) -> float:
        """The largest change of a joint from one step to the next [rad or m]."""
        return float(np.abs(np.diff(self.q, axis=0)).max(initial=0.0))

    def __repr__(self) -> str:
        reached, jumps = int((self.status == REACHED).sum()), int(self.jumped.sum())
        return (
            f"<Track: {reached} of {len(self.q)} steps reached, {jumps} jumps, "
            f"{self.seconds / max(len(self.q), 1) * 1e6:.1f} us a step>"
        )


def track(
    problem: Problem,
    targets: Mapping[Objective, ArrayLike],
    *,
    start: ArrayLike | None = None,
    rate: float = 100.0,
    jump: float = 0.5,
    budget: Budget = PER_STEP,
    seed: int = 0,
) -> Track:
    """Follow targets over time, each step from the solution of the last one.

    targets: for each moving objective an array with one target a step, as its `target` takes them.
    rate: steps per second, for the times of the result.
    jump: a joint may change by this from step to step [rad or m]. A solution farther away is taken only if none nearer is
    found, and `jumped` says so.
    budget: for each step.
    """
    if not (rate > 0.0 and jump > 0.0):
        raise ProblemError(f"track: rate ({rate}) and jump ({jump}) must be above zero.")
    seed, budget = checked_seed(seed), checked_budget(budget)
    begin = time.perf_counter()
    q = problem.start(start)
    c = problem.compiled
    if not targets:
        raise ProblemError("track: no targets. Give {objective: array with one target a step}.")
    places, columns, _ = target_columns(problem, targets, "track")
    steps = len(columns)
    if steps == 0:
        raise ProblemError("track: every objective needs at least one target.")
    path, path_errors = np.empty((steps, q.size)), np.zeros((steps, c.terms.size))
    statuses = np.zeros(steps, dtype=np.int64)
    seconds = budget.seconds if budget.seconds < math.inf else 0.0
    kept = c.data[places].copy()
    follow(
        *c.record, q, c.attempt, seed, budget.evaluations, seconds, jump, places, columns, path, path_errors, statuses,
        *c.scratch,
    )  # fmt: skip
    c.data[places] = kept  # the objectives keep the targets they had
    problem.raise_faults()
    jumped = statuses == JUMPED
    statuses[jumped] = REACHED
    named = {
        objective: np.squeeze(path_errors[:, owner], axis=1) if owner.stop - owner.start == 1 else path_errors[:, owner]
        for objective, owner in zip(problem.objectives, c.owners, strict=True)
    }
    evaluations = int(c.outcome[EVALUATIONS])
    return Track(problem, path, statuses, jumped, named, rate, evaluations, *split_time(begin))
