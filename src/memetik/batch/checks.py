"""What a caller gives to the functions of this package, checked before any work begins."""

from __future__ import annotations

import math
import os
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from memetik.errors import FormatError, ProblemError
from memetik.solvers import Budget

MOST_INTEGER = 2**63 - 1  # what the kernels count with
MOST_THREADS = 4096


def whole(value: Any, where: str, least: int, most: int = MOST_INTEGER) -> int:
    """An integer within its range, or an error that names it."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, np.integer)):
        raise ProblemError(f"{where} is {value!r}, not a whole number.")
    if not least <= value <= most:
        raise ProblemError(f"{where} is {value}; it must be at least {least} and at most {most}.")
    return int(value)


def real(value: Any, where: str) -> float:
    """A number that is not NaN, or an error that names it."""
    number = isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)
    if not number or math.isnan(value):
        raise ProblemError(f"{where} is {value!r}, not a number.")
    return float(value)


def positive(value: Any, where: str, unit: str) -> float:
    """A finite number above zero, or an error that names it."""
    number = real(value, where)
    if not 0.0 < number < math.inf:
        raise ProblemError(f"{where} is {value!r}; it must be a finite number above 0 {unit}.")
    return number


def threads_of(value: Any, where: str) -> int | None:
    """A number of threads; None stands for every core."""
    return None if value is None else whole(value, f"{where}: threads", 1, MOST_THREADS)


def seed_of(value: Any, where: str) -> int:
    """The seed of a search."""
    return whole(value, f"{where}: seed", -MOST_INTEGER - 1)


def budget_of(value: Any, where: str) -> Budget:
    """A budget with a whole number of evaluations."""
    if not isinstance(value, Budget):
        raise ProblemError(f"{where}: budget is {value!r}. Give mk.Budget(evaluations=...).")
    return Budget(whole(value.evaluations, f"{where}: budget.evaluations", 1), value.seconds)


def require_report(value: Any, where: str) -> None:
    """Raise unless a value says whom to tell how much is done."""
    if not (value is None or isinstance(value, bool) or callable(value)):
        raise ProblemError(
            f"{where}: progress is {value!r}. Give a function that takes (done, total), None for the terminal, or False."
        )


def path_of(value: Any, where: str) -> Path:
    """An absolute path, or an error where the value cannot be one."""
    if not isinstance(value, (str, os.PathLike)) or not str(value):
        raise ProblemError(f"{where} is {value!r}. Give a path as a string or a pathlib.Path.")
    try:
        path = Path(value).resolve()
        path.exists()  # resolving alone takes names that are too long
    except (OSError, ValueError, RuntimeError, TypeError) as error:
        raise ProblemError(f"{where} is {str(value)[:80]!r}, which cannot be a path: {error}.") from error
    return path


def require_writable(folder: Path) -> None:
    """Raise if no file can be made in a folder, before there is anything to lose."""
    try:
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise FormatError(
            f"the folder {str(folder)!r} cannot be written to: {error.strerror}. Choose another one."
        ) from error
