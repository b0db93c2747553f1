"""`memetik motion show | convert | edit`: clips looked at, written in another format, changed."""

from __future__ import annotations

import argparse
import math
from pathlib import Path
from typing import Any, Literal

import memetik as mk
from memetik.cli.options import (
    MOVING,
    OUT,
    add_base,
    add_command,
    add_names,
    add_number,
    add_out,
    add_skeleton,
    load_body,
)
from memetik.cli.parser import one_of
from memetik.files import writable_file

FILM_RATE, MOST = 15.0, 500  # frames of a film: a second, and at most


def add_commands(commands: Any) -> None:
    """Add `motion` with its own commands."""
    about = "clips: look at them, write them in another format, change them"
    family = commands.add_parser("motion", help=about, description=about).add_subparsers(required=True, metavar="WHAT")
    show = add_command(family, "show", _show, "print what a clip holds and draw it")
    _add_clip(show)
    show.add_argument(
        "--frames", type=int, metavar="N", help="postures in the picture (default: 8; of a film 15 a second)"
    )
    layouts = "strip, path or film, a moving picture (default: strip, and film of a .gif)"
    show.add_argument("--layout", choices=("strip", "path", "film"), metavar="KIND", help=layouts)
    add_out(show, f"picture to write, {one_of(MOVING)} (default: memetik-out/NAME.svg)")
    add_names(show, "--feet", "LINK", "say when these stand")
    convert = add_command(family, "convert", _convert, "write a clip as .bvh, .glb, .csv or .npz")
    _add_clip(convert)
    _add_written(convert)
    convert.add_argument("--rate", type=float, metavar="HZ", help="frames a second")
    _add_between(convert, "only this part of the clip")
    convert.add_argument("--mirror", action="store_true", help="left for right")
    convert.add_argument("--turn", type=float, metavar="DEGREES", help="turn about the vertical, anticlockwise")
    change = add_command(family, "edit", _edit, "change a clip by objectives over a span of it")
    _add_clip(change)
    _add_written(change)
    change.add_argument("--move", nargs=4, action="append", default=[], metavar=("LINK", "X", "Y", "Z"),
                        help="move a link by this [m]; repeatable")  # fmt: skip
    change.add_argument("--look-at", nargs=4, action="append", default=[], metavar=("LINK", "X", "Y", "Z"),
                        help="a point that the x axis of a link points to; repeatable")  # fmt: skip
    add_names(change, "--hold", "LINK", "links that keep their poses")
    add_names(change, "--joints", "JOINT", "that may move (default: all)")
    _add_between(change, "change only this part of the clip")
    add_number(change, "--ease", 0.2, "time to come into force and to fade", "S")


def _add_clip(command: argparse.ArgumentParser) -> None:
    command.add_argument("clip", help="a .bvh, .glb, .gltf or .vrm file, or a .csv or .npz of joint values")
    command.add_argument("--body", metavar="BODY", help="the body of a .csv or .npz: a bundled name or a path")
    add_base(command, "floating")
    add_skeleton(command)


def _add_written(command: argparse.ArgumentParser) -> None:
    command.add_argument("to", type=Path, help="the file to write")
    command.add_argument("--format", metavar="NAME", help="bvh, glb, csv, npz or qpos (default: by the ending)")
    command.add_argument(
        "--to-scale",
        type=float,
        metavar="M",
        help="length of a unit of the .bvh that is written (default: --scale, or 1)",
    )


def _add_between(command: argparse.ArgumentParser, text: str) -> None:
    command.add_argument("--between", nargs=2, type=float, metavar=("START", "END"), help=f"{text} [s]; END may be inf")


def _read(options: argparse.Namespace) -> mk.Motion:
    body = None if options.body is None else load_body(options)
    return mk.read_motion(options.clip, body=body, up=options.up, scale=options.scale)


def _write(motion: mk.Motion, options: argparse.Namespace) -> int:
    scale = (options.scale or 1.0) if options.to_scale is None else options.to_scale
    print("written:", motion.write(options.to, format=options.format, scale=scale))
    return 0


def _show(options: argparse.Namespace) -> int:
    motion = _read(options)
    path = writable_file(options.out or OUT / f"{motion.name}.svg", *MOVING)
    layout: Literal["strip", "path", "film"] = options.layout or ("film" if path.suffix.lower() == ".gif" else "strip")
    frames = options.frames or (min(max(round(FILM_RATE * motion.duration), 8), MOST) if layout == "film" else 8)
    print(motion)
    for foot, stands in motion.contacts(options.feet).items():
        print(f"{foot}: stands in {stands.sum()} of {len(motion)} frames")
    mk.write.draw_motion(motion, path, frame_count=frames, layout=layout)
    print("drawn:", path)
    return 0


def _convert(options: argparse.Namespace) -> int:
    motion = _read(options)
    if options.between is not None:
        motion = motion.between(options.between[0], min(options.between[1], motion.end))
    if options.mirror:
        motion = motion.mirrored()
    if options.turn is not None:
        motion = motion.turned(math.radians(options.turn))
    if options.rate is not None:
        motion = motion.resampled(options.rate)
    return _write(motion, options)


def _edit(options: argparse.Namespace) -> int:
    motion = _read(options)
    start, end = options.between or (None, None)
    when = {"start": start, "end": end if end is None or math.isfinite(end) else None, "ease": options.ease}
    spans = [
        mk.motion.Span(mk.Position(link, (0.0, 0.0, 0.0), tolerance=1e-3), offset=_numbers("--move", numbers), **when)
        for link, *numbers in options.move
    ]
    spans += [
        mk.motion.Span(mk.LookAt(link, _numbers("--look-at", numbers), tolerance=1e-2), **when)
        for link, *numbers in options.look_at
    ]
    if not spans:
        raise mk.errors.ProblemError("nothing is to be changed. Give --move LINK X Y Z or --look-at LINK X Y Z.")
    return _write(mk.motion.edit(motion, spans, hold=options.hold, joints=options.joints or None), options)


def _numbers(option: str, words: list[str]) -> tuple[float, ...]:
    try:
        return tuple(map(float, words))
    except ValueError:
        raise mk.errors.ProblemError(f"{option}: {' '.join(words)} are not three numbers.") from None
