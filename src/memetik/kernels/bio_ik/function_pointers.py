"""The parts of Bio IK that are called by address: each is compiled once, and gives the same bits to all callers."""

from __future__ import annotations

from typing import Any

from numba.core import types
from numba.extending import intrinsic

from memetik.kernels.compiler.function_pointers import _PROBLEM, _VECTOR, _call, _late, _python_call
from memetik.kernels.compiler.jit import COMPILED
from memetik.kernels.lbfgsb.minimiser import Rules

_PLACES = types.int64[::1]
# (problem, parameters, places, room, worker, weights, x, slopes): the fitness of a posture, with its gradient if slopes is 1
LOOK = types.float64(_PROBLEM, _VECTOR, _PLACES, _VECTOR, types.int64, _VECTOR, _VECTOR, types.int64)
# (problem, parameters, places, room, worker, weights, x, fitness): the gradient there
DIFFERENTIATE = types.void(_PROBLEM, _VECTOR, _PLACES, _VECTOR, types.int64, _VECTOR, _VECTOR, types.float64)
# (problem, parameters, places, room, worker, e, state): exploit elite e
EXPLOIT = types.void(_PROBLEM, _VECTOR, _PLACES, _VECTOR, types.int64, types.int64, types.uint64[::1])
# (rules, f, verdict, x, lower, upper, places, room): L-BFGS-B is told one evaluation, and says why it ends if it does
_RULES = types.NamedTuple((types.int64, types.int64, types.float64, types.float64, types.int64), Rules)
ADVANCE = types.int64(_RULES, types.float64, types.int64, _VECTOR, _VECTOR, _VECTOR, _PLACES, _VECTOR)


@intrinsic
def _call_look(typing, place, problem, parameters, places, room, worker, weights, x, slopes):
    return _late(LOOK), _call


@intrinsic
def _call_differentiate(typing, place, problem, parameters, places, room, worker, weights, x, fitness):
    return _late(DIFFERENTIATE), _call


@intrinsic
def _call_exploit(typing, place, problem, parameters, places, room, worker, e, state):
    return _late(EXPLOIT), _call


@intrinsic
def _call_advance(typing, place, rules, f, verdict, x, lower, upper, places, room):
    return _late(ADVANCE), _call


call_look: Any = _call_look if COMPILED else _python_call()
call_differentiate: Any = _call_differentiate if COMPILED else _python_call()
call_exploit: Any = _call_exploit if COMPILED else _python_call()
call_advance: Any = _call_advance if COMPILED else _python_call()
