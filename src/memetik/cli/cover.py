"""`memetik cover`: simple shapes in place of a body's meshes, as a table and a picture."""

from __future__ import annotations

import argparse
from typing import Any

import memetik as mk
from memetik.cli.options import STILL, add_body, add_command, add_draw, add_names, add_number, add_out, load_body
from memetik.files import writable_file

KINDS = ("capsule", "sphere", "box")


def add_commands(commands: Any) -> None:
    """Add `cover`."""
    command = add_command(
        commands, "cover", _cover, "cover the meshes of a body by simple shapes",
        "Give each link that has meshes one to a few capsules, spheres or boxes that hold all of its surface. Prints for "
        "each link the shapes, their volume together, that of the convex hull, and the ratio of the two. The shapes are kept "
        "beside the model as NAME.shapes.json, and used again as long as they fit.",
    )  # fmt: skip
    add_body(command)
    add_out(command, "where to keep the shapes (.json)")
    command.add_argument("--no-save", action="store_true", help="neither use nor keep a file of shapes")
    add_draw(command, "meshes and shapes", STILL)
    add_number(command, "--most", 4, "shapes for a link, at most", "N")
    add_names(command, "--kinds", "KIND", f"of shapes (default: {','.join(KINDS)})")
    add_number(command, "--gain", 0.03, "share of the volume that another shape has to save", "SHARE")
    which = "cover these meshes (default: %(default)s)"
    command.add_argument("--of", choices=("collision", "visual"), default="collision", help=which)


def _cover(options: argparse.Namespace) -> int:
    body = load_body(options)
    picture = None if options.draw is None else writable_file(options.draw, *STILL)
    out = None if options.out is None else writable_file(options.out, ".json")
    cover = mk.collision.cover(
        body, most=options.most, kinds=options.kinds or KINDS, gain=options.gain, of=options.of, roots=options.root,
        save=out or not options.no_save,
    )  # fmt: skip
    print(cover)
    if cover.file is not None:
        print("shapes:", cover.file, "" if cover.made else "(unchanged)")
    if picture is not None:
        mk.write.draw_cover(cover, path=picture, roots=options.root)
        print("drawn:", picture)
    return 0
