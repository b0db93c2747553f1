"""A joint vector from anywhere, verified as the answer of every solver is (kernels/problem/verify.py)."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from memetik.errors import ProblemError
from memetik.geometry.checks import real_array
from memetik.kernels.problem.budget import MOVED
from memetik.kernels.problem.limits import move_inside
from memetik.kernels.problem.verify import INVALID, verify
from memetik.kernels.terms.springs import rest_at_start
from memetik.problem import Problem, require_problem
from memetik.problem.scratch import scratch_pool
from memetik.types import Array


def judge(problem: Problem, q: ArrayLike, start: ArrayLike | None) -> tuple[Array, int, Array]:
    """The vector as it may be returned, its status, and the numbers of a Solution with the errors of all terms."""
    require_problem(problem, "Solution.of")
    origin = problem.start(start)
    c = problem.compiled
    vector = _vector(problem, q)
    numbers = np.zeros(c.outcome_size)
    numbers[MOVED] = move_inside(origin, c.limits)
    finite = bool(np.isfinite(vector).all())
    first, rest = origin[c.active], vector[c.active]
    pool = scratch_pool(c)
    scratch = pool.lease()
    scratch.take_targets()
    arrays = scratch.arrays
    rest_at_start(c.terms, arrays.problem.data, first)
    arrays.work.start[:] = first
    status = int(verify(arrays.problem, rest, numbers, arrays.work))
    problem.raise_faults(scratch.clock)
    pool.give_back(scratch)
    if finite:
        move_inside(vector, c.limits)
        vector[c.active] = rest
    return vector, status if finite else INVALID, numbers


def _vector(problem: Problem, q: ArrayLike) -> Array:
    body = problem.body
    vector = np.array(real_array(q, ProblemError, "q is not a joint vector"))
    if vector.shape != (body.dof,):
        raise ProblemError(
            f"q has shape {vector.shape}, but body {body.name!r} has {body.dof} free joints. Give one number for each of "
            "body.joint_names."
        )
    for joint, value in problem.lock.items():
        vector[body.index(joint)] = value
    return vector
