"""The command line: `memetik demo | bodies | show | methods | solve | batch | reach | evolve | ...`, and what commands of other
packages share with it."""

from memetik.cli.main import main
from memetik.cli.options import (
    OUT,
    add_address,
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

__all__ = [
    "OUT",
    "add_address",
    "add_body",
    "add_command",
    "add_common",
    "add_names",
    "add_number",
    "add_out",
    "add_tolerances",
    "ends",
    "load_body",
    "main",
]
