"""load: a body from its name or its file, whatever the format."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

from memetik import bodies
from memetik.body import Body
from memetik.errors import FormatError, UnknownNameError, shown
from memetik.read import xml
from memetik.read.bvh import read_bvh_body
from memetik.read.descriptions import SCHEME, find_description
from memetik.read.gltf import read_gltf_body
from memetik.read.mjcf import read_mjcf
from memetik.read.resources import folders_of
from memetik.read.shapes import apply_shapes, read_shapes
from memetik.read.srdf import apply, read_srdf
from memetik.read.untrusted import distrusted
from memetik.read.urdf import body_from_urdf
from memetik.read.usd import read_usd
from memetik.read.xacro import read_xacro

NOT_YET = {".sdf": "Gazebo SDF models"}


def load(
    source: str | PathLike[str],
    *,
    base: str = "fixed",
    base_lower: float | Sequence[float] = (),
    base_upper: float | Sequence[float] = (),
    srdf: str | PathLike[str] | None = None,
    shapes: str | PathLike[str] | None = None,
    roots: Iterable[str | PathLike[str]] = (),
    soft_limits: bool = False,
    up: str | None = None,
    scale: float | None = None,
    trust: bool = False,
    package_roots: Iterable[str | PathLike[str]] = (),
) -> Body:
    """A body by its bundled name, such as "panda", or from the path of a file: .urdf, .xacro, MuJoCo's .xml or USD's .usd,
    or the skeleton of a .bvh, .glb, .gltf or .vrm; or by its name in the package robot_descriptions,
    "robot_descriptions:g1_mj_description" (pip install "memetik[descriptions]"; it clones from the network, once).

    `base` frees the root: "xyz", "planar" or "floating", within `base_lower` and `base_upper` (see
    Body.with_base). `srdf` is a file with named chains, the home posture and links that may touch. Bundled
    bodies and descriptions bring theirs along; a file NAME.srdf beside your own NAME.urdf is not read unless it is given here.
    `shapes` is a file of simple shapes in place of meshes, as Body.with_shapes writes it. Meshes are looked up
    in the folders `roots`, among the folders around the file, where ROS keeps packages (ROS_PACKAGE_PATH,
    AMENT_PREFIX_PATH), and in the cache of robot_descriptions; those that are not found keep their name as written and
    are listed in one warning, as kinematics needs no meshes. `soft_limits` narrows the limits
    to those of the safety controllers. `up` and `scale` are for skeletons of animation files
    alone: the axis of the file that points up and the length of its unit [m], which `mk.read_motion` says more of; their root
    is floating already.
    Macros of a .xacro file are expanded without running anything of the file; `trust` lets the package `xacro` expand it with
    all of Python, for files that need that and that you would run as a program.
    `package_roots` is the former name of `roots`.
    """
    if not isinstance(source, (str, PathLike)):
        raise FormatError(f"load takes a bundled name or a path, not {type(source).__name__}.")
    if srdf is not None and not isinstance(srdf, (str, PathLike)):
        raise FormatError(f"srdf is {shown(srdf)}. Give the path of a file.")
    folders = folders_of(roots)
    if folders and folders_of(package_roots):
        raise FormatError("load got both roots and package_roots, its former name. Give roots alone.")
    folders = folders or folders_of(package_roots)
    if isinstance(source, str) and source in bodies.names():
        path = bodies.path(source)
        srdf = path.with_suffix(".srdf") if srdf is None else srdf
    elif isinstance(source, str) and source.startswith(SCHEME):
        found = find_description(source)
        path, srdf = found.file, found.srdf if srdf is None else srdf
        folders += found.roots
    else:
        path = Path(source)
    for_models: dict[str, Any] = {"roots": folders, "soft_limits": soft_limits}
    if path.suffix.lower() == ".xacro":
        for_models["trust"] = trust and distrusted(path) is None
    body = _read(path, for_models, {"up": up, "scale": scale})
    if srdf is not None:
        body = apply(body, read_srdf(srdf))
    if shapes is not None:
        body = apply_shapes(body, read_shapes(shapes))
    return body.with_base(base, lower=base_lower, upper=base_upper)


def _read_xml(path: Path, *, roots: Iterable[str | PathLike[str]], soft_limits: bool) -> Body:
    root = xml.read(path)
    if root.tag == "mujoco":
        return read_mjcf(path)
    return body_from_urdf(root, roots=roots, soft_limits=soft_limits, path=path)


# What reads a file, by its suffix.
READERS: dict[str, Callable[..., Body]] = {
    ".urdf": _read_xml, ".xacro": read_xacro, ".xml": _read_xml, ".mjcf": read_mjcf, ".mjb": read_mjcf,
    ".usd": read_usd, ".usda": read_usd, ".usdc": read_usd, ".usdz": read_usd,
    ".bvh": read_bvh_body, ".glb": read_gltf_body, ".gltf": read_gltf_body, ".vrm": read_gltf_body,
}  # fmt: skip
SKELETONS = {".bvh", ".glb", ".gltf", ".vrm"}  # files of animations, which take other options than models
SUPPORTED = (
    f"a bundled name, {', '.join(suffix for suffix in READERS if suffix != '.xml')}, or .xml with a <robot> or <mujoco>"
)


def _read(path: Path, for_models: dict[str, Any], for_skeletons: dict[str, Any]) -> Body:
    suffix = path.suffix.lower()
    if suffix in READERS:
        return READERS[suffix](path, **(for_skeletons if suffix in SKELETONS else for_models))
    if suffix in NOT_YET:
        raise FormatError(f"{path.name}: {NOT_YET[suffix]} are not read yet. memetik reads {SUPPORTED}.")
    if not suffix and len(path.parts) == 1 and not _exists(path):
        raise UnknownNameError("bundled body", path.name, bodies.names())
    xml.check_file(path)
    raise FormatError(f"{path.name}: memetik does not know this format. It reads {SUPPORTED}.")


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except OSError:  # too long to be the name of a file
        return False
