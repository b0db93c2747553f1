"""Rows in parts: all of them, once, in order."""

import threading

import numpy as np
import pytest

from memetik.parallel import cores, in_order, in_parts


@pytest.mark.parametrize("count", [0, 1, 7, 100, 1001])
@pytest.mark.parametrize("least", [1, 10, 1000])
def test_parts_cover_all_rows_in_order(count, least):
    rows = [k for part in in_parts(lambda part: range(part.start, part.stop), count, least) for k in part]
    assert rows == list(range(count))


def test_no_part_is_smaller_than_worth_a_thread():
    sizes = in_parts(lambda part: part.stop - part.start, 100, 40)
    assert min(sizes) >= 40 and len(sizes) <= max(cores(), 1)


def test_an_error_comes_out_and_leaves_no_thread():
    def work(part):
        if part.stop == 1000:
            raise ValueError("the last part")

    in_parts(lambda part: None, 1000, 1)  # starts the threads that stay
    before = threading.active_count()
    with pytest.raises(ValueError, match="the last part"):
        in_parts(work, 1000, 1)
    assert threading.active_count() == before


def test_what_is_written_in_parts_is_there():
    out = np.zeros(1000)
    in_parts(lambda part: out[part].__setitem__(slice(None), np.arange(part.start, part.stop)), 1000, 10)
    np.testing.assert_array_equal(out, np.arange(1000))


@pytest.mark.parametrize("threads", [None, 1, 3])
def test_items_come_in_order_and_are_taken_as_they_are_needed(threads):
    taken = []

    def items():
        for k in range(40):
            taken.append(k)
            yield k

    results = in_order(lambda k: k * k, items(), threads)
    assert next(results) == 0
    assert len(taken) <= 2 * (threads or cores())
    assert list(results) == [k * k for k in range(1, 40)]


def test_an_error_of_an_item_comes_in_its_turn_and_leaves_no_thread():
    def work(k):
        if k == 5:
            raise ValueError("the sixth")
        return k

    before, done = threading.active_count(), []
    with pytest.raises(ValueError, match="the sixth"):
        for each in in_order(work, range(100), 2):
            done.append(each)
    assert done == [0, 1, 2, 3, 4]
    assert threading.active_count() == before
