"""Any problem, many times: the whole flagship, kernels/memetic/search.py, as it is, one problem a thread.

A thread that is done takes the next problem. On the card terms are not called by address: the kernel is compiled for the
kinds of terms that the problem has, and chooses among them.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import numba.cuda

from memetik.kernels.compiler.cancel import cancelled
from memetik.kernels.compiler.clock import now
from memetik.kernels.compiler.function_pointers import call_attempt, call_jacobian, call_residual
from memetik.kernels.cuda.translate import Translator
from memetik.kernels.memetic.search import solve
from memetik.kernels.problem.budget import ATTEMPTS, EVALUATIONS, OUTCOME

cuda: Any = numba.cuda  # it has no types

Kinds = tuple[tuple[int, Any, Any], ...]  # kind, residual kernel, Jacobian kernel


def _residuals(kinds: Kinds, translate: Translator) -> Any:
    """A device function that calls the residual kernel of a term's kind."""

    @cuda.jit(device=True)
    def chosen(place, term, data, world, x, out):
        pass

    for kind, residual, _ in kinds:
        chosen = _link_residual(kind, translate(residual), chosen)
    return chosen


def _link_residual(kind: int, residual: Any, otherwise: Any) -> Any:
    @cuda.jit(device=True)
    def chosen(place, term, data, world, x, out):
        if term.kind == kind:
            residual(term, data, world, x, out)
        else:
            otherwise(place, term, data, world, x, out)

    return chosen


def _jacobians(kinds: Kinds, translate: Translator) -> Any:
    """A device function that calls the Jacobian kernel of a term's kind."""

    @cuda.jit(device=True)
    def chosen(place, term, data, world, x, nodes, frames, poses, axes, scale, jacobian):
        pass

    for kind, _, jacobian in kinds:
        chosen = _link_jacobian(kind, translate(jacobian), chosen)
    return chosen


def _link_jacobian(kind: int, derive: Any, otherwise: Any) -> Any:
    @cuda.jit(device=True)
    def chosen(place, term, data, world, x, nodes, frames, poses, axes, scale, jacobian):
        if term.kind == kind:
            derive(term, data, world, x, nodes, frames, poses, axes, scale, jacobian)
        else:
            otherwise(place, term, data, world, x, nodes, frames, poses, axes, scale, jacobian)

    return chosen


@cache
def general_kernel(kinds: Kinds, attempt: Any) -> Any:
    """The kernel for problems whose terms are of these kinds, with a local search."""

    @cuda.jit(device=True)
    def no_time(clock):
        return 0.0  # budgets on the card are evaluations

    @cuda.jit(device=True)
    def never(clock):
        return False  # the host ends a batch between launches

    terms_only = Translator({now: no_time})
    translate = Translator({
        now: no_time, cancelled: never,
        call_residual: _residuals(kinds, terms_only), call_jacobian: _jacobians(kinds, terms_only),
    })  # fmt: skip
    local_search = translate(attempt)

    @cuda.jit(device=True)
    def direct_attempt(place, problem, x, most, deadline, clock, outcome, work):
        return local_search(problem, x, most, deadline, clock, outcome, work)

    translate.replace(call_attempt, direct_attempt)
    whole_search = translate(solve)

    @cuda.jit
    def solve_all_rows(
        nodes, frames, terms, data, bounds, spans, active, limits, affects, population, frame_poses, places, targets, starts,
        which, spread, stream, seed, most, counter, found, statuses, errors, evaluations, attempts, datas, flags, clocks,
        states, buffers, outcomes,
    ):  # fmt: skip
        """Task t is for row which[t // spread] of targets, which goes to data[places], and starts. With stream 0 it sets
        out from the start, otherwise from a posture drawn from stream + t % spread. The last arguments are scratch, a
        row for each thread."""
        thread = cuda.grid(1)
        own, outcome = datas[thread], outcomes[thread]
        for k in range(data.size):
            own[k] = data[k]
        task = cuda.atomic.add(counter, 0, 1)
        while task < which.size * spread:
            row = which[task // spread]
            for k in range(places.size):
                own[places[k]] = targets[row, k]
            q = found[task]
            for k in range(q.size):
                q[k] = starts[row, k]
            statuses[task] = whole_search(
                nodes, frames, terms, own, bounds, spans, active, limits, affects, population, frame_poses, q, 0, seed,
                stream + task % spread, most, 0.0, flags[thread], clocks[thread], states[thread], buffers[thread], outcome,
            )  # fmt: skip
            evaluations[task], attempts[task] = int(outcome[EVALUATIONS]), int(outcome[ATTEMPTS])
            for t in range(terms.size):
                errors[task, t] = outcome[OUTCOME + t]
            task = cuda.atomic.add(counter, 0, 1)

    return solve_all_rows


def kinds_of(terms: Any, kernels: Sequence[tuple[Any, Any]]) -> Kinds:
    """The kinds of terms of a problem with their kernels, each once; springs have none."""
    found = {int(kind): pair for kind, pair in zip(terms["kind"], kernels, strict=True) if pair[0] is not None}
    return tuple((kind, *pair) for kind, pair in sorted(found.items(), key=lambda item: item[0]))
