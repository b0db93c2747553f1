"""What xacro adds to expressions: its own functions, and the substitutions $(...)."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from typing import Any

from memetik.errors import MissingExtraError, warn
from memetik.read.xacro.expression import evaluate
from memetik.read.xacro.values import Function, LimitError, UntrustedError, Work

PACKAGE = "package://"
REFUSED = ("env", "optenv", "cwd", "dirname")  # they tell a file about the machine


class Arguments(dict[str, str]):
    """The arguments of a file by name, which remember the names that the file asked for."""

    def __init__(self, given: Mapping[str, str]) -> None:
        super().__init__(given)
        self.asked: set[str] = set()

    def has(self, name: str) -> bool:
        """Whether an argument that the file asks for has a value."""
        self.asked.add(name)
        return name in self


def functions(arguments: Arguments, load_yaml: Callable[[str], Any], path_of: Callable[[str], str]) -> dict[str, Any]:
    """The functions of xacro by name."""
    own: dict[str, Callable[..., Any]] = {
        "load_yaml": load_yaml, "abs_filename": path_of, "dotify": lambda given: given, "tokenize": _tokens,
    }  # fmt: skip
    only: dict[str, Callable[..., Any]] = {
        "arg": lambda name: _argument(name, arguments), "message": lambda *_: "", "warning": _warn, "error": _warn,
        "fatal": _fail, "print_location": lambda: "",
    }  # fmt: skip
    named = {name: Function(name, call) for name, call in {**own, **only}.items()}
    return {**{name: named[name] for name in own}, "xacro": named}


def resolve_extension(text: str, arguments: Arguments, names: Mapping[str, Any], work: Work) -> Any:
    """What $(text) stands for. A package is named by package://, which is looked up where a file or a mesh is opened."""
    command, _, rest = text.strip().partition(" ")
    given = rest.split()
    if command == "eval":
        arguments.asked.update(name for name in arguments if name in rest)
        known = {name: _converted(value) for name, value in arguments.items()}
        of_args = Function("arg", lambda name: _converted(_argument(name, arguments)))
        return str(evaluate(rest, {**names.get("python", {}), **names.get("math", {}), **known, "true": True, "false": False,
                                   "arg": of_args}, work))  # fmt: skip
    if command in REFUSED:
        raise UntrustedError(f"$({command} ...) is not evaluated")
    if command not in ("arg", "find") or len(given) != 1:
        raise ValueError(f"$({text}) is no substitution; write $(arg NAME) or $(find PACKAGE)")
    return _argument(given[0], arguments) if command == "arg" else f"{PACKAGE}{given[0]}"


def _argument(name: str, arguments: Arguments) -> str:
    if not arguments.has(name):
        raise ValueError(f"the argument {name!r} has no value; declare it with <xacro:arg name={name!r} default=.../>")
    return arguments[name]


def _converted(value: str) -> Any:
    """An argument as a number or truth value, if it reads like one."""
    for kind in (int, float):
        try:
            return kind(value)
        except ValueError:
            pass
    return {"true": True, "false": False}.get(value.lower(), value)


def _tokens(text: str, sep: str = ",; ", skip_empty: bool = True) -> list[str]:
    return [part for part in re.split(f"[{re.escape(sep)}]", text) if part or not skip_empty]


def _warn(*given: Any, **_: Any) -> str:
    warn(" ".join(map(str, given))[:1_000])
    return ""


def _fail(*given: Any) -> None:
    raise ValueError(" ".join(map(str, given))[:1_000])


UNITS = {
    "!radians": 1.0, "!degrees": math.pi / 180.0, "!meters": 1.0, "!millimeters": 0.001, "!foot": 0.3048, "!inches": 0.0254,
}  # fmt: skip


def parse_yaml(text: str, names: Mapping[str, Any], work: Work) -> Any:
    """The value of a YAML text of bounded size; numbers may have a unit, such as `!degrees 90`."""
    try:
        import yaml
    except ImportError:
        raise MissingExtraError("yaml", "reading YAML files of xacro", extra="xacro") from None

    class Loader(yaml.SafeLoader):  # type: ignore[misc]
        """A loader of its own, so that units are unknown to other users of the package."""

    for tag, factor in UNITS.items():
        Loader.add_constructor(
            tag,
            lambda loader, node, factor=factor: factor * float(evaluate(loader.construct_scalar(node), names, work)),
        )
    try:
        return work.checked(yaml.load(text, Loader))
    except (LimitError, UntrustedError):
        raise
    except Exception as error:
        raise ValueError(f"this is not YAML: {' '.join(str(error).split())[:300]}") from None
