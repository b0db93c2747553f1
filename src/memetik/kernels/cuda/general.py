"""Any problem, many times: the whole flagship, kernels/search/search.py, as it is, one problem for two warps.

A warp that is done takes the next problem. On the device terms are not called by address: the kernel is compiled for the
kinds of terms that the problem has, and chooses among them.
"""

from functools import cache
from typing import Any

import numba.cuda

from memetik.kernels.cuda.launch_record import LANES, SIMULATED, WarpLaunch
from memetik.kernels.cuda.table import device_reader
from memetik.kernels.cuda.terms import Kinds, search_translator
from memetik.kernels.cuda.warp import cooperate
from memetik.kernels.cuda.warp_messages import BEGIN, DONE, END, FLOAT, INTEGER, ROW, TERMS, WORK, order
from memetik.kernels.problem.evaluate import count_residuals
from memetik.kernels.problem.function_pointers import call_attempt
from memetik.kernels.problem.problem_record import Problem, SolveArrays
from memetik.kernels.problem.workspace import carve_workspace
from memetik.kernels.search.search import next_start, solve
from memetik.kernels.search.search_record import Callees, SearchScratch, call_next_start
from memetik.kernels.terms.function_pointers import call_jacobian, call_residual

cuda: Any = numba.cuda  # it has no types
read = device_reader(WarpLaunch)
OPTIONS = {} if SIMULATED else {"max_registers": 168}  # so that six problems fit on a multiprocessor


@cache
def general_kernel(kinds: Kinds, attempt: Any, by_residuals: bool, small: bool) -> Any:
    """The kernel for problems whose terms are of these kinds, with a local search; the last two are for steps_by_lanes."""

    translate = search_translator(kinds)
    by_kind = translate(call_residual), translate(call_jacobian)
    instead, serve = cooperate(translate, *by_kind, by_residuals, small)
    for kernel, function in instead.items():
        translate.replace(kernel, function)
    local_search, count = translate(attempt), translate(count_residuals)

    @cuda.jit(device=True)
    def direct_attempt(address, problem, x, run, work):
        return local_search(problem, x, run, work)

    following = translate(next_start)

    @cuda.jit(device=True)
    def direct_next_start(address, problem, population, scratch, exploited, resumed, run, work):
        return following(problem, population, scratch, exploited, resumed, run, work)

    translate.replace(call_attempt, direct_attempt)
    translate.replace(call_next_start, direct_next_start)
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
            rows.score[warp], rows.used[warp], rows.failed[warp], rows.chosen[warp], rows.limb_score[warp],
            rows.resumed[warp],
        )  # fmt: skip
        if thread >= LANES:
            lane = thread - LANES
            serve(lane, launch, own, scratch, work, q, outcome, given.tree, rows.lanes[warp, lane])
        if thread > 0:
            return
        scratch.resumed[0] = 0  # every search begins again
        task = cuda.atomic.add(launch.counter, 0, 1)
        while task < tasks.number:
            row = task // tasks.spread
            if tasks.which.size > 0:
                row = tasks.which[row]
            words[ROW] = row
            order(BEGIN, task, 0.0)
            stream = tasks.stream + task % tasks.spread
            launch.results.statuses[task] = whole_search(
                arrays, launch.population, scratch, Callees(0, 1), q, outcome, tasks.seed, stream, tasks.most, 0.0
            )
            order(END, task, 0.0)
            task = cuda.atomic.add(launch.counter, 0, 1)
        words[WORK] = DONE
        cuda.syncthreads()

    return solve_all_rows
