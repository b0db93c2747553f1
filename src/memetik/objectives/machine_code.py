"""Users' functions as machine code: shared by functions that are alike, freed with the last objective that uses it."""

from __future__ import annotations

import contextlib
import weakref
from collections import deque
from collections.abc import Callable, Hashable, Sequence
from typing import Any, NamedTuple

import numba

from memetik.kernels.compiler.function_pointers import address
from memetik.kernels.compiler.jit import COMPILED
from memetik.kernels.terms.custom import residual_function
from memetik.kernels.terms.function_pointers import RESIDUAL
from memetik.objectives.alike import fingerprint
from memetik.objectives.captured import Number, WithCaptured, captured_numbers, flat
from memetik.objectives.engine import Engine

# How many stay after their last objective is gone: a loop often makes the same objective again.
RECENT = 8


class Call(NamedTuple):
    """A function, arguments as it gets them from frames and joints, and the form of its result (see residual_function)."""

    function: Callable[..., Any]
    arguments: Sequence[Any]
    frames: int
    joints: int
    rows: int | None
    # What makes the whole function of it once it is compiled, and whether captured numbers come with the first argument.
    wrap: Callable[[Any, bool], Callable[..., Any]] | None


class MachineCode:
    """A residual kernel for one function; what stands at its `address` lives as long as this object.

    With `captured` it serves all functions with the same code, and the numbers must stand behind the joints.
    """

    def __init__(self, call: Call, captured: tuple[Number, ...]) -> None:
        self._function = call.function  # its fingerprint holds while it lives
        engine, arguments = Engine(), call.arguments
        if captured:
            arguments = [(arguments[0], captured), *arguments[1:]]
            compiled: Any = engine.jit(call.function, WithCaptured)
        else:
            compiled = call.function if hasattr(call.function, "py_func") else engine.jit(call.function)
        if call.wrap is not None:
            compiled = engine.jit(call.wrap(compiled, bool(captured)))
        if COMPILED:  # alone first: what Numba says of it reads better so
            compiled.get_call_template(tuple(map(numba.typeof, arguments)), {})
        sizes = tuple(map(_size, captured))
        self._kernel = engine.jit(residual_function(compiled, call.frames, call.joints, call.rows, sizes))
        self.address = address(self._kernel, RESIDUAL)
        engine.finish(self._kernel)


_known: weakref.WeakValueDictionary[Hashable, MachineCode] = weakref.WeakValueDictionary()
_recent: deque[MachineCode] = deque(maxlen=RECENT)


def machine_code(call: Call) -> tuple[MachineCode, list[float]]:
    """The machine code for a call, and the numbers that must stand behind the joints. Raises whatever the compiler says."""
    captured = captured_numbers(call.function) if COMPILED else {}
    if captured and fingerprint(call.function, apart=captured) is not None:
        with contextlib.suppress(Exception):  # whatever must be constant after all
            return _shared(call, captured), flat([*captured.values()])
    return _shared(call, {}), []


def _shared(call: Call, captured: dict[str, Number]) -> MachineCode:
    """The machine code for all functions that differ in the captured numbers only."""
    seen = fingerprint(call.function, apart=captured)
    sizes = tuple((name, _size(number)) for name, number in captured.items())
    key = (seen, sizes, *call[2:])
    code = None if seen is None else _known.get(key)
    if code is None:
        code = MachineCode(call, tuple(captured.values()))
        if seen is not None:
            _known[key] = code
            _recent.append(code)
    return code


def _size(number: Number) -> int:
    """Of a tuple; 0 for a number."""
    return len(number) if isinstance(number, tuple) else 0
