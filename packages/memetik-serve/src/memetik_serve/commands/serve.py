"""`memetik serve`: answers over HTTP and WebSocket, for programs in any language."""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import Any

from memetik.cli import add_address, add_body, add_command, add_number, load_body
from memetik.scenes import read_scene


def add_commands(commands: Any) -> None:
    """Add `serve`."""
    command = add_command(
        commands, "serve", _serve, "answer over HTTP and WebSocket",
        "Answer over HTTP and WebSocket, in JSON: solve, track, streams of targets, scenes. The address has a page that "
        "describes it. Only this machine can connect unless --host says otherwise, and then a token is needed.",
    )  # fmt: skip
    add_body(command)
    add_address(command, 8642)
    command.add_argument(
        "--token",
        metavar="TEXT",
        default=os.environ.get("MEMETIK_TOKEN"),
        help="what clients must send (default: MEMETIK_TOKEN, or made up where other machines can connect)",
    )
    pages = "a web page that may ask, besides those of this machine, such as https://example.org; repeatable"
    command.add_argument("--origin", action="append", default=[], metavar="URL", help=pages)
    kept = "a scene to keep, named after its file; repeatable"
    command.add_argument("--scene", type=Path, action="append", default=[], metavar="FILE.json", help=kept)
    behind = "the address of a proxy whose X-Forwarded-For says who asks; repeatable (default: nobody is believed)"
    command.add_argument("--proxy", action="append", default=[], metavar="ADDRESS", help=behind)
    add_number(command, "--rate", 20_000.0, "requests a second from one address", "HZ")
    add_number(command, "--seconds", 10.0, "the longest search, with all its attempts", "S")
    add_number(command, "--links", 2_000, "the most of a scene's body", "N")
    add_number(command, "--memory", 512.0, "problems, scenes and streams that are kept, half of it of one client", "MB")


def _serve(options: argparse.Namespace) -> int:
    from memetik_serve.web import serve  # its framework is an extra
    from memetik_serve.web.limits import Limits

    serve(
        load_body(options), host=options.host, port=options.port, token=options.token, origins=options.origin,
        limits=Limits(rate=options.rate, timeout=options.seconds, memory=options.memory, links=options.links),
        proxies=options.proxy,
        scenes={path.stem: read_scene(path) for path in options.scene},
        roots=[path.resolve().parent for path in options.scene],
    )  # fmt: skip
    return 0
