"""URDF -> Body. Strict: what cannot be right is refused with its line, what is harmless mended and told."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from os import PathLike
from pathlib import Path

from memetik.body import Body
from memetik.errors import FormatError, warn
from memetik.files import path_of
from memetik.geometry.checks import flag
from memetik.read import xml
from memetik.read.notes import Notes, naming
from memetik.read.resources import folders_of, resolve_mesh
from memetik.read.urdf_joint import read_joint
from memetik.read.urdf_link import read_link, read_materials
from memetik.read.urdf_loop import read_loop
from memetik.read.xml import Element

OTHER_FORMATS = {"mujoco": "a MuJoCo model", "sdf": "a Gazebo SDF model", "COLLADA": "a COLLADA scene"}

MOST_MESHES = 6  # that are named


def read_urdf(
    path: str | PathLike[str], *, roots: Iterable[str | PathLike[str]] = (), soft_limits: bool = False
) -> Body:
    """The body in a URDF file. See `parse_urdf`."""
    return body_from_urdf(xml.read(path), roots=roots, soft_limits=soft_limits, path=Path(path))


def parse_urdf(
    text: str | bytes,
    *,
    file: str = "URDF text",
    roots: Iterable[str | PathLike[str]] = (),
    soft_limits: bool = False,
    path: Path | None = None,
) -> Body:
    """The body in URDF text; messages call the text `file`.

    Meshes are looked up in `roots`, and around `path` if the text is from a file that the user chose (see
    `resolve_mesh`), and named by their path if they are there, as written if not: kinematics needs no meshes.
    `soft_limits` narrows the limits to those of the safety controllers. A continuous, floating or planar joint
    has no limits in URDF, so lower and upper are ignored there. A <loop> of URDF+ is one of `body.loops`.
    """
    place = None if path is None else path_of(path, FormatError, "the path of a model")
    return body_from_urdf(xml.parse(text, file), roots=roots, soft_limits=soft_limits, path=place)


def body_from_urdf(
    root: Element, *, roots: Iterable[str | PathLike[str]], soft_limits: bool, path: Path | None = None
) -> Body:
    """The body under a <robot> element, of the file at `path` if it is from one that the user chose."""
    _check_root(root)
    soft_limits = flag(soft_limits, FormatError, "soft_limits")
    notes = Notes()
    notes.misspelled(root, ("link", "joint", "material", "loop"))
    missing: dict[str, None] = {}
    locate = partial(_locate, roots=folders_of(roots), file=path, missing=missing)
    colors = read_materials(root, notes)
    links = [read_link(element, colors, notes, locate) for element in root.all("link")]
    joints = [read_joint(element, notes, soft_limits=soft_limits) for element in root.all("joint")]
    name = root.attributes.get("name", "").strip()
    if not name:
        name = Path(root.file).stem
        notes.add(root, f"the robot has no name, so it is called {name!r}.")
    with naming(root.file):
        body = Body(name, links, joints, loops=[read_loop(element) for element in root.all("loop")], file=path)
    notes.warn()
    if missing and path is not None:
        _warn_of(missing, root.file)
    return body


def _locate(name: str, *, roots: list[Path], file: Path | None, missing: dict[str, None]) -> str:
    """The path of a mesh, or its name as it is written, which is then noted."""
    path = resolve_mesh(name, roots, file)
    if path is None:
        missing[name] = None
        return name
    return str(path)


def _warn_of(missing: dict[str, None], file: str) -> None:
    """Say once which meshes are not there: all that is drawn of them would be sticks, and nobody would know why."""
    few = list(missing)[:MOST_MESHES]
    more = f" and {len(missing) - len(few)} more" if len(missing) > len(few) else ""
    warn(
        f"{file}: {len(missing)} meshes were not found: {', '.join(few)}{more}. Kinematics needs none; to draw and cover "
        "them, give the folder of their package: mk.load(..., roots=[FOLDER])."
    )


def _check_root(root: Element) -> None:
    if root.tag != "robot":
        what = OTHER_FORMATS.get(root.tag, "something else")
        raise root.error(f"URDF begins with <robot>, but this begins with <{root.tag}>: it is {what}.")
    for element in root.children:
        if element.tag.startswith("xacro:"):
            raise element.error(
                f"<{element.tag}> is xacro, the macro language. Name the file .xacro, or expand it first."
            )
