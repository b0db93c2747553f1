"""memetic for one full pose of one frame: the method of search.py, without what only many terms need.

There is one limb, so nothing is recombined: the next attempt starts from the posture of the population whose frame is
nearest to the target. Most problems are of this kind, and most of them are solved in a few microseconds, so nothing is
looked up, called by address or divided into parts here.
"""

from __future__ import annotations

import math

from memetik.kernels.body.forward import forward, frame_pose
from memetik.kernels.compiler.array_table import counters_at, floats_at, frames_at, integers_at, nodes_at, terms_at
from memetik.kernels.compiler.cancel import CAUGHT
from memetik.kernels.compiler.jit import COMPILED, jit, jit_part
from memetik.kernels.compiler.random import seed_stream, uniform
from memetik.kernels.memetic.population_poses import add_angles, add_distances, take_best
from memetik.kernels.memetic.pose_descent import descend_pose
from memetik.kernels.memetic.search import FRESH, SHARE, move_inside
from memetik.kernels.problem.budget import ATTEMPTS, ERROR, EVALUATIONS, MOVED, OUTCOME, deadline_after, spent
from memetik.kernels.problem.verify import CLOSEST, ENDED, INVALID, REACHED, wrap_towards
from memetik.kernels.terms.pose import rotation_vector, target_pose


def room_for_pose(nodes: int, n: int, population: int) -> int:
    """How many numbers of scratch the search needs."""
    return 7 * nodes + 11 * n + population


@jit_part
def draw_pose(nodes, frame, target, by_position, by_rotation, bounds, x, trial, most, state, outcome, poses):
    """The best of a few fresh postures, in x."""
    least = math.inf
    for _ in range(FRESH):
        if outcome[EVALUATIONS] + 1.0 >= most:  # leave one for the attempt that follows
            return
        for k in range(x.size):
            trial[k] = bounds[2, k] + (bounds[3, k] - bounds[2, k]) * uniform(state)
        forward(nodes, trial, poses)
        outcome[EVALUATIONS] += 1.0
        tip = frame_pose(frame, poses)
        dx, dy, dz = tip[4] - target[4], tip[5] - target[5], tip[6] - target[6]
        dot = target[0] * tip[0] + target[1] * tip[1] + target[2] * tip[2] + target[3] * tip[3]
        total = by_position * by_position * (dx * dx + dy * dy + dz * dz)
        total += by_rotation * by_rotation * 8.0 * (1.0 - min(abs(dot), 1.0))
        if total < least:
            least = total
            for k in range(x.size):
                x[k] = trial[k]


@jit_part
def verify_pose(nodes, frame, target, position, orientation, bounds, x, start, poses, outcome):
    """Wrap and clamp x, then measure it by the plain path (finish.verify for two terms). Returns the status."""
    wrap_towards(x, start, bounds)
    for k in range(x.size):
        x[k] = min(max(x[k], bounds[0, k]), bounds[1, k])
    forward(nodes, x, poses)
    tip = frame_pose(frame, poses)
    dx, dy, dz = tip[4] - target[4], tip[5] - target[5], tip[6] - target[6]
    ex, ey, ez = rotation_vector(target, tip)
    distance = math.sqrt(dx * dx + dy * dy + dz * dz)
    angle = math.sqrt(ex * ex + ey * ey + ez * ez)
    near, turned = distance <= position.tolerance, angle <= orientation.tolerance
    outcome[OUTCOME], outcome[OUTCOME + 1] = distance, angle
    outcome[OUTCOME + 2], outcome[OUTCOME + 3] = 1.0 if near else 0.0, 1.0 if turned else 0.0
    if near and turned:
        return REACHED
    return CLOSEST if math.isfinite(distance + angle) else INVALID


@jit_part
def solve_pose(
    nodes, frames, terms, source, bounds, active, limits, population, frame_poses, clock, state, room, data, q, outcome, seed,
    most, seconds,
):  # fmt: skip
    """Solve from the joint vector q and write the answer into it. Returns the status; memetic.solve says the rest.

    `data` receives the targets of this solve from `source`, for the stages that may follow.
    """
    n = active.size
    for k in range(data.size):
        data[k] = source[k]
    poses = room[: 7 * nodes.size].reshape((nodes.size, 7))
    room = room[7 * nodes.size :]
    columns = room[: 6 * n].reshape((n, 6))
    room = room[6 * n :]
    x, start, best, step, trial = (
        room[:n],
        room[n : 2 * n],
        room[2 * n : 3 * n],
        room[3 * n : 4 * n],
        room[4 * n : 5 * n],
    )
    score = room[5 * n : 5 * n + population.shape[0]]
    position, orientation, frame = terms[0], terms[1], frames[terms[0].frame]
    target = target_pose(position, data, poses)
    for k in range(OUTCOME):
        outcome[k] = 0.0
    outcome[ERROR] = math.inf
    deadline = deadline_after(seconds, clock)
    if move_inside(q, limits):
        outcome[MOVED] = 1.0
    for k in range(n):
        x[k] = start[k] = best[k] = q[active[k]]
    while True:
        outcome[ATTEMPTS] += 1.0
        satisfied = descend_pose(
            nodes, frame, target, position, orientation, bounds, x, most, deadline, clock, outcome, best, poses, columns,
            step,
        )  # fmt: skip
        if satisfied or spent(outcome, most, deadline, clock):
            break
        attempts = outcome[ATTEMPTS]
        if attempts == 1.0:
            seed_stream(state, seed, 0)
            for c in range(score.size):
                score[c] = 0.0
            add_distances(frame_poses[position.frame], target, position.scale * position.scale, score)
            add_angles(frame_poses[position.frame], target, orientation.scale * orientation.scale, score)
        if attempts <= population.shape[0] // SHARE:
            c = take_best(score)
            for k in range(n):
                x[k] = population[c, k]
        else:
            draw_pose(
                nodes, frame, target, position.scale, orientation.scale, bounds, x, trial, most, state, outcome, poses
            )
    if not satisfied:
        for k in range(n):
            x[k] = best[k]
    status = verify_pose(nodes, frame, target, position, orientation, bounds, x, start, poses, outcome)
    for k in range(n):
        q[active[k]] = x[k]
    return status if clock[CAUGHT] == 0 else ENDED


if COMPILED:

    @jit
    def solve_pose_at(table, q, outcome, seed, most, seconds):
        """solve_pose with all arrays of the problem in one table (compiler/array_table.py), in the order of its arguments."""
        nodes, frames, active = nodes_at(table, 0), frames_at(table, 1), integers_at(table, 5)
        n, limits, population = active.size, floats_at(table, 6), floats_at(table, 7)
        people = population.size // n
        return solve_pose(
            nodes, frames, terms_at(table, 2), floats_at(table, 3), floats_at(table, 4).reshape((5, n)), active,
            limits.reshape((2, limits.size // 2)), population.reshape((people, n)),
            floats_at(table, 8).reshape((frames.size, 7, people)), integers_at(table, 9), counters_at(table, 10),
            floats_at(table, 11), floats_at(table, 12), q, outcome, seed, most, seconds,
        )  # fmt: skip

else:

    def solve_pose_at(table, q, outcome, seed, most, seconds):
        """solve_pose with all arrays of the problem in one tuple."""
        return solve_pose(*table, q, outcome, seed, most, seconds)
