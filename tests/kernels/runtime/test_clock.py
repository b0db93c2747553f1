"""The clock inside kernels runs forward and agrees with Python's."""

import time
from itertools import pairwise

import numpy as np
import pytest

from memetik.kernels.runtime.clock import now

pytestmark = pytest.mark.quick


def test_it_only_runs_forward():
    buffer = np.zeros(2, dtype=np.int64)
    readings = [now(buffer) for _ in range(2000)]
    assert all(later >= earlier for earlier, later in pairwise(readings))
    assert readings[-1] > readings[0]


def test_differences_are_those_of_perf_counter():
    """The kernel's clock is read between two readings of Python's, so busy machines cannot fool the test."""
    buffer = np.zeros(2, dtype=np.int64)
    now(buffer)
    before = time.perf_counter()
    begin = now(buffer)
    after = time.perf_counter()
    time.sleep(0.02)
    later_before = time.perf_counter()
    end = now(buffer)
    later_after = time.perf_counter()
    assert later_before - after - 1e-4 <= end - begin <= later_after - before + 1e-4
    assert end - begin >= 0.02 - 1e-4
