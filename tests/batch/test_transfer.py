"""Pinned memory is kept, reused and never too much; the card itself is in test_cuda.py."""

import numpy as np
import pytest

from memetik.batch import transfer


class Card:
    """A card that is plain memory, and counts what it pins."""

    def __init__(self):
        self.pinned = 0

    def pinned_array(self, size, dtype):
        self.pinned += size
        return np.empty(size, dtype)

    def to_device(self, array):
        return There(array.copy())

    def device_array(self, shape, dtype):
        return There(np.empty(shape, dtype))


class There:
    """An array on it."""

    def __init__(self, array):
        self.array, self.shape, self.dtype, self.nbytes = array, array.shape, array.dtype, array.nbytes

    def copy_to_device(self, source):
        self.array[...] = source

    def copy_to_host(self, to=None):
        if to is None:
            return self.array.copy()
        to[...] = self.array
        return to


@pytest.fixture(autouse=True)
def fresh(monkeypatch):
    monkeypatch.setattr(transfer, "_free", [])


@pytest.mark.parametrize("shape", [(3, 2), (200_000, 7), (300_000,)])
@pytest.mark.parametrize("dtype", [np.float64, np.int8])
def test_there_and_back(shape, dtype, rng):
    card, array = Card(), rng.integers(-100, 100, shape).astype(dtype)
    there = transfer.to_card(card, array)
    np.testing.assert_array_equal(there.array, array)
    back = transfer.from_card(card, there)
    np.testing.assert_array_equal(back, array)
    assert back.dtype == dtype and not np.may_share_memory(back, there.array)


def test_pinned_memory_is_used_again(rng):
    card, array = Card(), rng.random((200_000, 7))
    for _ in range(3):
        transfer.from_card(card, transfer.to_card(card, array))
    assert card.pinned == 1 << 24  # 11.2 MB, once, rounded up


def test_no_more_than_so_much_is_kept(monkeypatch, rng):
    monkeypatch.setattr(transfer, "KEPT", 1 << 23)
    transfer.to_card(Card(), rng.random((200_000, 7)))
    assert transfer._free == []
