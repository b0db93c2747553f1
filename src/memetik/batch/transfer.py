"""Memory on a graphics card, and pinned memory, from and to which the driver copies at full speed.

To pin memory takes longer than to copy it, and to ask the card for memory as long as a small batch; so both are kept for the next
batch.
"""

from __future__ import annotations

import ctypes
import math
import threading
import weakref
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from memetik.kernels.cuda.record import SIMULATED
from memetik.parallel import in_parts

KEPT = 1 << 30  # bytes of each kind of memory that are kept for the next batch
LINE = 256  # bytes at which arrays begin

Fields = Mapping[str, tuple[tuple[int, ...], Any]]  # shape and dtype of each


class Pool:
    """Memory in sizes that are powers of two, for whoever takes it."""

    def __init__(self, make: Callable[[Any, int], Any]) -> None:
        self._make = make
        self._lock = threading.Lock()
        self._free: dict[int, list[Any]] = {}
        self._kept = 0

    def take(self, cuda: Any, size: int) -> Any:
        """At least so many bytes."""
        size = 1 << max(size - 1, LINE - 1).bit_length()
        with self._lock:
            if self._free.get(size):
                self._kept -= size
                return self._free[size].pop()
        return self._make(cuda, size)

    def give_back(self, memory: Any) -> None:
        """It can be taken again; beyond what is kept it is let go."""
        size = int(memory.size)
        with self._lock:
            if self._kept + size <= KEPT:
                self._kept += size
                self._free.setdefault(size, []).append(memory)


PINNED = Pool(lambda cuda, size: cuda.pinned_array(size, np.uint8))
ON_CARD = Pool(lambda cuda, size: cuda.device_array(size, np.uint8))


def pinned_empty(cuda: Any, shape: tuple[int, ...], dtype: Any) -> NDArray[Any]:
    """An array in pinned memory, which goes back to the pool with the last view of it."""
    size = math.prod(shape) * np.dtype(dtype).itemsize
    memory = PINNED.take(cuda, size)
    holder = (ctypes.c_uint8 * size).from_address(memory.ctypes.data)
    weakref.finalize(holder, PINNED.give_back, memory).atexit = False
    return np.frombuffer(holder, dtype=dtype).reshape(shape)


class CardArray(NamedTuple):
    """An array on the card by its address."""

    address: int
    shape: tuple[int, ...]
    dtype: np.dtype[Any]

    @property
    def ndim(self) -> int:
        """How many axes it has."""
        return len(self.shape)

    @property
    def flags(self) -> dict[str, bool]:
        """Its items follow one another."""
        return {"C_CONTIGUOUS": True}

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        return {
            "shape": self.shape, "typestr": self.dtype.str, "data": (self.address, False), "strides": None, "version": 3,
        }  # fmt: skip


class CardMemory:
    """Arrays in one piece of memory on the card; in the simulator, which has one memory only, in that."""

    def __init__(self, cuda: Any, fields: Fields) -> None:
        self._begins, self.size = {}, LINE
        for name, (shape, dtype) in fields.items():
            self._begins[name] = self.size - LINE
            self.size += -(-math.prod(shape) * np.dtype(dtype).itemsize // LINE) * LINE
        self._there: Any
        if SIMULATED:
            self._there = np.zeros(self.size, dtype=np.uint8)
            self.card: dict[str, Any] = self._cut(self._there, fields)
        else:
            self._there = ON_CARD.take(cuda, self.size)
            weakref.finalize(self, ON_CARD.give_back, self._there).atexit = False
            base = self._there.device_ctypes_pointer.value
            self.card = {
                name: CardArray(base + self._begins[name], shape, np.dtype(dtype))
                for name, (shape, dtype) in fields.items()
            }

    def _cut(self, memory: NDArray[np.uint8], fields: Fields) -> dict[str, NDArray[Any]]:
        """The fields as arrays in this memory."""
        found = {}
        for name, (shape, dtype) in fields.items():
            begin = self._begins[name]
            found[name] = memory[begin : begin + math.prod(shape) * np.dtype(dtype).itemsize].view(dtype).reshape(shape)
        return found


class Block(CardMemory):
    """Arrays on the card, and the same arrays in pinned memory, `host`; in the simulator both are one."""

    def __init__(self, cuda: Any, fields: Fields) -> None:
        super().__init__(cuda, fields)
        memory = self._there if SIMULATED else pinned_empty(cuda, (self.size,), np.uint8)
        self.key = key_of(fields)
        self.host = self._cut(memory, fields)
        self.filled: Any = None  # what the host's part was last filled with, if its owner wants to know
        self.stream, self.events = cuda.stream(), (cuda.event(), cuda.event())
        self._memory = memory
        self._driver: Any = None if SIMULATED else cuda.driver  # an array's own way to copy takes 90 us
        self._parts: dict[tuple[int, int], tuple[Any, Any, int]] = {}

    def send(self, first: str, last: str | None, stream: Any) -> None:
        """Copy fields to the card, from one to before another one."""
        if not SIMULATED:
            here, there, size = self._part(first, last)
            self._driver.host_to_device(there, here, size, stream)

    def fetch(self, first: str, last: str | None, stream: Any) -> None:
        """Copy fields from the card, from one to before another one."""
        if not SIMULATED:
            here, there, size = self._part(first, last)
            self._driver.device_to_host(here, there, size, stream)

    def _part(self, first: str, last: str | None) -> tuple[Any, Any, int]:
        begin, end = self._begins[first], self.size - LINE if last is None else self._begins[last]
        if (begin, end) not in self._parts:
            self._parts[begin, end] = self._memory[begin:end], self._there.gpu_data.view(begin, end), end - begin
        return self._parts[begin, end]


def key_of(fields: Fields) -> tuple[Any, ...]:
    """By what a block can be found again."""
    return tuple((name, *kind) for name, kind in fields.items())


def copied(array: NDArray[Any], to: NDArray[Any]) -> NDArray[Any]:
    """Copy an array on all cores."""
    in_parts(lambda part: np.copyto(to[part], array[part]), len(array))
    return to
