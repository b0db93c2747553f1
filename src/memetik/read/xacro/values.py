"""Values of the expressions of xacro files: which functions there are, and how large a value may be."""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

MAX_TEXT = 100_000  # characters of a value
MAX_ITEMS = 20_000  # of a list, with all that is nested in it
MAX_BITS = 1_024  # of an integer
MAX_STEPS = 1_000_000  # in one file: nodes that are evaluated and items that are made


class UntrustedError(Exception):
    """An expression needs Python beyond what is evaluated here."""


class LimitError(Exception):
    """A value, or the work for it, exceeds its bound."""


@dataclass(frozen=True)
class Function:
    """A function that expressions may call."""

    name: str
    call: Callable[..., Any] = field(repr=False)
    owner: Any = field(default=None, repr=False)  # the text or list whose method this is


@dataclass
class Work:
    """How much work the expressions of one file have been."""

    steps: int = 0

    def add(self, count: int = 1) -> None:
        """Count steps; raise where there are too many."""
        self.steps += count
        if self.steps > MAX_STEPS:
            raise LimitError(f"it takes more than {MAX_STEPS:,} steps to evaluate the file")

    def checked(self, value: Any) -> Any:
        """The value, if it is of a kind and size that may be; shared parts count as often as they appear."""
        if isinstance(value, bool):
            return value
        if isinstance(value, int) and value.bit_length() > MAX_BITS:
            raise LimitError(f"an integer has more than {MAX_BITS} bits")
        if isinstance(value, complex):
            raise LimitError("a number is complex")
        if isinstance(value, str) and len(value) > MAX_TEXT:
            raise LimitError(f"a text has more than {MAX_TEXT:,} characters")
        self.weigh(value)
        return value

    def weigh(self, value: Any) -> None:
        """Count what a pass over a value costs; raise where it is too large."""
        if isinstance(value, str):
            self.add(len(value) // 100)
        if not isinstance(value, (list, tuple, set, dict)):
            return
        items, characters = 0, 0
        waiting: list[Any] = [value]
        while waiting:
            each = waiting.pop()
            items += 1
            if isinstance(each, str):
                characters += len(each)
            elif isinstance(each, dict):
                waiting += [*each.keys(), *each.values()]
            elif isinstance(each, (list, tuple, set)):
                waiting += each
            if items + len(waiting) > MAX_ITEMS:
                raise LimitError(f"a list has more than {MAX_ITEMS:,} items")
            if characters > MAX_TEXT:
                raise LimitError(f"the texts of a list have more than {MAX_TEXT:,} characters")
        self.add(items)


def check_growth(op: ast.operator, one: Any, other: Any) -> None:
    """Refuse what would make a value too large, before it is made."""
    whole = isinstance(one, int) and isinstance(other, int)
    if isinstance(op, ast.Pow) and whole and other > 0 and one.bit_length() * other > 2 * MAX_BITS:
        raise LimitError(f"an integer has more than {MAX_BITS} bits")
    if isinstance(op, ast.LShift) and whole and other > MAX_BITS:
        raise LimitError(f"an integer has more than {MAX_BITS} bits")
    if isinstance(op, ast.Mult):
        for part, count in ((one, other), (other, one)):
            if isinstance(part, (str, list, tuple)) and isinstance(count, int) and len(part) * count > MAX_TEXT:
                raise LimitError("a repeated text or list is too long")
    if isinstance(op, ast.Mod) and isinstance(one, str):
        if _FORMAT.sub("", one).count("%"):
            raise UntrustedError(f"the format {one!r} is not evaluated")
        if any(int(width or 0) > MAX_WIDTH for found in _FORMAT.findall(one) for width in found):
            raise LimitError(f"a format is wider than {MAX_WIDTH}")


def _replace(text: str, old: str, new: str, count: int = -1) -> str:
    if len(text) + (text.count(old) if count < 0 else count) * len(new) > MAX_TEXT:
        raise LimitError(f"a text has more than {MAX_TEXT:,} characters")
    return text.replace(old, new, count)


def _join(between: str, parts: Any) -> str:
    listed = list(iterable(parts))
    if len(between) * len(listed) > MAX_TEXT:
        raise LimitError(f"a text has more than {MAX_TEXT:,} characters")
    return between.join(listed)


def _listed(numbers: range) -> list[int]:
    if len(numbers) > MAX_ITEMS:
        raise LimitError(f"a list has more than {MAX_ITEMS:,} items")
    return list(numbers)


def iterable(value: Any) -> Iterable[Any]:
    """The value, if it is a text, a list, a tuple, a set or a dict."""
    if not isinstance(value, (str, list, tuple, set, dict)):
        raise TypeError(f"{type(value).__name__} is no list")
    return value


_BUILTINS: dict[str, Callable[..., Any]] = {
    "list": list, "dict": dict, "len": len, "str": str, "float": float, "int": int, "bool": bool, "min": min, "max": max,
    "round": lambda value, digits=0: round(value, max(-400, min(digits, 400))) if digits else round(value),
    "abs": abs, "all": all, "any": any, "divmod": divmod, "sum": lambda numbers: sum(numbers), "tuple": tuple, "set": set,
    "sorted": sorted, "repr": repr, "ord": ord, "range": lambda *given: _listed(range(*given)),
    "map": map, "filter": filter,  # each call of theirs is counted where expressions are evaluated
    "enumerate": lambda *given: list(enumerate(*given)), "reversed": lambda given: list(reversed(given)),
    "zip": lambda *given: list(zip(*given)),  # noqa: B905  as Python's own does
}  # fmt: skip
# Factorials, binomials and products are left out: their size has no bound.
_MATH = (
    "acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "ceil", "copysign", "cos", "cosh", "degrees", "dist", "erf",
    "exp", "expm1", "fabs", "floor", "fmod", "fsum", "gcd", "hypot", "isclose", "isfinite", "isinf", "isnan", "isqrt", "log",
    "log10", "log1p", "log2", "modf", "pow", "radians", "remainder", "sin", "sinh", "sqrt", "tan", "tanh", "trunc",
)  # fmt: skip
_CONSTANTS: dict[str, Any] = {name: getattr(math, name) for name in ("pi", "e", "tau", "inf", "nan")}
METHODS: dict[type, tuple[str, ...]] = {
    str: (
        "lower", "upper", "strip", "lstrip", "rstrip", "split", "startswith", "endswith", "replace", "join", "title",
        "capitalize", "isdigit", "isalpha", "find", "count",
    ),
    dict: ("get", "keys", "values", "items"),
    list: ("index", "count"),
    tuple: ("index", "count"),
}  # fmt: skip
GROWING: dict[str, Callable[..., Any]] = {"replace": _replace, "join": _join}
_FORMAT = re.compile(r"%[-+ #0]*(\d*)(?:\.(\d*))?[sdifgeEGxXo%]")
MAX_WIDTH = 1_000  # of a number in a text


def symbols() -> dict[str, Any]:
    """The functions and constants of every expression, by name, as xacro calls them."""
    builtins: dict[str, Any] = {name: Function(name, call) for name, call in _BUILTINS.items()}
    mathematics = {**_CONSTANTS, **{name: Function(name, getattr(math, name)) for name in _MATH}}
    return {**mathematics, **builtins, "math": mathematics, "python": builtins}
