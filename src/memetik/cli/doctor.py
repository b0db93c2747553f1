"""`memetik doctor`: what is installed, where kernels come from, what is missing."""

from __future__ import annotations

import argparse
import json
import textwrap
from collections.abc import Iterator
from typing import Any

from memetik.cli.options import add_command, add_common
from memetik.tables import terminal_width


def add_commands(commands: Any) -> None:
    """Add `doctor`."""
    command = add_command(
        commands, "doctor", _doctor, "what works here, and what to install for the rest",
        "Say what is installed, whether kernels are prebuilt, cached or compiled anew and why, what works by which extra and "
        "what to install for the others, and whether a graphics card and a browser can be used. Exit code 0 in any case.",
    )  # fmt: skip
    more = "also import all extras, rather than only look for them, and solve a first problem"
    command.add_argument("--thorough", action="store_true", help=more)
    add_common(command, "--json")


def _doctor(options: argparse.Namespace) -> int:
    from memetik.doctor import examine, lines  # the compiler takes a third of a second to import

    facts = examine(options.thorough)
    print(json.dumps(facts) if options.json else "\n".join(_folded(lines(facts))))
    return 0


def _folded(findings: list[str]) -> Iterator[str]:
    """Lines that fit the terminal; what goes on below stands under what it goes on from."""
    width = terminal_width()
    for line in findings:
        if width is None or len(line) <= width:
            yield line
        else:
            yield from textwrap.wrap(line, max(width, 40), subsequent_indent=" " * 12, break_on_hyphens=False)
