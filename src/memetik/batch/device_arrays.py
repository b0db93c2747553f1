"""Arrays in the memory of a graphics card: those of others (PyTorch, CuPy, JAX, Numba), and ours for them.

Both ways go by the CUDA array interface and by DLPack; nothing is copied. DLPack is asked first, because it has the default
stream wait for the one on which an array is being computed.
"""

from __future__ import annotations

import ctypes
import importlib
import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from memetik.errors import ProblemError, TruthError, shown
from memetik.kernels.cuda.launch_record import SIMULATED

CUDA, MANAGED = 2, 13  # kinds of memory that a device reads, as DLPack numbers them
DEFAULT_STREAM = 1  # as DLPack numbers it
_CODES = {"i": 0, "u": 1, "f": 2, "b": 6}
_FLOAT = 2
_NAME = b"dltensor"


class Given(NamedTuple):
    """Somebody's array on the device."""

    address: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]  # in items
    single: bool  # float32, not float64
    stream: int | None  # on which it is being computed, if not on the default stream
    owner: Any  # keeps the memory


def is_on_device(value: Any) -> bool:
    """Whether a value says that it is an array in the memory of a device."""
    if value is None or isinstance(value, (np.ndarray, list, tuple)):
        return False
    device = getattr(type(value), "__dlpack_device__", None)
    if device is not None:
        return int(value.__dlpack_device__()[0]) in (CUDA, MANAGED)
    return getattr(value, "__cuda_array_interface__", None) is not None


def given_array(value: Any, what: str, device: int) -> Given:
    """An array on the device as its owner describes it. `what` it is, for messages; `device` is ours."""
    if hasattr(type(value), "__dlpack_device__") and hasattr(type(value), "__dlpack__"):
        number = int(value.__dlpack_device__()[1])
        if number != device:
            raise ProblemError(
                f"{what}: the array is on card {number}, but card {device} is in use. Move it there, or select its card with "
                "numba.cuda.select_device."
            )
        return _from_dlpack(value, what)
    interface = value.__cuda_array_interface__
    dtype, shape = np.dtype(interface["typestr"]), tuple(interface["shape"])
    strides = interface.get("strides")
    steps = _compact(shape) if strides is None else tuple(step // dtype.itemsize for step in strides)
    return Given(interface["data"][0], shape, steps, _is_single(dtype, what), interface.get("stream"), value)


def _is_single(dtype: np.dtype[Any], what: str) -> bool:
    if dtype not in (np.dtype(np.float32), np.dtype(np.float64)):
        raise ProblemError(f"{what}: the array on the card has dtype {dtype}. Give float64, or float32.")
    return dtype.itemsize == 4


def _compact(shape: tuple[int, ...]) -> tuple[int, ...]:
    """Strides of an array whose items follow one another, in items."""
    return tuple(math.prod(shape[k + 1 :]) for k in range(len(shape)))


# ---- DLPack ----------------------------------------------------------------------------------------------------


class _Tensor(ctypes.Structure):
    _fields_ = (
        ("data", ctypes.c_void_p), ("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32), ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)), ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    )  # fmt: skip


class _Managed(ctypes.Structure):
    _fields_ = (("tensor", _Tensor), ("context", ctypes.c_void_p), ("deleter", ctypes.c_void_p))


_python = ctypes.pythonapi
_pointer_of = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(("PyCapsule_GetPointer", _python))
_new_capsule = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)(
    ("PyCapsule_New", _python)
)
_is_unused = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_char_p)(("PyCapsule_IsValid", _python))
_pointer_in = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_char_p)(("PyCapsule_GetPointer", _python))


def _from_dlpack(value: Any, what: str) -> Given:
    try:
        capsule = value.__dlpack__(stream=DEFAULT_STREAM)
        tensor = _Managed.from_address(_pointer_of(capsule, _NAME)).tensor
    except Exception as reason:  # a tensor that needs gradients, or whatever its library will not export
        raise ProblemError(f"{what}: {type(value).__name__} does not give its memory: {reason}") from reason
    shape = tuple(tensor.shape[k] for k in range(tensor.ndim))
    steps = tuple(tensor.strides[k] for k in range(tensor.ndim)) if tensor.strides else _compact(shape)
    if tensor.code != _FLOAT or tensor.bits not in (32, 64) or tensor.lanes != 1:
        raise ProblemError(f"{what}: the array on the card is not of float64 or float32. Convert it first.")
    return Given((tensor.data or 0) + tensor.byte_offset, shape, steps, tensor.bits == 32, None, (value, capsule))


_exported: dict[int, Any] = {}  # what others still use


def _delete(managed: int) -> None:
    _exported.pop(managed, None)


def _drop(capsule: int) -> None:
    if _is_unused(capsule, _NAME):  # nobody took it
        _delete(_pointer_in(capsule, _NAME))


_deleter = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(_delete)
_dropper = ctypes.PYFUNCTYPE(None, ctypes.c_void_p)(_drop)


class DeviceArray:
    """An array in the memory of a graphics card, complete when you get it.

    `torch.from_dlpack(a)`, `cupy.from_dlpack(a)`, `jax.dlpack.from_dlpack(a)` and `numba.cuda.as_cuda_array(a)` see the same
    memory, which lives as long as anybody uses it. `a.numpy()` copies it.
    """

    __slots__ = ("_address", "_device_index", "_memory", "dtype", "shape", "strides")

    def __init__(
        self, memory: Any, address: int, shape: tuple[int, ...], dtype: Any, device_index: int = 0,
        strides: tuple[int, ...] | None = None,
    ) -> None:  # fmt: skip
        self._memory, self._address, self._device_index = memory, address, device_index
        self.shape, self.dtype = shape, np.dtype(dtype)
        self.strides = strides or tuple(step * self.dtype.itemsize for step in _compact(shape))  # bytes

    @property
    def ndim(self) -> int:
        """How many axes it has."""
        return len(self.shape)

    def __len__(self) -> int:
        return self.shape[0]

    def __repr__(self) -> str:
        return f"<DeviceArray {self.shape} {self.dtype}>"

    def __bool__(self) -> bool:
        raise TruthError("an array on a graphics card is neither true nor false. Copy it first: array.numpy().")

    def __array__(self, *args: Any, **kwargs: Any) -> NDArray[Any]:
        raise TruthError("an array on a graphics card is not copied unasked. Write array.numpy().")

    def column(self, begin: int, end: int | None = None) -> DeviceArray:
        """Columns of a matrix, or one as a vector, in the same memory."""
        row, step = self.strides
        place = self._address + begin * step
        if end is None:
            return DeviceArray(self._memory, place, self.shape[:1], self.dtype, self._device_index, (row,))
        return DeviceArray(
            self._memory, place, (self.shape[0], end - begin), self.dtype, self._device_index, (row, step)
        )

    def numpy(self) -> NDArray[Any]:
        """A copy in the memory of the processor."""
        span = (
            1 + sum((size - 1) * step for size, step in zip(self.shape, self.strides, strict=True)) if len(self) else 0
        )
        size = span - 1 + self.dtype.itemsize if span else 0
        here = np.empty(size, dtype=np.uint8)
        if size and SIMULATED:
            ctypes.memmove(here.ctypes.data, self._address, size)
        elif size:
            cuda: Any = importlib.import_module("numba.cuda")
            cuda.current_context()
            cuda.driver.driver.cuMemcpyDtoH(here.ctypes.data, self._address, size)
        view: NDArray[Any] = np.ndarray(self.shape, self.dtype, here.data if size else None, 0, self.strides)
        return np.ascontiguousarray(view)

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        return {
            "shape": self.shape, "typestr": self.dtype.str, "data": (self._address, False), "strides": self.strides,
            "version": 3, "stream": None,
        }  # fmt: skip

    def __dlpack_device__(self) -> tuple[int, int]:
        return CUDA, self._device_index

    def __dlpack__(
        self, *, stream: Any = None, max_version: Any = None, dl_device: Any = None, copy: Any = None
    ) -> Any:
        """A capsule for `from_dlpack`; all work on the array is done, so no stream has to wait."""
        if copy:
            raise BufferError("memetik: a copy is made by array.numpy(), or by the library that takes the array.")
        if dl_device is not None and tuple(dl_device) != self.__dlpack_device__():
            raise BufferError(f"memetik: the array is on card {self._device_index}, not on {shown(dl_device)}.")
        size, item = len(self.shape), self.dtype.itemsize
        shape = (ctypes.c_int64 * size)(*self.shape)
        steps = (ctypes.c_int64 * size)(*(step // item for step in self.strides))
        tensor = _Tensor(
            self._address, CUDA, self._device_index, size, _CODES[self.dtype.kind], 8 * item, 1,
            ctypes.cast(shape, ctypes.POINTER(ctypes.c_int64)), ctypes.cast(steps, ctypes.POINTER(ctypes.c_int64)), 0,
        )  # fmt: skip
        managed = _Managed(tensor, None, ctypes.cast(_deleter, ctypes.c_void_p).value)
        place = ctypes.addressof(managed)
        _exported[place] = managed, shape, steps, self._memory
        return _new_capsule(place, _NAME, ctypes.cast(_dropper, ctypes.c_void_p).value)
