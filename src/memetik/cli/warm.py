"""`memetik warm`: compile kernels before they are needed."""

from __future__ import annotations

import argparse
from typing import Any

from memetik.cli.options import add_command
from memetik.progress import Progress


def add_commands(commands: Any) -> None:
    """Add `warm`."""
    command = add_command(
        commands, "warm", _warm, "compile kernels before they are needed",
        "Compile what the first solves on this machine need, and keep it on disk: for images of containers and for "
        "classrooms. Kernels that are prebuilt or compiled already are only loaded.",
    )  # fmt: skip
    every = "for every method and objective (minutes), not only for solves, batches and paths by memetic (a minute)"
    command.add_argument("--all", action="store_true", help=every)


def _warm(options: argparse.Namespace) -> int:
    from memetik.warm import everything, first_solves, warm  # the compiler takes a third of a second to import

    steps = everything() if options.all else first_solves()
    line = Progress(len(steps), "compiling kernels")

    def tell(done: int, name: str) -> None:
        line.label = f"compiling kernels, {name}"
        line.show(done)

    try:
        warmed = warm(steps, tell)
    finally:
        line.close()
    compiled = f"{warmed.compiled} functions compiled" if warmed.compiled else "nothing had to be compiled"
    print(f"ready for {warmed.steps - len(warmed.without)} kinds of problems: {compiled}, {warmed.seconds:.1f} s")
    for name, why in warmed.without.items():
        print(f"left out: {name}. {why}")
    return 0
