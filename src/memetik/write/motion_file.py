"""write_motion: a clip to a file, whatever the format."""

from __future__ import annotations

import io
from os import PathLike
from pathlib import Path

import numpy as np

from memetik.errors import FormatError, shown
from memetik.files import path_of, writable_file, write_whole
from memetik.geometry.checks import instance, whole_number
from memetik.motion import Motion
from memetik.motion.clips.tables import csv_text
from memetik.read.skeleton import checked_scale, checked_up
from memetik.write.bvh import bvh_text
from memetik.write.gltf import glb_bytes

FORMATS = {"bvh": (".bvh",), "csv": (".csv",), "npz": (".npz",), "qpos": (".csv", ".npz"), "glb": (".glb",)}


def write_motion(
    motion: Motion, path: str | PathLike[str], *, format: str | None = None, up: str | None = None,
    scale: float = 1.0, digits: int = 6,
) -> Path:  # fmt: skip
    """Write a clip as .bvh, .csv, .npz or .glb (glTF 2.0), by the ending of the path; return the path.

    format: "bvh", "csv", "npz" and "glb" say the same; "qpos" writes MuJoCo's qpos instead of joint values, as .csv or .npz with
        the arrays times and qpos (see Body.to_qpos).
    up: the vertical axis of a .bvh; that of the skeleton unless given, "y" for other bodies.
    scale: the length of a unit of a .bvh [m].
    digits: behind the point, of numbers in a .bvh [degrees or units]. Tables hold all digits.

    A skeleton from a .bvh is written as it was read. Any other body is written with its links turned from the posture
    of zeros; read again it is a skeleton with links of the same names in the same places. A .glb has a node for each
    link, in single precision, and no mesh.
    """
    clip = instance(motion, Motion, FormatError, "a motion. Give mk.Motion(...) or mk.read_motion(...).")
    file = path_of(path, FormatError, "the path of a motion")
    kind = file.suffix.lower().removeprefix(".") if format is None else format
    if not isinstance(kind, str) or kind not in FORMATS:
        raise FormatError(f"motions are written as {', '.join(FORMATS)}, not as {shown(kind)}.")
    file = writable_file(file, *FORMATS[kind])
    scale, places = checked_scale(scale), whole_number(digits, FormatError, "digits", least=0, most=17)
    axis = None if up is None else checked_up(up)
    if kind == "bvh":
        data = bvh_text(clip, axis, scale, places).encode()
    elif kind == "glb":
        data = glb_bytes(clip)
    else:
        rows = clip.body.to_qpos(clip.q) if kind == "qpos" else clip.q
        if file.suffix.lower() == ".csv":
            names = [f"qpos_{k}" for k in range(rows.shape[1])] if kind == "qpos" else clip.body.joint_names
            data = csv_text(names, clip.times, rows).encode()
        else:
            content = {"qpos": rows} if kind == "qpos" else {"q": rows, "joint_names": np.array(clip.body.joint_names)}
            buffer = io.BytesIO()
            np.savez_compressed(buffer, times=clip.times, **content)
            data = buffer.getvalue()
    write_whole(file, data)
    return file
