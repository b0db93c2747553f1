"""Calls of what users wrote: a compiled function that may raise an exception, and Python itself by a C function."""

import ctypes
from typing import Any

from llvmlite import ir  # type: ignore[import-untyped]
from numba.core import types
from numba.extending import intrinsic

from memetik.kernels.compiler.jit import COMPILED
from memetik.kernels.terms.function_pointers import RESIDUAL, call_residual

# Addresses of the term's data, of the frames, of the variables and of the term's residuals, and how many residuals.
CALLBACK = ctypes.CFUNCTYPE(None, *5 * (ctypes.c_int64,))


@intrinsic
def _call_guarded(typing, place, term, data, world, x, out):
    def code(context, builder, signature, args):
        kind = context.call_conv.get_function_type(types.none, signature.args[1:])
        target = builder.inttoptr(args[0], kind.as_pointer())
        status, _ = context.call_conv.call_function(builder, target, types.none, signature.args[1:], args[1:])
        return status.is_error

    return types.boolean(types.int64, *RESIDUAL.args), code


@intrinsic
def _call_back(typing, place, data, world, x, out, rows):
    def code(context, builder, signature, args):
        kind = ir.FunctionType(ir.VoidType(), [value.type for value in args[1:]])
        builder.call(builder.inttoptr(args[0], kind.as_pointer()), args[1:])
        return context.get_dummy_value()

    return types.void(*6 * (types.int64,)), code


def _call_guarded_in_python(place, *arguments):
    try:
        call_residual(place, *arguments)
    except Exception:
        return True
    return False


def _call_back_in_python(place, *arguments):
    CALLBACK(place)(*arguments)


# (address, term, data, world, x, out): call a residual kernel; whether it raised an exception
call_guarded: Any = _call_guarded if COMPILED else _call_guarded_in_python
# (address, five numbers): call a CALLBACK, which must not let exceptions out
call_back: Any = _call_back if COMPILED else _call_back_in_python
