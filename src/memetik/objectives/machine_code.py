"""Users' functions as machine code: shared by functions that are alike, freed with the last objective that uses it."""

from __future__ import annotations

import contextlib
import weakref
from collections import deque
from collections.abc import Callable, Hashable, Sequence
from typing import Any

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

Wrap = Callable[[Any], Callable[..., Any]]


class MachineCode:
    """A residual kernel for one function; what stands at its `address` lives as long as this object.

    With `captured` it serves all functions with the same code, and the numbers must stand behind the joints.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        arguments: Sequence[Any],
        frames: int,
        joints: int,
        rows: int | None,
        wrap: Wrap | None,
        captured: tuple[Number, ...] = (),
    ) -> None:
        self._function = function  # its fingerprint holds while it lives
        engine = Engine()
        if captured:
            arguments = [(arguments[0], captured), *arguments[1:]]
            compiled: Any = engine.jit(function, WithCaptured)
        else:
            compiled = function if hasattr(function, "py_func") else engine.jit(function)
            compiled = compiled if wrap is None else engine.jit(wrap(compiled))
        if COMPILED:  # alone first: what Numba says of it reads better so
            compiled.get_call_template(tuple(map(numba.typeof, arguments)), {})
        self._kernel = engine.jit(residual_function(compiled, frames, joints, rows, tuple(map(_size, captured))))
        self.address = address(self._kernel, RESIDUAL)
        engine.finish(self._kernel)


_known: weakref.WeakValueDictionary[Hashable, MachineCode] = weakref.WeakValueDictionary()
_recent: deque[MachineCode] = deque(maxlen=RECENT)


def machine_code(
    function: Callable[..., Any],
    arguments: Sequence[Any],
    frames: int,
    joints: int,
    rows: int | None,
    wrap: Wrap | None = None,
) -> tuple[MachineCode, list[float]]:
    """The machine code for a function that gets such arguments from frames and joints (see residual_function for `rows`),
    and the numbers that must stand behind those; with `wrap` for what it makes of the compiled function. Raises whatever
    the compiler says."""
    captured = captured_numbers(function) if COMPILED and wrap is None else {}
    if captured and fingerprint(function, apart=captured) is not None:
        with contextlib.suppress(Exception):  # whatever must be constant after all
            return _shared(function, arguments, frames, joints, rows, None, captured), flat([*captured.values()])
    return _shared(function, arguments, frames, joints, rows, wrap, {}), []


def _shared(
    function: Callable[..., Any],
    arguments: Sequence[Any],
    frames: int,
    joints: int,
    rows: int | None,
    wrap: Wrap | None,
    captured: dict[str, Number],
) -> MachineCode:
    """The machine code for all functions that differ in the captured numbers only."""
    seen = fingerprint(function, apart=captured)
    sizes = tuple((name, _size(number)) for name, number in captured.items())
    key = (seen, sizes, wrap, frames, joints, rows)
    code = None if seen is None else _known.get(key)
    if code is None:
        code = MachineCode(function, arguments, frames, joints, rows, wrap, tuple(captured.values()))
        if seen is not None:
            _known[key] = code
            _recent.append(code)
    return code


def _size(number: Number) -> int:
    """Of a tuple; 0 for a number."""
    return len(number) if isinstance(number, tuple) else 0
