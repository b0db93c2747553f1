"""Integers that threads share: each is read, written, counted up or lowered in one act, in an order that all agree on.

Compiled only; plain Python has one thread at a time, and so do kernels that run in it.
"""

from numba.core import types
from numba.extending import lower_builtin, type_callable
from numba.np.arrayobj import make_array

ORDER, ALIGNMENT = "seq_cst", 8


def read_shared(places, k):
    """places[k]"""
    return places[k]


def write_shared(places, k, value):
    """places[k] = value"""
    places[k] = value


def count_shared(places, k, amount):
    """places[k] += amount; returns what it was before."""
    before = places[k]
    places[k] = before + amount
    return before


def lower_shared(places, k, value):
    """places[k] = min(places[k], value)"""
    places[k] = min(places[k], value)


@type_callable(read_shared)
def _type_read(context):
    return lambda places, k: types.int64


@type_callable(write_shared)
@type_callable(lower_shared)
def _type_write(context):
    return lambda places, k, value: types.none


@type_callable(count_shared)
def _type_count(context):
    return lambda places, k, amount: types.int64


def _operands(context, builder, signature, arguments):
    """The address of places[k], and what else there is, as integers of 64 bits."""
    places = make_array(signature.args[0])(context, builder, arguments[0])
    k, *rest = (
        context.cast(builder, value, kind, types.int64)
        for value, kind in zip(arguments[1:], signature.args[1:], strict=True)
    )
    return builder.gep(places.data, [k]), *rest


@lower_builtin(read_shared, types.Array, types.Integer)
def _read(context, builder, signature, arguments):
    (address,) = _operands(context, builder, signature, arguments)
    return builder.load_atomic(address, ORDER, ALIGNMENT)


@lower_builtin(write_shared, types.Array, types.Integer, types.Integer)
def _write(context, builder, signature, arguments):
    address, value = _operands(context, builder, signature, arguments)
    builder.store_atomic(value, address, ORDER, ALIGNMENT)
    return context.get_dummy_value()


@lower_builtin(count_shared, types.Array, types.Integer, types.Integer)
def _count(context, builder, signature, arguments):
    address, amount = _operands(context, builder, signature, arguments)
    return builder.atomic_rmw("add", address, amount, ORDER)


@lower_builtin(lower_shared, types.Array, types.Integer, types.Integer)
def _lower(context, builder, signature, arguments):
    address, value = _operands(context, builder, signature, arguments)
    builder.atomic_rmw("min", address, value, ORDER)
    return context.get_dummy_value()
