"""Judging time where other processes take a share of it.

Processor time of the own thread does not run while others work. What remains, slower caches and clocks, is the same for
what is judged and for what it is compared with, if the two take turns.
"""

import time

import numpy as np


def processor_seconds(work):
    """What a call takes of the processor, in this thread [s]."""
    begin = time.thread_time()
    work()
    return time.thread_time() - begin


def ratio(work, reference, rounds=15):
    """How many times longer `work` takes than `reference`, by the fastest of several rounds in turn."""
    pairs = [(processor_seconds(work), processor_seconds(reference)) for _ in range(rounds)]
    ours, theirs = np.min(pairs, axis=0)
    return ours / theirs


def overrun(solve, seconds, count=15):
    """What a solve that is stopped by its deadline takes beyond it [s], in the median of several.

    The deadline is one of wall-clock time, which on a busy machine passes while others work; so the processor time of a
    solve is at most the deadline, and what it does after that.
    """
    late = []
    for _ in range(count):
        wall, processor = time.perf_counter(), time.thread_time()
        solution = solve()
        late.append(time.thread_time() - processor - seconds)
        assert solution.timed_out
        assert time.perf_counter() - wall > 0.9 * seconds, "the time is used"
    return np.median(late)


def yardstick():
    """A piece of plain Python that stands for the speed of the machine: about a millisecond."""
    total = 0
    for k in range(20_000):
        total += k * k
    return total
