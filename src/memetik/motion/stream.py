"""Streams of poses as files: a line of JSON for each moment.

    {"time": 0.011, "poses": {"head": [x, y, z, w, qx, qy, qz], "left": null}}

Seconds and metres; the quaternion is (w, x, y, z). Null is a device that wants nothing.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

from memetik.errors import FormatError, GeometryError, MemetikError, ProblemError, said, shown
from memetik.files import path_of
from memetik.geometry import TransformLike, as_transform, quaternion, to_quaternion, transform
from memetik.geometry.checks import instance, mapping, real_number, several
from memetik.types import Array

NUMBERS = 7  # of a pose


class Sample(NamedTuple):
    """What devices measured at one moment."""

    time: float  # s
    poses: Mapping[str, Array | None]  # 4x4 by device


def write_stream(path: str | PathLike[str], stream: Iterable[tuple[float, Mapping[str, TransformLike | None]]]) -> Path:
    """Write a stream of (time [s], {device: pose}) as lines of JSON; `read_stream` reads it."""
    lines, last = [], -math.inf
    rows = several(stream, ProblemError, "write_stream: a stream", '[(0.0, {"left": 4x4 transform})]')
    for number, sample in enumerate(rows):
        where = f"write_stream: sample {number}"
        try:
            time, poses = sample
        except Exception:  # whatever a stranger's sequence does
            raise ProblemError(f"{where} is {shown(sample)}. Give (time, {{device: pose}}).") from None
        moment = real_number(time, ProblemError, f"{where}: time")
        if not last <= moment < math.inf:
            raise ProblemError(f"{where}: time is {moment}, after {last}. Times must be finite and never go back.")
        last = moment
        given = mapping(poses, ProblemError, f"{where}: poses", '{"left": 4x4 transform}')
        lines.append(json.dumps({"time": moment, "poses": {str(k): _numbers(v, where) for k, v in given.items()}}))
    file = Path(instance(path, (str, PathLike), ProblemError, "a path"))  # type: ignore[arg-type]
    try:
        file.write_text("".join(f"{line}\n" for line in lines))
    except (OSError, ValueError) as error:
        raise ProblemError(f"write_stream: {file} cannot be written: {said(error)}.") from error
    return file


def read_stream(path: str | PathLike[str]) -> list[Sample]:
    """Read what `write_stream` wrote, or a program of your own: samples with a `time` [s] and `poses` (4x4) by device.

    What is wrong is said with its line.
    """
    file = path_of(path, ProblemError, "the path of a stream")
    try:
        text = file.read_text()
    except (OSError, ValueError) as error:
        raise FormatError(f"{file} cannot be read: {said(error)}.") from error
    samples: list[Sample] = []
    for number, line in enumerate(text.splitlines(), 1):
        if line.strip():
            samples.append(_sample(line, f"{file}, line {number}", samples[-1].time if samples else -math.inf))
    return samples


def _sample(line: str, where: str, last: float) -> Sample:
    try:
        row = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise FormatError(f"{where} is not JSON: {said(error)}.") from error
    if not isinstance(row, dict) or set(row) != {"time", "poses"} or not isinstance(row["poses"], dict):
        raise FormatError(
            f'{where} is {shown(line)}. Write {{"time": seconds, "poses": {{device: [x, y, z, w, qx, qy, qz]}}}}.'
        )
    moment = real_number(row["time"], FormatError, f"{where}: time")
    if not last <= moment < math.inf:
        raise FormatError(f"{where}: time is {moment:g}, after {last:g}. Times must be finite and never go back.")
    return Sample(moment, {name: _pose(value, f"{where}: pose of {name!r}") for name, value in row["poses"].items()})


def _pose(value: Any, where: str) -> Array | None:
    if value is None:
        return None
    if not isinstance(value, list) or len(value) != NUMBERS:
        raise FormatError(f"{where} is {shown(value)}. Write seven numbers [x, y, z, w, qx, qy, qz], or null.")
    numbers = [real_number(each, FormatError, where) for each in value]
    try:
        return transform(numbers[:3], quaternion(*numbers[3:]))
    except MemetikError as error:
        raise FormatError(f"{where}: {said(error)}.") from error


def _numbers(pose: TransformLike | None, where: str) -> list[float] | None:
    if pose is None:
        return None
    try:
        matrix = as_transform(pose)
    except GeometryError as error:
        raise ProblemError(f"{where}: {error}") from error
    return [*matrix[:3, 3].tolist(), *to_quaternion(matrix[:3, :3]).tolist()]
