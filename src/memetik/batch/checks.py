"""What a caller gives to the functions of this package, checked before any work begins."""

from __future__ import annotations

import inspect
import math
from typing import Any

from memetik.errors import ProblemError, shown
from memetik.geometry.checks import real_number, whole_number

MOST_THREADS = 4096


def positive(value: Any, where: str, unit: str) -> float:
    """A finite number above zero, or an error that names it."""
    number = real_number(value, ProblemError, where)
    if not 0.0 < number < math.inf:  # NaN is not either
        raise ProblemError(f"{where} is {number}; it must be a finite number above 0 {unit}.")
    return number


def threads_of(value: Any, where: str) -> int | None:
    """A number of threads; None stands for every core."""
    if value is None:
        return None
    return whole_number(value, ProblemError, f"{where}: threads", least=1, most=MOST_THREADS)


def require_report(value: Any, where: str) -> None:
    """Raise unless a value says whom to tell how much is done."""
    if not (value is None or isinstance(value, bool) or _takes_two(value)):
        raise ProblemError(
            f"{where}: progress is {shown(value)}. Give a function that takes (done, total), None for the terminal, or False."
        )


def _takes_two(function: Any) -> bool:
    """Whether this is a function that can be called with two arguments, as far as it tells."""
    if isinstance(function, type) or not callable(function):
        return False
    try:
        inspect.signature(function).bind(0, 1)
    except TypeError:
        return False
    except ValueError:  # it does not say what it takes
        return True
    return True
