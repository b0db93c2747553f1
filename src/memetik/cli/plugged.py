"""Commands of other packages, and what stands in their place where a package is missing."""

from __future__ import annotations

import argparse
from typing import Any

from memetik.plugins import COMMANDS, PACKAGES, added, missing

ABOUT = {  # what the commands of this project's packages do
    "compare": "let all methods solve the same random problems of a body",
    "bench": "measure, with the published figures beside ours",
    "studio": "a page with the body in 3D, targets to drag and the solver live",
    "serve": "answer over HTTP and WebSocket",
    "ros1": "a node of ROS 1 that answers as MoveIt and bio_ik do",
    "ros2": "a node of ROS 2 over Zenoh or DDS, without an installation of ROS",
}


def add_commands(commands: Any) -> None:
    """Add the commands of this project's packages, then those of others."""
    found = added(COMMANDS)
    for name, about in ABOUT.items():
        if name in found:
            found[name].load()(commands)
        else:
            _add_missing(commands, name, about)
    for name in sorted(found.keys() - commands.choices.keys()):
        found[name].load()(commands)


def _add_missing(commands: Any, name: str, about: str) -> None:
    """A command that says what to install, whatever is given to it."""
    about = f"{about} (needs {PACKAGES[name].name})"
    command = commands.add_parser(name, help=about, add_help=False, prefix_chars="\0")  # no word is an option
    command.add_argument("words", nargs="*")
    command.set_defaults(run=_missing, command=name)


def _missing(options: argparse.Namespace) -> int:
    raise missing(options.command, f"`memetik {options.command}`")
