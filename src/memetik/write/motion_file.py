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
from memetik.write.into import bytes_into

FORMATS = {"bvh": (".bvh",), "csv": (".csv",), "npz": (".npz",), "qpos": (".csv", ".npz"), "glb": (".glb",)}


def write_motion(
    motion: Motion, path: str | PathLike[str], *, format: str | None = None, up: str | None = None,
    scale: float = 1.0, digits: int = 6, into: str | PathLike[str] | None = None,
) -> Path:  # fmt: skip
    """Write a clip as .bvh, .csv, .npz or .glb (glTF 2.0), by the ending of the path, or into a character; return the path.

    format: "bvh", "csv", "npz" and "glb" say the same; "qpos" writes MuJoCo's qpos instead of joint values, as .csv or .npz with
        the arrays times and qpos (see Body.to_qpos).
    up: the vertical axis of a .bvh; that of the skeleton unless given, "y" for other bodies.
    scale: the length of a unit of a .bvh [m].
    digits: behind the point, of numbers in a .bvh [degrees or units]. Tables hold all digits.

    into: a .glb, .gltf or .vrm whose skeleton is the body of the motion: `motion` was read from it, or retargeted to
        `mk.load(into)`. What is written is that file with one animation more, the first, in place of one with the name of the
        motion. Meshes, skins, materials, extensions and all other content stay as they are, buffers bit for bit.

    A skeleton from a .bvh is written as it was read. Any other body is written as bones that turn from its posture at home,
    each where its link is. Links that stand at the same place are one bone, named after the last. A .glb has these bones in
    single precision, with a skin and a mesh of the simple shapes of the links, so that Blender imports it as one armature with
    one action.
    """
    clip = instance(motion, Motion, FormatError, "a motion. Give mk.Motion(...) or mk.read_motion(...).")
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
        data = bvh_text(clip, axis, scale, places).encode()
    elif kind == "glb":
        data = glb_bytes(clip) if into is None else bytes_into(clip, into, file)
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
