"""Bio IK, lines 32 and 33 of Algorithm 3: all elites are exploited, one after the other or by several threads at once.

The thread that evolves opens the elites of a generation (`next`) and wakes the others; all take elites in their order until
none is left. An elite is the same whoever exploits it. When one satisfies all terms, those before it count and those after
it do not, as if they had never been looked at: so the answer does not depend on the threads.

Most searches end with the fittest of their first generation, so nobody is called for that one: work on the others would be
for nothing, and two busy cores are each a little slower than one. Whether to call others later depends on what else the
machine does. Both ways are timed, by the evaluations that count, and the faster is taken; the other is tried from time to time.
"""

from memetik.kernels.bio_ik.bio_ik_record import read_worker
from memetik.kernels.bio_ik.function_pointers import call_exploit
from memetik.kernels.body.ofkt import clear
from memetik.kernels.compiler.atomics import count_shared, lower_shared, read_shared, write_shared
from memetik.kernels.compiler.jit import jit_free, jit_part
from memetik.kernels.runtime.clock import now
from memetik.kernels.runtime.wakeup import wake
from memetik.kernels.runtime.yield_thread import yield_thread

ALONE, TOGETHER = 0, 1  # the two ways
PAYS = 0.95  # of the time alone: what takes more is not worth calling others
TURNS = 6  # generations that try both ways in turns; then the slower is tried in each 2^k-th, ...
OFTEN = 512  # ... and in each of so many
FADE = 0.95  # what times of a way still count when the next is known
OUTLIER = 2.0  # times the mean is the most that a time counts


@jit_part
def exploit_elites(own, settings, population, offspring, shared, generation, allowance, run, scratch):
    """Make offspring of all elites, until one satisfies all. Returns how many there are."""
    kappa, parents, task, tally = shared.elites.size, shared.parents, shared.task[0], scratch.tally[0]
    for e in range(kappa):
        parents[e, 0] = parents[e, 1] = shared.elites[e]
        shared.spent[e] = shared.satisfied[e] = shared.ended[e] = 0
    if not settings.exploitation or allowance < 2:
        keep_elites(population, offspring, shared.elites)
        return kappa
    task.allowance, task.deadline = allowance, run.deadline
    write_shared(shared.reached, 0, kappa)
    before = tally.spent
    first = 1 if generation == 1 else 0  # the first elite that others may take
    if shared.wakeups.size == 1 or kappa - first < 2:
        first = kappa
    exploit_alone(own, settings.exploit, shared, 0, first, run.state)
    if first < kappa and read_shared(shared.reached, 0) == kappa:
        exploit_faster(own, settings.exploit, shared, first, run)
    count = min(read_shared(shared.reached, 0) + 1, kappa)
    tally.spent = before
    for e in range(count):
        tally.spent += shared.spent[e]
    tally.satisfied = shared.satisfied[count - 1]
    return count


@jit_part
def keep_elites(population, offspring, elites):
    """The offspring of elites that are not exploited are they themselves."""
    for e in range(elites.size):
        row = elites[e]
        for k in range(offspring.genes.shape[1]):
            offspring.genes[e, k] = population.genes[row, k]
            offspring.momentum[e, k] = population.momentum[row, k]
        for t in range(offspring.losses.shape[1]):
            offspring.losses[e, t] = population.losses[row, t]


@jit_part
def exploit_elite(table, exploit, shared, e, state):
    """Line 33, by the kernel at an address; tells all threads if this elite satisfies all terms."""
    call_exploit(exploit, table, e, state)
    if shared.satisfied[e] != 0:
        lower_shared(shared.reached, 0, e)


@jit_part
def exploit_alone(table, exploit, shared, first, end, state):
    """One elite after the other, from the first up to the end, until one satisfies all."""
    for e in range(first, end):
        if e <= read_shared(shared.reached, 0):
            exploit_elite(table, exploit, shared, e, state)


@jit_part
def exploit_together(table, exploit, shared, first, state):
    """Let others take elites too, from the first on, and wait until all are done."""
    kappa = shared.elites.size
    write_shared(shared.done, 0, first)
    write_shared(shared.next, 0, first)
    for h in range(1, min(shared.wakeups.size, kappa - first)):
        wake(shared.wakeups[h])
    take_elites(table, exploit, shared, state)
    while read_shared(shared.done, 0) < kappa:
        yield_thread()


@jit_part
def exploit_faster(table, exploit, shared, first, run):
    """All elites from the first on, alone or together, whichever has been faster."""
    kappa, way = shared.elites.size, choose(shared.task[0], shared.ways)
    begin = now(run.clock)
    if way == ALONE:
        exploit_alone(table, exploit, shared, first, kappa, run.state)
    else:
        exploit_together(table, exploit, shared, first, run.state)
    seconds, evaluations = now(run.clock) - begin, 0.0
    for e in range(first, min(read_shared(shared.reached, 0) + 1, kappa)):
        evaluations += shared.spent[e]
    judge(shared.ways[way], seconds, evaluations)


@jit_part
def take_elites(table, exploit, shared, state):
    """Take elites, as long as there are any that nobody has taken; those behind one that satisfies all are done already."""
    e = count_shared(shared.next, 0, 1)
    while e < shared.elites.size:
        if e < read_shared(shared.reached, 0):
            exploit_elite(table, exploit, shared, e, state)
        count_shared(shared.done, 0, 1)
        e = count_shared(shared.next, 0, 1)


@jit_part
def choose(task, ways):
    """What took less time for an evaluation; both in turns at first, and the other one ever more rarely."""
    trials, alone, together = task.trials, ways[ALONE], ways[TOGETHER]
    task.trials = trials + 1
    pays = together.seconds * alone.evaluations < PAYS * alone.seconds * together.evaluations
    if trials < TURNS:
        pays = trials % 2 == 1
    elif trials & (trials - 1) == 0 or trials % OFTEN == 0:
        pays = not pays
    return TOGETHER if pays else ALONE


@jit_part
def judge(way, seconds, evaluations):
    """Remember the time that evaluations took, the more the later. One that stands out says little about the next."""
    if way.seconds > 0.0:
        seconds = min(seconds, OUTLIER * evaluations * way.seconds / way.evaluations)
    way.seconds = FADE * way.seconds + seconds
    way.evaluations = FADE * way.evaluations + evaluations


@jit_part
def forget(scratch):
    """Let a thread remember nothing of other searches."""
    clear(scratch.tree)
    for i in range(scratch.wrenches.shape[0]):
        for k in range(6):
            scratch.wrenches[i, k] = 0.0
    scratch.tally[0].spent = scratch.tally[0].satisfied = 0


@jit_free
def join_search(table, state):
    """Take elites for another thread, with its worker's table, if there are any to take."""
    worker = read_worker(table)
    shared = worker.shared
    if read_shared(shared.next, 0) < shared.elites.size:
        forget(worker.scratch)
        take_elites(table, worker.settings.exploit, shared, state)
