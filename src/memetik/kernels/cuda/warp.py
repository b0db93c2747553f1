"""Two warps for one problem: a thread of the first runs the search as the processor does, the second does its long kernels.

The search of a whole body is one long chain of decisions, with much to do at each link: place 40 motions, measure and
differentiate a dozen terms, factorise a system. One thread, the leader, runs the search from the same source as the
processor. Where it comes to one of the kernels below, it leaves an order in shared memory and waits, and the 32 lanes of the
other warp share the work: the same sums as on the processor, but for rounding.

The leader is in a warp of its own because lanes that part ways need code of their own: with the leader among the lanes every
kernel was there twice, and a step took half as long again.
"""

import math
from typing import Any

import numba.cuda

from memetik.kernels.body.balls import step_balls, write_ball_axes
from memetik.kernels.body.forward import frame_pose
from memetik.kernels.body.motion import local
from memetik.kernels.cuda.launch_record import LANES
from memetik.kernels.cuda.table import address_of, floats_at
from memetik.kernels.cuda.warp_messages import (
    ANGLES,
    BEGIN,
    BEST,
    BOUNDED_STEP,
    DISTANCES,
    DONE,
    END,
    FLOAT,
    INTEGER,
    LINEAR_MODEL,
    MEASURE,
    NUMBER,
    PANEL,
    PLACE,
    RANK,
    REMEMBER,
    ROW,
    SHORTEN,
    SLOTS,
    STEP,
    TAKE_STEP,
    TARGET,
    TERMS,
    VECTOR,
    WORK,
    meet,
    order,
)  # fmt: skip
from memetik.kernels.cuda.warp_step import shorten_share, steps_by_lanes
from memetik.kernels.math.pose import axis, compose, load, store
from memetik.kernels.problem.budget import ERROR, remember
from memetik.kernels.problem.evaluate import measure, place, term_error
from memetik.kernels.problem.least_squares import (
    bounded_step,
    damped_step,
    linear_model,
    prepare_step,
    shorten,
    step_by_limbs,
    take_step,
)  # fmt: skip
from memetik.kernels.problem.limits import clamp
from memetik.kernels.problem.quick_error import quick_error
from memetik.kernels.search.population_poses import add_angles, add_distances, best_of, load_poses
from memetik.kernels.search.search import rank
from memetik.kernels.terms.records import CONTACT
from memetik.kernels.terms.springs import springs_cost, springs_gradient

cuda: Any = numba.cuda  # it has no types


@cuda.jit(device=True)
def begin_share(lane, launch, task, row, data, q):
    """Numbers and start of a task."""
    tasks = launch.tasks
    for k in range(lane, data.size, LANES):
        data[k] = launch.problem.data[k]
    for k in range(lane, q.size, LANES):
        q[k] = tasks.starts[row % tasks.starts.shape[0], k]
    meet()
    for k in range(lane, tasks.columns.size, LANES):
        data[tasks.columns[k]] = tasks.targets[row, k]
    meet()


@cuda.jit(device=True)
def end_share(lane, launch, task, q, outcome):
    """What became of a task."""
    for k in range(lane, q.size, LANES):
        launch.results.q[task, k] = q[k]
    for k in range(lane, outcome.size, LANES):
        launch.results.outcomes[task, k] = outcome[k]
    meet()


def cooperate(translate, residual_of, jacobian_of, by_residuals, small):
    """What takes the place of the long kernels in the leader's search, and what the lanes do, `serve`.

    `residual_of` and `jacobian_of` are device functions that call the kernels of a term of any kind; `by_residuals` and `small`
    are for steps_by_lanes.
    """
    motion, tip, product, direction = translate(local), translate(frame_pose), translate(compose), translate(axis)
    get, put, clamped, error_of = translate(load), translate(store), translate(clamp), translate(term_error)
    cost, pull = translate(springs_cost), translate(springs_gradient)
    poses_of, promise = translate(load_poses), translate(quick_error)
    ball_axes, turn_balls = translate(write_ball_axes), translate(step_balls)

    # ---- Place the body: all local poses at once, then level by level down the tree -------------------------------

    @cuda.jit(device=True)
    def place_share(lane, nodes, frames, x, tree, poses, world):
        for i in range(lane, nodes.size, LANES):
            node = nodes[i]
            put(motion(node, node.ratio * x[node.variable] + node.offset), poses, i, 0)
        meet()
        for level in range(1, tree.levels.size - 1):
            for j in range(tree.levels[level] + lane, tree.levels[level + 1], LANES):
                i = tree.rows[j]
                put(product(get(poses, nodes[i].parent, 0), get(poses, i, 0)), poses, i, 0)
            meet()
        for f in range(lane, frames.size, LANES):
            put(tip(frames[f], poses), world, f, 0)
        meet()

    @cuda.jit(device=True)
    def place_all(nodes, frames, x, poses, world):
        order(PLACE, address_of(x), 0.0)

    # ---- Measure: a term a lane -----------------------------------------------------------------------------------

    @cuda.jit(device=True)
    def measure_share(lane, terms, data, world, x, softness, residual):
        numbers = cuda.shared.array(0, FLOAT)
        for t in range(lane, terms.size, LANES):
            term = terms[t]
            if term.soft and softness == 0.0:
                continue
            if term.rows == 0:
                square = cost(term, data, x)
            else:
                residual_of(term.residual, term, data, world, x, residual)
                square = 0.0
                for i in range(term.row, term.row + term.rows):
                    square += residual[i] * residual[i]
            numbers[TERMS + 2 * t] = square * (term.scale * term.scale)
            good = True
            if not term.soft:
                good = error_of(term, data, x, residual)[1]
            numbers[TERMS + 2 * t + 1] = 1.0 if good else 0.0
        meet()

    @cuda.jit(device=True)
    def measure_all(terms, data, world, x, softness, residual):
        order(MEASURE, address_of(x), softness)
        numbers = cuda.shared.array(0, FLOAT)
        soft, hard = 0.0, 0.0
        satisfied = True
        for t in range(terms.size):
            if terms[t].soft:
                if softness != 0.0:
                    soft += numbers[TERMS + 2 * t]
            else:
                hard += numbers[TERMS + 2 * t]
                satisfied = satisfied and numbers[TERMS + 2 * t + 1] != 0.0
        return hard + softness * soft, hard, satisfied

    # ---- Linearise: a motion of a term a lane, then which variables are free, a variable a lane ----------------------

    @cuda.jit(device=True)
    def linear_model_share(lane, problem, x, softness, tree, work):
        nodes, terms, data, variables = problem.nodes, problem.terms, problem.data, problem.variables
        residual, jacobian = work.residual, work.jacobian
        n, m = jacobian.shape
        for i in range(lane, m, LANES):
            for k in range(n):
                jacobian[k, i] = 0.0
        for k in range(lane, n, LANES):
            work.gradient[k] = 0.0
            work.diagonal[k] = 0.0
        for i in range(lane, nodes.size, LANES):
            ux, uy, uz = direction(get(work.poses, i, 0))
            ratio = nodes[i].ratio
            work.axes[i, 0], work.axes[i, 1], work.axes[i, 2] = ratio * ux, ratio * uy, ratio * uz
        root = math.sqrt(softness)
        for t in range(lane, terms.size, LANES):
            scale = terms[t].scale * root if terms[t].soft else terms[t].scale
            for i in range(terms[t].row, terms[t].row + terms[t].rows):
                residual[i] = residual[i] * scale if scale != 0.0 else 0.0
        meet()
        if lane == 0:
            ball_axes(problem.balls, work.axes)
        meet()
        # A term alone would keep its lane busy with every motion that it hangs on, while the other lanes wait.
        for pair in range(lane, tree.pairs.shape[0], LANES):
            t, i = tree.pairs[pair, 0], tree.pairs[pair, 1]
            term = terms[t]
            scale = term.scale * root if term.soft else term.scale
            if scale == 0.0:
                continue
            nodes, frames = problem.nodes, problem.frames
            if i >= 0:
                nodes, frames = tree.stumps, tree.stump_frames[i]
            jacobian_of(
                term.jacobian, term, data, work.world, x, nodes, frames, work.poses, work.axes, scale, jacobian
            )  # fmt: skip
        if lane == 0:  # springs of several terms may pull at one variable
            for t in range(terms.size):
                scale = terms[t].scale * root if terms[t].soft else terms[t].scale
                if scale != 0.0 and terms[t].rows == 0:
                    pull(terms[t], data, x, scale, problem.balls.size > 0, work.gradient, work.diagonal)
        meet()
        for k in range(lane, n, LANES):
            free = 1.0
            if x[k] <= variables[k].lower or x[k] >= variables[k].upper:
                uphill = work.gradient[k]
                for i in range(variables[k].row_begin, variables[k].row_end):
                    uphill += jacobian[k, i] * residual[i]
                if (x[k] <= variables[k].lower and uphill >= 0.0) or (x[k] >= variables[k].upper and uphill <= 0.0):
                    free = 0.0
            work.free[k] = free
        meet()

    @cuda.jit(device=True)
    def linear_model_all(problem, x, softness, work):
        order(LINEAR_MODEL, address_of(x), softness)

    # ---- The damped step ------------------------------------------------------------------------------------------------

    @cuda.jit(device=True)
    def step_all(problem, damping, work):
        order(STEP, address_of(work.x), damping)

    @cuda.jit(device=True)
    def nothing_to_prepare(problem, work):
        pass

    step_share = steps_by_lanes(clamped, by_residuals, small)

    @cuda.jit(device=True)
    def bounded_step_all(problem, x, damping, longest, work):
        cuda.shared.array(0, FLOAT)[TARGET] = longest
        order(BOUNDED_STEP, address_of(x), damping)

    # ---- Move: a variable a lane -----------------------------------------------------------------------------------

    @cuda.jit(device=True)
    def shorten_all(longest, work):
        order(SHORTEN, address_of(work.x), longest)

    @cuda.jit(device=True)
    def take_step_share(lane, x, problem, work):
        for k in range(lane, x.size, LANES):
            if not problem.variables[k].ball:
                x[k] = clamped(x[k] + work.step[k], problem.variables[k])
        if lane == 0:
            turn_balls(problem.balls, x, 1.0, work.step, x)
        meet()

    @cuda.jit(device=True)
    def take_step_all(x, problem, work):
        order(TAKE_STEP, address_of(x), 0.0)

    @cuda.jit(device=True)
    def remember_share(lane, x, work):
        for k in range(lane, x.size, LANES):
            work.best[k] = x[k]
        meet()

    @cuda.jit(device=True)
    def remember_all(x, error, run, work):
        if error < run.outcome[ERROR]:
            run.outcome[ERROR] = error
            order(REMEMBER, address_of(x), 0.0)

    # ---- The population: a posture a lane ---------------------------------------------------------------------------

    @cuda.jit(device=True)
    def rank_share(lane, problem, population, scratch, own):
        frames = problem.frames.size
        world, right = own[: 7 * frames].reshape((frames, 7)), own[7 * frames :]
        only_contacts = True
        for t in range(problem.terms.size):
            if scratch.failed[t] and problem.terms[t].loss != CONTACT:
                only_contacts = False
        for c in range(lane, scratch.score.size, LANES):
            poses_of(problem, population.frame_poses, c, world)
            total = 0.0
            for t in range(problem.terms.size):
                if scratch.failed[t] and (problem.terms[t].loss != CONTACT or only_contacts):
                    term = problem.terms[t]
                    total += term.scale * term.scale * promise(term, problem.data, world, population.genes[c], right)
            scratch.score[c] = math.inf if scratch.used[c] else total
        meet()

    @cuda.jit(device=True)
    def rank_all(problem, population, scratch, work):
        order(RANK, address_of(work.x), 0.0)

    @cuda.jit(device=True)
    def best_share(lane, score):
        words, numbers = cuda.shared.array(0, INTEGER), cuda.shared.array(0, FLOAT)
        best = min(lane, score.size - 1)
        for c in range(lane, score.size, LANES):
            if score[c] < score[best]:
                best = c
        numbers[SLOTS + lane], words[SLOTS + LANES + lane] = score[best], best
        meet()

    @cuda.jit(device=True)
    def best_all(score):
        order(BEST, address_of(score), 0.0)
        words, numbers = cuda.shared.array(0, INTEGER), cuda.shared.array(0, FLOAT)
        best, lowest = words[SLOTS + LANES], numbers[SLOTS]
        for lane in range(1, LANES):
            value, c = numbers[SLOTS + lane], words[SLOTS + LANES + lane]
            if value < lowest or (value == lowest and c < best):
                best, lowest = c, value
        return best

    @cuda.jit(device=True)
    def add_share(lane, angles, poses, target, weight, score):
        """Add to the score of every posture; `poses` are seven numbers for each, by number, `target` is a pose."""
        count = score.size
        for c in range(lane, count, LANES):
            if angles:
                dot = target[0] * poses[c] + target[1] * poses[count + c]
                dot += target[2] * poses[2 * count + c] + target[3] * poses[3 * count + c]
                score[c] += weight * 8.0 * (1.0 - min(abs(dot), 1.0))
            else:
                dx, dy = poses[4 * count + c] - target[4], poses[5 * count + c] - target[5]
                dz = poses[6 * count + c] - target[6]
                score[c] += weight * (dx * dx + dy * dy + dz * dz)
        meet()

    @cuda.jit(device=True)
    def post_target(target, score):
        words, numbers = cuda.shared.array(0, INTEGER), cuda.shared.array(0, FLOAT)
        words[ROW], words[PANEL] = address_of(score), score.size
        for k in range(7):
            numbers[TARGET + k] = target[k]

    @cuda.jit(device=True)
    def add_distances_all(frame_poses, target, weight, score):
        post_target(target, score)
        order(DISTANCES, address_of(frame_poses), weight)

    @cuda.jit(device=True)
    def add_angles_all(frame_poses, target, weight, score):
        post_target(target, score)
        order(ANGLES, address_of(frame_poses), weight)

    # ---- What the lanes do -------------------------------------------------------------------------------------

    @cuda.jit(device=True)
    def serve(lane, launch, problem, scratch, work, q, outcome, tree, own):
        words, numbers = cuda.shared.array(0, INTEGER), cuda.shared.array(0, FLOAT)
        while True:
            cuda.syncthreads()
            todo, number = words[WORK], numbers[NUMBER]
            x = floats_at(words[VECTOR], work.x.size)
            if todo == DONE:
                return
            if todo == BEGIN:
                begin_share(lane, launch, words[VECTOR], words[ROW], problem.data, q)
            elif todo == END:
                end_share(lane, launch, words[VECTOR], q, outcome)
            elif todo == PLACE:
                place_share(lane, problem.nodes, problem.frames, x, tree, work.poses, work.world)
            elif todo == MEASURE:
                measure_share(lane, problem.terms, problem.data, work.world, x, number, work.residual)
            elif todo == LINEAR_MODEL:
                linear_model_share(lane, problem, x, number, tree, work)
            elif todo in (BOUNDED_STEP, STEP):
                step_share(lane, problem, x, number, numbers[TARGET], tree, work, todo == BOUNDED_STEP)
            elif todo == SHORTEN:
                shorten_share(lane, number, work)
            elif todo == TAKE_STEP:
                take_step_share(lane, x, problem, work)
            elif todo == REMEMBER:
                remember_share(lane, x, work)
            elif todo == RANK:
                rank_share(lane, problem, launch.population, scratch, own)
            elif todo == BEST:
                best_share(lane, floats_at(words[VECTOR], scratch.score.size))
            else:
                score = floats_at(words[ROW], words[PANEL])
                poses = floats_at(words[VECTOR], 7 * words[PANEL])
                add_share(lane, todo == ANGLES, poses, numbers[TARGET : TARGET + 7], number, score)
            cuda.syncthreads()

    instead = {
        place: place_all, measure: measure_all, linear_model: linear_model_all, damped_step: step_all,
        step_by_limbs: step_all, prepare_step: nothing_to_prepare, bounded_step: bounded_step_all,
        shorten: shorten_all, take_step: take_step_all, remember: remember_all, rank: rank_all, best_of: best_all,
        add_distances: add_distances_all, add_angles: add_angles_all,
    }  # fmt: skip
    return instead, serve
