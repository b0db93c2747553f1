"""Memory is kept, used again and never too much; the device itself is in test_cuda.py."""

import gc

import numpy as np
import pytest

from memetik.batch import transfer


class Card:
    """A device that is plain memory, and counts what it pins."""

    def __init__(self):
        self.pinned = []

    def pinned_array(self, size, dtype):
        self.pinned.append(size)
        return np.empty(size, dtype)


@pytest.fixture
def card(monkeypatch):
    found = Card()
    monkeypatch.setattr(transfer, "PINNED", transfer.Pool(lambda cuda, size: cuda.pinned_array(size, np.uint8)))
    return found


def test_pinned_memory_goes_back_with_its_last_view(card):
    array = transfer.pinned_empty(card, (1000, 7), np.float64)
    assert array.shape == (1000, 7) and array.dtype == np.float64 and array.flags.writeable
    view = array[3:5, ::2]
    view[...] = 1.0
    del array
    other = transfer.pinned_empty(card, (1000, 7), np.float64)
    other[...] = 2.0
    assert (view == 1.0).all() and card.pinned == [1 << 16, 1 << 16]  # 56 kB, rounded up
    del view, other
    gc.collect()
    again = [transfer.pinned_empty(card, (900, 7), np.float64) for _ in range(2)]
    assert len(card.pinned) == 2 and not np.may_share_memory(*again)


def test_no_more_than_so_much_is_kept(card, monkeypatch):
    monkeypatch.setattr(transfer, "KEPT", 1 << 15)
    for _ in range(2):
        transfer.pinned_empty(card, (1 << 16,), np.uint8)
        gc.collect()
    assert card.pinned == [1 << 16, 1 << 16]


def test_a_card_array_is_one_by_its_interface():
    array = transfer.CardArray(4096, (2, 3), np.dtype(np.float64))
    interface = array.__cuda_array_interface__
    assert interface["data"] == (4096, False) and interface["shape"] == (2, 3) and interface["typestr"] == "<f8"
    assert array.ndim == 2 and array.flags["C_CONTIGUOUS"]


def test_rows_are_copied_on_all_cores(rng):
    array = rng.random((200_000, 3))
    np.testing.assert_array_equal(transfer.copied(array, np.empty_like(array)), array)
