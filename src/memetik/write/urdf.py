"""A body as URDF: what was built or joined in Python, for all who read URDF.

Joints that URDF lacks are written as chains of those it has, with links between that have neither mass nor shapes, and
named as their variables: a spherical joint `hip` as three revolute ones, `hip.rz`, `hip.rx` and `hip.ry`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from os import PathLike
from pathlib import Path
from typing import NamedTuple
from xml.sax.saxutils import quoteattr

import numpy as np

from memetik.body import Body, Joint, Link, Loop, Mimic, Shape
from memetik.errors import FormatError
from memetik.files import path_of, writable_file, write_whole
from memetik.geometry import to_euler
from memetik.types import Array

NATIVE = ("fixed", "revolute", "continuous", "prismatic", "floating", "planar")
NO_LIMIT = 1e9  # rad, m, or those a second: what readers take as none, or can never be met
WATER = 1000.0  # kg/m3


def write_urdf(body: Body, path: str | PathLike[str]) -> Path:
    """Write a body as a .urdf file; see Body.write_urdf."""
    file = writable_file(path_of(path, FormatError, "the path of a model"), ".urdf", ".xml")
    meshes: dict[str, bytes] = {}
    text = _robot(body, f"{file.stem}_meshes", meshes)
    if meshes:
        folder = file.with_name(f"{file.stem}_meshes")
        folder.mkdir(exist_ok=True)
        for name, data in meshes.items():
            write_whole(folder / name, data)
    write_whole(file, text.encode())
    return file


def _robot(body: Body, folder: str, meshes: dict[str, bytes]) -> str:
    lines = [f"<robot name={quoteattr(body.name)}>"]
    for link in body.links.values():
        lines += _link(link, folder, meshes)
    followed = {joint.mimic.source for joint in body.joints.values() if joint.mimic is not None}
    taken = {*body.links}
    for joint in body.joints.values():
        for single in _singles(joint, followed, taken):
            if single.between:
                lines.append(f"  <link name={quoteattr(single.child)}/>")
            lines += _joint(single)
    for loop in body.loops:
        lines += _loop(loop)
    return "\n".join(['<?xml version="1.0"?>', *lines, "</robot>", ""])


# ---- Joints --------------------------------------------------------------------------------------------------------


class Single(NamedTuple):
    """One joint of URDF."""

    name: str
    kind: str
    parent: str
    child: str
    origin: Array
    axis: Array
    lower: float = -math.inf
    upper: float = math.inf
    velocity: float = math.inf
    effort: float = math.inf
    mimic: Mimic | None = None
    between: bool = False  # whether its child is a link that only the file has


def _singles(joint: Joint, followed: set[str], taken: set[str]) -> Iterator[Single]:
    """The joint as URDF has it, or the chain of those that make it up."""
    free = all(map(math.isinf, (*joint.lower, *joint.upper, *joint.velocity, *joint.effort)))
    whole = joint.dof <= 1 or (free and not followed & {*joint.variables} and joint.order == "zxy")
    if joint.kind in NATIVE and whole:
        single = Single(joint.name, joint.kind, joint.parent, joint.child, joint.origin, joint.axis, mimic=joint.mimic)
        if joint.dof == 1:
            single = single._replace(
                lower=joint.lower[0], upper=joint.upper[0], velocity=joint.velocity[0], effort=joint.effort[0]
            )
        yield single
        return
    parts = list(_parts(joint))
    parent, origin = joint.parent, joint.origin
    for number, part in enumerate(parts):
        last = number == len(parts) - 1
        child = joint.child
        if not last:
            child = f"{part.name}_link"
            while child in taken:
                child += "_"
            taken.add(child)
        yield part._replace(parent=parent, child=child, origin=origin, between=not last)
        parent, origin = child, np.eye(4)


def _parts(joint: Joint) -> Iterator[Single]:
    """A joint for each motion; a screw is a turn, and a slide that follows it."""
    for k, (name, motion) in enumerate(zip(joint.variables, joint.motions(), strict=True)):
        ends = joint.lower[k], joint.upper[k], joint.velocity[k], joint.effort[k]
        kind = "revolute" if motion.turns else "prismatic"
        yield Single(name, kind, "", "", joint.origin, motion.axis, *ends, mimic=joint.mimic)
        if motion.turns and motion.pitch:
            low, high = sorted(motion.pitch * end for end in ends[:2])
            follows = Mimic(name, motion.pitch)
            yield Single(f"{name}.slide", "prismatic", "", "", np.eye(4), motion.axis, low, high, mimic=follows)


def _joint(joint: Single) -> list[str]:
    endless = joint.lower == -math.inf and joint.upper == math.inf
    kind = "continuous" if joint.kind == "revolute" and endless else joint.kind
    lines = [
        f'  <joint name={quoteattr(joint.name)} type="{kind}">',
        f"    <parent link={quoteattr(joint.parent)}/>",
        f"    <child link={quoteattr(joint.child)}/>",
        *_origin(joint.origin, "    "),
    ]
    if kind not in ("fixed", "floating"):
        lines.append(f'    <axis xyz="{_numbers(joint.axis)}"/>')
    if kind in ("revolute", "prismatic", "continuous"):
        lower, upper = _number(max(joint.lower, -NO_LIMIT)), _number(min(joint.upper, NO_LIMIT))
        ends = "" if kind == "continuous" else f'lower="{lower}" upper="{upper}" '
        effort, velocity = (_number(min(most, NO_LIMIT)) for most in (joint.effort, joint.velocity))
        rates = f'effort="{effort}" velocity="{velocity}"'
        lines.append(f"    <limit {ends}{rates}/>")
    if joint.mimic is not None:
        source, multiplier, offset = joint.mimic
        numbers = f'multiplier="{_number(multiplier)}" offset="{_number(offset)}"'
        lines.append(f"    <mimic joint={quoteattr(source)} {numbers}/>")
    return [*lines, "  </joint>"]


def _loop(loop: Loop) -> list[str]:
    """A joint that closes a loop, as URDF+ has it; readers of plain URDF pass over it."""
    ends = [("predecessor", loop.frame), ("successor", loop.other)]
    lines = [f'  <loop name={quoteattr(loop.name)} type="{loop.kind}">']
    for tag, frame in ends:
        lines += [
            f"    <{tag} link={quoteattr(frame.link)}>",
            *_origin(frame.link_from_frame, "      "),
            f"    </{tag}>",
        ]
    return [*lines, '    <axis xyz="0 0 1"/>', "  </loop>"]


# ---- Links ---------------------------------------------------------------------------------------------------------


def _link(link: Link, folder: str, meshes: dict[str, bytes]) -> list[str]:
    lines = [f"  <link name={quoteattr(link.name)}>"]
    if link.mass > 0.0:
        radius = (3.0 * link.mass / (4.0 * math.pi * WATER)) ** (1.0 / 3.0)
        moment = _number(0.4 * link.mass * radius * radius)
        lines += [
            "    <inertial>",
            f'      <origin xyz="{_numbers(link.center_of_mass)}"/>',
            f'      <mass value="{_number(link.mass)}"/>',
            f'      <inertia ixx="{moment}" ixy="0" ixz="0" iyy="{moment}" iyz="0" izz="{moment}"/>',
            "    </inertial>",
        ]
    for tag, shapes in (("visual", link.visuals), ("collision", link.shapes)):
        for shape in shapes:
            lines += [f"    <{tag}>", *_origin(shape.link_from_shape, "      "), _geometry(shape, folder, meshes)]
            if tag == "visual" and shape.color is not None:
                lines.append(f'      <material name=""><color rgba="{_numbers(shape.color)}"/></material>')
            lines.append(f"    </{tag}>")
    return [*lines, "  </link>"] if len(lines) > 1 else [f"  <link name={quoteattr(link.name)}/>"]


def _geometry(shape: Shape, folder: str, meshes: dict[str, bytes]) -> str:
    match shape.kind:
        case "box":
            solid = f'<box size="{_numbers(shape.size)}"/>'
        case "sphere":
            solid = f'<sphere radius="{_number(shape.size[0])}"/>'
        case "mesh":
            solid = f'<mesh filename={quoteattr(shape.mesh)} scale="{_numbers(shape.size)}"/>'
        case "hull":
            name = f"hull_{len(meshes)}.stl"
            meshes[name] = _stl(shape)
            solid = f"<mesh filename={quoteattr(f'{folder}/{name}')}/>"
        case kind:
            solid = f'<{kind} radius="{_number(shape.size[0])}" length="{_number(shape.size[1])}"/>'
    return f"      <geometry>{solid}</geometry>"


def _stl(shape: Shape) -> bytes:
    """The surface of a hull with its radius, as binary STL."""
    vertices, faces = shape.rounded_hull
    corners = vertices[faces]
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    normals /= np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1e-300)
    rows = np.zeros(len(faces), dtype=[("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("more", "<u2")])
    rows["normal"], rows["corners"] = normals, corners
    return b" " * 80 + np.array(len(faces), dtype="<u4").tobytes() + rows.tobytes()


def _origin(pose: Array, indent: str) -> list[str]:
    """Place and turn, left out where there is neither; R = Rz(yaw) Ry(pitch) Rx(roll)."""
    if np.array_equal(pose, np.eye(4)):
        return []
    return [f'{indent}<origin xyz="{_numbers(pose[:3, 3])}" rpy="{_numbers(to_euler(pose[:3, :3], "xyz"))}"/>']


def _numbers(values: Iterable[float]) -> str:
    return " ".join(_number(value) for value in values)


def _number(value: float) -> str:
    """The shortest text that is this number again."""
    return repr(float(value) + 0.0).removesuffix(".0")  # no -0.0
