"""Targets on the command line: `--tip LINK` starts a group, the targets after it belong to it."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import memetik as mk
from memetik.cli.options import add_tolerances
from memetik.cli.parser import names
from memetik.errors import UnknownNameError
from memetik.types import Array

AXES = ("x", "y", "z", "rx", "ry", "rz")  # along the axes and about them, in the order of the mask of mk.Pose

_OFFSET = (
    ("--offset", "XYZ", "a point of the tip that reaches instead of its origin, in the tip's own frame"),
    ("--offset-rpy", "RPY", "how the frame at that point is turned in the tip's, as roll, pitch and yaw"),
)
_FREE = (
    "axes that do not count: x, y, z for the position, rx, ry, rz for turns about them; those of the target where it has an "
    "orientation, of the world otherwise"
)


@dataclass
class Tip:
    """What one link is asked for."""

    link: str | None
    position: list[float] | None = None
    orientation: list[float] | None = None  # quaternion w x y z
    rpy: list[float] | None = None
    look_at: list[float] | None = None
    offset: list[float] | None = None
    offset_rpy: list[float] | None = None
    free: list[str] = field(default_factory=list)

    @property
    def rotation(self) -> Array | None:
        """The wanted rotation, in whichever form it was given."""
        if self.orientation is not None and self.rpy is not None:
            raise mk.errors.ProblemError(f"tip {self.link!r} has --orientation and --rpy. Give one of them.")
        if self.orientation is not None:
            return mk.geometry.rotation_matrix(self.orientation)
        return None if self.rpy is None else mk.rpy(*self.rpy)

    @property
    def frame(self) -> str | mk.Frame:
        """What reaches: the link, or a frame on it."""
        if self.link is None:
            raise mk.errors.ProblemError(
                "a target stands before any tip. Name the link first: --tip LINK --position X Y Z."
            )
        return frame_of(self.link, self.offset, self.offset_rpy)


def add_targets(command: argparse.ArgumentParser) -> None:
    """Add the options of targets; `objectives` makes objectives of them."""
    group = command.add_argument_group("targets")
    own = "the link that the next targets are for"
    group.add_argument("--tip", action=_NewTip, dest="tips", metavar="LINK", help=own)
    for flag, letters, text in (
        ("--position", "XYZ", "where the tip goes"),
        ("--orientation", "WXYZ", "how it is turned, as a quaternion"),
        ("--rpy", "RPY", "how it is turned, as roll, pitch and yaw about the world's x, y and z"),
        ("--look-at", "XYZ", "a point that its x axis points to"),
        *_OFFSET,
    ):
        group.add_argument(flag, action=_OfTip, nargs=len(letters), type=float, metavar=tuple(letters), help=text)
    group.add_argument("--free", action=_OfTip, type=names, metavar="AXIS,...", help=_FREE)
    add_tolerances(group, "of orientations and gazes")


def add_offset(command: argparse.ArgumentParser) -> None:
    """Add the options of a frame on the one tip that a command has; `frame_of` makes a frame of them."""
    for flag, letters, text in _OFFSET:
        command.add_argument(flag, nargs=len(letters), type=float, metavar=tuple(letters), help=text)


def add_frame(command: argparse.ArgumentParser) -> None:
    """Add a frame on the one tip that a command has, and the axes of its targets that do not count."""
    add_offset(command)
    command.add_argument("--free", action="extend", type=names, default=[], metavar="AXIS,...", help=_FREE)


def frame_of(link: str, offset: Sequence[float] | None, rpy: Sequence[float] | None) -> str | mk.Frame:
    """The frame at an offset in the frame of a link; the link itself without one."""
    if offset is None and rpy is None:
        return link
    return mk.Frame(
        link, mk.transform((0.0, 0.0, 0.0) if offset is None else offset, mk.rpy(*(rpy or (0.0, 0.0, 0.0))))
    )


def objectives(tips: Sequence[Tip], tolerance: float, angle_tolerance: float) -> list[mk.Objective]:
    """One objective for each target, a pose for a position with an orientation."""
    if not tips:
        raise mk.errors.ProblemError(
            "nothing is asked for. Name a tip and a target, for example --tip LINK --position X Y Z."
        )
    return [objective for tip in tips for objective in _of(tip, tolerance, angle_tolerance)]


def points(tips: Sequence[Tip]) -> list[Array]:
    """The targets as a picture marks them: a pose, or a point."""
    marks: list[Array] = []
    for tip in tips:
        if tip.position is not None:
            rotation = tip.rotation
            marks.append(np.array(tip.position) if rotation is None else mk.transform(tip.position, rotation))
        if tip.look_at is not None:
            marks.append(np.array(tip.look_at))
    return marks


def _of(tip: Tip, tolerance: float, angle_tolerance: float) -> list[mk.Objective]:
    frame = tip.frame
    wanted = _reached(tip, frame, tolerance, angle_tolerance)
    if tip.look_at is not None:
        wanted.append(mk.LookAt(frame, tip.look_at, tolerance=angle_tolerance))
    if not wanted:
        raise mk.errors.ProblemError(
            f"tip {tip.link!r} has no target. Add --position, --orientation, --rpy or --look-at after it."
        )
    return wanted


def _reached(tip: Tip, frame: str | mk.Frame, tolerance: float, angle_tolerance: float) -> list[mk.Objective]:
    """What asks a frame for a pose, for the part of one that is given, or for nothing."""
    position, rotation = tip.position, tip.rotation
    mask = _mask(tip, position is not None, rotation is not None)
    if position is None:
        return [] if rotation is None else [mk.Orientation(frame, rotation, tolerance=angle_tolerance, mask=mask[3:])]
    if rotation is None:
        return [mk.Position(frame, position, tolerance=tolerance, mask=mask[:3])]
    pose = mk.transform(position, rotation)
    return [mk.Pose(frame, pose, position_tolerance=tolerance, orientation_tolerance=angle_tolerance, mask=mask)]


def _mask(tip: Tip, placed: bool, turned: bool) -> tuple[int, ...]:
    """Which of the six axes count."""
    for axis in tip.free:
        if axis not in AXES:
            raise UnknownNameError("axis", axis, AXES, f"--free of tip {tip.link!r}", every=True)
        if not (turned if axis.startswith("r") else placed):
            without = "--orientation or --rpy" if axis.startswith("r") else "--position"
            raise mk.errors.ProblemError(
                f"tip {tip.link!r}: --free {axis} says something of {without}, which is not given."
            )
    return tuple(int(axis not in tip.free) for axis in AXES)


class _NewTip(argparse.Action):
    def __call__(self, parser: Any, options: argparse.Namespace, link: Any, flag: str | None = None) -> None:
        options.tips = [*(options.tips or []), Tip(link)]


class _OfTip(argparse.Action):
    def __call__(self, parser: Any, options: argparse.Namespace, given: Any, flag: str | None = None) -> None:
        if not options.tips:
            options.tips = [Tip(None)]  # the tip of the chain
        tip = options.tips[-1]
        if getattr(tip, self.dest):
            raise argparse.ArgumentError(self, f"given twice for tip {tip.link!r}; start a new group with --tip")
        setattr(tip, self.dest, given)
