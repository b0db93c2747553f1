"""`memetik bench`: experiments by name."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from memetik import bench
from memetik.cli.files import OUT


def add_commands(commands: Any) -> None:
    """Add `bench`."""
    command = commands.add_parser("bench", help="measure, with the published figures beside ours")
    command.add_argument("name", choices=["list", *bench.experiments()], help="the experiment, or 'list'")
    command.add_argument("--quick", action="store_true", help="fewer repetitions, for a first look")
    command.add_argument("--out", type=Path, default=OUT / "bench", help="folder for results (default: %(default)s)")
    command.set_defaults(run=_bench)


def _bench(options: argparse.Namespace) -> int:
    if options.name == "list":
        for name, purpose in bench.experiments().items():
            print(f"{name:10} {purpose}")
    else:
        bench.run(options.name, options.out, quick=options.quick)
    return 0
