"""`memetik retarget`: a motion file onto a body."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import memetik as mk
from memetik.cli.options import FILM, OUT, add_body, add_command, add_number, add_out, add_skeleton, load_body
from memetik.cli.parser import one_of
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
    add_body(command)
    add_out(command, "file to write: .csv, .npz or .bvh (default: memetik-out/NAME_BODY.csv)")
    command.add_argument("--qpos", action="store_true", help="write MuJoCo's qpos instead of joint values")
    film = f"draw a film of it, {one_of(FILM)} (without FILE: .svg, beside the motion)"
    command.add_argument("--draw", type=Path, nargs="?", const=Path(), metavar="FILE", help=film)
    command.add_argument("--plan", type=Path, metavar="FILE", help="a plan that --save-plan wrote, perhaps edited")
    command.add_argument("--save-plan", type=Path, metavar="FILE", help="write the plan as .json, to edit it")
    add_skeleton(command)
    add_number(command, "--floor", 0.0, "height of the floor", "M")
    ways = "velocities that are beyond limits: keep them within (default), stretch time, or leave them (none)"
    command.add_argument("--velocity-limits", choices=("keep", "stretch", "none"), default="keep", help=ways)
    command.add_argument("--no-contacts", action="store_true", help="leave feet where the plan puts them")


def _retarget(options: argparse.Namespace) -> int:
    motion = mk.read_motion(options.motion, up=options.up, scale=options.scale)
    body = load_body(options)
    out = writable_file(options.out or OUT / f"{options.motion.stem}_{body.name}.csv", *SUFFIXES)
    picture = options.draw
    if picture is not None:
        picture = writable_file(picture if picture.name else out.with_suffix(".svg"), *FILM)
    plan = mk.motion.RetargetPlan.load(options.plan) if options.plan else mk.motion.retarget_plan(motion, body)
    if options.save_plan:
        plan.save(options.save_plan)
    print(motion)
    print(plan, "\n")
    contacts = None if options.no_contacts else "auto"
    limits = None if options.velocity_limits == "none" else options.velocity_limits
    found = mk.retarget(motion, body, plan=plan, contacts=contacts, floor=options.floor, velocity_limits=limits)
    print(found.report)
    print("written:", found.write(out, format="qpos" if options.qpos else None))
    if picture is not None:
        mk.write.draw_motion(found, picture, layout="film")
        print("drawn:", picture)
    return 0
