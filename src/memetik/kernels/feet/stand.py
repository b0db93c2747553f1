"""A leg whose foot stands on a surface, over many frames: each is near the posture of the clip.

There is often more than one such posture, so a frame begins where the one before leads to: it moves on as the clip does.

Where a foot is comes before how it is turned, and that before how near the leg is to the clip, by weights that are far apart.
Who only takes steps that lessen their sum creeps along the floor of a narrow valley: a move that brings the leg nearer to
the clip first takes the foot off its place, by a little. So every Gauss-Newton step is taken, and the next one puts the foot
back: from the clip that settles in six to eight, from the frame before in two or three. Steps that do not become shorter
are halved.
"""

import math
from typing import NamedTuple

from memetik.kernels.compiler.jit import jit_free, jit_part
from memetik.kernels.feet.soles import SPOT_DEPTH, deepest_point
from memetik.kernels.math.pose import load, write_matrix
from memetik.kernels.problem.evaluate import linearise
from memetik.kernels.problem.least_squares import bounded_step, take_step
from memetik.kernels.problem.limits import clamp
from memetik.kernels.problem.problem_record import solve_arrays
from memetik.kernels.problem.solve import begin_solve
from memetik.kernels.runtime.record import Array, flags, floats, integers
from memetik.kernels.search.descent import LONGEST_STEP
from memetik.kernels.search.refine import look
from memetik.kernels.terms.springs import rest_at_start
from memetik.kernels.terms.targets import write_pose_target
from memetik.kernels.tracking.guided import extrapolate

STEPS = 24  # at most so many; 6 to 8 are usual
DAMPING = 1e-8  # far below the smallest weight
SETTLED = 1e-6  # rad or m; a shorter step ends a frame
SHORTER, HALF, LEAST_SHARE = 0.8, 0.5, 0.1  # steps that do not become so much shorter are halved, down to this share
DEEP = 1e-4  # m; a foot that is deeper in the surface is raised, and lowered again if that was too much, ...
RAISES = 8  # ... so often at most
FROM_BASE, IN_WORLD = 0, 1  # of StandingLeg.foot: seen from its base, and in the world
JOINTS, OF_CLIP = 0, 1  # of StandingLeg.last: the joints as they were placed, and those of the clip


class StandingLeg(NamedTuple):
    """Where the foot of a leg belongs in every frame, what becomes of it, and scratch."""

    columns: Array = integers("columns")  # of the target of its place in the data of the problem, then of its turn
    bases: Array = floats("frames", 4, 4)  # the link that carries the leg
    goals: Array = floats("frames", 4, 4)  # the foot
    clip: Array = floats("frames", "dof")  # the joints of the leg
    follows: Array = flags("frames")  # 1 if the foot stands in the frame before, too, which is the row before
    last: Array = floats(2, "dof")  # the frame before the first row, if that follows: JOINTS, OF_CLIP
    q: Array = floats("frames", "dof")
    missed: Array = floats("frames")  # how far the foot is from its goal, raised where it had to be [m]
    deep: Array = floats("frames")  # how deep its deepest point is in the surface [m]
    points: Array = floats("points", 3)  # of the sole [m]
    spots: Array = floats("points", 7)  # scratch (SPOT_NUMBERS)
    target: Array = floats(4, 4)  # of the foot, seen from its base; its last row is that of a transform
    foot: Array = floats(2, 4, 4)  # the foot as it is: FROM_BASE, IN_WORLD


@jit_part
def write_target(leg, frame, raised, data):
    """The goal of a frame, raised by so many metres, as the targets of place and turn in the data of the problem."""
    m, pose, target = leg.bases[frame], leg.goals[frame], leg.target
    for i in range(3):
        for j in range(3):
            target[i, j] = m[0, i] * pose[0, j] + m[1, i] * pose[1, j] + m[2, i] * pose[2, j]
        x, y, z = pose[0, 3] - m[0, 3], pose[1, 3] - m[1, 3], pose[2, 3] + raised - m[2, 3]
        target[i, 3] = m[0, i] * x + m[1, i] * y + m[2, i] * z
    write_pose_target(target, data, leg.columns[0])
    write_pose_target(target, data, leg.columns[leg.columns.size // 2])


@jit_part
def place_foot(leg, frame, work):
    """The foot in the world, into leg.foot[IN_WORLD], at the posture that was just measured."""
    m, pose, foot = leg.bases[frame], leg.foot[FROM_BASE], leg.foot[IN_WORLD]
    write_matrix(load(work.world, 0, 0), leg.foot, FROM_BASE)
    for i in range(3):
        for j in range(4):
            foot[i, j] = m[i, 0] * pose[0, j] + m[i, 1] * pose[1, j] + m[i, 2] * pose[2, j]
        foot[i, 3] += m[i, 3]


@jit_part
def settle_near(problem, run, work):
    """From work.best to the balance of all terms, in place, until a step is next to nothing; it is measured last."""
    x, best = work.x, work.best
    share, before = 1.0, math.inf
    for _ in range(STEPS):
        look(problem, best, 1.0, run, work)
        linearise(problem, best, 1.0, work)
        for k in range(x.size):
            work.free[k] = 1.0  # the step itself says which joints stop at limits: gradients do not, off the valley
        bounded_step(problem, best, DAMPING, LONGEST_STEP, work)
        for k in range(x.size):
            work.step[k] *= share
            x[k] = best[k]
        take_step(x, problem, work)
        longest = 0.0
        for k in range(x.size):
            longest = max(longest, abs(x[k] - best[k]))
            best[k] = x[k]
        if longest <= SETTLED:
            break
        if longest > SHORTER * before:
            share = max(HALF * share, LEAST_SHARE)
        before = longest
    look(problem, best, 1.0, run, work)


@jit_free
def stand_leg(table, leg, numbers, above, start, outcome):
    """Write the joints of the leg for every frame, so that its foot is at its goal and no point of its sole in the surface.

    Where limits do not let a foot turn as its goal does, it is raised until no point is in the surface.
    """
    arrays = solve_arrays(table)
    problem, work = arrays.problem, arrays.work
    best, variables = work.best, problem.variables
    run = begin_solve(arrays, start, outcome, 0, 0, 0.0)
    for frame in range(leg.q.shape[0]):
        for k in range(leg.q.shape[1]):
            leg.q[frame, k] = leg.clip[frame, k]
        for k in range(best.size):
            best[k] = clamp(leg.clip[frame, variables[k].index], variables[k])
        rest_at_start(problem.terms, problem.data, best)
        if leg.follows[frame] and frame > 0:
            extrapolate(problem, leg.q[frame - 1], leg.clip[frame - 1], leg.clip[frame], best)
        elif leg.follows[frame]:
            extrapolate(problem, leg.last[JOINTS], leg.last[OF_CLIP], leg.clip[frame], best)
        raised, goal, foot = 0.0, leg.goals[frame], leg.foot[IN_WORLD]
        for _ in range(RAISES):
            write_target(leg, frame, raised, problem.data)
            settle_near(problem, run, work)
            place_foot(leg, frame, work)
            x, y, z = foot[0, 3] - goal[0, 3], foot[1, 3] - goal[1, 3], foot[2, 3] - goal[2, 3] - raised
            leg.missed[frame] = math.sqrt(x * x + y * y + z * z)
            leg.deep[frame] = deepest_point(numbers, foot, leg.points, above, leg.spots)
            deepest = -math.inf  # below zero for a foot in the air
            for k in range(leg.points.shape[0]):
                deepest = max(deepest, leg.spots[k, SPOT_DEPTH])
            if deepest <= DEEP and (raised == 0.0 or deepest >= -DEEP):
                break
            raised = max(raised + deepest, 0.0)
        for k in range(best.size):
            leg.q[frame, variables[k].index] = best[k]
