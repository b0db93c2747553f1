"""The contract of objectives: what they read, how they pack into terms, how their targets change in place."""

from __future__ import annotations

import math
import weakref
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import ArrayLike

from memetik.body import Body, Frame
from memetik.errors import ProblemError, shown, suggest
from memetik.geometry.checks import real_number, whole_number
from memetik.kernels.terms.records import TermKind
from memetik.objectives.attributes import assignable, attribute, attributes_of, read_only, refuse, refuse_the_rest
from memetik.sharing import LOCK
from memetik.types import Array

MOST_PRIORITY = 1_000_000
MOST_WEIGHT = 1e100  # its products with squares of errors are still far from what a float can hold
FrameLike = str | Frame  # a link by its name, or body.frame(...)


class Packer(Protocol):
    """What an objective sees of the compiler: places for its frames, numbers and terms."""

    body: Body  # locked joints are fixed in it
    whole: Body  # as the user knows it
    moving: Sequence[str]  # joints that frames or wishes about single joints read

    def frame(self, frame: FrameLike) -> int:
        """The row of a frame that a term reads."""

    def motions(self, frame: FrameLike) -> tuple[int, int]:
        """Append what moves a frame, for a term that reads it as kernels/terms/manipulability.py does; its place, how many."""

    def numbers(self, values: Array | list[float]) -> int:
        """Append constants to the data array; their place."""

    def keep(self, what: object) -> None:
        """Let something live as long as what is packed, because numbers say where it lies in memory."""

    def target(self, target: Target) -> int:
        """Append numbers that may change later; their place, kept up to date by the target."""

    def variable(self, name: str) -> int:
        """Append the number of a free joint, for a term that reads its value; the place where it stands."""

    def drive(self, name: str) -> tuple[str | None, float, float]:
        """The free joint behind any joint (None if it is locked), ratio and offset: value = ratio * free + offset."""

    def limits(self, name: str) -> tuple[float, float]:
        """The limits in force for a free joint [rad or m]."""

    def reach(self, frame: FrameLike) -> float:
        """The length of the chain from the root to a frame [m]: how far a position error can grow."""

    def add(
        self, kind: TermKind, *, tolerance: float | None, frame: int = -1, other: int = -1, rows: int = 0, target: int = 0,
        data: int = 0, count: int = 0, reach: float = 1.0, more_frames: Sequence[int] = (), variables: Sequence[int] = (),
        residual_only: bool = False,
    ) -> None:  # fmt: skip
        """Add a term of the objective that is packing.

        `reach` is the length of the chain [m]: a share of it counts as one in the search, where the kind measures lengths.
        `rows` is how many residuals it has, where the kind does not say. A term that reads more than two frames, or joints
        by their value, names the rows in `more_frames` and the places in `variables`. With `residual_only` it loses nothing, for
        an objective that adds its loss apart.
        """

    def add_loss(self, kind: TermKind, loss: int, **term: Any) -> None:
        """Add a term that only loses, as `loss` (kernels/terms/records.py) says, and belongs to no report; `term` as for `add`.

        Its tolerance should be None where the objective is a guide, else so large that it is never missed.
        """


class Objective:
    """Something that is wanted of a posture.

    weight: how hard the search pulls, relative to other objectives.
    tolerance: the error up to which the objective counts as satisfied [its own unit]. None makes it a guide: it shapes
    the solution and never decides success.
    priority: the level it stands on, a whole number; a higher one matters more. Where not all tolerances can be met, a higher
    level is never traded for a lower one: the lower comes as near as it can while the higher holds. Within a level weights
    balance. While everything is within tolerance, priorities change nothing. What a method makes of it, mk.methods() says.
    """

    _stays: tuple[str, ...] = ("_problems",)  # what holds for this process only
    _assignable: frozenset[str]  # the names of its attributes and of those that say why they cannot be assigned

    def __init_subclass__(cls, **keywords: Any) -> None:
        super().__init_subclass__(**keywords)
        if cls.__module__.startswith("memetik."):
            refuse_the_rest(cls)
            cls._assignable = assignable(cls)
        else:  # users' classes may keep what they want
            cls.__setattr__ = object.__setattr__  # type: ignore[method-assign]

    def __init__(self, *, weight: float, tolerance: float | None, name: str | None = None, priority: int = 0) -> None:
        self._problems: weakref.WeakSet[Recompilable] = weakref.WeakSet()
        self.name = name
        self.weight = weight
        self.tolerance = tolerance
        self.priority = priority

    if not TYPE_CHECKING:  # to type checkers, whoever defines it takes every name

        def __setattr__(self, name: str, value: object) -> None:
            """Refuse misspelt names and methods, which nobody would notice."""
            if name in self._assignable or name[:1] == "_":
                object.__setattr__(self, name, value)
            elif hasattr(type(self), name):
                refuse(self, name)
            else:
                kind = type(self).__name__
                raise ProblemError(
                    f"{kind} has no attribute {name!r} that could be assigned. {suggest(name, self._assignable)}"
                )

    @attribute
    def name(self, value: str | None) -> str:
        """What reports and errors call it; its class unless given."""
        return checked_name(value) or type(self).__name__

    @attribute
    def weight(self, value: float) -> float:
        """How hard the search pulls, relative to other objectives; positive."""
        must = f"it must be from {1.0 / MOST_WEIGHT:g} to {MOST_WEIGHT:g}. Leave the objective out instead of 0."
        return checked_number(value, self.name, "weight", lambda x: 1.0 / MOST_WEIGHT <= x <= MOST_WEIGHT, must)

    @attribute
    def tolerance(self, value: float | None) -> float | None:
        """The error up to which it is satisfied [its own unit: m, rad, or that of a joint]; None for a guide."""
        return checked_tolerance(value, self.name)

    @attribute
    def priority(self, value: int) -> int:
        """The level it stands on; a higher one is never traded for a lower one."""
        what = f"{self.name}: priority"
        return whole_number(value, ProblemError, what, least=-MOST_PRIORITY, most=MOST_PRIORITY)

    def frames(self) -> tuple[FrameLike, ...]:
        """The frames it reads."""
        return ()

    def joints(self, body: Body) -> tuple[str, ...]:
        """The free joints whose values it reads directly, besides those that move its frames."""
        return ()

    @property
    def follows_start(self) -> bool:
        """Whether it is about the start of each solve and concerns only joints that other objectives read."""
        return False

    def pack(self, packer: Packer) -> None:
        """Add its terms."""
        raise NotImplementedError

    def target_rows(self, targets: ArrayLike) -> tuple[Array, Target]:
        """Many targets as rows of numbers, and the target they belong to; for tracks and batches."""
        raise ProblemError(f"{self!r} has no target that could move.")

    def target_kind(self) -> tuple[int, Target, int]:
        """Of which kind targets are that a graphics card converts (kernels/terms/targets.py), whose they are, and where in its
        numbers they begin."""
        raise ProblemError(
            f"{self!r}: its targets cannot be converted on a graphics card. Give them as a NumPy array, and so all others."
        )

    def error(self, errors: Array) -> Any:
        """The error to report, from the errors of its terms in the order they were packed; 0 if there is none."""
        return float(errors[0]) if errors.size else 0.0

    def raise_fault(self) -> None:
        """Raise what went wrong during a solve where no exception can pass; only users' functions can fail there."""

    def forget_fault(self) -> None:
        """Forget it, because something else was raised."""

    def __getstate__(self) -> dict[str, Any]:
        """What travels to another process."""
        with LOCK:
            return {key: value for key, value in self.__dict__.items() if key not in self._stays}

    def __setstate__(self, state: dict[str, Any]) -> None:
        # Files of before may lack a priority, and have some attributes by private names.
        state = {"priority": 0, **state}
        for name, each in attributes_of(type(self)).items():
            before = name if name in state else f"_{name}"
            if each.slot in state:
                state.pop(name, None)
            elif before in state:
                state[each.slot] = state.pop(before)
            if each.slot in state:
                state[each.slot] = read_only(state[each.slot])
        self.__dict__.update(state)
        self._problems = weakref.WeakSet()

    def __repr__(self) -> str:
        return f"<{self.name}{''.join(f' {frame}' for frame in self.frames())}>"

    def _changed(self) -> None:
        """Problems compile again at their next solve."""
        with LOCK:
            for problem in tuple(self._problems):
                problem.recompile()


refuse_the_rest(Objective)
Objective._assignable = assignable(Objective)


class Single(Objective):
    """An objective whose error is one number [m, rad, or its own unit], as type checkers then know."""

    def error(self, errors: Array) -> float:
        return float(super().error(errors))


class Recompilable(Protocol):
    """A problem, as far as an objective knows it."""

    def recompile(self) -> None:
        """Forget the compiled arrays; something other than a target has changed."""


class Target:
    """Numbers that may change between solves; every compiled problem that holds a copy is kept up to date.

    They live in the data of the problem that was compiled last, so that the usual retargeting, of one problem, writes
    them once and copies nothing.

    Threads may write while others compile. `sole` is the numbers as long as there are no copies and nobody moves them: whoever
    has written to others, or to these before that changed, writes again under the lock.
    """

    __slots__ = ("_copies", "_home", "numbers", "sole")

    def __init__(self, count: int) -> None:
        self.numbers = np.zeros(count)
        self.sole: Array | None = self.numbers
        self._home: tuple[Array, int] | None = None  # the data they live in, and where
        self._copies: list[tuple[weakref.ref[Array], int]] = []

    def __reduce__(self) -> tuple[Any, ...]:
        return _target_of, (self.numbers.copy(),)

    def bind(self, data: Array, at: int) -> None:
        """Live in data[at:] from now on; the data before it keeps a copy as long as somebody uses it."""
        with LOCK:
            self.sole = None
            if self._home is not None:
                self._copies.append((weakref.ref(self._home[0]), self._home[1]))
            here = data[at : at + self.numbers.size]
            here[:] = self.numbers
            self.numbers, self._home = here, (data, at)
            self._forget_copies()

    def write(self, kernel: Callable[[Array, Array, int], int], value: Array) -> int:
        """Convert `value` by a kernel into the numbers; its complaint, 0 for none. Nothing changes if it complains."""
        numbers = self.numbers
        complaint = kernel(value, numbers, 0)
        if complaint == 0 and self.sole is not numbers:
            with LOCK:
                kernel(value, self.numbers, 0)
                self._spread()
        return complaint

    def place(self, data: Array) -> int:
        """Where the numbers stand in the data of a compiled problem."""
        with LOCK:
            if self._home is not None and self._home[0] is data:
                return self._home[1]
            for copy, at in self._copies:
                if copy() is data:
                    return at
        raise ProblemError("the objective is not part of the compiled problem.")

    def assign(self, first: int, values: Array) -> None:
        """Replace some of the numbers by values that are known to be right."""
        numbers = self.numbers
        numbers[first : first + values.size] = values
        if self.sole is not numbers:
            with LOCK:
                self.numbers[first : first + values.size] = values
                self._spread()

    def _spread(self) -> None:
        self._forget_copies()
        for copy, at in self._copies:
            data = copy()
            if data is not None:
                data[at : at + self.numbers.size] = self.numbers

    def _forget_copies(self) -> None:
        """Forget those that nobody uses any longer."""
        self._copies = [(copy, at) for copy, at in self._copies if copy() is not None]
        self.sole = None if self._copies else self.numbers


def _target_of(numbers: Array) -> Target:
    target = Target(numbers.size)
    target.numbers[:] = numbers
    return target


def checked_number(value: object, name: str, what: str, good: Callable[[float], bool], must: str) -> float:
    """The number, if it is a good one; `must` says in an error what it must be."""
    number = real_number(value, ProblemError, f"{name}: {what}")
    if not good(number):
        raise ProblemError(f"{name}: {what} is {number}; {must}")
    return number


def checked_tolerance(value: float | None, name: str) -> float | None:
    """The tolerance, if it is one."""
    must = "it must be zero or positive, or None for a mere guide."
    return None if value is None else checked_number(value, name, "tolerance", lambda x: x >= 0.0, must)


def checked_length(value: float, name: str, what: str) -> float:
    """A length that is zero or positive [m]."""
    must = "it must be zero or positive, in metres."
    return checked_number(value, name, what, lambda x: 0.0 <= x < math.inf, must)


def checked_name(name: str | None) -> str:
    """The name that a user gave an objective; empty for none."""
    if name is not None and not isinstance(name, str):
        raise ProblemError(f"the name of an objective is {shown(name)}. Give a text, or leave it out.")
    return name or ""


def checked_frame(frame: FrameLike, name: str, what: str = "frame") -> FrameLike:
    """A frame, or the name of a link."""
    if not isinstance(frame, (str, Frame)):
        raise ProblemError(f"{name}: {what} is {shown(frame)}. Give the name of a link, or body.frame(...).")
    return frame
