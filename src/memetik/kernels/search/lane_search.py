"""Many rows of one full pose in the lanes of vector registers: as batch.py, LANES rows at a time.

Each lane searches as pose_search.py does, with a row of its own. Most of the time goes into rounds in which every lane takes
a step (lane_step.py); a lane whose attempt has ended gets its next start, or its next row, by the kernels for one row, and so
all lanes are busy until the rows run out. The answer of a row depends on no other row, and tests hold it equal, bit for bit, to
that of pose_search.py.
"""

import math

import numpy as np

from memetik.kernels.compiler.jit import jit_free, jit_part
from memetik.kernels.compiler.lanes import LANES
from memetik.kernels.math.sincos import FAR
from memetik.kernels.problem.budget import ATTEMPTS, ERROR, EVALUATIONS
from memetik.kernels.problem.problem_record import Run
from memetik.kernels.problem.solve import begin_solve
from memetik.kernels.problem.verify import CLOSEST, ENDED
from memetik.kernels.runtime.cancel import cancelled
from memetik.kernels.runtime.clock import now
from memetik.kernels.runtime.random import seed_stream
from memetik.kernels.search.batch import solve_row, take_target
from memetik.kernels.search.lane_step import round_of_lanes
from memetik.kernels.search.population_poses import take_best
from memetik.kernels.search.pose_search import draw_pose, score_population
from memetik.kernels.search.search import SHARE
from memetik.kernels.search.search_record import lane_scratch, memetic_arrays
from memetik.kernels.search.stages import run_stages
from memetik.kernels.search.verify_pose import verify_pose
from memetik.kernels.terms.pose import target_pose


@jit_part
def set_out(x, lane, scratch):
    """An attempt of a lane begins at x."""
    for k in range(x.size):
        scratch.x[k, lane] = x[k]
    scratch.last[lane], scratch.failures[lane], scratch.taken[lane] = math.inf, 0.0, 0.0


@jit_part
def is_far(q, problem):
    """Whether a joint has turned so often that lanes cannot tell its angle (sincos.py)."""
    for i in range(problem.nodes.size):
        node = problem.nodes[i]
        if not abs(node.ratio * q[problem.variables[node.variable].index] + node.offset) <= FAR:
            return True
    return False


@jit_part
def begin_row(rows, row, lane, arrays, seed, most, scratch):
    """The search for a row begins in a lane."""
    problem, work = arrays.solve.problem, arrays.solve.work
    take_target(rows, row, arrays.solve.source)
    begin_solve(arrays.solve, rows.q[row], rows.outcomes[row], seed, most, 0.0)
    target = target_pose(problem.terms[0], problem.data, work.world)
    for c in range(7):
        scratch.target[c, lane] = target[c]
    for k in range(work.x.size):
        scratch.best[k, lane] = work.x[k]
    scratch.least[lane], scratch.evaluations[lane], scratch.row[lane] = math.inf, 0.0, row
    rows.outcomes[row, ATTEMPTS] = 1.0
    set_out(work.x, lane, scratch)


@jit_part
def target_of(lane, scratch):
    """The pose that a lane is to reach."""
    pose = scratch.target
    return (
        pose[0, lane], pose[1, lane], pose[2, lane], pose[3, lane], pose[4, lane], pose[5, lane], pose[6, lane]
    )  # fmt: skip


@jit_part
def begin_attempt(outcome, lane, arrays, seed, most, scratch):
    """The next attempt for the row of a lane begins."""
    problem, work, population = arrays.solve.problem, arrays.solve.work, arrays.population
    score, state, x = scratch.score[lane], scratch.state[lane], work.x
    target = target_of(lane, scratch)
    attempts = outcome[ATTEMPTS]
    if attempts == 1.0:
        seed_stream(state, seed, 0)
        score_population(problem, target, population, score)
    if attempts <= score.size // SHARE:
        set_out(population.genes[take_best(score)], lane, scratch)
    else:
        for k in range(x.size):
            x[k] = scratch.x[k, lane]
        outcome[EVALUATIONS] = scratch.evaluations[lane]
        draw_pose(problem, target, Run(seed, most, 0.0, arrays.solve.clock, state, outcome), work)
        scratch.evaluations[lane] = outcome[EVALUATIONS]
        set_out(x, lane, scratch)
    outcome[ATTEMPTS] += 1.0


@jit_part
def end_row(rows, stages, table, shares, seed, lane, satisfied, scratch):
    """Verify the answer of a lane and write it into its row, after the other stages if they are called for."""
    arrays = memetic_arrays(table)
    problem, work, row = arrays.solve.problem, arrays.solve.work, scratch.row[lane]
    outcome, q, x = rows.outcomes[row], rows.q[row], work.x
    outcome[EVALUATIONS], outcome[ERROR] = scratch.evaluations[lane], scratch.least[lane]
    for k in range(x.size):
        x[k] = scratch.x[k, lane] if satisfied else scratch.best[k, lane]
        work.start[k] = q[problem.variables[k].index]
    status = verify_pose(problem, target_of(lane, scratch), x, outcome, work)
    for k in range(x.size):
        q[problem.variables[k].index] = x[k]
    if status == CLOSEST:
        take_target(rows, row, arrays.solve.source)
        for k in range(problem.data.size):
            problem.data[k] = arrays.solve.source[k]
        status = run_stages(
            stages, table, q, outcome, status, seed, shares, 0.0, arrays.solve.clock
        )  # fmt: skip
    rows.statuses[row] = status


@jit_free
def solve_in_lanes(rows, stages, table, own, shares, seed, pause):
    """`solve_rows` of batch.py for one full pose and a budget without a time; `own` is the table of a LaneScratch.

    It begins no row after `pause` seconds and ends those that it has begun, so that the rows it came to are the first ones.
    """
    arrays, scratch = memetic_arrays(table), lane_scratch(own)
    clock, problem, most, count = arrays.solve.clock, arrays.solve.problem, shares.search, rows.q.shape[0]
    # Typed, or what is given them would be compiled once more for a literal zero.
    begun = np.int64(0)  # rows
    busy = np.int64(0)  # lanes that have a row, as bits
    time = now(clock)
    end = time + pause
    while True:
        lane = 0
        while lane < LANES and begun < count and (time < end or begun == 0):
            if busy >> lane & 1:
                lane += 1
                continue
            if is_far(rows.q[begun], problem):
                time = solve_row(rows, begun, stages, table, shares, False, seed, 0.0)
            else:
                begin_row(rows, begun, lane, arrays, seed, most, scratch)
                scratch.begin[lane] = time
                busy |= 1 << lane
            begun += 1
        if busy == 0:
            return begun
        ended, satisfied = round_of_lanes(problem, float(most), scratch)
        if cancelled(clock):
            for lane in range(LANES):
                if busy >> lane & 1:
                    rows.statuses[scratch.row[lane]] = ENDED
            return begun
        ended &= busy
        done = 0
        for lane in range(LANES):
            if ended >> lane & 1 == 0:
                continue
            good = satisfied >> lane & 1 != 0
            if good or scratch.evaluations[lane] >= most:
                end_row(rows, stages, table, shares, seed, lane, good, scratch)
                done |= 1 << lane
            else:
                begin_attempt(rows.outcomes[scratch.row[lane]], lane, arrays, seed, most, scratch)
        if done != 0:
            time = now(clock)
            for lane in range(LANES):
                if done >> lane & 1:
                    rows.seconds[scratch.row[lane]] = (time - scratch.begin[lane]) / LANES  # its share of the time
            busy &= ~done
