"""`memetik compare`: all methods on the same random problems of a body."""

from __future__ import annotations

import argparse
import sys
from typing import Any

import memetik as mk
from memetik.cli import (
    OUT,
    add_body,
    add_command,
    add_common,
    add_names,
    add_number,
    add_out,
    add_tolerances,
    ends,
    load_body,
)
from memetik.files import writable_folder
from memetik.write import pyplot
from memetik_lab.compare import Question, compare, named
from memetik_lab.peers import Task

CONTRADICTED = 1


def add_commands(commands: Any) -> None:
    """Add `compare`."""
    command = add_command(
        commands, "compare", _compare, "let all methods solve the same random problems of a body",
        "Let all methods solve the same random reachable problems of a body, check every answer by an "
        "independent forward kinematics, print and plot. Several --tip are wanted all at once. Exit code 1: an "
        "answer broke a limit or contradicted its own status.",
    )  # fmt: skip
    add_body(command)
    add_common(command, "--chain")
    command.add_argument("--tip", action="append", metavar="LINK", help="a link that gets a target; repeatable")
    command.add_argument("--position-only", action="store_true", help="targets are positions, not whole poses")
    add_number(command, "--count", 100, "problems", "N")
    add_number(command, "--seconds", 0.1, "for each solve", "S")
    add_names(command, "--methods", "METHOD", "only these, see `memetik methods` (default: all)")
    add_tolerances(command)
    add_number(command, "--seed", 0, "of problems and methods")
    add_out(command, "folder for results", OUT / "compare", "FOLDER")


def _compare(options: argparse.Namespace) -> int:
    body, tips = load_body(options), options.tip
    if options.chain:
        part = body.chain(options.chain)
        body, tips = part, tips or list(body.chains[options.chain].tips)
    task = Task(options.position_tolerance, options.orientation_tolerance, options.seconds)
    question = Question(body, _tips(body, tips), task, options.position_only)
    writable_folder(options.out)
    plot = _can_plot()
    comparison = compare(
        question, named(options.methods or None, seed=options.seed), count=options.count, seed=options.seed
    )
    print(comparison.report)
    print("saved", *comparison.save(options.out, plot=plot))
    for complaint in comparison.complaints:
        print(f"memetik: CONTRADICTION, {complaint}.", file=sys.stderr)
    return CONTRADICTED if comparison.complaints else 0


def _tips(body: mk.Body, given: list[str] | None) -> tuple[str, ...]:
    """The links that get targets: those that were named, or the only end of the body."""
    if given:
        for link in given:
            body.frame(link)
        return tuple(dict.fromkeys(given))
    known = ends(body)
    if len(known) == 1:
        return (known[0],)
    raise mk.errors.ProblemError(
        f"body {body.name!r} has {len(known)} tips. Say which get targets, once or more: --tip {' --tip '.join(known[:3])}"
        f"{' ...' if len(known) > 3 else ''}."
    )


def _can_plot() -> bool:
    """Whether there is what a plot needs; without, the table is still worth the work."""
    try:
        pyplot("the plot")
    except mk.errors.MissingExtraError as missing:
        print(f"memetik: there will be no plot. {missing}", file=sys.stderr, flush=True)
        return False
    return True
