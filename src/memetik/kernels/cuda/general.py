"""Any problem, many times: the whole flagship, kernels/memetic/search.py, as it is, one problem a warp.

A warp that is done takes the next problem. On the card terms are not called by address: the kernel is compiled for the
kinds of terms that the problem has, and chooses among them.
"""

from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any

import numba.cuda

from memetik.kernels.compiler.cancel import cancelled
from memetik.kernels.compiler.clock import now
from memetik.kernels.cuda.orders import BEGIN, DONE, END, FLOAT, INTEGER, ROW, TERMS, WORK, order
from memetik.kernels.cuda.record import LANES, SIMULATED, WarpLaunch
from memetik.kernels.cuda.table import card_reader
from memetik.kernels.cuda.translate import Translator
from memetik.kernels.cuda.warp import cooperate
from memetik.kernels.memetic.record import SearchScratch
from memetik.kernels.memetic.search import solve
from memetik.kernels.problem.evaluate import count_residuals
from memetik.kernels.problem.function_pointers import call_attempt
from memetik.kernels.problem.record import Problem, SolveArrays
from memetik.kernels.problem.workspace import carve_workspace
from memetik.kernels.terms.distance import HULL_DISTANCE
from memetik.kernels.terms.function_pointers import call_apart, call_jacobian, call_residual
from memetik.kernels.terms.geometry.hulls import FEW_CORNERS, exactly_apart, scratch_size
from memetik.kernels.terms.geometry.solids import NOWHERE

cuda: Any = numba.cuda  # it has no types
read = card_reader(WarpLaunch)
OPTIONS = {} if SIMULATED else {"max_registers": 168}  # so that six problems fit on a multiprocessor

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


def _hulls(translate: Translator | None) -> Any:
    """A device function in place of the kernel for hulls; one that is never called where there are none."""
    if translate is None:

        @cuda.jit(device=True)
        def no_hulls(address, data, p, s, q, t, enough):
            return enough, NOWHERE, NOWHERE, NOWHERE

        return no_hulls
    apart, size = translate(exactly_apart), scratch_size(FEW_CORNERS)

    @cuda.jit(device=True)
    def hulls(address, data, p, s, q, t, enough):
        return apart(data, p, s, q, t, enough, cuda.local.array(size, FLOAT), FEW_CORNERS)

    return hulls


@cache
def general_kernel(kinds: Kinds, attempt: Any, by_residuals: bool, small: bool) -> Any:
    """The kernel for problems whose terms are of these kinds, with a local search; the last two are for steps_by_lanes."""

    @cuda.jit(device=True)
    def no_time(clock):
        return 0.0  # budgets on the card are evaluations

    @cuda.jit(device=True)
    def never(clock):
        return False  # the host ends a batch between launches

    terms_only = Translator({now: no_time})
    terms_only.replace(
        call_apart, _hulls(terms_only if HULL_DISTANCE.number in (kind for kind, _, _ in kinds) else None)
    )
    translate = Translator({
        now: no_time, cancelled: never,
        call_residual: _by_kind((kind, terms_only(residual)) for kind, residual, _ in kinds),
        call_jacobian: _by_kind((kind, terms_only(jacobian)) for kind, _, jacobian in kinds),
    })  # fmt: skip
    by_kind = translate(call_residual), translate(call_jacobian)
    instead, serve = cooperate(translate, *by_kind, by_residuals, small)
    for kernel, function in instead.items():
        translate.replace(kernel, function)
    local_search, count = translate(attempt), translate(count_residuals)

    @cuda.jit(device=True)
    def direct_attempt(address, problem, x, run, work):
        return local_search(problem, x, run, work)

    translate.replace(call_attempt, direct_attempt)
    whole_search, cut = translate(solve), translate(carve_workspace)

    @cuda.jit(**OPTIONS)
    def solve_all_rows(table):
        """Warps take tasks in turn."""
        given = read(table)
        launch, rows, tasks = given.launch, given.scratch, given.launch.tasks
        thread, warp = cuda.threadIdx.x, cuda.blockIdx.x
        words, numbers = cuda.shared.array(0, INTEGER), cuda.shared.array(0, FLOAT)
        problem, n, dof = launch.problem, launch.problem.variables.size, launch.problem.limits.size
        nodes, frames, terms, variables = problem.nodes, problem.frames, problem.terms, problem.variables
        free = numbers[TERMS + 2 * terms.size + n :] if given.shared else rows.buffer[warp]
        data, free = free[: problem.data.size], free[problem.data.size :]
        q, free = free[:dof], free[dof:]
        outcome, free = free[: launch.results.outcomes.shape[1]], free[launch.results.outcomes.shape[1] :]
        work = cut(free, nodes.size, frames.size, n, count(terms))
        own = Problem(
            nodes, frames, terms, variables, problem.limits, data, problem.affects, problem.blocks, problem.order,
            problem.balls, problem.mounts,
        )  # fmt: skip
        arrays = SolveArrays(own, work, data, rows.clock[warp], rows.state[warp])
        scratch = SearchScratch(
            rows.score[warp], rows.used[warp], rows.failed[warp], rows.chosen[warp], rows.limb_score[warp]
        )
        if thread >= LANES:
            lane = thread - LANES
            serve(lane, launch, own, scratch, work, q, outcome, given.tree, rows.lanes[warp, lane])
        if thread > 0:
            return
        task = cuda.atomic.add(launch.counter, 0, 1)
        while task < tasks.number:
            row = task // tasks.spread
            if tasks.which.size > 0:
                row = tasks.which[row]
            words[ROW] = row
            order(BEGIN, task, 0.0)
            stream = tasks.stream + task % tasks.spread
            launch.results.statuses[task] = whole_search(
                arrays, launch.population, scratch, 0, q, outcome, tasks.seed, stream, tasks.most, 0.0
            )
            order(END, task, 0.0)
            task = cuda.atomic.add(launch.counter, 0, 1)
        words[WORK] = DONE
        cuda.syncthreads()

    return solve_all_rows


def kinds_of(terms: Any, kernels: Sequence[tuple[Any, Any]]) -> Kinds:
    """The kinds of terms of a problem with their kernels, each once; springs have none."""
    found = {int(kind): pair for kind, pair in zip(terms["kind"], kernels, strict=True) if pair[0] is not None}
    return tuple((kind, *pair) for kind, pair in sorted(found.items(), key=lambda item: item[0]))
