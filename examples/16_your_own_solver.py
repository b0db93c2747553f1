"""A solver of your own: any object with `solve(problem, start, budget)`, which ends with mk.Solution.of."""

import time
from dataclasses import dataclass

import numpy as np

import memetik as mk

BUDGET = mk.Budget(evaluations=2_000)


@dataclass(frozen=True)
class JacobianTranspose:
    """Steps along -J^T e for the position of one link, of a fixed length."""

    length: float = 1.0

    def solve(self, problem: mk.Problem, start=None, budget: mk.Budget = BUDGET) -> mk.Solution:
        begin = time.perf_counter()
        (reach,) = problem.objectives
        if not isinstance(reach, mk.Position):
            raise mk.errors.RefusedError(f"this method takes one mk.Position, not {reach!r}.")
        body, q = problem.body, problem.start(start)  # the start, checked and copied; home if there is none
        spent = 0
        while spent < budget.evaluations:
            spent += 1
            error = body.forward(q)[reach.frame][:3, 3] - reach.target
            if np.linalg.norm(error) <= 0.5 * reach.tolerance or time.perf_counter() - begin > budget.seconds:
                break
            q = body.clip(q - self.length * body.jacobian(reach.frame, q)[:3].T @ error)
        # Whatever was found: limits, locks, errors and status are settled here, as for every method.
        return mk.Solution.of(
            problem, q, start=start, method="my transpose", evaluations=spent, seconds=time.perf_counter() - begin
        )


body = mk.load("panda")
hand = body.frame("panda_hand", offset=(0, 0, 0.10))
reach = mk.Position(hand, target=(0.5, 0.1, 0.4), tolerance=1e-3)
problem = mk.Problem(body, reach)

solution = mk.solve(problem, method=JacobianTranspose())
print(solution)
assert solution.success and solution.errors[reach] <= 1e-3

# The other ways to solve take it, too.
angles = np.linspace(0.0, 1.0, 20)
circle = np.array([(0.5, 0.1 * np.cos(angle), 0.4 + 0.1 * np.sin(angle)) for angle in angles])
track = mk.track(problem, {reach: circle}, method=JacobianTranspose())
batch = mk.solve_batch(problem, {reach: circle}, method=JacobianTranspose())
print(track)
print(batch)
assert track.success and batch.success.all()
