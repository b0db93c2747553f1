"""Kernels run once with symbols in place of numbers: what they do to the numbers comes out as straight-line code.

A kernel for any body reads at every step which node comes next and what hangs on it. For one body the answers are always the
same. Run with them as they are, and with a symbol for each number that differs from one solve to the next, a kernel leaves a
list of nothing but sums and products: no index, no loop, and nothing that is multiplied by zero.

Where a kernel asks something of a symbol, it is run both ways, and what it returns is chosen between. One that writes into an
array after such a question cannot be traced.
"""

import math
import types
from collections.abc import Callable
from typing import Any

import numpy as np

from memetik.kernels.compiler.lanes import bit, select
from memetik.kernels.math.sincos import sincos

_PACKAGE = "memetik.kernels."
MOST_PATHS = 64  # through one kernel


class UntraceableError(Exception):
    """A kernel does with symbols what straight-line code cannot."""


class Symbol:
    """A number, or a yes or no, that is known when the code runs."""

    __slots__ = ("text", "trace")
    __array_ufunc__ = None  # numbers of NumPy leave sums with a symbol to it

    def __init__(self, trace: "Trace", text: str) -> None:
        self.trace, self.text = trace, text

    def __add__(self, other: Any) -> Any:
        if _is(other, 0.0):
            return self
        return self.trace.note("+", self, other)

    def __radd__(self, other: Any) -> Any:
        return self if _is(other, 0.0) else self.trace.note("+", other, self)

    def __sub__(self, other: Any) -> Any:
        return self if _is(other, 0.0) else self.trace.note("-", self, other)

    def __rsub__(self, other: Any) -> Any:
        return -self if _is(other, 0.0) else self.trace.note("-", other, self)

    def __mul__(self, other: Any) -> Any:
        if _is(other, 0.0):
            return 0.0
        if _is(other, 1.0):
            return self
        if _is(other, -1.0):
            return -self
        return self.trace.note("*", self, other)

    def __rmul__(self, other: Any) -> Any:
        return self * other

    def __truediv__(self, other: Any) -> Any:
        return self if _is(other, 1.0) else self.trace.note("/", self, other)

    def __rtruediv__(self, other: Any) -> Any:
        return 0.0 if _is(other, 0.0) else self.trace.note("/", other, self)

    def __neg__(self) -> "Symbol":
        return self.trace.note("neg", self)

    def __abs__(self) -> "Symbol":
        return self.trace.note("fabs", self)

    def __lt__(self, other: Any) -> Any:
        return self.trace.note("<", self, other)

    def __le__(self, other: Any) -> Any:
        return self.trace.note("<=", self, other)

    def __gt__(self, other: Any) -> Any:
        return self.trace.note(">", self, other)

    def __ge__(self, other: Any) -> Any:
        return self.trace.note(">=", self, other)

    def __eq__(self, other: object) -> Any:
        return self.trace.note("==", self, other)

    def __ne__(self, other: object) -> Any:
        return self.trace.note("!=", self, other)

    __hash__ = object.__hash__

    def __bool__(self) -> bool:
        return self.trace.decide(self)


class Trace:
    """What happened to symbols, as lines of code."""

    def __init__(self, letter: str = "v") -> None:
        self._letter = letter  # with which names begin
        self.lines: list[tuple[str, str, tuple[str, ...]]] = []  # name, operation, operands
        self.yes_or_no: set[str] = set()  # names that are no numbers
        self._known: dict[Any, Symbol] = {}
        self._bound: dict[Any, Callable[..., Any]] = {}
        self._paths: list[_Path] = []
        self.written: list[tuple[Numbers, Any, Any]] = []  # into which array, where, and what was there before

    # ---- Symbols ---------------------------------------------------------------------------------------------------

    def symbol(self, text: str) -> Symbol:
        """A number by its name in the code."""
        return Symbol(self, text)

    def note(self, operation: str, *operands: Any) -> Symbol:
        """The result of an operation; the same one twice is done once."""
        texts = tuple(text_of(value) for value in operands)
        key = operation, texts
        if key not in self._known:
            name = f"{self._letter}{len(self.lines)}"
            self.lines.append((name, operation, texts))
            self._known[key] = Symbol(self, name)
            if operation in ("<", "<=", ">", ">=", "==", "!=", "isfinite", "bit"):
                self.yes_or_no.add(name)
        return self._known[key]

    def select(self, question: Any, yes: Any, no: Any) -> Any:
        """`yes` where the answer is yes, else `no`; both may be tuples."""
        if not isinstance(question, Symbol):
            return yes if question else no
        if isinstance(yes, tuple):
            return tuple(self.select(question, a, b) for a, b in zip(yes, no, strict=True))
        if yes is no or (not isinstance(yes, Symbol) and not isinstance(no, Symbol) and yes == no):
            return yes
        chosen = self.note("select", question, yes, no)
        if isinstance(yes, bool | Symbol) and (isinstance(yes, bool) or yes.text in self.yes_or_no):
            self.yes_or_no.add(chosen.text)
        return chosen

    # ---- Kernels ---------------------------------------------------------------------------------------------------

    def __call__(self, kernel: Any) -> Callable[..., Any]:
        """The kernel as a function of symbols."""
        if kernel not in self._bound:
            function = plain(kernel)
            known = dict(function.__globals__)
            bound = types.FunctionType(function.__code__, known, function.__name__, function.__defaults__)
            self._bound[kernel] = lambda *given: self._both_ways(bound, given)
            for name in function.__code__.co_names:
                value = known.get(name, _BUILTINS.get(name))
                if value is math:
                    known[name] = _Math(self)
                elif value in (min, max):
                    known[name] = self._least if value is min else self._most
                elif value is sincos:
                    known[name] = self._sincos
                elif value is select:
                    known[name] = self.select
                elif value is bit:
                    known[name] = self._bit
                elif is_kernel(value) or (callable(value) and value in self._bound):
                    known[name] = self(value)
        return self._bound[kernel]

    def replace(self, kernel: Any, function: Callable[..., Any]) -> None:
        """From now on a function of symbols takes the place of a kernel."""
        self._bound[kernel] = function

    def _both_ways(self, function: Any, given: tuple[Any, ...]) -> Any:
        """Run a function along every path that questions open, and choose between what it returns."""
        root: Any = None
        path, before = _Path(), len(self.written)
        for _ in range(MOST_PATHS):
            while len(self.written) > before:  # it will be written once more
                array, at, value = self.written.pop()
                array.values[at] = value
            self._paths.append(path)
            try:
                result = function(*given)
            finally:
                self._paths.pop()
            if path.questions and len(self.written) > path.written:
                raise UntraceableError(f"{function.__name__} writes what depends on a question")
            root = _grown(root, path, result)
            if not path.turn():
                return self._chosen(root)
        raise UntraceableError(f"{function.__name__} asks too many questions")

    def decide(self, question: Symbol) -> bool:
        """The answer on the path at hand."""
        if not self._paths:
            raise UntraceableError("a question outside of a kernel")
        return self._paths[-1].answer(question, len(self.written))

    def _chosen(self, tree: Any) -> Any:
        if not isinstance(tree, _Fork):
            return tree
        return self.select(tree.question, self._chosen(tree.yes), self._chosen(tree.no))

    # ---- Functions of the language -------------------------------------------------------------------------------------

    def _least(self, a: Any, b: Any) -> Any:
        return self.note("fmin", a, b) if isinstance(a, Symbol) or isinstance(b, Symbol) else min(a, b)

    def _most(self, a: Any, b: Any) -> Any:
        return self.note("fmax", a, b) if isinstance(a, Symbol) or isinstance(b, Symbol) else max(a, b)

    def _bit(self, value: Any, k: int) -> Any:
        return self.note("bit", value, k)

    def _sincos(self, angle: Any) -> Any:
        if not isinstance(angle, Symbol):
            return math.sin(angle), math.cos(angle)
        sine = self.note("sin", angle)
        return sine, self.note("cos_of", sine)


class Numbers:
    """An array of symbols and numbers as kernels read and write it."""

    def __init__(self, trace: Trace, values: Any) -> None:
        self.values = np.array(values, dtype=object)
        self.size, self.shape, self._trace = self.values.size, self.values.shape, trace

    def __getitem__(self, at: Any) -> Any:
        return self.values[at]

    def __setitem__(self, at: Any, value: Any) -> None:
        self._trace.written.append((self, at, self.values[at]))
        self.values[at] = value


class _Path:
    """Answers to the questions of one run; those beyond are answered with yes."""

    def __init__(self) -> None:
        self.answers: list[bool] = []
        self.questions: list[Symbol] = []
        self.written = 0  # how much had been when the first was asked

    def answer(self, question: Symbol, written: int) -> bool:
        at = len(self.questions)
        if at == 0:
            self.written = written
        self.questions.append(question)
        if at == len(self.answers):
            self.answers.append(True)
        return self.answers[at]

    def turn(self) -> bool:
        """Go to the next path; false if there is none."""
        while self.answers and not self.answers[-1]:
            self.answers.pop()
        if not self.answers:
            return False
        self.answers[-1] = False
        self.questions = []
        return True


class _Fork:
    __slots__ = ("no", "question", "yes")

    def __init__(self, question: Symbol) -> None:
        self.question, self.yes, self.no = question, None, None


def _grown(root: Any, path: _Path, result: Any) -> Any:
    """The tree of questions with the result at the end of a path."""
    if not path.questions:
        return result
    top = root if root is not None else _Fork(path.questions[0])
    fork = top
    for at, yes in enumerate(path.answers[: len(path.questions)]):
        if at + 1 == len(path.questions):
            setattr(fork, "yes" if yes else "no", result)
            break
        below = fork.yes if yes else fork.no
        if below is None:
            below = _Fork(path.questions[at + 1])
            setattr(fork, "yes" if yes else "no", below)
        fork = below
    return top


class _Math:
    """The module `math` for symbols."""

    def __init__(self, trace: Trace) -> None:
        self._trace = trace

    def __getattr__(self, name: str) -> Any:
        plain = getattr(math, name)
        if not callable(plain):
            return plain

        def function(*given: Any) -> Any:
            if any(isinstance(value, Symbol) for value in given):
                return self._trace.note(name, *given)
            return plain(*given)

        return function


_BUILTINS = {"min": min, "max": max}


def _is(value: Any, number: float) -> bool:
    return not isinstance(value, Symbol) and value == number


def plain(kernel: Any) -> Any:
    """The Python function of a kernel, which is the kernel itself where nothing is compiled."""
    return getattr(kernel, "py_func", kernel)


def is_kernel(value: Any) -> bool:
    """Whether a global of a kernel is one, too."""
    function = plain(value)
    return isinstance(function, types.FunctionType) and function.__module__.startswith(_PACKAGE)


def text_of(value: Any) -> str:
    """A number or a symbol as it stands in the code."""
    if isinstance(value, Symbol):
        return value.text
    if isinstance(value, bool):
        return str(int(value))
    number = float(value)
    if not math.isfinite(number):
        return "NOT_A_NUMBER" if math.isnan(number) else f"{'-' if number < 0 else ''}INFINITE"
    return repr(number) if number >= 0.0 else f"({number!r})"


def c_code(trace: Trace) -> str:
    """What was traced, in C; sine and cosine come from a function sin_and_cos."""
    return "\n".join(f"  {_line(trace, *line)}" for line in trace.lines)


def _line(trace: Trace, name: str, operation: str, operands: tuple[str, ...]) -> str:
    kind = "bool" if name in trace.yes_or_no else "double"
    if operation == "sin":
        return f"double {name}, {name}c; sin_and_cos({operands[0]}, &{name}, &{name}c);"
    if operation == "cos_of":
        value = f"{operands[0]}c"
    elif operation == "neg":
        value = f"-{operands[0]}"
    elif operation == "bit":
        value = f"(int){operands[0]} >> (int){operands[1]} & 1"
    elif operation == "select":
        value = f"{operands[0]} ? {operands[1]} : {operands[2]}"
    elif operation.isalnum():
        value = f"{operation}({', '.join(operands)})"
    else:
        value = f"{operands[0]} {operation} {operands[1]}"
    return f"const {kind} {name} = {value};"
