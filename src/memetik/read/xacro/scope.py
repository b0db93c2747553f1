"""The properties and macros of a xacro file: scopes, and properties that are evaluated when they are first used."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from memetik.read.xml import Element


class Scope(Mapping[str, Any]):
    """Names of a macro or a file, and behind them those of the scope around it.

    A text is evaluated when its name is first asked for, by `evaluate` with this scope, as xacro does.
    """

    def __init__(
        self, parent: Scope | None = None, names: Mapping[str, Any] | None = None, *, is_namespace: bool = False
    ) -> None:
        self.parent, self.is_namespace = parent, is_namespace
        self._names: dict[str, Any] = dict(names or {})
        self._lazy: set[str] = set()
        self._open: list[str] = []  # that are being evaluated
        self.evaluate: Callable[[str, Scope], Any] | None = None if parent is None else parent.evaluate

    def __getitem__(self, name: str) -> Any:
        if name not in self._names:
            if self.parent is None:
                raise KeyError(name)
            return self.parent[name]
        if name in self._lazy and self.evaluate is not None:
            if name in self._open:
                raise ValueError(f"the property is defined by itself: {' -> '.join([*self._open, name])}")
            self._open.append(name)
            try:
                self._names[name] = literal(self.evaluate(self._names[name], self))
            finally:
                self._open.pop()
            self._lazy.discard(name)
        return self._names[name]

    def __contains__(self, name: object) -> bool:
        return name in self._names or (self.parent is not None and name in self.parent)

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    def get_here(self, name: str) -> Any:
        """The value of this scope itself, None if there is none."""
        return self._names.get(name)

    def set(self, name: str, value: Any, *, lazy: bool = False) -> None:
        """Give a name its value; `lazy` keeps a text to be evaluated later."""
        self._names[name] = literal(value)
        self._lazy.discard(name)
        if lazy and isinstance(self._names[name], str):
            self._lazy.add(name)

    def remove(self, name: str) -> None:
        """Forget a name in this scope and all around it but the outermost, which has the functions."""
        scope: Scope | None = self
        while scope is not None and scope.parent is not None:
            scope._names.pop(name, None)
            scope._lazy.discard(name)
            scope = scope.parent

    def top(self) -> Scope:
        """The scope of the file."""
        scope = self
        while scope.parent is not None and scope.parent.parent is not None:
            scope = scope.parent
        return scope


@dataclass
class Macro:
    """A macro: its body, its parameters in order, and the defaults of some: what is forwarded, and a text."""

    body: Element
    parameters: list[str] = field(default_factory=list)
    defaults: dict[str, tuple[str | None, str | None]] = field(default_factory=dict)


def literal(value: Any) -> Any:
    """A text as the number, the truth value or the quoted text that it stands for."""
    if not isinstance(value, str):
        return value
    if len(value) >= 2 and value[0] == value[-1] == "'":
        return value[1:-1]
    if "_" in value:
        return value
    for kind in (int, float):
        try:
            return kind(value)
        except ValueError:
            pass
    return {"true": True, "True": True, "false": False, "False": False}.get(value, value)
