"""`memetik retarget`: a motion file onto a body."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import memetik as mk
from memetik.cli.options import OUT, add_command, add_number
from memetik.files import writable_file

SUFFIXES = (".csv", ".npz", ".bvh")


def add_commands(commands: Any) -> None:
    """Add `retarget`."""
    command = add_command(
        commands, "retarget", _retarget, "move a motion onto another body",
        "Read a motion, map its skeleton to a body by names and structure, and solve every frame with feet that stand. Prints "
        "the plan and how well it went.",
    )  # fmt: skip
    command.add_argument("motion", type=Path, help="a motion file: .bvh and what else mk.read_motion takes")
    command.add_argument("body", help="a bundled name such as g1, h1 or valkyrie, or a path to a .urdf file")
    command.add_argument(
        "-o", "--out", type=Path, help="file to write: .csv, .npz or .bvh (default: memetik-out/NAME_BODY.csv)"
    )
    command.add_argument("--qpos", action="store_true", help="write MuJoCo's qpos instead of joint values")
    command.add_argument("--view", type=Path, nargs="?", const=Path(), metavar="FILE", help="draw a film of it as SVG")
    command.add_argument("--plan", type=Path, help="a plan that --save-plan wrote, perhaps edited")
    command.add_argument("--save-plan", type=Path, metavar="FILE", help="write the plan as .json, to edit it")
    command.add_argument(
        "--up", default="y", choices=("x", "y", "z"), help="vertical axis of the file (default: %(default)s)"
    )
    add_number(command, "--scale", 1.0, "length of a unit of the file; proportions alone matter", "M")
    add_number(command, "--floor", 0.0, "height of the floor", "M")
    command.add_argument("--no-contacts", action="store_true", help="leave feet where the plan puts them")


def _retarget(options: argparse.Namespace) -> int:
    motion = mk.read_motion(options.motion, up=options.up, scale=options.scale)
    body = mk.load(options.body)
    out = writable_file(options.out or OUT / f"{options.motion.stem}_{body.name}.csv", *SUFFIXES)
    plan = mk.RetargetPlan.load(options.plan) if options.plan else mk.retarget_plan(motion, body)
    if options.save_plan:
        plan.save(options.save_plan)
    print(plan, "\n")
    contacts = None if options.no_contacts else "auto"
    found = mk.retarget(motion, body, plan=plan, contacts=contacts, floor=options.floor)
    print(found.report)
    print("written:", mk.write_motion(found, out, format="qpos" if options.qpos else None))
    if options.view is not None:
        picture = options.view if options.view.name else out.with_suffix(".svg")
        mk.draw_motion(found, picture, layout="film")
        print("drawn:", picture)
    return 0
