"""Bio IK, lines 32 and 33 of Algorithm 3: all elites are exploited, one after the other or by several threads at once.

The thread that evolves opens the elites of a generation to its helpers (NEXT = 0), who wait until then; all take elites in
their order until none is left. An elite is the same whoever exploits it. When one satisfies all terms, those before it
count and those after it do not, as if they had never been looked at: so the answer does not depend on the threads.

Whether helpers are a help depends on what else the machine does, and on how long a solve takes. Both ways are timed, by
evaluations, and the faster is taken; the other is tried again now and then, and helpers are called only where they pay
(solvers/helpers.py).
"""

from __future__ import annotations

from memetik.kernels.atomic import count_shared, lower_shared, read_shared, write_shared
from memetik.kernels.bio_ik_late import call_exploit
from memetik.kernels.bio_ik_room import (
    ALLOWANCE,
    ALONE,
    DEADLINE,
    DONE,
    ELITES,
    EXPLOIT,
    EXPLOITATION,
    HANDS,
    NEXT,
    OPEN,
    PRESENT,
    REACHED,
    SATISFIED,
    SIZE,
    SPENT,
    TOGETHER,
    TRIALS,
    carve_colony,
    hand_place,
)  # fmt: skip
from memetik.kernels.clock import now
from memetik.kernels.jit import jit, jit_free, jit_part
from memetik.kernels.rest import rest

AGAIN = 32  # generations after which the slower way is tried again
RECENT = 0.2  # what the last time counts in the mean
PATIENCE = 50_000  # rests without work, some 20 ms, after which a helper leaves


@jit_part
def exploit_elites(problem, parameters, places, room, colony, hand, allowance, deadline, state):
    """Make offspring of all elites, until one satisfies all. Returns how many there are."""
    kappa, parents = colony.elites.size, colony.parents
    for e in range(kappa):
        parents[e, 0] = parents[e, 1] = colony.elites[e]
        colony.spent[e] = colony.satisfied[e] = 0.0
    if parameters[EXPLOITATION] == 0.0 or allowance < 2.0:
        keep_elites(colony)
        return kappa
    task = colony.task
    task[ALLOWANCE], task[DEADLINE] = allowance, deadline
    write_shared(places, REACHED, kappa)
    before = hand.tally[SPENT]
    if parameters[HANDS] == 1.0:
        exploit_alone(problem, parameters, places, room, kappa, state)
    else:
        together = read_shared(places, PRESENT) > 0 and choose(task)
        begin = now(hand.clock)
        if together:
            write_shared(places, DONE, 0)
            write_shared(places, NEXT, 0)
            take_elites(problem, parameters, places, room, 0, kappa, state)
            while read_shared(places, DONE) < kappa:
                rest()
        else:
            exploit_alone(problem, parameters, places, room, kappa, state)
        judge(task, together, now(hand.clock) - begin, colony.spent)
    count = min(read_shared(places, REACHED) + 1, kappa)
    hand.tally[SPENT] = before
    for e in range(count):
        hand.tally[SPENT] += colony.spent[e]
    hand.tally[SATISFIED] = colony.satisfied[count - 1]
    return count


@jit
def keep_elites(colony):
    """The offspring of elites that are not exploited are they themselves."""
    population, offspring = colony.population, colony.offspring
    for e in range(colony.elites.size):
        row = colony.elites[e]
        for k in range(offspring.genes.shape[1]):
            offspring.genes[e, k] = population.genes[row, k]
            offspring.momentum[e, k] = population.momentum[row, k]
        for t in range(offspring.losses.shape[1]):
            offspring.losses[e, t] = population.losses[row, t]


@jit_part
def exploit_elite(problem, parameters, places, room, h, e, state):
    """Line 33, by hand h; tells all threads if this elite satisfies all terms."""
    call_exploit(places[EXPLOIT], problem, parameters, places, room, h, e, state)
    if carve_colony(problem, parameters, places, room).satisfied[e] != 0.0:
        lower_shared(places, REACHED, e)


@jit_part
def exploit_alone(problem, parameters, places, room, kappa, state):
    """One elite after the other."""
    for e in range(kappa):
        if read_shared(places, REACHED) == kappa:
            exploit_elite(problem, parameters, places, room, 0, e, state)


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
    """Whether to share the elites: what took less time for an evaluation, or what has not been tried lately."""
    trials = int(task[TRIALS])
    task[TRIALS] = trials + 1.0
    if trials < 4:
        return trials % 2 == 0
    return (task[TOGETHER] < task[ALONE]) != (trials % AGAIN == 0)


@jit
def judge(task, together, seconds, spent):
    """Remember the time that an evaluation took."""
    evaluations = 0.0
    for e in range(spent.size):
        evaluations += spent[e]
    way = TOGETHER if together else ALONE
    share = RECENT if task[way] > 0.0 else 1.0
    task[way] += share * (seconds / max(evaluations, 1.0) - task[way])


@jit_free
def help_elites(nodes, frames, terms, data, bounds, spans, parameters, places, room, h, state):
    """Take elites for another thread, with hand h unless someone else has it, until the evolution is over."""
    problem = (nodes, frames, terms, data, bounds, spans)
    kappa = int(parameters[ELITES])
    taken = hand_place(int(parameters[SIZE]), kappa, bounds.shape[1], h)
    if count_shared(places, taken, 1) == 0:
        count_shared(places, PRESENT, 1)
        idle = 0
        while read_shared(places, OPEN) != 0 and idle < PATIENCE:
            idle += 1
            if read_shared(places, NEXT) < kappa:
                take_elites(problem, parameters, places, room, h, kappa, state)
                idle = 0
            rest()
        count_shared(places, PRESENT, -1)
    count_shared(places, taken, -1)
