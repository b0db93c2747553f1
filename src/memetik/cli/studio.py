"""`memetik studio`: the page in the browser."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any


def add_commands(commands: Any) -> None:
    """Add `studio`."""
    command = commands.add_parser("studio", help="a page with the body in 3D, targets to drag and the solver live")
    command.add_argument(
        "body",
        nargs="?",
        help="a bundled name, planar:N or snake:N joints, a model file, a scene (default: a humanoid)",
    )
    command.add_argument("--host", default="127.0.0.1", help="the address to listen on (default: this machine only)")
    command.add_argument("--port", type=int, default=8080, help="0 takes any that is free (default: %(default)s)")
    command.add_argument("--no-open", action="store_true", help="do not open a browser")
    command.add_argument(
        "--root",
        type=Path,
        action="append",
        default=[],
        help="a folder of models and meshes that may be read; repeatable",
    )
    command.set_defaults(run=_studio)


def _studio(options: argparse.Namespace) -> int:
    from memetik.studio.server import serve  # viser is an extra, and takes a second to import

    serve(options.body, host=options.host, port=options.port, browser=not options.no_open, roots=options.root)
    return 0
