"""`memetik bodies | show | methods`: what there is."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import memetik as mk
from memetik import bodies
from memetik.cli.options import OUT, add_body, add_command, load_body
from memetik.files import writable_file
from memetik.tables import text_table


def add_commands(commands: Any) -> None:
    """Add `bodies`, `show` and `methods`."""
    add_command(commands, "bodies", _bodies, "list the bundled bodies")
    command = add_command(commands, "show", _show, "print a body as a table and draw it")
    add_body(command)
    command.add_argument("--chain", help="only this named chain")
    command.add_argument("--out", type=Path, help="picture to write (default: memetik-out/NAME.svg)")
    add_command(commands, "methods", _methods, "list the methods of solving")


def _bodies(options: argparse.Namespace) -> int:
    print(f"{'name':12} {'DoF':>4} {'links':>6}  what it is")
    for name in bodies.names():
        body = mk.load(name)
        print(f"{name:12} {body.dof:4d} {len(body.links):6d}  {bodies.DESCRIPTIONS[name]}")
    return 0


def _show(options: argparse.Namespace) -> int:
    body = load_body(options)
    if options.chain:
        body = body.chain(options.chain)
    path = writable_file(options.out or OUT / f"{body.name}.svg", ".svg")
    print(body, "\n")
    mk.draw(body, body.home, path)
    print("drawn:", path)
    return 0


def _methods(options: argparse.Namespace) -> int:
    columns = ("name", "family", "takes", "tips", "limits", "priorities", "deterministic", "reference")
    rows = [{column: getattr(method, column) for column in columns} for method in mk.methods()]
    for row in rows:
        row["deterministic"] = "yes" if row["deterministic"] else "no"
    print(text_table(rows))
    return 0
