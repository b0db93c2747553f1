"""Records: named tuples of arrays and numbers, declared once, which cross from Python into a kernel as one table.

    class Settings(NamedTuple):
        damping: float                      # lambda
        memory: Array = floats("n", "n")    # what the method keeps from step to step

A field is a number (int, float, bool), an array with its shape, or another record. From the declaration come the arrays
themselves (`allocate`), the table (`table_of`), its reader inside kernels (`reader`), and the type for signatures of
function pointers (`numba_type`).

Numba looks at every array that crosses from Python into a kernel, for 0.05 to 0.2 us each and far longer when the caches
are cold; a table is one array of 64-bit words: the bits of each number, the address and the shape of each array. Whoever
makes a table keeps its arrays alive as long as it is used. A kernel may read the first record of a record from its table.
"""

import functools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias, TypeVar, get_type_hints

import numba
import numpy as np
from numba.core import cgutils, types
from numba.extending import intrinsic
from numba.np.arrayobj import populate_array

from memetik.kernels.compiler.jit import COMPILED

Array: TypeAlias = Any  # an array field; its type stands in its declaration
R = TypeVar("R", bound=tuple[Any, ...])

LINE = 64  # bytes of a cache line, at which arrays begin


class Backend(NamedTuple):
    """What a compiler of Numba builds records with. The one for graphics cards has its own (kernels/cuda/table.py)."""

    types: Any
    from_dtype: Callable[[Any], Any]
    cgutils: Any
    populate_array: Callable[..., Any]
    intrinsic: Callable[..., Any]


PROCESSOR = Backend(types, numba.from_dtype, cgutils, populate_array, intrinsic)


class ArrayField(NamedTuple):
    """The declaration of an array: what it holds, and its shape, in numbers and in names of sizes."""

    dtype: np.dtype[Any]
    shape: tuple[int | str, ...]


def item(**fields: Any) -> np.dtype[Any]:
    """The type of structured items, whose fields kernels read and write by name; int and float are those of 64 bits.

    Fields are aligned: a graphics card reads one that is not byte by byte.
    """
    return np.dtype((np.record, np.dtype([(name, np.dtype(kind)) for name, kind in fields.items()], align=True)))


def records(dtype: Any, *shape: int | str) -> Any:
    """An array of structured items."""
    return ArrayField(np.dtype(dtype), shape)


def floats(*shape: int | str) -> Any:
    """An array of float64."""
    return records(np.float64, *shape)


def integers(*shape: int | str) -> Any:
    """An array of int64."""
    return records(np.int64, *shape)


def counters(*shape: int | str) -> Any:
    """An array of uint64."""
    return records(np.uint64, *shape)


def flags(*shape: int | str) -> Any:
    """An array of bytes, 0 or 1."""
    return records(np.uint8, *shape)


@functools.cache
def fields(kind: Any) -> dict[str, Any]:
    """What each field of a record is: int, float, bool, an ArrayField or another record."""
    hints = get_type_hints(kind)
    return {name: kind._field_defaults.get(name, hints[name]) for name in kind._fields}


@functools.cache
def numba_type(kind: Any, backend: Backend = PROCESSOR) -> Any:
    """The type that Numba gives a record."""
    types = backend.types
    if isinstance(kind, ArrayField):
        return types.Array(backend.from_dtype(kind.dtype), len(kind.shape), "C")
    numbers = {int: types.int64, float: types.float64, bool: types.boolean}
    return numbers.get(kind) or types.NamedTuple([numba_type(field, backend) for field in fields(kind).values()], kind)


def allocate(kind: type[R], sizes: Mapping[str, int], /, **given: Any) -> R:
    """A record with arrays of zeros; `given` are numbers, also of records in it, and fields that exist already."""
    shapes = {
        name: tuple(sizes[size] if isinstance(size, str) else size for size in field.shape)
        for name, field in fields(kind).items()
        if isinstance(field, ArrayField) and name not in given
    }
    lengths = {name: math.prod(shape) * fields(kind)[name].dtype.itemsize for name, shape in shapes.items()}
    buffer = np.zeros(sum(-(-length // LINE) * LINE for length in lengths.values()) + LINE, dtype=np.uint8)
    at = -buffer.ctypes.data % LINE
    values = {}
    for name, field in fields(kind).items():
        if name in given:
            values[name] = given[name]
        elif isinstance(field, ArrayField):
            values[name] = buffer[at : at + lengths[name]].view(field.dtype).reshape(shapes[name])
            at += -(-lengths[name] // LINE) * LINE
        else:
            values[name] = allocate(field, sizes, **given)
    return kind(**values)


def table_of(record: Any) -> Any:
    """The table of a record; without the compiler, the record itself."""
    return np.fromiter(words(record), dtype=np.int64) if COMPILED else record


def words(record: Any, known: Mapping[int, Sequence[int]] | None = None) -> Iterator[int]:
    """The words of the table of a record, one after another; `known` are those of records in it, by their id."""
    kind: Any = type(record)
    for (name, field), value in zip(fields(kind).items(), record, strict=True):
        if isinstance(field, ArrayField):
            address = getattr(value, "address", None)  # of an array on a graphics card, which is in one piece
            in_order = address is not None or value.flags["C_CONTIGUOUS"]
            if value.dtype != field.dtype or len(value.shape) != len(field.shape) or not in_order:
                raise TypeError(f"{kind.__name__}.{name} is {value.dtype} {value.shape}, not {field}")
            # Not by `__array_interface__`, where NumPy calls Python and ignores what a signal handler raises meanwhile.
            yield address if address is not None else value.ctypes.data or 0
            yield from value.shape
        elif field is float:
            yield int(np.float64(value).view(np.int64))
        elif field in (int, bool):
            yield int(value)
        elif known and id(value) in known:
            yield from known[id(value)]
        else:
            yield from words(value, known)


def reader(kind: Any) -> Any:
    """A function for kernels, table -> record."""
    if not COMPILED:
        return functools.partial(first_record, kind)
    result, table = numba_type(kind), types.Array(types.int64, 1, "C")

    def code(context, builder, signature, args):
        words = context.make_array(table)(context, builder, args[0]).data
        return _load(context, builder, PROCESSOR, result, words, 0)[0]

    @intrinsic
    def read(typing, words):
        return result(table), code

    return read


def reader_at(kind: Any, backend: Backend) -> Any:
    """A function for kernels of a compiler, address of a table -> record."""
    result = numba_type(kind, backend)

    def code(context, builder, signature, args):
        words = builder.inttoptr(args[0], context.get_data_type(backend.types.int64).as_pointer())
        return _load(context, builder, backend, result, words, 0)[0]

    @backend.intrinsic
    def read(typing, address):
        return result(backend.types.int64), code

    return read


def first_record(kind: Any, record: Any) -> Any:
    """The record of a kind with which another one begins: what a reader gives where nothing is compiled."""
    while not isinstance(record, kind):
        record = record[0]
    return record


def _load(context: Any, builder: Any, backend: Backend, kind: Any, words: Any, at: int) -> tuple[Any, int]:
    """Code for the value that begins at a word of the table, and where the next one begins."""
    types, cgutils = backend.types, backend.cgutils

    def word(k):
        return builder.load(builder.gep(words, [context.get_constant(types.intp, k)]))

    if isinstance(kind, types.NamedTuple):
        values = []
        for field in kind.types:
            value, at = _load(context, builder, backend, field, words, at)
            values.append(value)
        return context.make_tuple(builder, kind, values), at
    if not isinstance(kind, types.Array):
        if kind == types.float64:
            return builder.bitcast(word(at), context.get_value_type(kind)), at + 1
        return (word(at) if kind == types.int64 else cgutils.is_not_null(builder, word(at))), at + 1
    data_type = context.get_data_type(kind.dtype)
    itemsize = context.get_constant(types.intp, context.get_abi_sizeof(data_type))
    shape = [word(at + 1 + d) for d in range(kind.ndim)]
    strides = [itemsize]
    for size in shape[:0:-1]:
        strides.insert(0, builder.mul(size, strides[0]))
    array = context.make_array(kind)(context, builder)
    backend.populate_array(
        array,
        data=builder.inttoptr(word(at), data_type.as_pointer()),
        shape=cgutils.pack_array(builder, shape),
        strides=cgutils.pack_array(builder, strides),
        itemsize=itemsize,
        meminfo=None,
    )
    return array._getvalue(), at + 1 + kind.ndim
