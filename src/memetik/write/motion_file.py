"""write_motion: a clip to a file, whatever the format."""

from __future__ import annotations

import io
from os import PathLike
from pathlib import Path

import numpy as np

from memetik.errors import FormatError, shown
from memetik.files import path_of, writable_file, write_whole
from memetik.geometry.checks import whole_number
from memetik.motion import Motion
from memetik.motion.clips.tables import csv_text
from memetik.read.skeleton import checked_scale, checked_up
from memetik.write.bvh import bvh_text
from memetik.write.gltf import glb_bytes
from memetik.write.into import bytes_into

FORMATS = {"bvh": (".bvh",), "csv": (".csv",), "npz": (".npz",), "qpos": (".csv", ".npz"), "glb": (".glb",)}


def write_motion(
    motion: Motion, path: str | PathLike[str], *, format: str | None = None, up: str | None = None,
    scale: float = 1.0, digits: int = 6, into: str | PathLike[str] | None = None,
) -> Path:  # fmt: skip
    """Write a clip to a file; see Motion.write."""
    file = path_of(path, FormatError, "the path of a motion")
    kind = file.suffix.lower().removeprefix(".") if format is None else format
    if into is not None and kind in ("gltf", "vrm"):
        kind = "glb"
    if not isinstance(kind, str) or kind not in FORMATS:
        raise FormatError(f"motions are written as {', '.join(FORMATS)}, not as {shown(kind)}.")
    if into is not None and kind != "glb":
        raise FormatError(f"into= is for .glb, .gltf and .vrm, not for {shown(kind)}.")
    endings = FORMATS[kind] + ((".vrm", ".gltf") if into is not None else ())
    file = writable_file(file, *endings)
    scale, places = checked_scale(scale), whole_number(digits, FormatError, "digits", least=0, most=17)
    axis = None if up is None else checked_up(up)
    if kind == "bvh":
        data = bvh_text(motion, axis, scale, places).encode()
    elif kind == "glb":
        data = glb_bytes(motion) if into is None else bytes_into(motion, into, file)
    else:
        rows = motion.body.to_qpos(motion.q) if kind == "qpos" else motion.q
        if file.suffix.lower() == ".csv":
            names = [f"qpos_{k}" for k in range(rows.shape[1])] if kind == "qpos" else motion.body.joint_names
            data = csv_text(names, motion.times, rows).encode()
        else:
            content = (
                {"qpos": rows} if kind == "qpos" else {"q": rows, "joint_names": np.array(motion.body.joint_names)}
            )
            buffer = io.BytesIO()
            np.savez_compressed(buffer, times=motion.times, **content)
            data = buffer.getvalue()
    write_whole(file, data)
    return file
