"""`memetik reach`: where a tip gets to, and in which orientations."""

from __future__ import annotations

import argparse
from typing import Any

import memetik as mk
from memetik.cli.options import (
    OUT,
    add_body,
    add_command,
    add_common,
    add_draw,
    add_number,
    add_out,
    assignments,
    load_body,
    only_tip,
)
from memetik.cli.targets import add_offset, frame_of
from memetik.files import writable_file
from memetik.write import pyplot

PLOTS = (".png", ".svg", ".pdf")


def add_commands(commands: Any) -> None:
    """Add `reach`."""
    command = add_command(
        commands, "reach", _reach, "map the workspace of a tip",
        "Divide the workspace of a tip into voxels and find which share of all orientations it can take in each. "
        "Writes a .npz file with the numbers and a picture beside it.",
    )  # fmt: skip
    add_body(command)
    command.add_argument("--tip", metavar="LINK", help="the link whose workspace is wanted (default: the only tip)")
    add_offset(command)
    add_number(command, "--voxel", 0.1, "edge of a voxel", "M")
    add_number(command, "--orientations", 32, "tried in each", "N")
    add_common(command, "--lock")
    add_common(command, "--threads")
    add_out(command, "file of the numbers (default: memetik-out/NAME_reach.npz)")
    add_draw(command, "the map; default: beside the numbers", PLOTS)


def _reach(options: argparse.Namespace) -> int:
    body = load_body(options)
    tip = frame_of(only_tip(body, options.tip), options.offset, options.offset_rpy)
    path = writable_file(options.out or OUT / f"{body.name}_reach.npz", ".npz")
    picture = writable_file(options.draw or path.with_suffix(".png"), *PLOTS)
    pyplot("drawing a reachability")
    found = mk.batch.reachability(
        body, tip, voxel=options.voxel, orientations=options.orientations,
        lock=assignments(options.lock, "--lock"), threads=options.threads,
    )  # fmt: skip
    print(found)
    print("saved:", found.save(path))
    print("drawn:", mk.write.draw_reachability(found, picture))
    return 0
