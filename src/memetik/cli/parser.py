"""The parser: argparse with suggestions for typos, short complaints, and help for a command that says nothing."""

from __future__ import annotations

import argparse
import difflib
import sys
from collections.abc import Iterable, Sequence
from typing import Any, NoReturn

from memetik.errors import suggest

__all__ = ["Parser", "families", "names", "one_of", "options_of"]


class Parser(argparse.ArgumentParser):
    """Complains in one line that names the nearest command, option or choice, and where the help is."""

    def __init__(self, *args: Any, **options: Any) -> None:
        # A shortened option in a script breaks as soon as another one begins alike.
        super().__init__(*args, **{"allow_abbrev": False, **options})

    def parse_known_args(  # type: ignore[override]
        self, args: Sequence[str] | None = None, namespace: argparse.Namespace | None = None
    ) -> tuple[argparse.Namespace, list[str]]:
        """As argparse does it, but what is left over is refused here, where the options of the command are known."""
        given = list(sys.argv[1:] if args is None else args)
        if not given and families(self):
            self.print_help()
            self.exit()
        options, left = super().parse_known_args(given, namespace)
        if left:
            self.error(self._left(left))
        return options, left

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        if action.choices is not None and value not in action.choices:
            known = [str(choice) for choice in action.choices]
            if isinstance(action, argparse._SubParsersAction):
                raise argparse.ArgumentError(None, f"no command {value!r}. {suggest(value, known, most=len(known))}")
            raise argparse.ArgumentError(action, f"not {value!r}. {suggest(value, known, most=len(known))}")

    def _left(self, words: Sequence[str]) -> str:
        word = words[0]
        if word.startswith("-") and len(word) > 1:
            name = word.partition("=")[0]
            known = options_of(self)
            near = [option for option in known if option.startswith(name)] or difflib.get_close_matches(
                name, known, n=3
            )
            return f"no option {name}.{f' Did you mean {one_of(near)}?' if near else ''}"
        return f"{' '.join(map(repr, words))}: {'one argument' if len(words) == 1 else 'arguments'} too many."

    def error(self, message: str) -> NoReturn:
        """One line instead of the whole usage."""
        said = message if message.endswith((".", "?")) else f"{message}."
        self.exit(2, f"{self.prog}: {said} See {self.prog} --help.\n")


def families(parser: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    """The commands of a parser by name; none for one that has no commands of its own."""
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            return dict(action.choices)
    return {}


def options_of(parser: argparse.ArgumentParser) -> list[str]:
    """All options of a parser, as they are written."""
    return [name for action in parser._actions for name in action.option_strings]


def names(text: str) -> list[str]:
    """The type of an option that takes names with commas between them."""
    return [name.strip() for name in text.split(",") if name.strip()]


def one_of(words: Iterable[str]) -> str:
    """Words as a help lists them: a, b or c."""
    *others, last = words
    return f"{', '.join(others)} or {last}" if others else last
