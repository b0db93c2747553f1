"""Any problem, many times: the whole flagship, kernels/memetic/search.py, as it is, one problem a thread.

A thread that is done takes the next problem. On the card terms are not called by address: the kernel is compiled for the
kinds of terms that the problem has, and chooses among them.
"""

from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any

import numba.cuda

from memetik.kernels.compiler.cancel import cancelled
from memetik.kernels.compiler.clock import now
from memetik.kernels.cuda.translate import Translator
from memetik.kernels.memetic.record import SearchScratch
from memetik.kernels.memetic.search import solve
from memetik.kernels.problem.evaluate import count_residuals
from memetik.kernels.problem.function_pointers import call_attempt
from memetik.kernels.problem.record import Problem, SolveArrays
from memetik.kernels.problem.workspace import carve_workspace
from memetik.kernels.terms.function_pointers import call_jacobian, call_residual

cuda: Any = numba.cuda  # it has no types

Kinds = tuple[tuple[int, Any, Any], ...]  # kind, residual kernel, Jacobian kernel


def _by_kind(kernels: Iterable[tuple[int, Any]]) -> Any:
    """A device function that calls the kernel of a term's kind."""

    @cuda.jit(device=True)
    def chosen(address, term, *rest):
        pass

    for kind, kernel in kernels:
        chosen = _link(kind, kernel, chosen)
    return chosen


def _link(kind: int, called: Any, otherwise: Any) -> Any:
    @cuda.jit(device=True)
    def chosen(address, term, *rest):
        if term.kind == kind:
            called(term, *rest)
        else:
            otherwise(address, term, *rest)

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
        call_residual: _by_kind((kind, terms_only(residual)) for kind, residual, _ in kinds),
        call_jacobian: _by_kind((kind, terms_only(jacobian)) for kind, _, jacobian in kinds),
    })  # fmt: skip
    local_search, count = translate(attempt), translate(count_residuals)

    @cuda.jit(device=True)
    def direct_attempt(address, problem, x, run, work):
        return local_search(problem, x, run, work)

    translate.replace(call_attempt, direct_attempt)
    whole_search, cut = translate(solve), translate(carve_workspace)

    @cuda.jit
    def solve_all_rows(problem, population, tasks, results, rows, counter):
        """Threads take tasks in turn, each with its row of the scratch `rows`; `counter` is the number of the next task."""
        thread = cuda.grid(1)
        nodes, frames, terms, variables = problem.nodes, problem.frames, problem.terms, problem.variables
        data, outcome = rows.data[thread], rows.outcome[thread]
        own = Problem(nodes, frames, terms, variables, problem.limits, data, problem.affects)
        work = cut(rows.work[thread], nodes.size, frames.size, variables.size, count(terms))
        arrays = SolveArrays(own, work, data, rows.clock[thread], rows.state[thread])
        scratch = SearchScratch(rows.score[thread], rows.used[thread], rows.failed[thread], rows.chosen[thread])
        for k in range(data.size):
            data[k] = problem.data[k]
        task = cuda.atomic.add(counter, 0, 1)
        while task < tasks.which.size * tasks.spread:
            row = tasks.which[task // tasks.spread]
            for k in range(tasks.columns.size):
                data[tasks.columns[k]] = tasks.targets[row, k]
            q = results.q[task]
            for k in range(q.size):
                q[k] = tasks.starts[row, k]
            stream = tasks.stream + task % tasks.spread
            results.statuses[task] = whole_search(
                arrays, population, scratch, 0, q, outcome, tasks.seed, stream, tasks.most, 0.0
            )
            for k in range(outcome.size):
                results.outcomes[task, k] = outcome[k]
            task = cuda.atomic.add(counter, 0, 1)

    return solve_all_rows


def kinds_of(terms: Any, kernels: Sequence[tuple[Any, Any]]) -> Kinds:
    """The kinds of terms of a problem with their kernels, each once; springs have none."""
    found = {int(kind): pair for kind, pair in zip(terms["kind"], kernels, strict=True) if pair[0] is not None}
    return tuple((kind, *pair) for kind, pair in sorted(found.items(), key=lambda item: item[0]))
