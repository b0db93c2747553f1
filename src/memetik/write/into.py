"""A motion as an animation in a glTF file that is there: nodes, meshes, materials and extensions stay as they are.

With A the linear map of a node in the file and S its own scale, the file computes A = A_parent R S and
p = p_parent + A_parent T. So the local rotation R is the one nearest to A_parent^-1 times the rotation of the link, and
T = A_parent^-1 (p - p_parent).
"""

from __future__ import annotations

import base64
import copy
import json
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from memetik.body.conversion import quaternions_of_matrices
from memetik.errors import FormatError, shown
from memetik.motion.clips.motion import Motion
from memetik.read.gltf.container import GltfFile
from memetik.read.gltf.reader import Rig, linear_maps, local_transform, matrices_of, read_rig, rotations_of
from memetik.read.skeleton import UPRIGHT
from memetik.types import Array
from memetik.write.gltf import Numbers, animation_of, packed, steady

SAME = 1e-4  # m; a bone of the motion whose place on its parent differs more is not that of the file
STILL = 1e-6  # of translations, where they are below 1, and of quaternions; what differs less from rest is at rest


def bytes_into(motion: Motion, source: str | PathLike[str], out: Path) -> bytes:
    """The file `source` with the motion as its first animation, in place of one of the same name."""
    rig = read_rig(source)
    file = rig.file
    if out.suffix.lower() != file.path.suffix.lower():
        raise FormatError(f"{file.name} stays what it is. Write it as {file.path.suffix}, not as {out.suffix}.")
    _check_same(motion, rig)
    _check_beside(file, out)
    document = copy.deepcopy(file.document)
    tracks = _tracks(motion, rig, document)
    buffers = document.setdefault("buffers", [])
    binary = file.chunk(b"BIN\0")
    inside = bool(file.chunks) and (not buffers or "uri" not in buffers[0])
    binary += b"\0" * (-len(binary) % 4)
    views, accessors = document.setdefault("bufferViews", []), document.setdefault("accessors", [])
    numbers = Numbers(buffer=0 if inside else len(buffers), offset=len(binary) if inside else 0, views=len(views))
    made = animation_of(motion, tracks, numbers, len(accessors))
    others = [each for each in document.get("animations", []) if each.get("name") != made["name"]]
    document["animations"] = [made, *others]
    views += numbers.views
    accessors += numbers.accessors
    if inside:
        binary += bytes(numbers.data)
        document["buffers"] = [{**(buffers[0] if buffers else {}), "byteLength": len(binary)}, *buffers[1:]]
    else:
        uri = "data:application/octet-stream;base64," + base64.b64encode(numbers.data).decode()
        buffers.append({"byteLength": len(numbers.data), "uri": uri})
    if not file.chunks:
        return (json.dumps(document, indent=1, ensure_ascii=False) + "\n").encode()
    chunks = [(kind, data) for kind, data in file.chunks if kind != b"JSON" and not (inside and kind == b"BIN\0")]
    return packed(document, [(b"BIN\0", binary), *chunks] if inside else chunks)


def _check_same(motion: Motion, rig: Rig) -> None:
    """Raise unless the body of the motion is the skeleton of the file."""
    body, name = motion.body, rig.file.name
    lost = [link for link in rig.body.links if link not in body.links]
    how = f"Read the motion from it, or move it there first: mk.retarget(motion, mk.load({str(rig.file.path)!r}))."
    if lost:
        more = f", nor {len(lost) - 1} others" if lost[1:] else ""
        raise FormatError(f"the motion of {body.name!r} has no link {shown(lost[0])} of {name}{more}. {how}")
    holders = {joint.child: joint for joint in body.joints.values()}
    for joint in rig.body.joints.values():
        own = holders.get(joint.child)
        slides = joint.kind == "floating" or (own is not None and own.kind == "floating")
        apart = own is None or own.parent != joint.parent
        if apart or (not slides and np.abs(own.origin[:3, 3] - joint.origin[:3, 3]).max() > SAME):  # type: ignore[union-attr]
            raise FormatError(f"link {joint.child!r} of the motion does not stand on its parent as in {name}. {how}")


def _check_beside(file: GltfFile, out: Path) -> None:
    """Raise if the file needs others, which lie beside it and not beside what is written."""
    needed = [each.get("uri", "data:") for key in ("buffers", "images") for each in file.document.get(key, [])]
    away = [uri for uri in needed if not uri.startswith("data:")]
    if away and out.absolute().parent != file.path.absolute().parent:
        raise FormatError(f"{file.name} needs {away[0]} beside it. Write into the same folder, or use a .glb.")


def _tracks(motion: Motion, rig: Rig, document: dict[str, Any]) -> dict[tuple[int, str], Array]:
    """The local translations and rotations of the nodes in each frame, where they are not at rest."""
    turn = UPRIGHT["y"].T
    places: dict[int, Array] = {-1: np.zeros((1, 3))}
    maps: dict[int, Array] = {-1: np.eye(3)[None]}
    for k, (place, linear) in linear_maps(rig).items():  # what stands above the skeleton
        places[k], maps[k] = place, linear
    tracks: dict[tuple[int, str], Array] = {}
    for k, link in zip(rig.nodes, list(rig.body.links)[1:], strict=True):
        if k < 0:
            continue
        poses = motion.poses(link)
        place, rotation = poses[:, :3, 3] @ turn.T, turn @ poses[:, :3, :3]
        above = rig.parents[k]
        _as_three(document["nodes"][k], rig.file.name, k)
        rest = local_transform(rig.file, k, document["nodes"][k])
        back = np.linalg.inv(maps[above])
        sizes = np.broadcast_to(rest.scale, (1, 3))
        mirrored = np.sign(np.linalg.det(maps[above]) * sizes.prod())[:, None, None]
        local = rotations_of(back @ (mirrored * rotation) * np.sign(sizes)[:, None, :])
        quaternions = steady(quaternions_of_matrices(local))
        translations = np.einsum("nij,nj->ni", np.broadcast_to(back, (len(place), 3, 3)), place - places[above])
        places[k] = place
        maps[k] = maps[above] @ matrices_of(quaternions) * sizes[:, None, :]
        if np.abs(translations - rest.translation).max() > STILL * max(1.0, float(np.abs(translations).max())):
            tracks[k, "translation"] = translations
        if np.abs(1.0 - np.abs((quaternions * rest.rotation).sum(axis=1))).max() > STILL**2:
            tracks[k, "rotation"] = np.roll(quaternions, -1, axis=1)
    return tracks or {(next(k for k in rig.nodes if k >= 0), "rotation"): np.tile(_rest_turn(rig), (len(motion), 1))}


def _rest_turn(rig: Rig) -> Array:
    """The rotation at rest of the first node, x, y, z, w: a motion that never leaves rest still is an animation."""
    k = next(k for k in rig.nodes if k >= 0)
    return np.roll(local_transform(rig.file, k, rig.file.nodes()[k]).rotation[0], -1)


def _as_three(node: dict[str, Any], name: str, k: int) -> None:
    """Write the matrix of a node as translation, rotation and scale, without which it cannot be animated."""
    if "matrix" not in node:
        return
    matrix = np.asarray(node.pop("matrix"), dtype=float).reshape(4, 4).T
    sizes = np.linalg.norm(matrix[:3, :3], axis=0)
    turn = matrix[:3, :3] / sizes
    if np.linalg.det(turn) < 0.0:
        sizes[0], turn[:, 0] = -sizes[0], -turn[:, 0]
    if np.abs(turn.T @ turn - np.eye(3)).max() > 1e-4:
        raise FormatError(f"{name}: the matrix of node {k} is sheared, so that it cannot be animated.")
    rotation = np.roll(quaternions_of_matrices(rotations_of(turn[None]))[0], -1)
    node |= {"translation": matrix[:3, 3].tolist(), "rotation": rotation.tolist(), "scale": sizes.tolist()}
