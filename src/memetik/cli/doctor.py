"""`memetik doctor`: what is installed, where kernels come from, what is missing."""

from __future__ import annotations

import argparse
import json
from typing import Any

from memetik.cli.options import add_command, add_common


def add_commands(commands: Any) -> None:
    """Add `doctor`."""
    command = add_command(
        commands, "doctor", _doctor, "what is installed, where kernels come from, what is missing",
        "Say what is installed, whether kernels are prebuilt, cached or compiled anew and why, which extras are missing, "
        "and whether a graphics card can be used. Exit code 0 in any case.",
    )  # fmt: skip
    add_common(command, "--json")


def _doctor(options: argparse.Namespace) -> int:
    from memetik.doctor import examine, lines  # the compiler takes a third of a second to import

    facts = examine()
    print(json.dumps(facts) if options.json else "\n".join(lines(facts)))
    return 0
