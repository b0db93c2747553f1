"""Public attributes of objectives and problems: declared once, checked at every assignment, in force at the next solve.

A method with the decorator `attribute` declares one. It gets what is assigned, and returns what is kept or raises. Constructors
assign it like everybody else, so that the checks are the same:

    class Cone(Aim):
        @attribute
        def half_angle(self, value: float) -> float:
            \"\"\"The angle that is free [rad].\"\"\"
            return checked_number(value, ...)

`fixed` declares one that stays as the constructor set it. Arrays and dicts are kept as copies that are closed to writing, because
nobody would be told of an entry that changed. Targets, which control loops assign, are properties instead: they write to the
numbers of compiled problems, and nothing is compiled again.
"""

from __future__ import annotations

import inspect
import operator
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Generic, NoReturn, TypeVar, overload

import numpy as np

from memetik.errors import ProblemError
from memetik.types import Array

Given = TypeVar("Given")
Kept = TypeVar("Kept")
K = TypeVar("K")
V = TypeVar("V")


if TYPE_CHECKING:

    class Attribute(Generic[Given, Kept]):
        """A public attribute, by the method that checks it. Its owner has `_changed()`, which is called after each assignment."""

        slot: str

        def __init__(self, check: Callable[[Any, Given], Kept]) -> None: ...
        @overload
        def __get__(self, owner: None, kind: type) -> Attribute[Given, Kept]: ...
        @overload
        def __get__(self, owner: object, kind: type | None = None) -> Kept: ...
        def __get__(self, owner: Any, kind: type | None = None) -> Any: ...
        def __set__(self, owner: Any, value: Given) -> None: ...

    class Fixed(Attribute[Given, Kept]):
        """An attribute that cannot change."""

else:

    class Attribute(property):
        """A public attribute, by the method that checks it. Its owner has `_changed()`, which is called after each assignment."""

        def __init__(self, check):
            # Control loops read attributes: a property that reads another attribute is quick, and whoever looks into __dict__
            # makes Python slower at all attributes of that object.
            self.slot = f"_{check.__name__}_"
            super().__init__(operator.attrgetter(self.slot), self._setter(check))
            self.__doc__ = check.__doc__

        def _setter(self, check):
            slot = self.slot

            def assign(owner, value):
                setattr(owner, slot, read_only(check(owner, value)))
                owner._changed()

            return assign

    class Fixed(Attribute):
        """An attribute that cannot change."""

        def _setter(self, check):
            slot, name = self.slot, check.__name__

            def assign(owner, value):
                if hasattr(owner, slot):
                    refuse(owner, name)
                setattr(owner, slot, read_only(check(owner, value)))

            return assign


attribute, fixed = Attribute, Fixed


class Argument:
    """An argument of a constructor that is no attribute: nobody would notice an assignment, so it is refused."""

    def __init__(self, name: str, method: Any) -> None:
        self.name, self.method = name, method  # a method of the same name, or None

    def __get__(self, owner: Any, kind: type | None = None) -> Any:
        if self.method is not None:
            return self.method.__get__(owner, kind)
        if owner is None:
            return self
        raise AttributeError(f"{kind.__name__ if kind else 'it'} does not keep its argument {self.name!r}")

    def __set__(self, owner: Any, value: object) -> None:
        refuse(owner, self.name)


def refuse_the_rest(kind: type) -> None:
    """Let a class refuse assignments to what is computed, and to arguments of its constructor that are no attributes."""
    for name, known in tuple(vars(kind).items()):
        if isinstance(known, property) and known.fset is None and not name.startswith("_"):
            setattr(kind, name, known.setter(_refusal_of(name)))
    for name in inspect.signature(kind).parameters:
        known = inspect.getattr_static(kind, name, None)
        if not hasattr(type(known), "__set__"):
            setattr(kind, name, Argument(name, known))


def attributes_of(kind: type) -> dict[str, Attribute[Any, Any]]:
    """The attributes that a class and its parents declare, by name."""
    found = {name: value for owner in reversed(kind.__mro__) for name, value in vars(owner).items()}
    return {name: value for name, value in found.items() if isinstance(value, Attribute)}


def assignable(kind: type) -> frozenset[str]:
    """The names that an assignment to an object of a class is looked after for, be it refused."""
    names = (name for name in dir(kind) if not name.startswith("_"))
    return frozenset(name for name in names if hasattr(type(inspect.getattr_static(kind, name)), "__set__"))


def _refusal_of(name: str) -> Callable[[Any, object], None]:
    """A setter that refuses."""
    return lambda owner, _: refuse(owner, name)


class Frozen:
    """What never changes: its attributes are assigned once, by its constructor."""

    def __setattr__(self, name: str, value: object) -> None:
        if name in self.__dict__:
            refuse(self, name)
        self.__dict__[name] = read_only(value)

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update({key: read_only(value) for key, value in state.items()})


class ReadOnlyDict(dict[K, V]):
    """A dict that nobody can write to, with what to do instead."""

    def __reduce__(self) -> tuple[Any, ...]:
        return ReadOnlyDict, (dict(self),)

    def _refuse(self, *_: object, **__: object) -> NoReturn:
        raise ProblemError(
            "this dict cannot be written to, since nobody would notice. Assign a whole one to the attribute, for example "
            "problem.lock = {**problem.lock, 'joint_1': 0.5}."
        )

    __setitem__ = __delitem__ = __ior__ = clear = pop = popitem = setdefault = update = _refuse


def read_only(value: Any) -> Any:
    """A copy of an array or a dict that is closed to writing; anything else as it is."""
    if isinstance(value, np.ndarray):
        return frozen_copy(value)
    return ReadOnlyDict(value) if isinstance(value, dict) else value


def frozen_copy(numbers: Array) -> Array:
    """A copy of an array that is closed to writing."""
    copy = numbers.copy()
    copy.setflags(write=False)
    return copy


def refuse(owner: object, name: str) -> NoReturn:
    """Raise because an attribute cannot be assigned."""
    kind = type(owner).__name__
    raise ProblemError(f"{kind}: {name} cannot be assigned. Make another {kind}.")
