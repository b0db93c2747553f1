"""The stages of one solve: search; refinement of the best posture where something was missed; relaxation of wide tolerances.

A stage is a kernel (table, q, outcome, seed, most, seconds) that takes all arrays of the problem as one array table,
goes on from the joint vector q in place, and returns the status of what it leaves there. `most` counts the evaluations of
all stages so far. Whoever solves, one problem from Python or many in a loop, calls the same machine code of each stage by
address, and so gets the same bits.
"""

from __future__ import annotations

from memetik.kernels.compiler.array_table import (
    counters_at,
    flags_at,
    floats_at,
    frames_at,
    integers_at,
    nodes_at,
    terms_at,
)
from memetik.kernels.compiler.clock import now
from memetik.kernels.compiler.function_pointers import call_stage
from memetik.kernels.compiler.jit import COMPILED, jit, jit_part
from memetik.kernels.memetic.refine import FAINT, refine_vector
from memetik.kernels.memetic.search import solve
from memetik.kernels.problem.budget import ATTEMPTS, EVALUATIONS, MOVED, OUTCOME, TIMED_OUT
from memetik.kernels.problem.verify import CLOSEST, REACHED, judge

YIELDING = 0.1  # what is left of the pull of an objective that is satisfied with room to spare

# The addresses in the table: the local search that fits the problem, and the one for terms that guide.
ATTEMPT, SOFTLY = 0, 1

if COMPILED:

    @jit
    def unpack(table):
        """The arrays of a table, in the order of MemeticScratch._act_arrays."""
        nodes, frames, terms, active = (
            nodes_at(table, 0),
            frames_at(table, 1),
            terms_at(table, 2),
            integers_at(table, 6),
        )
        n = active.size
        limits, population = floats_at(table, 7), floats_at(table, 9)
        people = population.size // n
        return (
            nodes, frames, terms, floats_at(table, 3), floats_at(table, 4).reshape((5, n)),
            integers_at(table, 5).reshape((n, 2)), active, limits.reshape((2, limits.size // 2)),
            flags_at(table, 8).reshape((terms.size, n)), population.reshape((people, n)),
            floats_at(table, 10).reshape((frames.size, 7, people)), flags_at(table, 11), integers_at(table, 12),
            counters_at(table, 13), floats_at(table, 14), integers_at(table, 15), flags_at(table, 16), terms_at(table, 17),
            floats_at(table, 18), floats_at(table, 19),
        )  # fmt: skip

else:

    def unpack(table):
        """The arrays of a table, which are its entries."""
        return table


@jit
def copy(source, to):
    """Write all of one array into another of its size."""
    for k in range(source.size):
        to[k] = source[k]


@jit
def search_stage(table, q, outcome, seed, most, seconds):
    """The first stage, for every problem but a single pose, which has pose_search.py: memetic.solve."""
    (
        nodes, frames, terms, data, bounds, spans, active, limits, affects, population, frame_poses, flags, clock, state, buffer,
        kernels, roomy, eased, spare, source,
    ) = unpack(table)  # fmt: skip
    copy(source, data)  # a target that is set meanwhile counts for the next solve
    return solve(
        nodes, frames, terms, data, bounds, spans, active, limits, affects, population, frame_poses, q, kernels[ATTEMPT], seed,
        0, most, seconds, flags, clock, state, buffer, outcome,
    )  # fmt: skip


@jit
def refine_stage(table, q, outcome, seed, most, seconds):
    """The second stage: bring the best posture to a true minimum."""
    (
        nodes, frames, terms, data, bounds, spans, active, limits, affects, population, frame_poses, flags, clock, state, buffer,
        kernels, roomy, eased, spare, source,
    ) = unpack(table)  # fmt: skip
    softness = 1.0  # if there are only guides
    for t in range(terms.size):
        if not terms[t].soft:
            softness = FAINT
    return refine_vector(
        nodes, frames, terms, data, bounds, spans, active, limits, q, softness, most, seconds, flags, clock, state,
        buffer, outcome,
    )  # fmt: skip


@jit
def relax_stage(table, q, outcome, seed, most, seconds):
    """The third stage: let objectives that are satisfied with room to spare pull less, if that satisfies the others.

    All objectives are minimised together, so one with a wide tolerance can hold another back for no good. Those within a
    wide tolerance (`roomy`) become guides, and the answer counts if they still are. `eased` and `spare` are scratch for
    the terms, and for the outcome, the data and a joint vector.
    """
    (
        nodes, frames, terms, data, bounds, spans, active, limits, affects, population, frame_poses, flags, clock, state, buffer,
        kernels, roomy, eased, spare, source,
    ) = unpack(table)  # fmt: skip
    left = most - int(outcome[EVALUATIONS])
    any_yields = False
    for t in range(terms.size):
        eased[t] = terms[t]
        if roomy[t] and outcome[OUTCOME + terms.size + t] != 0.0:
            eased[t].soft = 1
            eased[t].scale *= YIELDING
            any_yields = True
    if left < 1 or not any_yields:
        return CLOSEST
    reported, spare = spare[: outcome.size], spare[outcome.size :]
    kept, trial = spare[: data.size], spare[data.size :]
    copy(outcome, reported)
    copy(data, kept)
    copy(q, trial)
    solve(
        nodes, frames, eased, data, bounds, spans, active, limits, affects, population, frame_poses, trial, kernels[SOFTLY],
        seed, 0, left, seconds, flags, clock, state, buffer, outcome,
    )  # fmt: skip
    copy(kept, data)  # what follows the start is about the start of the whole solve
    outcome[EVALUATIONS] += reported[EVALUATIONS]
    outcome[ATTEMPTS] += reported[ATTEMPTS]
    outcome[MOVED] += reported[MOVED]
    status = judge(
        nodes, frames, terms, data, bounds, spans, active, limits, trial, flags, clock, state, buffer, outcome
    )
    if status == REACHED:
        copy(trial, q)
        return REACHED
    copy(reported[OUTCOME:], outcome[OUTCOME:])  # no better: what was found before stands
    return CLOSEST


@jit_part
def left_of(seconds, begin, clock):
    """What is left of the seconds since `begin`; never zero, which means no deadline, unless there was none."""
    return max(seconds - (now(clock) - begin), 1e-9) if seconds > 0.0 else 0.0


@jit
def run_stages(stages, table, q, outcome, status, seed, first, most, seconds, clock):
    """The stages after the search, as far as they are called for; `stages` are their addresses, 0 for none.

    `first` evaluations may be spent before the last stage begins, `most` in all. Returns the status of the answer.
    """
    begin = now(clock) if seconds > 0.0 else 0.0
    refine, yields = stages[0], stages[1]
    if outcome[TIMED_OUT] == 0.0 and outcome[EVALUATIONS] < first:
        status = call_stage(refine, table, q, outcome, seed, first, left_of(seconds, begin, clock))
    if status == CLOSEST and yields != 0 and outcome[TIMED_OUT] == 0.0:
        status = call_stage(yields, table, q, outcome, seed, most, left_of(seconds, begin, clock))
    return status
