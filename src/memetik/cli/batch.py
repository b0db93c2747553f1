"""`memetik batch`: a file of targets solved on all cores or on a cluster."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import memetik as mk
from memetik.batch import QUATERNION, ROWS_PER_SHARD, open_files
from memetik.cli.options import (
    add_body,
    add_command,
    add_common,
    add_number,
    add_tolerances,
    assignments,
    load_body,
    only_tip,
)
from memetik.cli.targets import Tip, add_frame, objectives


def add_commands(commands: Any) -> None:
    """Add `batch`."""
    command = add_command(
        commands, "batch", _batch, "solve a Parquet or CSV file of targets",
        "Solve a Parquet or CSV file of targets and write Parquet files of answers. Columns: x y z [m], qw qx qy qz "
        "(a unit quaternion; leave all four out for positions only), a start for every column named as a joint, and id, which "
        "goes along. Run it again after a stop: what is finished is verified and not solved again. Exit code 0: finished, "
        "2: wrong input.",
    )  # fmt: skip
    add_body(command)
    command.add_argument("targets", type=Path, help="a .parquet or .csv file, or a folder of them")
    command.add_argument("out", type=Path, help="folder for the answers")
    command.add_argument("--tip", metavar="LINK", help="the link that the targets are for (default: the only tip)")
    add_frame(command)
    add_tolerances(command)
    add_common(command, "--lock")
    where = "of a Ray cluster, host:port or auto; this machine otherwise"
    command.add_argument("--cluster", metavar="ADDRESS", help=where)
    add_common(command, "--threads")
    add_number(command, "--seed", 0, "of the search")
    add_number(command, "--evaluations", mk.Budget().evaluations, "for each row")
    add_number(command, "--rows-per-shard", ROWS_PER_SHARD, "rows a file of answers", "N")
    command.add_argument(
        "--overwrite", action="store_true", help="delete answers that are there and solve everything again"
    )


def _batch(options: argparse.Namespace) -> int:
    turned = bool(set(open_files(options.targets).schema.names) & set(QUATERNION))  # a pose if there is any such column
    body = load_body(options)
    tip = Tip(only_tip(body, options.tip), [0.0, 0.0, 0.0], [1.0, 0.0, 0.0, 0.0] if turned else None)
    tip.offset, tip.offset_rpy, tip.free = options.offset, options.offset_rpy, options.free
    wanted = objectives([tip], options.position_tolerance, options.orientation_tolerance)
    problem = mk.Problem(body, wanted, lock=assignments(options.lock, "--lock"))
    report = mk.batch.solve_files(
        problem, options.targets, options.out, cluster=options.cluster, threads=options.threads, seed=options.seed,
        budget=mk.Budget(evaluations=options.evaluations), rows_per_shard=options.rows_per_shard, overwrite=options.overwrite,
    )  # fmt: skip
    print(report)
    return 0
