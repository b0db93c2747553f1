"""`memetik reach`: where a tip gets to, and in which orientations."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import memetik as mk
from memetik.cli.options import OUT, add_body, add_command, add_common, add_number, assignments, load_body
from memetik.files import writable_file
from memetik.write import pyplot


def add_commands(commands: Any) -> None:
    """Add `reach`."""
    command = add_command(
        commands, "reach", _reach, "map the workspace of a tip",
        "Divide the workspace of a tip into voxels and find which share of all orientations it can take in each. "
        "Writes a .npz file with the numbers and a picture beside it.",
    )  # fmt: skip
    add_body(command)
    command.add_argument("--tip", required=True, metavar="LINK", help="the link whose workspace is wanted")
    add_number(command, "--voxel", 0.1, "edge of a voxel", "M")
    add_number(command, "--orientations", 32, "tried in each", "N")
    add_common(command, "--lock")
    add_common(command, "--threads")
    command.add_argument("--out", type=Path, metavar="FILE.npz", help="(default: memetik-out/NAME_reach.npz)")


def _reach(options: argparse.Namespace) -> int:
    body = load_body(options)
    path = writable_file(options.out or OUT / f"{body.name}_reach.npz", ".npz")
    picture = writable_file(path.with_suffix(".png"))
    pyplot("drawing a reachability")
    found = mk.reachability(
        body, options.tip, voxel=options.voxel, orientations=options.orientations,
        lock=assignments(options.lock, "--lock"), threads=options.threads,
    )  # fmt: skip
    print(found)
    print("saved:", found.save(path))
    print("drawn:", mk.draw_reachability(found, picture))
    return 0
