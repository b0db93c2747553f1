"""`memetik bodies | show | methods`: what there is."""

from __future__ import annotations

import argparse
import json
from typing import Any

import memetik as mk
from memetik import bodies
from memetik.body import body_table
from memetik.cli.options import OUT, STILL, add_body, add_command, add_common, add_out, load_body
from memetik.cli.parser import one_of
from memetik.files import writable_file
from memetik.tables import terminal_width, text_table


def add_commands(commands: Any) -> None:
    """Add `bodies`, `show` and `methods`."""
    add_common(add_command(commands, "bodies", _bodies, "list the bundled bodies"), "--json")
    command = add_command(commands, "show", _show, "print a body as a table and draw it")
    add_body(command)
    add_common(command, "--chain")
    add_out(command, f"picture to write, {one_of(STILL)} (default: memetik-out/NAME.svg)")
    add_common(add_command(commands, "methods", _methods, "list the methods of solving"), "--json")


def _bodies(options: argparse.Namespace) -> int:
    rows = []
    for name in bodies.names():
        body = mk.load(name)
        rows.append({"name": name, "DoF": body.dof, "links": len(body.links), "what it is": bodies.DESCRIPTIONS[name]})
    _print(rows, options)
    return 0


def _show(options: argparse.Namespace) -> int:
    body = load_body(options)
    if options.chain:
        body = body.chain(options.chain)
    path = writable_file(options.out or OUT / f"{body.name}.svg", *STILL)
    print(body_table(body, terminal_width()), "\n")
    mk.draw(body, body.home, path)
    print("drawn:", path)
    return 0


def _methods(options: argparse.Namespace) -> int:
    columns = ("name", "family", "takes", "tips", "limits", "priorities", "deterministic", "reference")
    rows = [{column: getattr(method, column) for column in columns} for method in mk.methods()]
    for row in rows:
        row["deterministic"] = "yes" if row["deterministic"] else "no"
    _print(rows, options)
    return 0


def _print(rows: list[dict[str, Any]], options: argparse.Namespace) -> None:
    print(json.dumps(rows) if options.json else text_table(rows, terminal_width()))
