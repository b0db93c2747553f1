"""Arrays to a graphics card and back.

The driver copies at full speed only from and to memory that stays where it is (pinned). To pin memory takes longer than to copy
it, so some is kept, and what goes through it is copied by all cores.
"""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memetik.parallel import in_parts

SMALL = 1 << 20  # bytes that the driver copies as fast by itself
KEPT = 1 << 30  # bytes of pinned memory that are kept for the next batch

_lock = threading.Lock()
_free: list[NDArray[np.uint8]] = []  # pinned, for whoever takes it


def to_card(cuda: Any, array: NDArray[Any]) -> Any:
    """A copy in the memory of the card."""
    array = np.ascontiguousarray(array)
    if array.nbytes < SMALL:
        return cuda.to_device(array)
    there = cuda.device_array(array.shape, array.dtype)
    pinned, view = _take(cuda, array.shape, array.dtype)
    in_parts(lambda part: np.copyto(view[part], array[part]), len(array))
    there.copy_to_device(view)
    _give_back(pinned)
    return there


def from_card(cuda: Any, there: Any) -> NDArray[Any]:
    """A copy in the memory of the processor."""
    if there.nbytes < SMALL:
        return there.copy_to_host()  # type: ignore[no-any-return]
    array: NDArray[Any] = np.empty(there.shape, there.dtype)
    pinned, view = _take(cuda, there.shape, there.dtype)
    there.copy_to_host(view)
    in_parts(lambda part: np.copyto(array[part], view[part]), len(array))
    _give_back(pinned)
    return array


def _take(cuda: Any, shape: tuple[int, ...], dtype: Any) -> tuple[NDArray[np.uint8], NDArray[Any]]:
    """Pinned memory, and the part of it that holds an array."""
    size = int(np.prod(shape)) * np.dtype(dtype).itemsize
    with _lock:
        fits = [k for k, buffer in enumerate(_free) if buffer.size >= size]
        pinned = _free.pop(min(fits, key=lambda k: _free[k].size)) if fits else None
    if pinned is None:
        pinned = cuda.pinned_array(1 << (size - 1).bit_length(), np.uint8)
    return pinned, pinned[:size].view(dtype).reshape(shape)


def _give_back(pinned: NDArray[np.uint8]) -> None:
    with _lock:
        if sum(buffer.size for buffer in _free) + pinned.size <= KEPT:
            _free.append(pinned)
