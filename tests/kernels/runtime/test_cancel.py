"""How long a kernel keeps the GIL."""

import pytest

from memetik.kernels.compiler.jit import jit
from memetik.kernels.runtime import cancel
from memetik.kernels.runtime.cancel import (
    ALWAYS,
    AT_FIRST,
    BRIEFLY,
    CALLS_PER_LOOK,
    NOT_LONG,
    THREAD,
    cancelled,
    keep_gil,
    new_clock,
    take_gil,
)
from memetik.kernels.runtime.clock import now
from tests.conftest import COMPILED

pytestmark = [pytest.mark.quick, pytest.mark.only_if(COMPILED, "compiled kernels")]

if COMPILED:
    holds_gil = cancel._holds_gil

    @jit
    def held_after(clock, how, calls, seconds):
        """Whether the GIL is held after so many calls of `cancelled`, as many again after some seconds, and in the end."""
        keep_gil(clock, how)
        for _ in range(calls):
            cancelled(clock)
        first = holds_gil()
        end = now(clock) + seconds
        while now(clock) < end:
            pass
        for _ in range(calls):
            cancelled(clock)
        second = holds_gil()
        take_gil(clock)
        return first, second, holds_gil()


@pytest.mark.parametrize(
    ("how", "calls", "seconds", "expected"),
    [
        (ALWAYS, 3 * CALLS_PER_LOOK, 3e-9 * BRIEFLY, (1, 1, 1)),
        (AT_FIRST, CALLS_PER_LOOK, 3e-9 * BRIEFLY, (1, 0, 1)),
        (AT_FIRST, CALLS_PER_LOOK // 2 - 1, 3e-9 * BRIEFLY, (1, 1, 1)),
        (NOT_LONG, 1, 0.0, (0, 0, 1)),
    ],
)
def test_the_gil_is_released_once_a_run_takes_long(how, calls, seconds, expected):
    clock = new_clock()
    for _ in range(2):  # the next run begins afresh
        assert held_after(clock, how, calls, seconds) == expected
        assert clock[THREAD] == 0
