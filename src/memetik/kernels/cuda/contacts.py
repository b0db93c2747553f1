"""What touches where a pose is reached: the contacts of a problem at the answers to all else, an answer a thread.

Thirty-two threads share one instruction, and what is close differs from one to the next. So all walk the same list of pairs and
only note those whose balls meet, which are few; then each measures what it has noted, one pair after another beside the others.
"""

import math
from functools import cache
from typing import Any

import numba.cuda
import numpy as np

from memetik.kernels.cuda.launch_record import Look
from memetik.kernels.cuda.pose import warp_any
from memetik.kernels.cuda.table import device_reader
from memetik.kernels.cuda.terms import term_translator
from memetik.kernels.cuda.translate import Translator
from memetik.kernels.geometry.solids import SOLID_DATA, apart, moved, radius, three
from memetik.kernels.problem.budget import OUTCOME
from memetik.kernels.problem.evaluate import place
from memetik.kernels.problem.verify import CLOSEST, INVALID, REACHED
from memetik.kernels.terms.distance import (
    DISTANCE_CLEARANCE,
    DISTANCE_LISTS,
    DISTANCE_MARGIN,
    GROUP_COUNT,
    GROUP_SOLIDS,
    LIST_COUNT,
    LIST_FIRST,
    LIST_GROUP,
    LIST_OTHERS,
    LIST_SECOND,
    balls_apart,
    beyond_box,
    group_pose,
    solid_pose,
)

cuda: Any = numba.cuda  # it has no types
read = device_reader(Look)

CLOSE = 24  # pairs, of groups and of solids, that are noted before they are looked at


@cache
def look_kernel(hulls: bool, motions: int, frames: int, n: int, rest: int) -> Any:
    """The kernel for problems with so many motions, frames, variables and terms that are no contacts; with hulls or without.

    Sizes of local arrays must be known when it compiles.
    """
    numbers, places, more_places = 2 * rest, 2 * CLOSE, 4 * CLOSE
    place_body, translate = Translator()(place), term_translator(hulls)
    far, measure, beyond = translate(balls_apart), translate(apart), translate(beyond_box)
    pose_of, solid_at, around = translate(group_pose), translate(solid_pose), translate(radius)
    move, vector = translate(moved), translate(three)

    @cuda.jit(device=True)
    def nearest_of(data, world, close, noted, solids, least):
        """The signed distance of the nearest solids of the pairs that are noted, if it is less than `least`.

        Solids go the same way as pairs: each thread notes what may be near enough, then all measure side by side.
        """
        pair = i = j = 0
        while warp_any(pair < noted):
            held = 0
            while pair < noted and held < CLOSE:
                one, two = int(close[2 * pair]), int(close[2 * pair + 1])
                s, t = one + GROUP_SOLIDS + i * SOLID_DATA, two + GROUP_SOLIDS + j * SOLID_DATA
                ax, ay, az = move(pose_of(data, world, one), vector(data, s + 4))
                bx, by, bz = move(pose_of(data, world, two), vector(data, t + 4))
                free = max(least + around(data, s) + around(data, t), 0.0)
                if (ax - bx) ** 2 + (ay - by) ** 2 + (az - bz) ** 2 < free * free:
                    solids[4 * held], solids[4 * held + 1], solids[4 * held + 2], solids[4 * held + 3] = one, s, two, t
                    held += 1
                j += 1
                if j == int(data[two + GROUP_COUNT]):
                    i, j = i + 1, 0
                if i == int(data[one + GROUP_COUNT]):
                    pair, i, j = pair + 1, 0, 0
            at = 0
            while warp_any(at < held):
                if at < held:
                    s, t = int(solids[4 * at + 1]), int(solids[4 * at + 3])
                    p = solid_at(data, pose_of(data, world, int(solids[4 * at])), s)
                    q = solid_at(data, pose_of(data, world, int(solids[4 * at + 2])), t)
                    if (
                        beyond(data, q, t, p, s, around(data, s), least) < least
                        and beyond(data, p, s, q, t, around(data, t), least) < least
                    ):
                        least = min(least, measure(data, p, s, q, t, least)[0])
                at += 1
        return least

    @cuda.jit(device=True)
    def depth_of(term, data, world, close, solids, measured):
        """`penetration` of `distance_residual` (terms/distance.py); all threads of a warp come here."""
        margin = data[term.numbers + DISTANCE_MARGIN]
        enough = margin + data[term.numbers + DISTANCE_CLEARANCE]
        least, k, walked = enough, term.numbers + DISTANCE_LISTS, 0 if measured else term.count  # lists that were begun
        group, at, end = -1, -1, -1
        while warp_any(at < end or walked < term.count):
            noted = 0
            while noted < CLOSE and (at < end or walked < term.count):
                if at == end:
                    group, at, end = (
                        int(data[k + LIST_GROUP]),
                        k + LIST_OTHERS,
                        k + LIST_OTHERS + int(data[k + LIST_COUNT]),
                    )
                    first, second = int(data[k + LIST_FIRST]), int(data[k + LIST_SECOND])
                    if first >= 0 and far(data, world, first, second, enough):
                        at = end
                    k, walked = end, walked + 1
                else:
                    other = int(data[at])
                    if not far(data, world, group, other, least):
                        close[2 * noted], close[2 * noted + 1] = group, other
                        noted += 1
                    at += 1
            least = nearest_of(data, world, close, noted, solids, least)
        return max(0.0, enough - least - margin)

    @cuda.jit
    def look_at_contacts(table):
        """Judge the answers of tasks by all terms. Where the rest is missed, only rows without a result are measured."""
        given = read(table)
        thread = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
        own, task = thread < given.number, min(thread, given.number - 1)
        problem, q, outcome = given.problem, given.results.q[task], given.results.outcomes[task]
        terms, status = problem.terms, int(given.results.statuses[task])
        found, x = cuda.local.array(numbers, np.float64), cuda.local.array(n, np.float64)
        poses, world = cuda.local.array((motions, 7), np.float64), cuda.local.array((frames, 7), np.float64)
        close, solids = cuda.local.array(places, np.int32), cuda.local.array(more_places, np.int32)
        for k in range(numbers):
            found[k] = outcome[OUTCOME + k]
        measured = own and (given.fresh != 0 or status == REACHED)
        if measured:
            for k in range(n):
                x[k] = q[problem.variables[k].index]
            place_body(problem.nodes, problem.frames, x, poses, world)
        for t in range(terms.size):
            error, good = math.inf, 0.0
            if given.contact_free[t] >= 0:
                error, good = found[given.contact_free[t]], found[rest + given.contact_free[t]]
            else:
                depth = depth_of(terms[t], problem.data, world, close, solids, measured)
                if measured:
                    error = depth
                    if error <= terms[t].tolerance:
                        good = 1.0
                    else:
                        status = max(status, CLOSEST if math.isfinite(error) else INVALID)
            if own:
                outcome[OUTCOME + t], outcome[OUTCOME + terms.size + t] = error, good
        if own:
            given.results.statuses[task] = status

    return look_at_contacts
