"""Clips as tables of joint values: .csv and .npz, and arrays of joint rotations as SMPL and its kin have them."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from memetik.body import Body
from memetik.errors import FormatError, MemetikError, said, shown, suggest, warn
from memetik.files import arrays_in
from memetik.geometry.checks import real_number
from memetik.motion.clips.motion import Motion
from memetik.motion.clips.turns import balls_of, quaternions_of_vectors, steady_turns
from memetik.types import Array

MAX_BYTES = 2**30
LARGEST = 1e9  # rad or m
TIME = "time"  # the first column

# The joints of SMPL in the order of its axis-angles; SMPL+H and SMPL-X begin with the first 22 of them.
SMPL = (
    "pelvis", "left_hip", "right_hip", "spine1", "left_knee", "right_knee", "spine2", "left_ankle", "right_ankle", "spine3",
    "left_foot", "right_foot", "neck", "left_collar", "right_collar", "head", "left_shoulder", "right_shoulder",
    "left_elbow", "right_elbow", "left_wrist", "right_wrist", "left_hand", "right_hand",
)  # fmt: skip
BODY_JOINTS = 22


def read_csv(path: Path, body: Body) -> Motion:
    """Rows of a time [s] and joint values [rad, m]; the first line names the columns: "time", then joints in any order."""
    try:
        if path.stat().st_size > MAX_BYTES:
            raise FormatError(f"{path.name} has more than {MAX_BYTES // 2**20} MB, which is too much for a table.")
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except (OSError, ValueError) as error:
        raise FormatError(f"{path} cannot be read: {said(error)}.") from error
    names = [name.strip() for name in lines[0].split(",")] if lines else []
    if names[:1] != [TIME]:
        raise FormatError(f"{path.name}, line 1: the columns must be named, {TIME!r} first and then joints.")
    rows = []
    for number, line in enumerate(lines[1:], 2):
        if not line.strip():
            continue
        words = line.split(",")
        if len(words) != len(names):
            raise FormatError(
                f"{path.name}, line {number} has {len(words)} numbers, but {len(names)} columns are named."
            )
        try:
            rows.append([float(word) for word in words])
        except ValueError as error:
            raise FormatError(f"{path.name}, line {number}: {said(error)}.") from None
        if not all(map(math.isfinite, rows[-1])):
            raise FormatError(f"{path.name}, line {number}: a number is NaN or infinite.")
    if not rows:
        raise FormatError(f"{path.name} has no rows of numbers.")
    table = np.array(rows)
    return _motion(path, body, table[:, 0], table[:, 1:], names[1:])


def read_npz(path: Path, body: Body) -> Motion:
    """Arrays: `times`, `q` and `joint_names`, as `write_motion` writes them, or `poses` and `trans` of SMPL."""
    arrays = _arrays(path)
    if "poses" in arrays:
        return _smpl(path, body, arrays)
    for key in ("times", "q", "joint_names"):
        if key not in arrays:
            raise FormatError(
                f"{path.name} has no array {key!r}. It needs times, q and joint_names, or poses and trans (SMPL)."
            )
    names = arrays["joint_names"]
    if names.ndim != 1 or names.dtype.kind != "U":
        raise FormatError(f"{path.name}: joint_names must be a list of texts.")
    return _motion(path, body, arrays["times"], arrays["q"], [str(name) for name in names])


def _arrays(path: Path) -> dict[str, Any]:
    """The arrays of a file, read without running any code of it."""
    try:
        return arrays_in(path, MAX_BYTES)
    except MemetikError:
        raise
    except Exception as error:  # a damaged archive raises whatever its part of Python does
        raise FormatError(f"{path} cannot be read as .npz: {said(error)}.") from error


def _motion(path: Path, body: Body, times: Any, values: Any, names: Sequence[str]) -> Motion:
    """The motion of columns that are named."""
    for name in names:
        if name not in body.joint_names:
            raise FormatError(
                f"{path.name}: body {body.name!r} has no joint {shown(name)}. {suggest(name, body.joint_names)}"
            )
    missing = [name for name in body.joint_names if name not in names]
    if missing or len(set(names)) < len(names):
        raise FormatError(
            f"{path.name}: each joint of body {body.name!r} needs one column. "
            f"{'Missing: ' + ', '.join(missing[:6]) if missing else 'Some are there twice'}."
        )
    if np.ndim(values) != 2 or np.shape(values)[1] != len(names):
        raise FormatError(f"{path.name}: q has shape {np.shape(values)}; it must be (frames, {len(names)}).")
    order = [list(names).index(name) for name in body.joint_names]
    return _checked(path, lambda: Motion(body, times, np.asarray(values)[:, order], name=path.stem))


def _checked(path: Path, make: Callable[[], Motion]) -> Motion:
    """A motion, or what is wrong with it said with the file."""
    try:
        return make()
    except FormatError:
        raise
    except MemetikError as error:
        raise FormatError(f"{path.name}: {error}") from error


def _smpl(path: Path, body: Body, arrays: dict[str, Any]) -> Motion:
    """Axis-angles of joints (frames, 3 * joints) and translations of the root, on a skeleton that is given.

    Joints are found by their names in SMPL, whatever their case and without "_". Where none is there and the skeleton has
    as many balls as the file has rotations, they are taken in order.
    """
    try:
        poses = np.asarray(arrays["poses"], dtype=float)
        moved = np.asarray(arrays.get("trans", np.zeros((len(poses), 3))), dtype=float)
        poses = poses.reshape(len(poses), -1, 3)
    except (TypeError, ValueError) as error:
        raise FormatError(f"{path.name}: poses must be (frames, 3 * joints) of numbers: {said(error)}.") from error
    sound = len(poses) > 0 and moved.shape == (len(poses), 3)
    if not sound or not ((np.abs(poses) <= LARGEST).all() and (np.abs(moved) <= LARGEST).all()):
        raise FormatError(
            f"{path.name}: poses and trans (frames, 3) must be finite, below {LARGEST:g} and of as many frames."
        )
    rate = next((arrays[key] for key in ("mocap_framerate", "mocap_frame_rate", "fps") if key in arrays), 30.0)
    frames_a_second = real_number(rate, FormatError, f"{path.name}: the frame rate")
    if not 1.0 / LARGEST <= frames_a_second <= LARGEST:
        raise FormatError(
            f"{path.name}: the frame rate is {frames_a_second}; it must be from {1.0 / LARGEST:g} to {LARGEST:g}."
        )
    balls = balls_of(body)
    by_name = {ball.joint.replace("_", "").lower(): ball for ball in balls}
    known = SMPL if poses.shape[1] <= len(SMPL) else SMPL[:BODY_JOINTS]
    pairs = [(k, by_name[name.replace("_", "")]) for k, name in enumerate(known) if name.replace("_", "") in by_name]
    if not pairs and len(balls) == poses.shape[1]:
        pairs = list(enumerate(balls))
    pairs = [(k, ball) for k, ball in pairs if k < poses.shape[1]]
    if not pairs:
        raise FormatError(
            f"{path.name} has rotations of {poses.shape[1]} joints, but body {body.name!r} has no spherical joints with "
            "the names of SMPL (pelvis, left_hip, ...), and not as many of other names."
        )
    if len(pairs) < poses.shape[1]:
        warn(f"{path.name}: {poses.shape[1] - len(pairs)} of {poses.shape[1]} joints are not in {body.name!r}.")
    q = np.tile(body.home, (len(poses), 1))
    for k, ball in pairs:
        turns = quaternions_of_vectors(poses[:, k])
        q[:, ball.columns] = steady_turns(ball.order, turns, body.home[ball.columns])

    def motion() -> Motion:
        times = np.arange(len(poses)) / frames_a_second
        root = Motion(body, times, q).root
        first = body.index(root.variables[0])
        q[:, first : first + 3] += moved
        return Motion(body, times, q, name=path.stem)

    return _checked(path, motion)


def csv_text(names: Sequence[str], times: Array, rows: Array) -> str:
    """A table whose numbers are read back bit for bit."""
    lines = [",".join([TIME, *names])]
    lines += [",".join(map(repr, [float(t), *map(float, row)])) for t, row in zip(times, rows, strict=True)]
    return "\n".join(lines) + "\n"
