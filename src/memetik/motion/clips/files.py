"""read_motion: a clip from its file, whatever the format."""

from __future__ import annotations

from collections.abc import Callable
from os import PathLike

from memetik.errors import FormatError
from memetik.files import path_of
from memetik.motion.clips.motion import Motion
from memetik.read.bvh import Clip, read_bvh

READERS: dict[str, Callable[..., Clip]] = {".bvh": read_bvh}


def read_motion(path: str | PathLike[str], *, up: str = "y", scale: float = 1.0) -> Motion:
    """A clip from a file: .bvh with its skeleton.

    The motion's body is the skeleton: balls without limits under a floating root, so joint vectors hold everything. Its
    links and joints have the names of the file; the end of a last bone is the link NAME_EndSite. Local axes are those of
    the file, and joint values its angles; the world is z up and in metres.

    up: the axis of the file that points up, "y" in most, "z" or "x".
    scale: the length of a unit of the file [m]: 0.01 for centimetres, 0.05644 for the CMU database.
    """
    file = path_of(path, FormatError, "the path of a motion")
    suffix = file.suffix.lower()
    if suffix not in READERS:
        raise FormatError(f"{file.name}: motions are read from {', '.join(READERS)}, not from {suffix or 'this'}.")
    body, times, q = READERS[suffix](file, up=up, scale=scale)
    return Motion(body, times, q, name=file.stem)
