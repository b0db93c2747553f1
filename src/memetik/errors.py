"""Every error a user of memetik can cause.

One base class, a handful of children. Each message says what is wrong, where, and how to mend it. The children also
inherit from the built-in error that a Python programmer would expect, so `except ValueError` keeps working.
"""

from __future__ import annotations

import difflib
import sys
import warnings
from collections.abc import Collection, Iterable
from itertools import islice


class MemetikError(Exception):
    """The base of all errors raised by memetik on purpose."""


class GeometryError(MemetikError, ValueError):
    """A rotation, direction or transform that is not one."""


class BodyError(MemetikError, ValueError):
    """A body that cannot exist: broken tree, contradictory limits, a mimic joint without a source."""


class FormatError(MemetikError, ValueError):
    """A model file that cannot be read, with the place in the file where reading stopped."""


class ProblemError(MemetikError, ValueError):
    """A problem that cannot be posed: a bad target, start or budget, nothing to solve, nothing that could move."""


class RefusedError(ProblemError):
    """A problem that the chosen method cannot take, though another one can."""


class RowError(ProblemError, IndexError):
    """A row of a batch that does not exist."""


class TruthError(MemetikError, TypeError):
    """Something used as a condition that is neither true nor false, such as a status in `if status:`."""


class UnknownNameError(MemetikError, KeyError):
    """A link, joint, chain, body, method or parameter asked for by a name that does not exist.

    The message suggests near names; with `every` it lists all that there are.
    """

    def __init__(self, what: str, name: object, known: Iterable[str], where: str = "", *, every: bool = False) -> None:
        self.what, self.name = what, name
        hint = f"There are: {', '.join(known)}." if every else suggest(name, known)
        super().__init__(f"no {what} named {shown(name)}{where and ' in ' + where}. {hint}")

    def __str__(self) -> str:
        # KeyError would show the repr of the message, quotes and all.
        return str(self.args[0])


def known(name: object, names: Collection[str], what: str, where: str = "") -> str:
    """`name` if it is one of the names; raise an UnknownNameError otherwise."""
    if not isinstance(name, str) or name not in names:
        raise UnknownNameError(what, name, names, where)
    return name


class MissingExtraError(MemetikError, ImportError):
    """An optional package that this call needs is not installed, or is and cannot be imported.

    how: what installs it, where pip does not.
    """

    def __init__(self, package: str, purpose: str, extra: str | None = None, *, how: str = "") -> None:
        what = f'"memetik[{extra}]"' if extra else package
        cause = sys.exc_info()[1]
        if isinstance(cause, ImportError) and _is_installed(package):
            why = (
                f"is installed but cannot be imported ({cause}). {how or f'Mend it with: pip install {what} --upgrade'}"
            )
        else:
            why = f"is not installed. {how or f'Install it with: pip install {what}'}"
        super().__init__(f"{purpose} needs the package {package!r}, which {why}")


def _is_installed(package: str) -> bool:
    from importlib.metadata import PackageNotFoundError, version  # takes milliseconds to import

    try:
        version(package)
    except PackageNotFoundError:
        return False
    return True


class MemetikWarning(UserWarning):
    """Input that memetik could mend by itself, or that is likely a mistake; the message says what it did or doubts."""


def warn(message: str) -> None:
    """Give a MemetikWarning at the line of the caller's program."""
    warnings.warn(message, MemetikWarning, stacklevel=_outside())


def _outside() -> int:
    """The stack level, counted as `warnings.warn` counts it, of the first caller outside this package."""
    level, frame = 1, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] == "memetik":
        level, frame = level + 1, frame.f_back
    return level


def suggest(name: object, known: Iterable[str], most: int = 12) -> str:
    """One sentence that helps to find the right name: the nearest ones, or all of a short list."""
    names = list(known)
    near = difflib.get_close_matches(name if isinstance(name, str) else "", names, n=3, cutoff=0.6)
    if near:
        return "Did you mean " + " or ".join(repr(n) for n in near) + "?"
    if not names:
        return "There are none."
    listed = ", ".join(names[:most])
    return f"There are: {listed}{f' and {len(names) - most} more' if len(names) > most else ''}."


def shown(value: object, most: int = 100) -> str:
    """A value as an error message quotes it: cut to `most` characters, and whatever its `repr` does."""
    try:
        text = repr(_beginning(value, [2 * most]))
    except Exception:  # a stranger's repr, a whole number of thousands of digits, lists nested without end
        text = f"a {type(value).__name__}"
    return text if len(text) <= most else f"{text[: most - 3]}..."


def _beginning(value: object, left: list[int]) -> object:
    """As much of a text or of nested lists as is shown at most: a message about a million numbers would take a second."""
    left[0] -= 1
    if type(value) is str:
        return value[: max(left[0], 0) + 1]
    if type(value) in (list, tuple) and left[0] > 0:
        parts = [_beginning(part, left) for part in islice(value, left[0])]  # type: ignore[call-overload]
        return parts if type(value) is list else tuple(parts)
    if type(value) is dict and left[0] > 0:
        return {_beginning(key, left): _beginning(part, left) for key, part in islice(value.items(), left[0])}
    return value if type(value) not in (list, tuple, dict) else type(value)()


def said(reason: Exception) -> str:
    """What an exception says, or its name where it says nothing; without a full stop."""
    return (str(reason) or type(reason).__name__).rstrip(".")
