"""main: the commands put together, and how they end."""

from __future__ import annotations

import argparse
import atexit
import gc
import re
import sys
import warnings
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

import memetik as mk
from memetik.cli import (
    batch,
    completion,
    cover,
    demo,
    doctor,
    evolve,
    motion,
    plugged,
    reach,
    retarget,
    show,
    solve,
    warm,
)  # fmt: skip
from memetik.cli.parser import Parser

USER_ERROR = 2
INTERRUPTED = 130  # as shells count what Ctrl-C ends
EPILOG = "Begin with `memetik demo`. `memetik COMMAND --help` says more of a command."

# argparse takes -0.5 for a number, but -5e-1 for an option.
_SMALL_NEGATIVE = re.compile(r"-(\d+\.?\d*|\.\d+)[eE][-+]?\d{1,3}")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command. A user's mistake ends with one sentence on stderr and exit code 2."""
    if arguments is None:
        # A last search for garbage through all that Numba has made takes 0.3 to 0.4 s of each command, and finds nothing of use.
        atexit.register(gc.freeze)
    given = sys.argv[1:] if arguments is None else arguments
    if given[:1] == ["help"]:
        given = [*given[1:], "--help"]
    options = _parser().parse_args([_plain(argument) for argument in given])
    try:
        with warnings.catch_warnings():
            warnings.showwarning = _say
            code: int = options.run(options)
        return code
    except mk.MemetikError as error:
        print(f"memetik: {error}", file=sys.stderr)
        return USER_ERROR
    except KeyboardInterrupt:
        print("memetik: stopped.", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:  # the reader of a pipe such as `| head` has left
        sys.stderr.close()
        return 0


def _parser() -> argparse.ArgumentParser:
    parser = Parser(prog="memetik", description=mk.__doc__, epilog=EPILOG)
    parser.add_argument("--version", action="version", version=f"memetik {mk.__version__}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    for family in (
        demo,
        show,
        cover,
        solve,
        batch,
        reach,
        evolve,
        motion,
        retarget,
        plugged,
        warm,
        doctor,
        completion,
    ):
        family.add_commands(commands)
    return parser


def _plain(argument: str) -> str:
    return f"{Decimal(argument):f}" if _SMALL_NEGATIVE.fullmatch(argument) else argument


def _say(message: Warning | str, *_: Any, **__: Any) -> None:
    """A warning as one line, without the place in the code that Python adds."""
    print(f"memetik: {message}", file=sys.stderr)
