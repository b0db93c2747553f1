"""`memetik batch`: a file of targets solved on all cores or on a cluster."""

from __future__ import annotations

import argparse
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np

import memetik as mk
from memetik.batch.files import ROWS_PER_SHARD
from memetik.batch.source import open_files
from memetik.batch.tables import QUATERNION
from memetik.cli.show import add_body, load_body
from memetik.cli.targets import assignments


def add_commands(commands: Any) -> None:
    """Add `batch`."""
    command = commands.add_parser(
        "batch",
        help="solve a Parquet or CSV file of targets",
        description="Solve a Parquet or CSV file of targets and write Parquet files of answers. Columns: x y z [m], qw qx qy qz "
        "(a unit quaternion; leave all four out for positions only), a start for every column named as a joint, and id, which "
        "goes along. Run it again after a stop: what is finished is verified and not solved again. Exit code 0: finished, "
        "2: wrong input.",
    )
    add_body(command)
    command.add_argument("targets", type=Path, help="a .parquet or .csv file, or a folder of them")
    command.add_argument("out", type=Path, help="folder for the answers")
    command.add_argument("--tip", required=True, metavar="LINK", help="the link that the targets are for")
    for flag, default, unit, text in (
        ("--position-tolerance", 1e-4, "M", "of positions (default: %(default)s)"),
        ("--orientation-tolerance", 1e-3, "RAD", "of orientations (default: %(default)s)"),
    ):
        command.add_argument(flag, type=float, default=default, metavar=unit, help=text)
    command.add_argument("--lock", action="append", default=[], metavar="JOINT=VALUE", help="hold a joint; repeatable")
    command.add_argument(
        "--cluster", metavar="ADDRESS", help="of a Ray cluster, host:port or auto; this machine otherwise"
    )
    command.add_argument("--threads", type=int, metavar="N", help="of this machine (default: one for each core)")
    command.add_argument("--seed", type=int, default=0, help="of the search (default: 0)")
    most = mk.Budget().evaluations
    command.add_argument("--evaluations", type=int, default=most, help="for each row (default: %(default)s)")
    command.add_argument(
        "--rows-per-shard",
        type=int,
        default=ROWS_PER_SHARD,
        metavar="N",
        help="rows a file of answers (default: %(default)s)",
    )
    command.add_argument("--anew", action="store_true", help="delete answers that are there and solve everything again")
    command.set_defaults(run=_batch)


def _batch(options: argparse.Namespace) -> int:
    names = open_files(options.targets).schema.names
    problem = mk.Problem(load_body(options), _objective(options, names), lock=assignments(options.lock, "--lock"))
    with warnings.catch_warnings():
        warnings.showwarning = _say
        report = mk.solve_files(
            problem,
            options.targets,
            options.out,
            cluster=options.cluster,
            threads=options.threads,
            seed=options.seed,
            budget=mk.Budget(evaluations=options.evaluations),
            rows_per_shard=options.rows_per_shard,
            anew=options.anew,
        )
    print(report)
    return 0


def _say(message: Warning | str, *_: Any, **__: Any) -> None:
    """A warning as one line, without the place in the code that Python adds."""
    print(f"memetik: {message}", file=sys.stderr)


def _objective(options: argparse.Namespace, names: list[str]) -> mk.Objective:
    """A pose if there is any column of a quaternion, else a position."""
    if not set(names) & set(QUATERNION):
        return mk.Position(options.tip, np.zeros(3), tolerance=options.position_tolerance)
    return mk.Pose(
        options.tip,
        np.eye(4),
        position_tolerance=options.position_tolerance,
        orientation_tolerance=options.orientation_tolerance,
    )
