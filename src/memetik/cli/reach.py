"""`memetik reach`: where a tip gets to, and in which orientations."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import memetik as mk
from memetik.cli.files import OUT
from memetik.cli.show import add_body, load_body
from memetik.cli.targets import assignments
from memetik.files import writable_file
from memetik.write.plots import pyplot


def add_commands(commands: Any) -> None:
    """Add `reach`."""
    command = commands.add_parser(
        "reach",
        help="map the workspace of a tip",
        description="Divide the workspace of a tip into voxels and find which share of all orientations it can take in each. "
        "Writes a .npz file with the numbers and a picture beside it.",
    )
    add_body(command)
    command.add_argument("--tip", required=True, metavar="LINK", help="the link whose workspace is wanted")
    command.add_argument("--voxel", type=float, default=0.1, metavar="M", help="edge of a voxel (default: %(default)s)")
    command.add_argument(
        "--orientations", type=int, default=32, metavar="N", help="tried in each (default: %(default)s)"
    )
    command.add_argument("--lock", action="append", default=[], metavar="JOINT=VALUE", help="hold a joint; repeatable")
    command.add_argument("--threads", type=int, metavar="N", help="of this machine (default: one for each core)")
    command.add_argument("--out", type=Path, metavar="FILE.npz", help="(default: memetik-out/NAME_reach.npz)")
    command.set_defaults(run=_reach)


def _reach(options: argparse.Namespace) -> int:
    body = load_body(options)
    path = writable_file(options.out or OUT / f"{body.name}_reach.npz", ".npz")
    picture = writable_file(path.with_suffix(".png"))
    pyplot("drawing a reachability")
    found = mk.reachability(
        body,
        options.tip,
        voxel=options.voxel,
        orientations=options.orientations,
        lock=assignments(options.lock, "--lock"),
        threads=options.threads,
    )
    print(found)
    print("saved:", found.save(path))
    print("drawn:", mk.draw_reachability(found, picture))
    return 0
