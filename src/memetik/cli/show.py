"""`memetik bodies | show | methods`: what there is."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import memetik as mk
from memetik import bodies
from memetik.bench.harness import text_table
from memetik.cli.files import OUT
from memetik.files import writable_file

_MADE = {"planar": "planar_chain", "snake": "snake"}  # bodies that are made, not read


def add_commands(commands: Any) -> None:
    """Add `bodies`, `show` and `methods`."""
    command = commands.add_parser("bodies", help="list the bundled bodies")
    command.set_defaults(run=_bodies)

    command = commands.add_parser("show", help="print a body as a table and draw it")
    add_body(command)
    command.add_argument("--chain", help="only this named chain")
    command.add_argument("--out", type=Path, help="picture to write (default: memetik-out/NAME.svg)")
    command.set_defaults(run=_show)

    command = commands.add_parser("methods", help="list the methods of solving")
    command.set_defaults(run=_methods)


def add_body(command: argparse.ArgumentParser, nargs: str | None = None) -> None:
    """The arguments that say which body is meant; `load_body` reads them. `nargs` "?" lets it be left out."""
    kinds = "a bundled name, a path to a .urdf or .xacro file, or planar:N or snake:N joints"
    command.add_argument("body", nargs=nargs, help=kinds)
    command.add_argument("--base", default="fixed", help="the root: fixed, xyz, planar or floating (default: fixed)")


def load_body(options: argparse.Namespace) -> mk.Body:
    """The body that was named."""
    kind, _, joints = options.body.partition(":")
    if kind in _MADE and joints.isdecimal():
        made: mk.Body = getattr(mk, _MADE[kind])(int(joints))
        return made.with_base(options.base)
    return mk.load(options.body, base=options.base)


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
    columns = ("name", "family", "takes", "tips", "limits", "deterministic", "reference")
    rows = [{column: getattr(method, column) for column in columns} for method in mk.methods()]
    for row in rows:
        row["deterministic"] = "yes" if row["deterministic"] else "no"
    print(text_table(rows))
    return 0
