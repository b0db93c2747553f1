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


def read_motion(
    path: str | PathLike[str], *, body: Body | None = None, up: str | None = None, scale: float | None = None,
    animation: str | int | None = None,
) -> Motion:  # fmt: skip
    """A clip from a file: .bvh, .glb, .gltf or .vrm with its skeleton, or .csv and .npz of joint values of a body that is given.

    A skeleton becomes the motion's body: balls without limits under a floating root, so joint vectors hold everything.
    Its links and joints have the names of the file; the end of a last bone is the link NAME_EndSite. Local axes are those
    of the file, and joint values its angles; the world is z up and in metres.

    Position channels of a .bvh take the place of OFFSET, as Blender, Maya and MotionBuilder mean them; those of the root are
    its joint values. A bone whose position channels never change stands where they say; one that moves on its parent is a
    floating joint, whose slides count from its OFFSET. Of glTF (.glb, .gltf, .vrm) it is the joints of the skins, or the
    nodes that animations move. What stands above them, such as Blender's armature, turns, moves and scales them and is no
    link. The humanoid map of a .vrm is `motion.body.parts`.

    A .csv has a line of names, "time" and then joints, and rows of seconds and joint values. A .npz has the arrays times,
    q and joint_names, or those of SMPL: poses (frames, 3 * joints) as axis-angles, trans and mocap_framerate or fps; its
    joints are found in the body by their names.

    body: for .csv and .npz.
    up: the axis of the file that points up, "y", "z" or "x"; for skeletons. Of a .bvh it is guessed unless given, by where
        the head is and the floor; glTF is y up.
    scale: the length of a unit of the file [m]; for skeletons. Of a .bvh it is guessed unless given: metres, centimetres or
        millimetres by the size of the figure, 0.05644 by the joints of the CMU database; glTF is in metres. `print(motion.body)`
        says what was guessed (`motion.body.read_as`).
    animation: the name or the number of an animation of a glTF file; the first unless given.
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
    if animation is not None and suffix == ".bvh":
        raise FormatError(f"{file.name} holds one clip. Leave animation= out.")
    chosen = {} if suffix == ".bvh" else {"animation": animation}
    own, times, q = SKELETONS[suffix](file, up=up, scale=scale, **chosen)
    return Motion(own, times, q, name=animation if isinstance(animation, str) else file.stem)
