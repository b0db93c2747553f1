"""Parts of a flat array as arrays of their own.

A slice knows steps and negative ends, a change of shape looks for copies; where many arrays are cut out of one, compiling
that takes longer than what is done with them. To Numba a cut is an address and a shape; nothing is checked.
"""

from __future__ import annotations

from numba.core import types
from numba.extending import lower_builtin, type_callable
from numba.np.arrayobj import make_array, populate_array


def cut_vector(whole, at, count):
    """`count` items from `at` on."""
    return whole[at : at + count]


def cut_matrix(whole, at, rows, columns):
    """Rows by columns of the items from `at` on."""
    return whole[at : at + rows * columns].reshape((rows, columns))


@type_callable(cut_vector)
def _type_vector(context):
    def result(whole, at, count):
        return whole

    return result


@type_callable(cut_matrix)
def _type_matrix(context):
    def result(whole, at, rows, columns):
        return whole.copy(ndim=2)

    return result


@lower_builtin(cut_vector, types.Array, types.Integer, types.Integer)
@lower_builtin(cut_matrix, types.Array, types.Integer, types.Integer, types.Integer)
def _code(context, builder, signature, arguments):
    whole = make_array(signature.args[0])(context, builder, arguments[0])
    part = make_array(signature.return_type)(context, builder)
    at, *shape = (
        context.cast(builder, value, kind, types.intp)
        for value, kind in zip(arguments[1:], signature.args[1:], strict=True)
    )
    size = context.get_constant(types.intp, context.get_abi_sizeof(context.get_data_type(signature.args[0].dtype)))
    populate_array(
        part,
        data=builder.gep(whole.data, [at]),
        shape=shape,
        strides=[size] if len(shape) == 1 else [builder.mul(shape[1], size), size],
        itemsize=size,
        meminfo=None,  # who cuts keeps the whole alive
    )
    return part._getvalue()
