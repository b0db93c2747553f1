"""`memetik motion show | convert | edit`: clips looked at, written in another format, changed."""

from __future__ import annotations

import argparse
import math
from pathlib import Path
from typing import Any

import memetik as mk
from memetik.cli.options import OUT, add_command
from memetik.files import writable_file


def add_commands(commands: Any) -> None:
    """Add `motion` with its own commands."""
    about = "clips: look at them, write them in another format, change them"
    family = commands.add_parser("motion", help=about, description=about).add_subparsers(required=True, metavar="WHAT")
    show = add_command(family, "show", _show, "print what a clip holds and draw it")
    _add_clip(show)
    show.add_argument("--frames", type=int, default=8, help="postures in the picture (default: %(default)s)")
    show.add_argument("--layout", default="strip", help="strip, path or film, a moving picture (default: %(default)s)")
    show.add_argument("--out", type=Path, help="picture to write (default: memetik-out/NAME.svg)")
    show.add_argument("--feet", nargs="+", default=[], metavar="LINK", help="say when these stand")
    convert = add_command(family, "convert", _convert, "write a clip as .bvh, .glb, .csv or .npz")
    _add_clip(convert)
    _add_written(convert)
    convert.add_argument("--rate", type=float, help="frames a second")
    convert.add_argument("--between", nargs=2, type=float, metavar=("START", "END"), help="only this part [s]")
    convert.add_argument("--mirror", action="store_true", help="left for right")
    convert.add_argument("--turn", type=float, metavar="DEGREES", help="turn about the vertical, anticlockwise")
    change = add_command(family, "edit", _edit, "change a clip by objectives over a span of it")
    _add_clip(change)
    _add_written(change)
    change.add_argument("--offset", nargs=4, action="append", default=[], metavar=("LINK", "X", "Y", "Z"),
                        help="move a link by this [m]; may be given several times")  # fmt: skip
    change.add_argument("--look", nargs=4, action="append", default=[], metavar=("LINK", "X", "Y", "Z"),
                        help="the x axis of a link points at this point")  # fmt: skip
    change.add_argument("--hold", nargs="+", default=[], metavar="LINK", help="links that keep their poses")
    change.add_argument("--joints", nargs="+", metavar="JOINT", help="the joints that may move (default: all)")
    change.add_argument("--start", type=float, help="from this time on [s]")
    change.add_argument("--end", type=float, help="up to this time [s]")
    change.add_argument(
        "--ease", type=float, default=0.2, help="time to come into force and to fade [s] (default: 0.2)"
    )


def _add_clip(command: argparse.ArgumentParser) -> None:
    command.add_argument("clip", help="a .bvh, .glb, .gltf or .vrm file, or a .csv or .npz of joint values")
    command.add_argument("--body", help="the body of a .csv or .npz: a bundled name or a path")
    command.add_argument(
        "--base", default="floating", help="its root: fixed, xyz, planar or floating (default: floating)"
    )
    command.add_argument("--up", default="y", help="the vertical axis of a .bvh: x, y or z (default: y)")
    command.add_argument("--scale", type=float, default=1.0, help="length of a unit of a .bvh [m] (default: 1)")


def _add_written(command: argparse.ArgumentParser) -> None:
    command.add_argument("to", type=Path, help="the file to write")
    command.add_argument("--format", help="bvh, glb, csv, npz or qpos (default: by the ending)")
    command.add_argument(
        "--to-scale", type=float, help="length of a unit of the .bvh that is written [m] (default: --scale)"
    )


def _read(options: argparse.Namespace) -> mk.Motion:
    body = None if options.body is None else mk.load(options.body, base=options.base)
    return mk.read_motion(options.clip, body=body, up=options.up, scale=options.scale)


def _write(motion: mk.Motion, options: argparse.Namespace) -> int:
    scale = options.scale if options.to_scale is None else options.to_scale
    print("written:", mk.write_motion(motion, options.to, format=options.format, scale=scale))
    return 0


def _show(options: argparse.Namespace) -> int:
    motion = _read(options)
    path = writable_file(options.out or OUT / f"{motion.name}.svg", ".svg")
    print(motion)
    for foot, stands in motion.contacts(options.feet).items():
        print(f"{foot}: stands in {stands.sum()} of {len(motion)} frames")
    mk.draw_motion(motion, path, frames=options.frames, layout=options.layout)
    print("drawn:", path)
    return 0


def _convert(options: argparse.Namespace) -> int:
    motion = _read(options)
    if options.between is not None:
        motion = motion.between(*options.between)
    if options.mirror:
        motion = motion.mirrored()
    if options.turn is not None:
        motion = motion.turned(math.radians(options.turn))
    if options.rate is not None:
        motion = motion.resampled(options.rate)
    return _write(motion, options)


def _edit(options: argparse.Namespace) -> int:
    motion = _read(options)
    when = {"start": options.start, "end": options.end, "ease": options.ease}
    spans = [
        mk.Span(mk.Position(link, (0.0, 0.0, 0.0), tolerance=1e-3), offset=_numbers("--offset", numbers), **when)
        for link, *numbers in options.offset
    ]
    spans += [
        mk.Span(mk.LookAt(link, _numbers("--look", numbers), tolerance=1e-2), **when) for link, *numbers in options.look
    ]
    if not spans:
        raise mk.ProblemError("nothing is to be changed. Give --offset LINK X Y Z or --look LINK X Y Z.")
    return _write(mk.edit(motion, spans, hold=options.hold, joints=options.joints), options)


def _numbers(option: str, words: list[str]) -> tuple[float, ...]:
    try:
        return tuple(map(float, words))
    except ValueError:
        raise mk.ProblemError(f"{option}: {' '.join(words)} are not three numbers.") from None
