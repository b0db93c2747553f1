"""Late-bound calls: kernels call objectives and local searches by address, so each is compiled alone and at need.

A direct call would compile every objective into every solver, whether used or not. An address costs a few nanoseconds
a call, keeps the time to the first solution short, and lets users add objectives without anything being compiled again.
"""

from __future__ import annotations

import functools
from typing import Any

import numba
from numba.core import types
from numba.extending import intrinsic

from memetik.kernels.body.records import FRAME, NODE
from memetik.kernels.compiler.jit import COMPILED
from memetik.kernels.problem.workspace import DIMENSIONS, Workspace
from memetik.kernels.terms.records import TERM

_VECTOR, _MATRIX = types.float64[::1], types.float64[:, ::1]
_NODES, _FRAMES, _TERMS = (numba.from_dtype(dtype)[::1] for dtype in (NODE, FRAME, TERM))
_TERM = numba.from_dtype(TERM)

# (term, data, world, x, out)
RESIDUAL = types.void(_TERM, _VECTOR, _MATRIX, _VECTOR, _VECTOR)
# (term, data, world, x, nodes, frames, poses, axes, scale, jacobian)
JACOBIAN = types.void(_TERM, _VECTOR, _MATRIX, _VECTOR, _NODES, _FRAMES, _MATRIX, _MATRIX, types.float64, _MATRIX)
# (problem, x, most, deadline, clock, outcome, work): one attempt of a local search, true if it satisfied all terms
_PROBLEM = types.Tuple((_NODES, _FRAMES, _TERMS, _VECTOR, _MATRIX, types.int64[:, ::1]))
_WORK = types.NamedTuple(tuple(_MATRIX if d == 2 else _VECTOR for d in DIMENSIONS), Workspace)
ATTEMPT = types.boolean(_PROBLEM, _VECTOR, types.int64, types.float64, types.int64[::1], _VECTOR, _WORK)
# (problem, x, seed, most, deadline, parameters, places, room, clock, state, outcome, work): the search of a method
SEARCH = types.void(
    _PROBLEM, _VECTOR, types.int64, types.int64, types.float64, _VECTOR, types.int64[::1], _VECTOR, types.int64[::1],
    types.uint64[::1], _VECTOR, _WORK,
)  # fmt: skip
# (problem, x, softness, error, parameters, room, work): one step of an iteration, false if it leads nowhere
STEP = types.boolean(_PROBLEM, _VECTOR, types.float64, types.float64, _VECTOR, _VECTOR, _WORK)
# (table, q, outcome, seed, most, seconds): one stage of a solve (memetic/stages.py), the status of the answer in q
STAGE = types.int64(types.int64[::1], _VECTOR, _VECTOR, types.int64, types.int64, types.float64)

_python: list[Any] = [None]  # without the compiler, an address is a place in this list; none is at zero


def address(kernel: Any, signature: Any) -> int:
    """Compile a kernel for a signature and return where its machine code is."""
    if not COMPILED:
        if kernel not in _python:
            _python.append(kernel)
        return _python.index(kernel)
    kernel.compile(signature.args)
    result = kernel.overloads[signature.args]
    if result.signature.return_type not in (signature.return_type, types.none):
        raise TypeError(
            f"{kernel.py_func.__name__} returns {result.signature.return_type}, not {signature.return_type}"
        )
    return int(result.library.get_pointer_to_function(result.fndesc.llvm_func_name))


@functools.cache
def search_address(kernel: Any) -> int:
    """Where the search of a method is; Numba takes 0.2 ms to say it again, longer than many a solve."""
    return address(kernel, SEARCH)


@functools.cache
def step_address(kernel: Any) -> int:
    """Where the step of an iteration is."""
    return address(kernel, STEP)


def _call(context, builder, signature, args):
    """Code for a call of args[0], an address, with the other arguments in Numba's own calling convention."""
    returns = types.none if signature.return_type == types.void else signature.return_type
    kind = context.call_conv.get_function_type(returns, signature.args[1:])
    target = builder.inttoptr(args[0], kind.as_pointer())
    _, value = context.call_conv.call_function(builder, target, returns, signature.args[1:], args[1:])
    return context.get_dummy_value() if returns == types.none else value


def _late(signature):
    """The signature of a call by address."""
    return signature.return_type(types.int64, *signature.args)


@intrinsic
def _call_residual(typing, place, term, data, world, x, out):
    return _late(RESIDUAL), _call


@intrinsic
def _call_jacobian(typing, place, term, data, world, x, nodes, frames, poses, axes, scale, jacobian):
    return _late(JACOBIAN), _call


@intrinsic
def _call_attempt(typing, place, problem, x, most, deadline, clock, outcome, work):
    return _late(ATTEMPT), _call


@intrinsic
def _call_search(
    typing, place, problem, x, seed, most, deadline, parameters, places, room, clock, state, outcome, work
):
    return _late(SEARCH), _call


@intrinsic
def _call_step(typing, place, problem, x, softness, error, parameters, room, work):
    return _late(STEP), _call


@intrinsic
def _call_stage(typing, place, table, q, outcome, seed, most, seconds):
    return _late(STAGE), _call


def _python_call() -> Any:
    """A call by address without the compiler; each kind of call is a function of its own."""

    def call(place, *arguments):
        return _python[place](*arguments)

    return call


call_residual: Any = _call_residual if COMPILED else _python_call()
call_jacobian: Any = _call_jacobian if COMPILED else _python_call()
call_attempt: Any = _call_attempt if COMPILED else _python_call()
call_search: Any = _call_search if COMPILED else _python_call()
call_step: Any = _call_step if COMPILED else _python_call()
call_stage: Any = _call_stage if COMPILED else _python_call()
