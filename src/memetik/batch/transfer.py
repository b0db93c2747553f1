"""Memory on a graphics card, and pinned memory, from and to which the driver copies at full speed.

Pinning memory takes longer than copying it, and asking the device for memory takes as long as a small batch, so both are kept
for the next batch.
"""

from __future__ import annotations

import ctypes
import math
import os
import threading
import weakref
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from memetik.kernels.cuda.launch_record import SIMULATED
from memetik.parallel import in_parts

MOST_KEPT = 4 << 30  # bytes of each kind of memory that are kept for the next batch: what a million whole bodies take
LINE = 256  # bytes at which arrays begin
SMALL = 1 << 20  # bytes of a block that is worth keeping, and whose answers are copied

Fields = Mapping[str, tuple[tuple[int, ...], Any]]  # shape and dtype of each


def _kept() -> int:
    """At most an eighth of the memory of the machine: what is pinned is taken from all others."""
    pages = os.sysconf("SC_PHYS_PAGES") if "SC_PHYS_PAGES" in getattr(os, "sysconf_names", {}) else 1 << 21
    return min(MOST_KEPT, 4096 * pages // 8)


KEPT = _kept()


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
ON_DEVICE = Pool(lambda cuda, size: cuda.device_array(size, np.uint8))


_in_use: dict[int, int] = {}  # where pinned memory that somebody uses begins and ends


def pinned_empty(cuda: Any, shape: tuple[int, ...], dtype: Any) -> NDArray[Any]:
    """An array in pinned memory, which goes back to the pool with the last view of it."""
    size = math.prod(shape) * np.dtype(dtype).itemsize
    memory = PINNED.take(cuda, size)
    begin = memory.ctypes.data
    holder = (ctypes.c_uint8 * size).from_address(begin)
    _in_use[begin] = begin + size
    weakref.finalize(holder, _let_go, memory, begin).atexit = False
    return np.frombuffer(holder, dtype=dtype).reshape(shape)


def _let_go(memory: Any, begin: int) -> None:
    del _in_use[begin]
    PINNED.give_back(memory)


def is_pinned(array: NDArray[Any]) -> bool:
    """Whether an array lies in one piece in pinned memory of ours, from which it can be sent as it is."""
    at = array.ctypes.data
    return array.flags.c_contiguous and any(begin <= at < end for begin, end in tuple(_in_use.items()))


class CardArray(NamedTuple):
    """An array on the device by its address."""

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

    def rows(self, begin: int, end: int) -> CardArray:
        """Some of its rows."""
        size = math.prod(self.shape[1:]) * self.dtype.itemsize
        return CardArray(self.address + begin * size, (end - begin, *self.shape[1:]), self.dtype)

    def flat(self, size: int) -> CardArray:
        """Its first items, one after another."""
        return CardArray(self.address, (size,), self.dtype)

    def like(self, dtype: Any) -> CardArray:
        """The same memory as items of another kind of the same size."""
        return CardArray(self.address, self.shape, np.dtype(dtype))

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        return {
            "shape": self.shape, "typestr": self.dtype.str, "data": (self.address, False), "strides": None, "version": 3,
        }  # fmt: skip


class CardMemory:
    """Arrays in one piece of memory on the device; in the simulator, which has one memory only, in that."""

    def __init__(self, cuda: Any, fields: Fields, mapped: bool = False) -> None:
        self._begins, self.size = {}, LINE
        for name, (shape, dtype) in fields.items():
            self._begins[name] = self.size - LINE
            self.size += -(-math.prod(shape) * np.dtype(dtype).itemsize // LINE) * LINE
        self._there: Any
        self._mapped = mapped and not SIMULATED
        if self._mapped:
            self._there = pinned_empty(cuda, (self.size,), np.uint8)
            self.device: dict[str, Any] = self._addresses(self._there.ctypes.data, fields)
        elif SIMULATED:
            self._there = np.zeros(self.size, dtype=np.uint8)
            self.device = self._cut(self._there, fields)
        else:
            self._there = ON_DEVICE.take(cuda, self.size)
            weakref.finalize(self, ON_DEVICE.give_back, self._there).atexit = False
            self.device = self._addresses(self._there.device_ctypes_pointer.value, fields)

    def _addresses(self, base: int, fields: Fields) -> dict[str, CardArray]:
        """The fields by their addresses in memory that begins at `base`."""
        return {
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
    """Arrays on the device, and the same arrays in pinned memory, `host`; in the simulator both are one.

    So they are where the block is `mapped`: the device reads and writes pinned memory itself. For a few rows that takes less time
    than to copy them there and back.
    """

    def __init__(self, cuda: Any, fields: Fields, key: Any = None, mapped: bool = False) -> None:
        super().__init__(cuda, fields, mapped)
        one = SIMULATED or self._mapped
        memory = self._there if one else pinned_empty(cuda, (self.size,), np.uint8)
        self.key = key  # by which its owner finds it again
        self.host = self._cut(memory, fields)
        self.filled: Any = None  # what its tables were last filled with, if their owner wants to know
        self.records: Any = ()  # the same as records
        self.scratch: CardMemory | None = None  # of which they speak
        self.stream, self.events = cuda.stream(), (cuda.event(), cuda.event())
        self._memory, self._copied = memory, not one
        self._cuda = cuda
        self._parts: dict[tuple[str, str | None], tuple[int, int, int]] = {}

    def send(self, first: str, last: str | None, stream: Any = None) -> None:
        """Copy fields to the device, from one to before another one, on a stream, its own unless given."""
        if self._copied:
            here, there, size = self._part(first, last)
            send(self._cuda, here, there, size, stream or self.stream)

    def fetch(self, first: str, last: str | None, stream: Any = None) -> None:
        """Copy fields from the device, from one to before another one."""
        if self._copied:
            here, there, size = self._part(first, last)
            fetch(self._cuda, here, there, size, stream or self.stream)

    def _part(self, first: str, last: str | None) -> tuple[int, int, int]:
        if (first, last) not in self._parts:
            begin, end = self._begins[first], self.size - LINE if last is None else self._begins[last]
            there = self._there.device_ctypes_pointer.value
            self._parts[first, last] = self._memory.ctypes.data + begin, there + begin, end - begin
        return self._parts[first, last]


def send(cuda: Any, here: int, there: int, size: int, stream: Any) -> None:
    """Copy so many bytes of pinned memory to the device, from one address to another. An array's own way takes 90 us."""
    cuda.driver.driver.cuMemcpyHtoDAsync(there, here, size, int(stream.handle))


def fetch(cuda: Any, here: int, there: int, size: int, stream: Any) -> None:
    """Copy so many bytes of the device to pinned memory."""
    cuda.driver.driver.cuMemcpyDtoHAsync(here, there, size, int(stream.handle))


def key_of(fields: Fields) -> tuple[Any, ...]:
    """By what a block can be found again."""
    return tuple((name, *kind) for name, kind in fields.items())


def copied(array: NDArray[Any], to: NDArray[Any]) -> NDArray[Any]:
    """Copy an array on all cores."""
    in_parts(lambda part: np.copyto(to[part], array[part]), len(array))
    return to
