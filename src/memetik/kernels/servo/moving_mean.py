"""The mean of each joint over its last m ticks of length h, which limits the jerk to 2 a / (m h) for an acceleration a."""

from memetik.kernels.compiler.jit import jit

TICKS, RESTED = 0, 1  # the entries of `counts`


@jit
def advance_mean(own, planned, before):
    """One tick: write the mean of each joint's window into own.mean, of what is planned now and was in the ticks before.

    before: what was returned in the last tick.
    """
    history = own.history
    tick, longest = own.counts[TICKS], history.shape[0]
    for k in range(planned.size):
        mover = own.movers[k]
        if mover.window == 1 or own.counts[RESTED] >= mover.window or not mover.realistic:
            own.mean[k] = planned[k]  # without the rounding of all the sums
        else:
            mean = own.mean[k] + (planned[k] - history[(tick - mover.window) % longest, k]) / mover.window
            own.mean[k] = min(max(mean, mover.lower), mover.upper) if mover.lower <= before[k] <= mover.upper else mean
        history[tick % longest, k] = planned[k]
    own.counts[TICKS] = tick + 1
