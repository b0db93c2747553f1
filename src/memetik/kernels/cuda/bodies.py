"""Whole bodies in large batches: the flagship as in kernels/search/search.py, one problem a thread.

What a thread works on is in its local memory, which the device lays out so that the threads of a warp read and write side by
side as long as they do the same. So they evaluate and step together, in straight-line code for the one problem
(straight_line.py), and what only some of them need, another start or the end of a solve, waits until several do. A start is
chosen for one thread after the other by all of the warp, which share the postures of the population.
"""

import math
from functools import cache
from typing import Any, NamedTuple

import numba
import numba.cuda
import numpy as np

from memetik.kernels.cuda.launch_record import LANES, SIMULATED, BodiesLaunch
from memetik.kernels.cuda.straight_line_functions import SIGNATURES, StraightLineCode
from memetik.kernels.cuda.table import address_of, device_reader
from memetik.kernels.cuda.translate import Translator
from memetik.kernels.cuda.warp_messages import FLOAT, INTEGER, WHOLE_WARP, meet
from memetik.kernels.problem.budget import ATTEMPTS, ERROR, EVALUATIONS, MOVED, OUTCOME
from memetik.kernels.problem.limits import clamp, move_inside, wrap_towards
from memetik.kernels.problem.verify import CLOSEST, INVALID, REACHED
from memetik.kernels.search.descent import (
    DAMPING,
    LIMBS_DAMPING,
    LIMBS_STALL,
    LONGEST_STEP,
    STALL,
    STALLS,
    STEPS,
    damping_of,
    failures_in_row,
    is_over,
)
from memetik.kernels.search.search import BETTER, SHARE

cuda: Any = numba.cuda  # it has no types
read = device_reader(BodiesLaunch)

SEVERAL = 8  # threads of a warp that wait for the same
STEPPING, RESTARTING, ENDING, IDLE = 0, 1, 2, 3
WORD = 64  # marks in a number


class Sizes(NamedTuple):
    """Of a problem; those of local arrays must be known when a kernel compiles."""

    nodes: int
    frames: int
    residuals: int
    variables: int
    dof: int
    data: int
    outcome: int
    terms: int
    population: int
    blocks: int
    forked: bool  # whether the body is more than one chain


@cuda.jit(device=True)
def ballot(flag):
    """A bit for each thread of the warp, from the first on."""
    if SIMULATED:
        return np.uint32(1 if flag else 0)
    return cuda.ballot_sync(WHOLE_WARP, flag)


@cuda.jit(device=True)
def of_lane(value, lane):
    """The value that a thread of the warp has."""
    return value if SIMULATED else cuda.shfl_sync(WHOLE_WARP, value, lane)


@cuda.jit(device=True)
def lowest_of_lanes(value, index):
    """The lowest value of all threads of the warp, and its index; of equals the first."""
    if not SIMULATED:
        apart = 16
        while apart > 0:
            other, at = cuda.shfl_xor_sync(WHOLE_WARP, value, apart), cuda.shfl_xor_sync(WHOLE_WARP, index, apart)
            if other < value or (other == value and at < index):
                value, index = other, at
            apart //= 2
    return value, index


@cuda.jit(device=True)
def first_of(lanes):
    """The first thread of those with a bit."""
    return 0 if SIMULATED else cuda.ffs(lanes) - 1


@cuda.jit(device=True)
def due(lanes, others):
    """Whether threads that wait for the same are enough to go on with it, or nothing else is to be done."""
    return lanes != 0 and (SIMULATED or others == 0 or cuda.popc(lanes) >= SEVERAL)


def linked(code: StraightLineCode) -> dict[str, Any]:
    """The functions of straight-line code for kernels on the device; pointers are addresses."""
    word, number = numba.int64, numba.float64
    kinds: dict[str, Any] = {
        "in": word, "out": word, "int": numba.int32, "long": word, "long long": word, "double": number,
    }  # fmt: skip
    source = cuda.CUSource(code.source)
    return {
        name: cuda.declare_device(
            f"{name}_{code.suffix}", kinds[returned](*(kinds[kind] for kind in given.values())), link=source, abi="c"
        )
        for name, (returned, given) in SIGNATURES.items()
    }


class Own(NamedTuple):
    """What a thread has for itself."""

    data: Any
    q: Any
    x: Any
    start: Any
    best: Any
    outcome: Any
    used: Any  # bits of the postures that were exploited
    poses: Any
    world: Any
    residual: Any


@cache
def bodies_kernel(sizes: Sizes, code: StraightLineCode) -> Any:
    """The kernel for one problem."""
    functions = linked(code)
    evaluate, advance, judge, place_at = (functions[name] for name in ("evaluate", "advance", "judge", "place"))
    blamed, replaced, post, score = (functions[name] for name in ("blamed", "replaced", "post", "score"))
    post_limbs, limb_score = functions["post_limbs"], functions["limb_score"]
    limb_error, limb_variables = functions["limb_error"], functions["limb_variables"]
    translate = Translator()
    inside, wrapped, clamped = translate(move_inside), translate(wrap_towards), translate(clamp)
    count_failures, over, damp = translate(failures_in_row), translate(is_over), translate(damping_of)
    m, n, dof, numbers, outcomes, terms, people = sizes[2:9]
    of_nodes, of_frames, marks = 7 * sizes.nodes, 7 * sizes.frames, -(-people // WORD)
    share, stall = (LIMBS_DAMPING, LIMBS_STALL) if sizes.blocks > 1 else (DAMPING, STALL)
    panel_size, limbs, forked = code.panel, code.limbs, sizes.forked

    @cuda.jit(device=True)
    def begin_task(launch, task, own):
        """As `begin_solve` of kernels/problem/solve.py."""
        problem, tasks = launch.problem, launch.tasks
        for k in range(numbers):
            own.data[k] = problem.data[k]
        for k in range(tasks.columns.size):
            own.data[tasks.columns[k]] = tasks.targets[task, k]
        for k in range(dof):
            own.q[k] = tasks.starts[task % tasks.starts.shape[0], k]
        for k in range(OUTCOME):
            own.outcome[k] = 0.0
        own.outcome[ERROR], own.outcome[ATTEMPTS] = math.inf, 1.0
        if inside(own.q, problem.limits):
            own.outcome[MOVED] = 1.0
        for k in range(n):
            own.x[k] = own.start[k] = own.best[k] = own.q[problem.variables[k].index]
        for k in range(marks):
            own.used[k] = 0

    @cuda.jit(device=True)
    def end_task(launch, task, parameters, satisfied, own):
        """As `end_solve` there, and the answer is written."""
        variables, results, x = launch.problem.variables, launch.results, own.x
        if not satisfied:
            for k in range(n):
                x[k] = own.best[k]
        wrapped(x, own.start, variables)
        status = REACHED
        for k in range(n):
            x[k] = clamped(x[k], variables[k])
            if not math.isfinite(x[k]):
                status = INVALID
        errors = own.outcome[OUTCOME:]
        missed = judge(address_of(x), address_of(own.data), parameters, address_of(errors))
        for t in range(terms):
            good = missed >> t & 1 == 0
            errors[terms + t] = 1.0 if good else 0.0
            if not good:
                status = max(status, CLOSEST if math.isfinite(errors[t]) else INVALID)
        for k in range(n):
            own.q[variables[k].index] = x[k]
        results.statuses[task] = status
        for k in range(dof):
            results.q[task, k] = own.q[k]
        for k in range(outcomes):
            results.outcomes[task, k] = own.outcome[k]

    @cuda.jit(device=True)
    def most_promising(lane, leader, failed, used, population, parameters, panel):
        """The posture that is nearest to what the leader wants, of those that it has not used."""
        wanted = of_lane(failed, leader)
        poses, genes = address_of(population.frame_poses), address_of(population.genes)
        lowest, best = math.inf, people
        for first in range(0, people, LANES):
            c = first + lane
            taken = of_lane(used[first // WORD], leader) >> (c % WORD) & 1
            if c < people and not taken:
                value = score(c, poses, genes, parameters, panel, wanted)
                if value < lowest or best == people:
                    lowest, best = value, c
        return lowest_of_lanes(lowest, best)[1]

    @cuda.jit(device=True)
    def recombine(lane, leader, failed, chosen, population, parameters, panel, x):
        """As `choose_limbs` of kernels/search/search.py, for the leader."""
        wanted, poses = of_lane(failed, leader), address_of(population.limb_poses)
        for limb in range(limbs):
            now = limb_error(limb, panel, wanted)
            if now == 0.0:
                continue
            lowest, best = math.inf, people
            for c in range(lane, people, LANES):
                value = limb_score(limb, c, poses, parameters, panel, wanted)
                if value < lowest or best == people:
                    lowest, best = value, c
            lowest, best = lowest_of_lanes(lowest, best)
            if lane == leader and lowest < BETTER * now:
                moved = chosen & limb_variables(limb)
                for k in range(n):
                    if moved >> k & 1:
                        x[k] = population.genes[best, k]

    @cuda.jit(device=True)
    def restart(lane, waiting, most, missed, population, parameters, panel, own):
        """Another start for each thread that waits for one, as in `search` of kernels/search/search.py."""
        x, me = own.x, waiting >> lane & np.uint32(1) != 0
        at_x, at_data, at_poses, at_world = (
            address_of(x), address_of(own.data), address_of(own.poses), address_of(own.world)
        )  # fmt: skip
        chosen = blamed(missed)
        failed = replaced(chosen)
        left = waiting
        while left != 0:
            leader = first_of(left)
            left &= left - np.uint32(1)
            if lane == leader:
                post(at_data, panel)
            meet()
            c = most_promising(lane, leader, failed, own.used, population, parameters, panel)
            if lane == leader:
                own.used[c // WORD] |= np.int64(1) << (c % WORD)
                for k in range(n):
                    if chosen >> k & 1:
                        x[k] = population.genes[c, k]
            meet()
        by_limbs = forked and me and own.outcome[EVALUATIONS] + 1.0 < most
        if by_limbs:
            place_at(at_x, at_poses, at_world)
            own.outcome[EVALUATIONS] += 1.0
        left = ballot(by_limbs)
        while left != 0:
            leader = first_of(left)
            left &= left - np.uint32(1)
            if lane == leader:
                post_limbs(at_data, at_poses, at_world, at_x, parameters, panel)
            meet()
            recombine(lane, leader, failed, chosen, population, parameters, panel, x)
            meet()

    @cuda.jit
    def solve_bodies(table):
        """Threads take tasks in turn."""
        given = read(table)
        launch, parameters = given.launch, address_of(given.parameters)
        number, most = launch.tasks.number, launch.tasks.most
        lane, warp = cuda.threadIdx.x % LANES, cuda.threadIdx.x // LANES
        panel = address_of(cuda.shared.array(0, FLOAT)[warp * panel_size :])
        x, outcome = cuda.local.array(n, FLOAT), cuda.local.array(outcomes, FLOAT)
        own = Own(
            cuda.local.array(numbers, FLOAT), cuda.local.array(dof, FLOAT), x, cuda.local.array(n, FLOAT),
            cuda.local.array(n, FLOAT), outcome, cuda.local.array(marks, INTEGER), cuda.local.array(of_nodes, FLOAT),
            cuda.local.array(of_frames, FLOAT), cuda.local.array(m, FLOAT),
        )  # fmt: skip
        at_x, at_data, at_poses = address_of(x), address_of(own.data), address_of(own.poses)
        at_world, at_residual, at_error = address_of(own.world), address_of(own.residual), address_of(outcome[OUTCOME:])
        threads = cuda.gridDim.x * cuda.blockDim.x
        task = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x  # the first of each; who is done takes the next
        state, begins = STEPPING if task < number else IDLE, True
        taken = exploited = 0
        failures, last, missed = 0.0, math.inf, np.int32(0)
        while ballot(state != IDLE) != 0:
            if state == STEPPING and begins:
                begin_task(launch, task, own)
                begins, taken, failures, exploited, last = False, 0, 0.0, 0, math.inf
            if state == STEPPING:  # as `descend` of kernels/search/descent.py
                missed = evaluate(at_x, at_data, parameters, at_poses, at_world, at_residual, at_error)
                outcome[EVALUATIONS] += 1.0
                error = outcome[OUTCOME]
                if error < outcome[ERROR]:
                    outcome[ERROR] = error
                    for k in range(n):
                        own.best[k] = x[k]
                failures = count_failures(error, last, stall, failures)
                if missed == 0 or outcome[EVALUATIONS] >= most:
                    state = ENDING
                elif over(False, failures, STALLS, taken, STEPS) or not math.isfinite(error):
                    state = RESTARTING if exploited < people // SHARE else ENDING
                else:
                    taken += 1
                    last = error
                    damping = damp(share, error)
                    advance(at_x, at_data, parameters, at_poses, at_world, at_residual, damping, LONGEST_STEP)
            waiting = ballot(state == RESTARTING)
            if due(waiting, ballot(state == STEPPING)):
                restart(lane, waiting, most, missed, launch.population, parameters, panel, own)
                if state == RESTARTING:
                    exploited += 1
                    outcome[ATTEMPTS] += 1.0
                    taken, failures, last, state = 0, 0.0, math.inf, STEPPING
            if due(ballot(state == ENDING), ballot(state == STEPPING)) and state == ENDING:
                end_task(launch, task, parameters, missed == 0, own)
                task = threads + cuda.atomic.add(launch.counter, 0, 1)
                begins, state = True, STEPPING if task < number else IDLE

    return solve_bodies
