"""read_motion: a clip from its file, whatever the format."""

from __future__ import annotations

from collections.abc import Callable
from os import PathLike

from memetik.body import Body
from memetik.errors import FormatError
from memetik.files import path_of
from memetik.geometry.checks import instance
from memetik.motion.clips.motion import Motion
from memetik.motion.clips.tables import read_csv, read_npz
from memetik.read.bvh import Clip, read_bvh
from memetik.read.gltf import read_gltf

# Files that bring their body.
SKELETONS: dict[str, Callable[..., Clip]] = {
    ".bvh": read_bvh, ".glb": read_gltf, ".gltf": read_gltf, ".vrm": read_gltf
}  # fmt: skip
TABLES: dict[str, Callable[..., Motion]] = {".csv": read_csv, ".npz": read_npz}  # files of joint values


def read_motion(path: str | PathLike[str], *, body: Body | None = None, up: str = "y", scale: float = 1.0) -> Motion:
    """A clip from a file: .bvh, .glb, .gltf or .vrm with its skeleton, or .csv and .npz of joint values of a body that is given.

    A skeleton becomes the motion's body: balls without limits under a floating root, so joint vectors hold everything.
    Its links and joints have the names of the file; the end of a last bone is the link NAME_EndSite. Local axes are those
    of the file, and joint values its angles; the world is z up and in metres. Of glTF (.glb, .gltf, .vrm) it is the nodes of
    the first skin, or those that the first animation moves, with all above them, and this animation; of cubic splines the keys.

    A .csv has a line of names, "time" and then joints, and rows of seconds and joint values. A .npz has the arrays times,
    q and joint_names, or those of SMPL: poses (frames, 3 * joints) as axis-angles, trans and mocap_framerate or fps; its
    joints are found in the body by their names.

    body: for .csv and .npz.
    up: the axis of the file that points up, "y" in most, "z" or "x"; for skeletons.
    scale: the length of a unit of the file [m]: 0.01 for centimetres, 0.05644 for the CMU database; for skeletons.
    """
    file = path_of(path, FormatError, "the path of a motion")
    suffix = file.suffix.lower()
    if suffix in TABLES:
        if body is None:
            raise FormatError(f"{file.name} holds joint values and no skeleton. Give the body, body=mk.load(...).")
        return TABLES[suffix](file, instance(body, Body, FormatError, "a body. Give mk.load(...)."))
    if suffix not in SKELETONS:
        raise FormatError(f"{file.name}: motions are read from {', '.join((*SKELETONS, *TABLES))}.")
    if body is not None:
        raise FormatError(f"{file.name} brings its own skeleton. Read it without body=, and mk.retarget the motion.")
    own, times, q = SKELETONS[suffix](file, up=up, scale=scale)
    return Motion(own, times, q, name=file.stem)
