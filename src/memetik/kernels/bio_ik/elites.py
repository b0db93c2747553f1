"""Bio IK, lines 32 and 33 of Algorithm 3: all elites are exploited, one after the other or by several threads at once.

The thread that evolves opens the elites of a generation (NEXT) and rings for others; all take elites in their order until
none is left. An elite is the same whoever exploits it. When one satisfies all terms, those before it count and those after
it do not, as if they had never been looked at: so the answer does not depend on the threads.

Most searches end with the fittest of their first generation, so nobody is called for that one: work on the others would be
for nothing, and two busy cores are each a little slower than one. Whether to call others later depends on what else the
machine does. Both ways are timed, by the evaluations that count, and the faster is taken; the other is tried from time to time.
"""

from __future__ import annotations

from memetik.kernels.bio_ik.function_pointers import call_exploit
from memetik.kernels.bio_ik.scratch import (
    ALLOWANCE,
    ALONE,
    DEADLINE,
    DONE,
    ELITES,
    EXPLOIT,
    EXPLOITATION,
    NEXT,
    OWN,
    REACHED,
    SATISFIED,
    SIZE,
    SPENT,
    TOGETHER,
    TRIALS,
    WORKERS,
    carve_shared,
    carve_worker,
    clear_worker,
    worker_place,
)  # fmt: skip
from memetik.kernels.compiler.atomics import count_shared, lower_shared, read_shared, write_shared
from memetik.kernels.compiler.clock import now
from memetik.kernels.compiler.jit import jit, jit_free, jit_part
from memetik.kernels.compiler.wakeup import wake
from memetik.kernels.compiler.yield_thread import yield_thread

PAYS = 0.95  # of the time alone: what takes more is not worth calling others
TURNS = 6  # generations that try both ways in turns; then the slower is tried in each 2^k-th, ...
OFTEN = 512  # ... and in each of so many
FADE = 0.95  # what times of a way still count when the next is known
OUTLIER = 2.0  # times the mean is the most that a time counts


@jit_part
def exploit_elites(problem, parameters, places, room, shared, worker, generation, allowance, deadline, state):
    """Make offspring of all elites, until one satisfies all. Returns how many there are."""
    kappa, parents = shared.elites.size, shared.parents
    for e in range(kappa):
        parents[e, 0] = parents[e, 1] = shared.elites[e]
        shared.spent[e] = shared.satisfied[e] = shared.ended[e] = 0.0
    if parameters[EXPLOITATION] == 0.0 or allowance < 2.0:
        keep_elites(shared)
        return kappa
    task = shared.task
    task[ALLOWANCE], task[DEADLINE] = allowance, deadline
    write_shared(places, REACHED, kappa)
    before = worker.tally[SPENT]
    first = 1 if generation == 1 else 0  # the first elite that others may take
    if parameters[WORKERS] == 1.0 or kappa - first < 2:
        first = kappa
    exploit_alone(problem, parameters, places, room, 0, first, state)
    if first < kappa and read_shared(places, REACHED) == kappa:
        exploit_faster(problem, parameters, places, room, shared, worker, first, state)
    count = min(read_shared(places, REACHED) + 1, kappa)
    worker.tally[SPENT] = before
    for e in range(count):
        worker.tally[SPENT] += shared.spent[e]
    worker.tally[SATISFIED] = shared.satisfied[count - 1]
    return count


@jit_part
def keep_elites(shared):
    """The offspring of elites that are not exploited are they themselves."""
    population, offspring = shared.population, shared.offspring
    for e in range(shared.elites.size):
        row = shared.elites[e]
        for k in range(offspring.genes.shape[1]):
            offspring.genes[e, k] = population.genes[row, k]
            offspring.momentum[e, k] = population.momentum[row, k]
        for t in range(offspring.losses.shape[1]):
            offspring.losses[e, t] = population.losses[row, t]


@jit_part
def exploit_elite(problem, parameters, places, room, h, e, state):
    """Line 33, by worker h; tells all threads if this elite satisfies all terms."""
    call_exploit(places[EXPLOIT], problem, parameters, places, room, h, e, state)
    if carve_shared(problem, parameters, places, room).satisfied[e] != 0.0:
        lower_shared(places, REACHED, e)


@jit_part
def exploit_alone(problem, parameters, places, room, first, end, state):
    """One elite after the other, from the first up to the end, until one satisfies all."""
    for e in range(first, end):
        if e <= read_shared(places, REACHED):
            exploit_elite(problem, parameters, places, room, OWN, e, state)


@jit_part
def exploit_together(problem, parameters, places, room, first, end, state):
    """Let others take elites too, and wait until all are done."""
    write_shared(places, DONE, first)
    write_shared(places, NEXT, first)
    for h in range(1, min(int(parameters[WORKERS]), end - first)):
        wake(places[worker_place(int(parameters[SIZE]), end, problem.variables.size, h)])
    take_elites(problem, parameters, places, room, OWN, end, state)
    while read_shared(places, DONE) < end:
        yield_thread()


@jit_part
def exploit_faster(problem, parameters, places, room, shared, worker, first, state):
    """All elites from the first on, alone or together, whichever has been faster."""
    kappa, way = shared.elites.size, choose(shared.task)
    begin = now(worker.clock)
    if way == ALONE:
        exploit_alone(problem, parameters, places, room, first, kappa, state)
    else:
        exploit_together(problem, parameters, places, room, first, kappa, state)
    seconds, evaluations = now(worker.clock) - begin, 0.0
    for e in range(first, min(read_shared(places, REACHED) + 1, kappa)):
        evaluations += shared.spent[e]
    judge(shared.task, way, seconds, evaluations)


@jit_part
def take_elites(problem, parameters, places, room, h, kappa, state):
    """Take elites, as long as there are any that nobody has taken; those behind one that satisfies all are done already."""
    e = count_shared(places, NEXT, 1)
    while e < kappa:
        if e < read_shared(places, REACHED):
            exploit_elite(problem, parameters, places, room, h, e, state)
        count_shared(places, DONE, 1)
        e = count_shared(places, NEXT, 1)


@jit
def choose(task):
    """What took less time for an evaluation; both in turns at first, and the other one ever more rarely."""
    trials = int(task[TRIALS])
    task[TRIALS] = trials + 1.0
    pays = task[TOGETHER] * task[ALONE + 1] < PAYS * task[ALONE] * task[TOGETHER + 1]
    if trials < TURNS:
        pays = trials % 2 == 1
    elif trials & (trials - 1) == 0 or trials % OFTEN == 0:
        pays = not pays
    return TOGETHER if pays else ALONE


@jit
def judge(task, way, seconds, evaluations):
    """Remember the time that evaluations took, the more the later. One that stands out says little about the next."""
    if task[way] > 0.0:
        seconds = min(seconds, OUTLIER * evaluations * task[way] / task[way + 1])
    task[way] = FADE * task[way] + seconds
    task[way + 1] = FADE * task[way + 1] + evaluations


@jit_free
def join_search(nodes, frames, terms, data, variables, variables, parameters, places, room, h, state):
    """Take elites for another thread, with worker h, if it has one so numbered and elites to give."""
    problem = (nodes, frames, terms, data, variables, variables)
    kappa = int(parameters[ELITES])
    if h < parameters[WORKERS] and read_shared(places, NEXT) < kappa:
        clear_worker(carve_worker(problem, parameters, places, room, h))
        take_elites(problem, parameters, places, room, h, kappa, state)
