"""`memetik studio`: the page in the browser."""

from __future__ import annotations

import argparse
from typing import Any

from memetik.cli import add_address, add_command, add_common


def add_commands(commands: Any) -> None:
    """Add `studio`."""
    about = "a page with the body in 3D, targets to drag and the solver live"
    command = add_command(commands, "studio", _studio, about)
    kinds = "a bundled name, planar:N or snake:N joints, a model file, a scene (default: a humanoid)"
    command.add_argument("body", nargs="?", metavar="BODY", help=kinds)
    add_address(command, 8080)
    command.add_argument("--no-open", action="store_true", help="do not open a browser")
    add_common(command, "--root")


def _studio(options: argparse.Namespace) -> int:
    from memetik_studio.server import serve  # viser is an extra, and takes a second to import

    serve(options.body, host=options.host, port=options.port, browser=not options.no_open, roots=options.root)
    return 0
