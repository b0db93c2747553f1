"""Does memetik refuse what makes no sense? Random calls of all public names with arguments nobody should give:

    python -m tests.stress.hostile COUNT [--seed S] [--call K]

Functions, constructors, methods, properties and setters are found by inspection of what memetik, its geometry and its
readers export, so a new name takes part by itself. Some arguments of a call are sound (sound.py), the others hostile: other
types, sizes and shapes, NaN, infinity, huge numbers, texts, objects that lie. A call may succeed or raise a MemetikError;
anything else, and a call that takes longer than LONGEST, is a defect. A complaint names its call, and --call runs it alone.
"""

from __future__ import annotations

import argparse
import inspect
import itertools
import math
import os
import signal
import sys
import tempfile
import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[2]))

from tools.docs import reference

import memetik as mk
from memetik import geometry, read
from tests.stress.sound import EXAMPLES, INDEXED, LEFT_OUT, NEEDED, RECORDS, SKIPPED, sound

LONGEST = 40.0  # s that a call may take, with what it compiles


# ---- Hostile values ------------------------------------------------------------------------------------------


class Lies:
    """An object whose conversion to a number does `what`."""

    def __init__(self, what: Callable[[], Any]) -> None:
        self.what = what

    def __float__(self) -> float:
        return self.what()


class Mute:
    """An object that cannot even be printed."""

    def __repr__(self) -> str:
        raise RuntimeError("no repr")


class Endless:
    """A sequence that claims to be longer than it is."""

    def __len__(self) -> int:
        return 3

    def __getitem__(self, k: int) -> float:
        raise RuntimeError("nothing here")


VALUES: tuple[Any, ...] = (
    None, True, False, 0, -1, 3, 10**6, 2**63, 10**400, -(2**63) - 1,
    0.0, -0.5, 1e-320, 1e300, math.nan, math.inf, -math.inf, 1j, Fraction(1, 3),
    "", "panda", "nonsense", "\0", "é" * 300, "tip", "1.5", b"bytes", bytearray(b"x"), memoryview(b"abc"),
    [], (), {}, set(), [None], [[]], [[1.0], [1.0, 2.0]], [[[[0.5]]]], ["a", "b", "c"], [1.0, "a", None], [1, 2],
    (0.1, 0.2, 0.3), [0.1] * 4, (math.nan, 0.0, 0.0), [math.inf, 0.0, 0.0], [0.0, 0.0, 0.0], [1e300] * 3, [True] * 3,
    [10**400, 0, 0], {"joint_1": None}, {"nonsense": 1.0}, {1: 2}, {"joint_1": math.nan}, {"joint_1": (1.0, -1.0)},
    {"joint_1": "a"}, {None: None}, range(3), slice(None), Ellipsis, NotImplemented,
    np.float32(0.5), np.int8(-3), np.bool_(True), np.datetime64("2020-01-01"), np.array(None), np.empty(0),
    np.empty((0, 3)), np.empty((3, 0)), np.zeros((2, 3)), np.zeros((4, 4)), np.eye(4), np.eye(3), 2.0 * np.eye(4), np.zeros(7),
    np.full((4, 4), np.nan), np.ones(3, dtype=complex), np.array(["a", "b", "c"]), np.array([1, None, "x"], dtype=object),
    np.arange(6, dtype=np.uint8), np.zeros((2, 2, 2, 2)), np.array([Lies(lambda: 1.0)]), np.ones(3)[::-1], np.eye(4, dtype=bool),
    np.ma.masked_array([1.0, 2.0, 3.0], [0, 1, 0]), np.zeros(2, dtype=[("a", float)]),
    Lies(lambda: 1.0), Lies(lambda: "one"), Lies(lambda: math.nan), Lies(lambda: 1 / 0), Mute(), Endless(), object(), object,
    int, len, lambda: None, lambda *a, **k: None, math, Path("nowhere"), Path(), ValueError("x"),
)  # fmt: skip


# ---- Calls ---------------------------------------------------------------------------------------------------


class Target(NamedTuple):
    """Something that can be called: its name, the parameters that are tried, and how a sound object is had first."""

    name: str
    parameters: tuple[inspect.Parameter, ...]
    bind: Callable[[], Callable[..., Any]]


class Call(NamedTuple):
    """A target with arguments."""

    target: Target
    positional: tuple[Any, ...]
    keywords: dict[str, Any]

    def __str__(self) -> str:
        given = [*map(_shown, self.positional), *(f"{key}={_shown(value)}" for key, value in self.keywords.items())]
        return f"{self.target.name}({', '.join(given)})"


def targets() -> list[Target]:
    """All that is public: functions, constructors, and what sound objects have."""
    public = {name: getattr(module, name) for module in (read, geometry) for name in module.__all__}
    public |= {name.rpartition(".")[2]: reference.public(name) for name in reference.NAMES}
    found = []
    for name, value in public.items():
        if callable(value) and name not in LEFT_OUT and not _is_error(value):
            found.append(Target(name, _parameters(value), lambda value=value: value))
    for name in EXAMPLES:
        found.extend(_members(name))
    return found


def _members(name: str) -> Iterator[Target]:
    """Methods, properties and setters of a sound object."""
    kind = type(sound(name))
    for key in dir(kind):
        member = inspect.getattr_static(kind, key)
        where = f"{name}.{key}"
        if where in SKIPPED or key in SKIPPED or (key.startswith("_") and where not in INDEXED):
            continue
        if isinstance(member, property):
            yield Target(where, (), lambda key=key: lambda: getattr(sound(name), key))
            if member.fset is not None:
                value = inspect.Parameter("value", inspect.Parameter.POSITIONAL_ONLY)
                yield Target(f"{where}=", (value,), lambda key=key: partial(setattr, sound(name), key))
        elif callable(getattr(kind, key)) and not isinstance(member, type):
            bound = getattr(sound(name), key)
            yield Target(where, _parameters(bound), lambda key=key: getattr(sound(name), key))


def _parameters(function: Callable[..., Any]) -> tuple[inspect.Parameter, ...]:
    try:
        parameters = inspect.signature(function).parameters.values()
    except ValueError:  # built in: it says nothing of itself
        return ()
    return tuple(parameters)


def _is_error(value: object) -> bool:
    return value is mk.solvers.Solver or (isinstance(value, type) and issubclass(value, (BaseException, mk.Status)))


def some_call(target: Target, rng: np.random.Generator) -> Call:
    """A call with at least one hostile argument, if it takes any; the others are sound or left out."""
    count = len(target.parameters)
    hostile = (
        set(rng.choice(count, min(count, 1 + int(rng.random() < 0.3)), replace=False).tolist()) if count else set()
    )
    positional: list[Any] = []
    keywords: dict[str, Any] = {}
    # What stands before *tips cannot be given by name.
    by_place = any(parameter.kind is inspect.Parameter.VAR_POSITIONAL for parameter in target.parameters)
    for k, parameter in enumerate(target.parameters):
        by_place = by_place and parameter.kind is not inspect.Parameter.KEYWORD_ONLY
        if parameter.kind is inspect.Parameter.VAR_POSITIONAL:
            positional.extend(some_value(rng) for _ in range(int(rng.integers(0, 4))))
        elif parameter.kind is inspect.Parameter.VAR_KEYWORD:
            keywords.update({"nonsense": some_value(rng)} if k in hostile else {})
        elif k in hostile:
            _put(parameter, some_value(rng), positional, keywords, by_place)
        elif parameter.default is inspect.Parameter.empty or f"{target.name}.{parameter.name}" in NEEDED:
            _put(parameter, sound(target.name, parameter.name), positional, keywords, by_place)
    return Call(target, tuple(positional), keywords)


def _put(
    parameter: inspect.Parameter, value: Any, positional: list[Any], keywords: dict[str, Any], by_place: bool
) -> None:
    if by_place or parameter.kind is inspect.Parameter.POSITIONAL_ONLY:
        positional.append(value)
    else:
        keywords[parameter.name] = value


def some_value(rng: np.random.Generator) -> Any:
    if rng.random() < 0.02:
        return iter([1.0, 2.0])
    value = VALUES[int(rng.integers(len(VALUES)))]
    nested = rng.random()
    return (
        [value] if nested < 0.05 else {"joint_1": value} if nested < 0.08 else (value,) * 3 if nested < 0.12 else value
    )


# ---- Running -------------------------------------------------------------------------------------------------


def complaint(call: Call) -> str | None:
    """What is wrong with how a call ended; None if it succeeded or was refused as it should be."""
    try:
        with warnings.catch_warnings(), _time_limit():
            warnings.simplefilter("error", np.exceptions.ComplexWarning)
            for harmless in (mk.MemetikWarning, RuntimeWarning):  # the latter of numbers beyond 1e154
                warnings.simplefilter("ignore", harmless)
            result = call.target.bind()(*call.positional, **call.keywords)
            if call.target.name not in RECORDS:
                repr(result)
    except mk.MemetikError as error:
        return None if str(error) else "an error without a message"
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt):
            raise
        if isinstance(error, TypeError) and call.target.name in RECORDS:  # they look at nothing that they are given
            return None
        place = traceback.extract_tb(error.__traceback__)[-1]
        return f"{type(error).__name__}: {error} at {Path(place.filename).name}:{place.lineno}"
    return None


class _time_limit:  # noqa: N801 - read like a function
    """Raise in the main thread after LONGEST, where the system has alarms."""

    def __enter__(self) -> None:
        if not hasattr(signal, "SIGALRM"):
            return

        def ring(*_: Any) -> None:
            raise TimeoutError(f"it takes longer than {LONGEST:g} s")

        signal.signal(signal.SIGALRM, ring)
        signal.setitimer(signal.ITIMER_REAL, LONGEST)

    def __exit__(self, *_: Any) -> None:
        if not hasattr(signal, "SIGALRM"):
            return
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, signal.SIG_DFL)


def calls(count: int, seed: int) -> Iterator[tuple[int, Call]]:
    """Every target in turn, so that each has its share. A call depends on its number and the seed alone."""
    for k, target in zip(range(count), itertools.cycle(targets()), strict=False):
        yield k, some_call(target, np.random.default_rng([seed, k]))


def complaints(count: int, seed: int, only: int | None = None) -> list[str]:
    """What is wrong, a line for each call."""
    found = []
    for k, call in calls(count, seed):
        if only is None or k == only:
            wrong = complaint(call)
            if wrong is not None:
                found.append(f"{k}: {call}: {wrong}")
    return found


def _shown(value: Any) -> str:
    try:
        text = repr(value)
    except RuntimeError:
        text = f"<{type(value).__name__}>"
    return " ".join(text.split())[:80]


def main() -> None:
    parser = argparse.ArgumentParser(description="Hostile calls of all public names.")
    parser.add_argument("count", type=int)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--call", type=int, help="run this call alone")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)  # calls write pictures and answers
        found = complaints(options.count, options.seed, options.call)
        os.chdir(Path(__file__).parent)
    print("\n".join(found))
    by_name = Counter(line.split(": ")[1].split("(")[0] for line in found)
    print(f"{len(found)} of {options.count} calls ended badly:", dict(by_name.most_common()))
    sys.exit(bool(found))


if __name__ == "__main__":
    main()
