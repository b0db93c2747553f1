"""Are two functions the same to the compiler? Those that are can share their machine code."""

from __future__ import annotations

import cmath
import math
from collections.abc import Callable, Container, Hashable, Iterator
from types import BuiltinFunctionType, CodeType
from typing import Any

import numba
import numpy as np
from numba.core.dispatcher import Dispatcher

_NUMBERS = (bool, int, float, complex, str, bytes, type(None), np.number, np.bool_)
_MODULES = (math, cmath, np, numba)  # nobody assigns to a name in these
_SEALED = (BuiltinFunctionType, np.ufunc, Dispatcher, type)  # the same object means the same for good


class _UnknownError(Exception):
    """A value that may change, or that cannot be compared."""


def fingerprint(function: Callable[..., Any], apart: Container[str] = ()) -> Hashable | None:
    """Equal for functions with the same code that see the same values; None if that cannot be told.

    apart: names of captured variables that may differ.

    Of what a function sees some is told by its identity, so a fingerprint holds only while the function lives.
    """
    code = getattr(function, "__code__", None)
    if isinstance(function, Dispatcher) or not isinstance(code, CodeType) or hasattr(function, "__self__"):
        return ("object", id(function)) if isinstance(function, Dispatcher) else None
    try:
        cells = zip(code.co_freevars, function.__closure__ or (), strict=True)
        closure = tuple(_seen(cell.cell_contents) for name, cell in cells if name not in apart)
        defaults = (_seen(function.__defaults__ or ()), _seen(tuple(sorted((function.__kwdefaults__ or {}).items()))))
        names = sorted(set(_names(code)) & function.__globals__.keys())
        return code, closure, defaults, tuple((name, _seen(function.__globals__[name])) for name in names)
    except (_UnknownError, ValueError):  # ValueError: the cell of a variable that has no value yet
        return None


def _names(code: CodeType) -> Iterator[str]:
    """The names that the code and the functions inside it look up."""
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names(constant)


def _seen(value: Any) -> Hashable:
    """A value as the compiler sees it: 1, 1.0 and True differ, and so do 0.0 and -0.0."""
    if isinstance(value, _NUMBERS):
        return type(value), repr(value)
    if type(value) is tuple:
        return tuple(map(_seen, value))
    if value in _MODULES if isinstance(value, type(math)) else isinstance(value, _SEALED):
        return "object", id(value)
    raise _UnknownError
