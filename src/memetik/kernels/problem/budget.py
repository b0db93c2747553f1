"""What a search may spend, what it has spent, and the best posture it has seen."""

from memetik.kernels.compiler.jit import jit
from memetik.kernels.runtime.cancel import cancelled
from memetik.kernels.runtime.clock import now

# What the search reports, in the array `outcome`. MOVED: the start was out of limits. ERROR: the least squared error so far of
# the terms that can block; in the end, where nothing can be missed, the cost of the answer (`cost_of` in solve.py).
EVALUATIONS, ATTEMPTS, TIMED_OUT, MOVED, ERROR = 0, 1, 2, 3, 4
OUTCOME = 5  # where the errors of the terms begin


# [s] Kept back from a time limit for what follows the search: to verify, to report, to return to Python. This takes about
# 5 us, and ten times as long where the search has emptied the caches of all else.
RESERVE = 4e-5


@jit
def deadline_after(seconds, clock):
    """When a search that may take so long must end, on the clock of `now`; 0 for no limit, as `seconds` is then."""
    if seconds == 0.0:
        return 0.0
    return now(clock) + max(seconds - RESERVE, 0.5 * seconds)


@jit
def spent(run):
    """Whether the budget is used up, or the run was cancelled; remembers if it was the time."""
    if run.outcome[EVALUATIONS] >= run.most:
        return True
    if run.deadline > 0.0 and now(run.clock) >= run.deadline:
        run.outcome[TIMED_OUT] = 1.0
        return True
    return cancelled(run.clock)


@jit
def time_left(run):
    """Until the deadline [s]; never zero, which means no deadline, unless there is none."""
    return max(run.deadline - now(run.clock), 1e-9) if run.deadline > 0.0 else 0.0


@jit
def remember(x, error, run, work):
    """Keep the best posture of all attempts."""
    if error < run.outcome[ERROR]:
        run.outcome[ERROR] = error
        for k in range(x.size):
            work.best[k] = x[k]
