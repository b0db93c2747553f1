"""Evaluate the Python expressions of xacro files without Python: arithmetic, texts, lists and dicts, all of bounded size.

An expression is parsed by `ast` and interpreted node by node. There is no attribute of Python's objects to reach, no callable
but the functions listed here, and no value, loop or power larger than its bound.
"""

from __future__ import annotations

import ast
import builtins
import math
import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from memetik.read.xacro.values import (
    GROWING,
    MAX_ITEMS,
    METHODS,
    Function,
    LimitError,
    UntrustedError,
    Work,
    check_growth,
    iterable,
)  # fmt: skip

MAX_EXPRESSION = 4_000  # characters


def evaluate(text: str, names: Mapping[str, Any], work: Work) -> Any:
    """The value of an expression; `names` has the variables and functions."""
    if len(text) > MAX_EXPRESSION:
        raise LimitError(f"an expression has more than {MAX_EXPRESSION:,} characters")
    work.add(1 + len(text) // 10)
    tree = ast.parse(text.strip(), mode="eval")
    return _Interpreter(names, work).value(tree.body)


_ARITHMETIC: dict[type, Callable[[Any, Any], Any]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod, ast.Pow: operator.pow, ast.LShift: operator.lshift,
    ast.RShift: operator.rshift, ast.BitAnd: operator.and_, ast.BitOr: operator.or_, ast.BitXor: operator.xor,
}  # fmt: skip
_SIGNS: dict[type, Callable[[Any], Any]] = {
    ast.UAdd: operator.pos, ast.USub: operator.neg, ast.Not: operator.not_, ast.Invert: operator.invert,
}  # fmt: skip
_COMPARISONS: dict[type, Callable[[Any, Any], bool]] = {
    ast.Eq: operator.eq, ast.NotEq: operator.ne, ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt,
    ast.GtE: operator.ge, ast.Is: operator.is_, ast.IsNot: operator.is_not,
    ast.In: lambda one, many: one in many, ast.NotIn: lambda one, many: one not in many,
}  # fmt: skip
_VIEWS: Any = (type({}.keys()), type({}.values()), type({}.items()))


class _Interpreter:
    """Evaluates the nodes of one expression."""

    def __init__(self, names: Mapping[str, Any], work: Work) -> None:
        self._names, self._work = names, work
        self._local: dict[str, Any] = {}  # the variables of comprehensions

    def value(self, node: ast.AST) -> Any:
        self._work.add()
        method = getattr(self, f"_{type(node).__name__.lower()}", None)
        if method is None:
            raise UntrustedError(f"{_said(node)} is not evaluated")
        return method(node)

    def _constant(self, node: ast.Constant) -> Any:
        if not isinstance(node.value, (str, int, float, type(None))):
            raise UntrustedError(f"{node.value!r} is not evaluated")
        return self._work.checked(node.value)

    def _name(self, node: ast.Name) -> Any:
        if node.id in self._local:
            return self._local[node.id]
        try:
            return self._names[node.id]
        except KeyError:
            raise _unknown(node.id) from None

    def _list(self, node: ast.List) -> list[Any]:
        return self._work.checked([self.value(each) for each in node.elts])  # type: ignore[no-any-return]

    def _tuple(self, node: ast.Tuple) -> tuple[Any, ...]:
        return tuple(self._work.checked([self.value(each) for each in node.elts]))

    def _set(self, node: ast.Set) -> set[Any]:
        return {self.value(each) for each in node.elts}

    def _dict(self, node: ast.Dict) -> dict[Any, Any]:
        found = {}
        for key, value in zip(node.keys, node.values, strict=True):
            if key is None:
                raise UntrustedError("** is not evaluated")
            found[self.value(key)] = self.value(value)
        return self._work.checked(found)  # type: ignore[no-any-return]

    def _unaryop(self, node: ast.UnaryOp) -> Any:
        return self._work.checked(_SIGNS[type(node.op)](self.value(node.operand)))

    def _binop(self, node: ast.BinOp) -> Any:
        if type(node.op) not in _ARITHMETIC:
            raise UntrustedError(f"{_said(node.op)} is not evaluated")
        one, other = self.value(node.left), self.value(node.right)
        check_growth(node.op, one, other)
        return self._work.checked(_ARITHMETIC[type(node.op)](one, other))

    def _boolop(self, node: ast.BoolOp) -> Any:
        value = None
        for each in node.values:
            value = self.value(each)
            if bool(value) is isinstance(node.op, ast.Or):
                break
        return value

    def _compare(self, node: ast.Compare) -> bool:
        left = self.value(node.left)
        self._work.weigh(left)
        for op, right in zip(node.ops, map(self.value, node.comparators), strict=True):
            self._work.weigh(right)
            if not _COMPARISONS[type(op)](left, right):
                return False
            left = right
        return True

    def _ifexp(self, node: ast.IfExp) -> Any:
        return self.value(node.body if self.value(node.test) else node.orelse)

    def _subscript(self, node: ast.Subscript) -> Any:
        value = self.value(node.value)
        if not isinstance(value, (str, list, tuple, dict)):
            raise UntrustedError(f"a {type(value).__name__} has no parts that are evaluated")
        return self._work.checked(value[self.value(node.slice)])

    def _slice(self, node: ast.Slice) -> slice:
        return slice(*(None if part is None else self.value(part) for part in (node.lower, node.upper, node.step)))

    def _attribute(self, node: ast.Attribute) -> Any:
        value, name = self.value(node.value), node.attr
        for kind, methods in METHODS.items():
            if isinstance(value, kind) and name in methods:
                return Function(name, partial(GROWING.get(name, getattr(kind, name)), value), value)
        if isinstance(value, Mapping) and not name.startswith("_"):  # a namespace, or an entry of a YAML file
            try:
                return value[name]
            except KeyError:
                raise _unknown(name) from None
        raise UntrustedError(f"the attribute .{name} of a {type(value).__name__} is not evaluated")

    def _call(self, node: ast.Call) -> Any:
        function = self.value(node.func)
        if any(isinstance(each, ast.Starred) for each in node.args) or any(each.arg is None for each in node.keywords):
            raise UntrustedError("* and ** are not evaluated")
        given = [self.value(each) for each in node.args]
        named = {str(each.arg): self.value(each.value) for each in node.keywords}
        if "key" in named:
            raise UntrustedError("key= is not evaluated")
        return self._applied(function, given, named)

    def _applied(self, function: Any, given: Sequence[Any], named: Mapping[str, Any]) -> Any:
        if not isinstance(function, Function):
            raise UntrustedError("a call of something that is no listed function is not evaluated")
        for each in (function.owner, *given):
            self._work.weigh(each)
        if function.name in ("map", "filter"):
            first, *lists = given
            rows = list(zip(*map(iterable, lists)))  # noqa: B905  as Python's own map
            values = [self._applied(first, row, {}) for row in rows]
            kept = [row[0] for row, value in zip(rows, values, strict=True) if value]
            return self._work.checked(values if function.name == "map" else kept)
        found: Any = function.call(*given, **named)
        return self._work.checked(list(found) if isinstance(found, _VIEWS) else found)

    def _listcomp(self, node: ast.ListComp) -> list[Any]:
        found: list[Any] = []
        for _ in self._rounds(node.generators):
            found.append(self.value(node.elt))
            if len(found) > MAX_ITEMS:
                raise LimitError(f"a list has more than {MAX_ITEMS:,} items")
        return self._work.checked(found)  # type: ignore[no-any-return]

    _generatorexp = _listcomp

    def _setcomp(self, node: ast.SetComp) -> set[Any]:
        return set(self._listcomp(node))  # type: ignore[arg-type]

    def _dictcomp(self, node: ast.DictComp) -> dict[Any, Any]:
        found = {self.value(node.key): self.value(node.value) for _ in self._rounds(node.generators)}
        return self._work.checked(found)  # type: ignore[no-any-return]

    def _rounds(self, generators: list[ast.comprehension]) -> Iterator[None]:
        """Set the variables of a comprehension to each of their values."""
        if not generators:
            yield None
            return
        first, *rest = generators
        before = dict(self._local)
        for each in iterable(self.value(first.iter)):
            self._work.add()
            self._assign(first.target, each)
            if all(self.value(test) for test in first.ifs):
                yield from self._rounds(rest)
        self._local = before

    def _assign(self, target: ast.expr, value: Any) -> None:
        if isinstance(target, ast.Name):
            self._local[target.id] = value
        elif isinstance(target, (ast.Tuple, ast.List)):
            for each, part in zip(target.elts, iterable(value), strict=True):
                self._assign(each, part)
        else:
            raise UntrustedError(f"{_said(target)} is not evaluated")


_WORDS = {"Lambda": "lambda", "JoinedStr": "an f-string", "NamedExpr": ":=", "Starred": "*", "MatMult": "@"}


def _said(node: ast.AST) -> str:
    name = type(node).__name__
    return _WORDS.get(name, name)


def _unknown(name: str) -> Exception:
    if name.startswith("_") or hasattr(builtins, name) or hasattr(math, name):
        return UntrustedError(f"{name} is not evaluated")
    return NameError(f"name {name!r} is not defined")
