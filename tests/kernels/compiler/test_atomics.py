"""Shared integers: what one thread does to them, and that no count of several is lost."""

from __future__ import annotations

import threading

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from memetik.kernels.compiler.atomics import count_shared, lower_shared, read_shared, write_shared
from memetik.kernels.compiler.jit import jit, jit_free
from memetik.kernels.runtime.yield_thread import yield_thread
from tests.conftest import COMPILED

pytestmark = pytest.mark.quick

MANY = 200_000 if COMPILED else 20


@jit
def use(places):
    write_shared(places, 1, 7)
    before = count_shared(places, 1, 3)
    lower_shared(places, 2, 4)
    lower_shared(places, 3, 4)
    return 100 * before + read_shared(places, 1)


@jit_free
def count_many(places, many):
    """Wait for all to be there, then count."""
    count_shared(places, 0, 1)
    while read_shared(places, 0) < 2:
        yield_thread()
    for _ in range(many):
        count_shared(places, 1, 1)


def test_one_thread():
    places = np.array([0, 0, 9, 1])
    assert use(places) == 710
    assert_array_equal(places, [0, 10, 4, 1])


def test_two_threads_lose_nothing():
    places = np.zeros(2, dtype=np.int64)
    count_many(np.full(2, 2), 0)  # to compile it
    threads = [threading.Thread(target=count_many, args=(places, MANY)) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert_array_equal(places, [2, 2 * MANY])
