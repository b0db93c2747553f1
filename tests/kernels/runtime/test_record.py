"""Records: from one declaration to arrays, table, reader and type."""

import itertools
from typing import NamedTuple

import numpy as np
import pytest

from memetik.kernels.compiler.jit import jit
from memetik.kernels.runtime.record import (
    LINE,
    Array,
    allocate,
    counters,
    fields,
    flags,
    floats,
    integers,
    item,
    numba_type,
    reader,
    records,
    table_of,
)  # fmt: skip
from tests.conftest import COMPILED

pytestmark = pytest.mark.quick

ITEM = item(a=float, b=int)


class Inner(NamedTuple):
    gain: float
    rows: Array = floats("n", 3)


class Outer(NamedTuple):
    inner: Inner
    count: int
    on: bool
    marks: Array = flags("n")
    cube: Array = floats(2, "n", 4)
    items: Array = records(ITEM, "n")
    order: Array = integers("n")
    state: Array = counters(1)


read_outer, read_inner = reader(Outer), reader(Inner)


@jit
def touch(table):
    outer = read_outer(table)
    n = outer.marks.size
    for k in range(n):
        outer.marks[k] = 1
        outer.order[k] = n - k
        outer.items[k].a = outer.items[k].b + 0.5
        for j in range(4):
            outer.cube[1, k, j] = 10 * k + j
        for j in range(3):
            outer.inner.rows[k, j] = k + 0.1 * j
    outer.state[0] = 7
    return outer.inner.gain + (outer.count if outer.on else -1.0)


@jit
def first_of(table):
    inner = read_inner(table)
    inner.rows[0, 0] += 100.0
    return inner.gain


def record(n=5, *, on=True):
    outer = allocate(Outer, {"n": n}, inner=allocate(Inner, {"n": n}, gain=-2.5), count=3, on=on)
    outer.items["b"] = np.arange(n)
    return outer


@pytest.mark.parametrize(("on", "expected"), [(True, 0.5), (False, -3.5)])
def test_a_kernel_reads_and_writes_all_of_it(on, expected):
    outer = record(on=on)
    assert touch(table_of(outer)) == expected
    np.testing.assert_array_equal(outer.marks, 1)
    np.testing.assert_array_equal(outer.order, [5, 4, 3, 2, 1])
    np.testing.assert_array_equal(outer.items["a"], np.arange(5) + 0.5)
    np.testing.assert_array_equal(outer.cube[0], 0.0)
    np.testing.assert_array_equal(outer.cube[1], 10 * np.arange(5)[:, None] + np.arange(4))
    np.testing.assert_allclose(outer.inner.rows, np.arange(5)[:, None] + 0.1 * np.arange(3))
    assert outer.state[0] == 7


def test_the_first_record_of_a_record_is_read_from_its_table():
    outer = record()
    assert first_of(table_of(outer)) == -2.5
    assert outer.inner.rows[0, 0] == 100.0


def test_empty_arrays_do_no_harm():
    outer = record(0)
    assert touch(table_of(outer)) == 0.5 and outer.cube.shape == (2, 0, 4)


def test_arrays_begin_at_cache_lines_and_do_not_overlap():
    outer = record(7)
    arrays = [outer.marks, outer.cube, outer.items, outer.order, outer.state]
    assert all(array.ctypes.data % LINE == 0 for array in arrays)
    ends = sorted((array.ctypes.data, array.ctypes.data + array.nbytes) for array in arrays)
    assert all(end <= begin for (_, end), (begin, _) in itertools.pairwise(ends))


def test_what_is_given_is_used_as_it_is():
    rows = np.ones((2, 3))
    assert allocate(Inner, {"n": 2}, gain=1.0, rows=rows).rows is rows


def test_types_follow_the_declaration():
    import numba

    assert numba.typeof(record()) == numba_type(Outer)
    assert list(fields(Outer)) == list(Outer._fields)


@pytest.mark.parametrize("wrong", [np.ones((3, 2)).T, np.ones((2, 3), dtype=np.float32), np.ones(6)])
def test_an_array_unlike_its_declaration_is_refused(wrong):
    if COMPILED:
        with pytest.raises(TypeError, match=r"Inner\.rows is"):
            table_of(Inner(1.0, wrong))


def test_a_size_that_is_not_given_is_named():
    with pytest.raises(KeyError, match="'n'"):
        allocate(Inner, {}, gain=1.0)
