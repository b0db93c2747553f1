"""Objects of yourdfpy -> Body. Its own writer loses mimic joints, so its parts are read one by one."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from memetik.body import Body, Joint, Link, Mimic, Shape
from memetik.errors import FormatError, MemetikError, said, shown
from memetik.read.resources import folders_of, resolve_mesh
from memetik.read.urdf_joint import KINDS
from memetik.types import Array

Locate = Callable[[str], str]


def from_yourdfpy(urdf: Any, *, roots: Iterable[str | PathLike[str]] = ()) -> Body:
    """The body of a yourdfpy.URDF, checked as a file is: what yourdfpy lets pass may be refused here, with the reason.

    Meshes are found as yourdfpy finds them, and in the folders `roots`. yourdfpy takes values by name, in the order of
    `urdf.actuated_joint_names`: `urdf.update_cfg(dict(solution))` shows a solution, and `body.vector(dict(zip(
    urdf.actuated_joint_names, urdf.cfg)))` is the way back.
    """
    robot: Any = getattr(urdf, "robot", None)
    if not all(hasattr(robot, part) for part in ("name", "links", "joints", "materials")):
        raise FormatError(f"from_yourdfpy takes a yourdfpy.URDF, not {shown(urdf)}. Give yourdfpy.URDF.load(path).")
    folders = folders_of(roots)
    find = getattr(urdf, "_filename_handler", None)

    def locate(name: str) -> str:
        given = resolve_mesh(name, folders)
        return str(given) if given is not None else _found(name, find)

    try:
        colors = {material.name: _color(material) for material in robot.materials}
        links = [_link(link, colors, locate) for link in robot.links]
        return Body(robot.name or "yourdfpy", links, [_joint(joint) for joint in robot.joints])
    except MemetikError:
        raise
    except Exception as reason:  # an object put together by hand may hold anything
        raise FormatError(f"the robot of yourdfpy cannot be read: {said(reason)}.") from reason


def _joint(joint: Any) -> Joint:
    where = f"joint {joint.name!r} of yourdfpy"
    if joint.type not in KINDS:
        raise FormatError(f"{where}: type is {shown(joint.type)}, which URDF does not have; it has {', '.join(KINDS)}.")
    limited, limit = bool(KINDS[joint.type].unit), joint.limit
    if limited and limit is None:
        raise FormatError(f"{where}: a {joint.type} joint needs limits.")
    more: dict[str, Any] = {}
    if limited:
        more = {"lower": limit.lower or 0.0, "upper": limit.upper or 0.0}  # missing ones mean 0, as URDF says
    if limit is not None and joint.type in ("revolute", "continuous", "prismatic"):
        more |= {"velocity": limit.velocity} if limit.velocity else {}
        more |= {"effort": limit.effort} if limit.effort and limit.effort > 0.0 else {}
    if joint.mimic is not None and joint.type != "fixed":
        multiplier, offset = joint.mimic.multiplier, joint.mimic.offset
        more["mimic"] = Mimic(joint.mimic.joint, 1.0 if multiplier is None else multiplier, offset or 0.0)
    axis = np.array((1.0, 0.0, 0.0) if joint.axis is None or not KINDS[joint.type].axis else joint.axis)
    return Joint(joint.name, joint.type, joint.parent, joint.child, _place(joint.origin), axis, **more)


def _link(link: Any, colors: dict[str, Any], locate: Locate) -> Link:
    inertial = link.inertial
    mass, center = (
        (0.0, (0.0, 0.0, 0.0)) if inertial is None else (inertial.mass or 0.0, _place(inertial.origin)[:3, 3])
    )
    x, y, z = (float(part) for part in center)
    shapes = tuple(_shape(part, None, locate) for part in link.collisions)
    visuals = tuple(_shape(part, _color(part.material) or _named(part, colors), locate) for part in link.visuals)
    return Link(link.name, mass, (x, y, z), shapes, visuals)


def _shape(part: Any, color: Any, locate: Locate) -> Shape:
    geometry, place = part.geometry, _place(part.origin)
    if geometry.box is not None:
        return Shape("box", tuple(np.asarray(geometry.box.size).tolist()), place, color=color)
    if geometry.sphere is not None:
        return Shape("sphere", (geometry.sphere.radius,), place, color=color)
    if geometry.cylinder is not None:
        return Shape("cylinder", (geometry.cylinder.radius, geometry.cylinder.length), place, color=color)
    if geometry.mesh is None:
        raise FormatError("a shape of yourdfpy has no geometry. Give it a box, sphere, cylinder or mesh.")
    scale = np.ones(3) if geometry.mesh.scale is None else np.broadcast_to(np.asarray(geometry.mesh.scale, float), 3)
    return Shape("mesh", tuple(scale.tolist()), place, locate(geometry.mesh.filename), color)


def _color(material: Any) -> tuple[float, ...] | None:
    color = getattr(material, "color", None)
    if color is None or not all(map(math.isfinite, color.rgba)):
        return None
    return tuple(np.clip(np.asarray(color.rgba, dtype=float), 0.0, 1.0).tolist())


def _named(part: Any, colors: dict[Any, Any]) -> Any:
    return colors.get(getattr(part.material, "name", None))


def _place(origin: Any) -> Array:
    return np.eye(4) if origin is None else np.array(origin, dtype=float)


def _found(name: str, find: Any) -> str:
    """The path of a mesh by yourdfpy's own rule, or its name as it is written."""
    try:
        path = Path(find(fname=name))
        return str(path.resolve()) if path.is_file() else name
    except Exception:  # whatever a user's own function raises
        return name
