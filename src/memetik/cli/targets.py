"""Targets on the command line: `--tip LINK` starts a group, the targets after it belong to it."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

import memetik as mk
from memetik.cli.options import add_number
from memetik.types import Array


@dataclass
class Tip:
    """What one link is asked for."""

    link: str | None
    position: list[float] | None = None
    orientation: list[float] | None = None  # quaternion w x y z
    rpy: list[float] | None = None
    look_at: list[float] | None = None

    @property
    def rotation(self) -> Array | None:
        """The wanted rotation, in whichever form it was given."""
        if self.orientation is not None and self.rpy is not None:
            raise mk.ProblemError(f"tip {self.link!r} has --orientation and --rpy. Give one of them.")
        if self.orientation is not None:
            return mk.rotation_matrix(self.orientation)
        return None if self.rpy is None else mk.rpy(*self.rpy)


def add_targets(command: argparse.ArgumentParser) -> None:
    """Add the options of targets; `objectives` makes objectives of them."""
    own = "the link that the next targets are for"
    command.add_argument("--tip", action=_NewTip, dest="tips", metavar="LINK", help=own)
    for flag, letters, text in (
        ("--position", "XYZ", "where the tip goes"),
        ("--orientation", "WXYZ", "how it is turned, as a quaternion"),
        ("--rpy", "RPY", "how it is turned, as roll, pitch and yaw about the world's x, y and z"),
        ("--look-at", "XYZ", "a point that its x axis points to"),
    ):
        command.add_argument(flag, action=_OfTip, nargs=len(letters), type=float, metavar=tuple(letters), help=text)
    add_number(command, "--tolerance", 1e-4, "of positions", "M")
    add_number(command, "--angle-tolerance", 1e-3, "of orientations and gazes", "RAD")


def objectives(tips: Sequence[Tip], tolerance: float, angle_tolerance: float) -> list[mk.Objective]:
    """One objective for each target, a pose for a position with an orientation."""
    if not tips:
        raise mk.ProblemError("nothing is asked for. Name a tip and a target, for example --tip LINK --position X Y Z.")
    return [objective for tip in tips for objective in _of(tip, tolerance, angle_tolerance)]


def reached(
    link: str, position: ArrayLike | None, rotation: Array | None, tolerance: float, angle_tolerance: float
) -> list[mk.Objective]:
    """What asks a link for a pose, for the part of one that is given, or for nothing."""
    if position is None:
        return [] if rotation is None else [mk.Orientation(link, rotation, tolerance=angle_tolerance)]
    if rotation is None:
        return [mk.Position(link, position, tolerance=tolerance)]
    pose = mk.transform(position, rotation)
    return [mk.Pose(link, pose, position_tolerance=tolerance, orientation_tolerance=angle_tolerance)]


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
    if tip.link is None:
        raise mk.ProblemError("a target stands before any tip. Name the link first: --tip LINK --position X Y Z.")
    wanted = reached(tip.link, tip.position, tip.rotation, tolerance, angle_tolerance)
    if tip.look_at is not None:
        wanted.append(mk.LookAt(tip.link, tip.look_at, tolerance=angle_tolerance))
    if not wanted:
        raise mk.ProblemError(
            f"tip {tip.link!r} has no target. Add --position, --orientation, --rpy or --look-at after it."
        )
    return wanted


class _NewTip(argparse.Action):
    def __call__(self, parser: Any, options: argparse.Namespace, link: Any, flag: str | None = None) -> None:
        options.tips = [*(options.tips or []), Tip(link)]


class _OfTip(argparse.Action):
    def __call__(self, parser: Any, options: argparse.Namespace, numbers: Any, flag: str | None = None) -> None:
        if not options.tips:
            options.tips = [Tip(None)]  # the tip of the chain
        tip = options.tips[-1]
        if getattr(tip, self.dest) is not None:
            raise argparse.ArgumentError(self, f"given twice for tip {tip.link!r}; start a new group with --tip")
        setattr(tip, self.dest, numbers)
