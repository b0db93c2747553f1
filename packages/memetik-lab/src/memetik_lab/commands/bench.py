"""`memetik bench`: experiments by name, or all in turn."""

from __future__ import annotations

import argparse
import sys
import time
import traceback
from pathlib import Path
from typing import Any

import memetik as mk
import memetik_lab as lab
from memetik.cli import OUT, add_command, add_out
from memetik.files import writable_folder
from memetik.tables import aligned, terminal_width
from memetik_lab.published import published_lines

FAILED = 1


def add_commands(commands: Any) -> None:
    """Add `bench`."""
    command = add_command(
        commands, "bench", _bench, "measure, with the published figures beside ours",
        "Run an experiment: print its table, save results and plots. 'list' names all of them, and says of every table and "
        "figure of the founding documents which one measures it or why none does. 'all' goes on where an experiment "
        "cannot run for want of a package or a graphics card, and lists it at the end. Exit code 1: one failed for "
        "another reason.",
    )  # fmt: skip
    names = ["list", "all", *lab.experiments()]
    command.add_argument("name", choices=names, metavar="NAME", help="the experiment, 'all', or 'list' to see them")
    command.add_argument("--quick", action="store_true", help="fewer repetitions, for a first look")
    add_out(command, "folder for results", OUT / "bench", "FOLDER")
    others = "measure other solvers too, where an experiment has them and they are installed (default: yes)"
    command.add_argument("--peers", action=argparse.BooleanOptionalAction, default=True, help=others)
    own = "recordings of your own, for an experiment that takes them"
    command.add_argument("--data", type=Path, metavar="FILE", help=own)


def _bench(options: argparse.Namespace) -> int:
    if options.name == "list":
        rows = [["name", "what it measures"], *map(list, lab.experiments().items())]
        print("\n".join(aligned(rows, ruled=False, width=terminal_width())))
        print("\nTables and figures of the founding documents, and what measures them:")
        print(*published_lines(terminal_width()), sep="\n")
        return 0
    if options.name == "all":
        return _all(options)
    lab.run(options.name, options.out, quick=options.quick, peers=options.peers, data=options.data)
    return 0


def _all(options: argparse.Namespace) -> int:
    """Every experiment in turn. What this machine lacks stops none of the others, and neither does a failure."""
    writable_folder(options.out)
    names = list(lab.experiments())
    unavailable: dict[str, str] = {}
    failed: dict[str, str] = {}
    begin = time.monotonic()
    for k, name in enumerate(names, 1):
        print(f"\n[{k}/{len(names)}] {name}, after {_minutes(begin)}", flush=True)
        try:
            lab.run(name, options.out, quick=options.quick, peers=options.peers)
        except (mk.errors.MissingExtraError, lab.UnavailableError) as error:
            unavailable[name] = str(error)
        except Exception as error:  # the others are still worth their time
            traceback.print_exc()
            failed[name] = f"{type(error).__name__}: {error}"
    done = len(names) - len(unavailable) - len(failed)
    print(f"\n{done} of {len(names)} experiments in {_minutes(begin)}, results in {options.out}")
    for name, reason in unavailable.items():
        print(f"not run: {name}. {reason}")
    for name, reason in failed.items():
        print(f"memetik: {name} failed. {reason}", file=sys.stderr)
    return FAILED if failed else 0


def _minutes(begin: float) -> str:
    return f"{(time.monotonic() - begin) / 60.0:.1f} min"
