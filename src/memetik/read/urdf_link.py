"""<link> of URDF -> Link: its mass, and its shapes with their colours; <origin>, where a part stands."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

import numpy as np

from memetik.body import Link, Shape
from memetik.geometry import transform
from memetik.read.notes import Notes, naming
from memetik.read.xml import Element
from memetik.types import Array

Color = tuple[float, float, float, float]

GEOMETRIES = ("box", "cylinder", "sphere", "capsule", "mesh")
NO_TURN = (0.0, 0.0, 0.0)
MOMENTS = ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")


def read_link(element: Element, colors: Mapping[str, Color], notes: Notes, locate: Callable[[str], str]) -> Link:
    """One link. `colors` are the materials by name; `locate` turns a mesh name into the one to keep."""
    name = element.text("name", "forearm")
    notes.misspelled(element, ("inertial", "visual", "collision"))
    mass, center_of_mass = _read_inertial(element)
    shapes = tuple(_read_shape(part, None, locate) for part in element.all("collision"))
    visuals = tuple(_read_shape(part, _read_color(part, colors, notes), locate) for part in element.all("visual"))
    with naming(element.file_line):
        return Link(name, mass, center_of_mass, shapes, visuals)


def read_materials(root: Element, notes: Notes) -> dict[str, Color]:
    """The colour of every named material, wherever it is defined; the first of equal names counts."""
    visuals = (visual for link in root.all("link") for visual in link.all("visual"))
    colors: dict[str, Color] = {}
    for material in (*root.all("material"), *(part for visual in visuals for part in visual.all("material"))):
        color = material.one("color")
        name = material.attributes.get("name", "").strip()
        if color is not None and name not in colors:
            colors[name] = _read_rgba(color, notes)
    return colors


def _read_inertial(element: Element) -> tuple[float, tuple[float, float, float]]:
    inertial = element.one("inertial")
    if inertial is None:
        return 0.0, (0.0, 0.0, 0.0)
    mass = inertial.need("mass", '<mass value="1.2"/>').number("value", "kilograms", "1.2")
    if mass < 0.0:
        raise inertial.error(f"mass is {mass:g} kg, below zero. Write zero or a positive number.")
    for inertia in inertial.all("inertia"):
        for moment in MOMENTS:  # kinematics needs none, but a file with NaN in it is broken
            inertia.number_or(moment, 0.0, "kilogram square metres", "0.01", math.inf)
    x, y, z = read_origin(inertial)[:3, 3].tolist()
    return mass, (x, y, z)


def _read_shape(element: Element, color: Color | None, locate: Callable[[str], str]) -> Shape:
    geometry = element.need("geometry", '<geometry><box size="0.1 0.1 0.1"/></geometry>')
    if len(geometry.children) != 1 or geometry.children[0].tag not in GEOMETRIES:
        found = ", ".join(f"<{child.tag}>" for child in geometry.children[:6]) or "nothing"
        raise geometry.error(f"<geometry> holds {found}. It must hold one of {', '.join(GEOMETRIES)}.")
    solid = geometry.children[0]
    mesh = ""
    size: tuple[float, ...]
    match solid.tag:
        case "box":
            size = solid.vector("size", "metres", "0.1 0.1 0.1", 3)
        case "sphere":
            size = (solid.number("radius", "metres", "0.1"),)
        case "mesh":
            mesh = locate(solid.text("filename", "package://arm/meshes/forearm.stl"))
            scaled = "scale" in solid.attributes
            size = solid.vector("scale", "factors", "1 1 1", 3) if scaled else (1.0, 1.0, 1.0)
        case _:
            size = (solid.number("radius", "metres", "0.1"), solid.number("length", "metres", "0.3"))
    with naming(solid.place):
        return Shape(solid.tag, size, read_origin(element), mesh, color)


def _read_color(visual: Element, colors: Mapping[str, Color], notes: Notes) -> Color | None:
    materials = visual.all("material")
    if not materials:
        return None
    material = materials[0]
    if len(materials) > 1:
        notes.add(materials[1], "a visual has several materials; the first gives its colour.")
    color = material.one("color")
    if color is not None:
        return _read_rgba(color, notes)
    name = material.attributes.get("name", "").strip()
    if name not in colors and not material.all("texture"):
        notes.add(material, "the material has no colour anywhere in the file, so the shape has none.")
    return colors.get(name)


def _read_rgba(color: Element, notes: Notes) -> Color:
    given = color.vector("rgba", "red, green, blue and opacity from 0 to 1", "0.8 0.8 0.8 1", 4)
    if not all(0.0 <= part <= 1.0 for part in given):
        notes.add(color, "a colour has parts outside 0 to 1, so they were clipped.")
    red, green, blue, opacity = (min(max(part, 0.0), 1.0) for part in given)
    return red, green, blue, opacity


def read_origin(element: Element) -> Array:
    """The 4x4 parent_from_child of the <origin> in this element; the identity if there is none.

    R = Rz(yaw) Ry(pitch) Rx(roll), written out because a body has hundreds of them. A file may give quat_xyzw
    instead of rpy, as URDF 1.2 allows.
    """
    pose = np.eye(4)
    origin = element.one("origin")
    if origin is None:
        return pose
    if "xyz" in origin.attributes:
        pose[:3, 3] = origin.vector("xyz", "metres", "0 0 0.5", 3)
    if "quat_xyzw" in origin.attributes:
        if "rpy" in origin.attributes:
            raise origin.error("origin has both rpy and quat_xyzw. Keep one.")
        return transform(pose[:3, 3], _quaternion(origin))
    roll, pitch, yaw = origin.vector("rpy", "radians", "0 0 1.57", 3) if "rpy" in origin.attributes else NO_TURN
    if (roll, pitch, yaw) != NO_TURN:
        sr, cr, sp, cp, sy, cy = (f(angle) for angle in (roll, pitch, yaw) for f in (math.sin, math.cos))
        pose[:3, :3] = (
            (cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr),
            (sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr),
            (-sp, cp * sr, cp * cr),
        )
    return pose


def _quaternion(origin: Element) -> tuple[float, ...]:
    """(w, x, y, z) of unit length from quat_xyzw, which has w last."""
    x, y, z, w = origin.vector("quat_xyzw", "x y z w of a quaternion of length 1", "0 0 0 1", 4)
    length = math.hypot(w, x, y, z)
    if abs(length - 1.0) > 1e-3:  # typed decimals are off by less
        raise origin.error(f"origin quat_xyzw has length {length:g}, but a rotation has length 1. Divide it by that.")
    return w / length, x / length, y / length, z / length
