"""load: a body from its name or its file, whatever the format."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

from memetik import bodies
from memetik.body import Body
from memetik.errors import FormatError, UnknownNameError, shown
from memetik.plugins import READERS as ADDED
from memetik.plugins import added
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
    shape_file: str | PathLike[str] | None = None,
    roots: Iterable[str | PathLike[str]] = (),
    soft_limits: bool = False,
    up: str | None = None,
    scale: float | None = None,
    trust: bool = False,
    args: Mapping[str, object] | None = None,
) -> Body:
    """A body by its bundled name, such as "panda", or from the path of a file: .urdf, .xacro, MuJoCo's .xml or USD's .usd,
    or the skeleton of a .bvh, .glb, .gltf or .vrm; or by its name in the package robot_descriptions,
    "robot_descriptions:g1_mj_description" (pip install "memetik[descriptions]"; it clones from the network, once).

    `base` frees the root: "xyz", "planar" or "floating", within `base_lower` and `base_upper` (see
    Body.with_base). `srdf` is a file with named chains, the home posture and links that may touch. Bundled
    bodies and descriptions bring theirs along; a file NAME.srdf beside your own NAME.urdf is not read unless it is given here.
    `shape_file` is a file of simple shapes in place of meshes, as Body.with_shapes writes it. Meshes are looked up
    in the folders `roots`, among the folders around the file, where ROS keeps packages (ROS_PACKAGE_PATH,
    AMENT_PREFIX_PATH), and in the cache of robot_descriptions; those that are not found keep their name as written and
    are listed in one warning, as kinematics needs no meshes.

    Some options are for some formats, and raise a FormatError with others:

    soft_limits: of URDF and xacro: narrow the limits to those of the safety controllers.
    args: of xacro: the values of its arguments by name, such as {"ur_type": "ur10e"}.
    up, scale: of .bvh, .glb, .gltf and .vrm: the axis of the file that points up and the length of its unit [m], which
        `mk.read_motion` says more of. The root of such a skeleton is floating already.

    Macros of a .xacro file are expanded without running anything of the file; `trust` lets the package `xacro` expand it with
    all of Python, for files that need that and that you would run as a program.
    Other packages add formats by the entry points `memetik.readers`.
    """
    if not isinstance(source, (str, PathLike)):
        raise FormatError(f"load takes a bundled name or a path, not {type(source).__name__}.")
    if srdf is not None and not isinstance(srdf, (str, PathLike)):
        raise FormatError(f"srdf is {shown(srdf)}. Give the path of a file.")
    folders = folders_of(roots)
    if isinstance(source, str) and source in bodies.names():
        path = bodies.path(source)
        srdf = path.with_suffix(".srdf") if srdf is None else srdf
    elif isinstance(source, str) and source.startswith(SCHEME):
        found = find_description(source)
        path, srdf = found.file, found.srdf if srdf is None else srdf
        folders += found.roots
    else:
        path = Path(source)
    # Options by the name that readers take them by, and those among them that were given, which a format has to have a use for.
    options = {"roots": folders, "trust": trust, "args": args, "soft_limits": soft_limits, "up": up, "scale": scale}
    given = [name for name in FOR_SOME_FORMATS if options[name] is not None and options[name] is not False]
    body = _read(path, options, given)
    if srdf is not None:
        body = apply(body, read_srdf(srdf))
    if shape_file is not None:
        body = apply_shapes(body, read_shapes(shape_file))
    return body.with_base(base, lower=base_lower, upper=base_upper)


def _read_xml(path: Path, *, roots: Iterable[str | PathLike[str]], soft_limits: bool) -> Body:
    root = xml.read(path)
    if root.tag == "mujoco":
        return read_mjcf(path)
    return body_from_urdf(root, roots=roots, soft_limits=soft_limits, path=path)


def _read_xacro(path: Path, *, args: Mapping[str, object] | None, trust: bool, **options: Any) -> Body:
    return read_xacro(path, args=args, trust=trust and distrusted(path) is None, **options)


class Reader(NamedTuple):
    """What reads files of a format, and the options of `load` that it takes."""

    read: Callable[..., Body]
    options: tuple[str, ...] = ()


FOR_SOME_FORMATS = ("soft_limits", "args", "up", "scale")  # to others, they would change nothing
_XML, _MODEL, _SKELETON = Reader(_read_xml, ("roots", "soft_limits")), Reader(read_mjcf), ("up", "scale")
_USD, _GLTF = Reader(read_usd), Reader(read_gltf_body, _SKELETON)
# What reads a file, by its suffix.
READERS = {
    ".urdf": _XML, ".xacro": Reader(_read_xacro, ("roots", "soft_limits", "args", "trust")), ".xml": _XML, ".mjcf": _MODEL,
    ".mjb": _MODEL, ".usd": _USD, ".usda": _USD, ".usdc": _USD, ".usdz": _USD,
    ".bvh": Reader(read_bvh_body, _SKELETON), ".glb": _GLTF, ".gltf": _GLTF, ".vrm": _GLTF,
}  # fmt: skip
SUPPORTED = (
    f"a bundled name, {', '.join(suffix for suffix in READERS if suffix != '.xml')}, or .xml with a <robot> or <mujoco>"
)


def _read(path: Path, options: dict[str, Any], given: Sequence[str]) -> Body:
    suffix = path.suffix.lower()
    if suffix in READERS:
        return _read_by(READERS[suffix], path, options, given)
    if suffix[1:] in added(ADDED):
        body = _read_by(Reader(added(ADDED)[suffix[1:]].load(), ("roots",)), path, options, given)
        if not isinstance(body, Body):
            raise FormatError(f"{path.name}: the reader of {suffix} returned {shown(body)}, which is no mk.Body.")
        return body
    if suffix in NOT_YET:
        raise FormatError(f"{path.name}: {NOT_YET[suffix]} are not read yet. memetik reads {SUPPORTED}.")
    if not suffix and len(path.parts) == 1 and not _exists(path):
        raise UnknownNameError("bundled body", path.name, bodies.names())
    xml.check_file(path)
    raise FormatError(f"{path.name}: memetik does not know this format. It reads {SUPPORTED}.")


def _read_by(reader: Reader, path: Path, options: dict[str, Any], given: Sequence[str]) -> Body:
    for name in given:
        if name not in reader.options:
            formats = ", ".join(suffix for suffix in READERS if name in READERS[suffix].options)
            raise FormatError(f"{path.name}: {name} is for {formats} and would change nothing here. Leave it out.")
    return reader.read(path, **{name: options[name] for name in reader.options})


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except OSError:  # too long to be the name of a file
        return False
