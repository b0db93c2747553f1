"""Motions as glTF 2.0: bones with a skin, a simple mesh on them, and one animation. Numbers are of single precision there."""

from __future__ import annotations

import json
import struct
from collections.abc import Sequence
from typing import Any

import numpy as np

from memetik.body import Body, LinkPoses
from memetik.body.conversion import quaternions_of_matrices
from memetik.geometry import invert
from memetik.motion.clips.motion import Motion
from memetik.types import Array
from memetik.write.bones import NEAR, Bone, bones_of
from memetik.write.surfaces import Surface, octahedron, surface_of

FLOAT, SHORT, INT = 5126, 5123, 5125
DTYPES = {FLOAT: "<f4", SHORT: "<u2", INT: "<u4"}
VERTICES, INDICES = 34962, 34963  # what a buffer view is for
UPRIGHT = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, -1.0, 0.0]])  # z up to y up
STILL = 1e-9  # m; a bone that moves less on its parent does not slide


def glb_bytes(motion: Motion) -> bytes:
    """The file: a header, a chunk of JSON and a chunk of numbers."""
    body = motion.body
    rest, now = body.forward(body.home), motion.forward()
    bones = bones_of(body, rest)
    numbers = Numbers()
    turn = np.roll(quaternions_of_matrices(UPRIGHT[None])[0], -1).tolist()
    nodes: list[dict[str, Any]] = [{"name": body.name or "body", "rotation": turn, "children": [1, len(bones) + 1]}]
    tracks: dict[tuple[int, str], Array] = {}
    for k, bone in enumerate(bones):
        above = None if bone.parent < 0 else bones[bone.parent].name
        places, turns = (_in(poses, bone.name, above) for poses in (_rows(rest), now))
        node: dict[str, Any] = {
            "name": bone.name,
            "translation": places[0][0].tolist(),
            "rotation": places[1][0].tolist(),
        }
        nodes.append(node)
        if bone.parent >= 0:
            nodes[bone.parent + 1].setdefault("children", []).append(k + 1)
        if bone.turns or bone.parent < 0:
            tracks[k + 1, "rotation"] = turns[1]
        if np.abs(turns[0] - places[0]).max() > STILL:
            tracks[k + 1, "translation"] = turns[0]
    document: dict[str, Any] = {
        "asset": {"version": "2.0", "generator": "memetik"}, "scene": 0, "scenes": [{"nodes": [0]}], "nodes": nodes,
    }  # fmt: skip
    skin = {"joints": list(range(1, len(bones) + 1)), "skeleton": 1}
    binds = np.array([invert(_upright(rest[bone.name])).T.ravel() for bone in bones])
    document["skins"] = [{**skin, "inverseBindMatrices": numbers.add(binds, "MAT4")}]
    nodes.append({"name": f"{body.name or 'body'}_mesh", "mesh": 0, "skin": 0})
    document["meshes"] = [_mesh(body, bones, rest, numbers)]
    document["animations"] = [animation_of(motion, tracks, numbers, 0)]
    document |= {
        "accessors": numbers.accessors,
        "bufferViews": numbers.views,
        "buffers": [{"byteLength": len(numbers.data)}],
    }
    return packed(document, [(b"BIN\0", bytes(numbers.data))])


def animation_of(motion: Motion, tracks: dict[tuple[int, str], Array], numbers: Numbers, start: int) -> dict[str, Any]:
    """An animation with these rows for the properties of nodes; `start` is the number of accessors before those of `numbers`."""
    times = start + numbers.add((motion.times - motion.start)[:, None], "SCALAR")
    samplers: list[dict[str, Any]] = []
    channels: list[dict[str, Any]] = []
    for (node, path), rows in tracks.items():
        output = start + numbers.add(rows, "VEC4" if path == "rotation" else "VEC3")
        channels.append({"sampler": len(samplers), "target": {"node": node, "path": path}})
        samplers.append({"input": times, "output": output, "interpolation": "LINEAR"})
    return {"name": motion.name or "motion", "channels": channels, "samplers": samplers}


def packed(document: dict[str, Any], chunks: Sequence[tuple[bytes, bytes]]) -> bytes:
    """A .glb of a document and the chunks after it."""
    text = json.dumps(document, separators=(",", ":"), ensure_ascii=False).encode()
    whole = b""
    for kind, data in [(b"JSON", text + b" " * (-len(text) % 4)), *((k, d + b"\0" * (-len(d) % 4)) for k, d in chunks)]:
        whole += struct.pack("<I4s", len(data), kind) + data
    return struct.pack("<4sII", b"glTF", 2, 12 + len(whole)) + whole


class Numbers:
    """Arrays of numbers, one after the other."""

    def __init__(self, *, buffer: int = 0, offset: int = 0, views: int = 0) -> None:
        """buffer: the number of theirs; offset: how many bytes it has before them; views: how many views others have."""
        self.data = bytearray()
        self.views: list[dict[str, Any]] = []
        self.accessors: list[dict[str, Any]] = []
        self.buffer, self.offset, self.before = buffer, offset, views

    def add(self, rows: Array, kind: str, of: int = FLOAT, target: int | None = None) -> int:
        """Append rows; the number of their accessor among these."""
        numbers = np.ascontiguousarray(rows, dtype=DTYPES[of])
        place = {"buffer": self.buffer, "byteOffset": self.offset + len(self.data), "byteLength": numbers.nbytes}
        self.views.append(place if target is None else {**place, "target": target})
        self.accessors.append(
            {"bufferView": self.before + len(self.views) - 1, "componentType": of, "count": len(numbers), "type": kind,
             "min": numbers.min(axis=0).tolist(), "max": numbers.max(axis=0).tolist()}
        )  # fmt: skip
        self.data += numbers.tobytes() + b"\0" * (-numbers.nbytes % 4)
        return len(self.accessors) - 1


def _rows(poses: LinkPoses) -> dict[str, Array]:
    """One posture as a clip of one frame."""
    return {link: pose[None] for link, pose in poses.items()}


def _in(poses: Any, link: str, above: str | None) -> tuple[Array, Array]:
    """Places (n, 3) and rotations (n, 4), x, y, z, w, of a link in another; in the world without one."""
    own = poses[link]
    if above is None:
        place, turn = own[:, :3, 3], own[:, :3, :3]
    else:
        back = poses[above][:, :3, :3].transpose(0, 2, 1)
        place = np.einsum("nij,nj->ni", back, own[:, :3, 3] - poses[above][:, :3, 3])
        turn = back @ own[:, :3, :3]
    return place, np.roll(steady(quaternions_of_matrices(turn)), -1, axis=1)


def _upright(pose: Array) -> Array:
    result = np.eye(4)
    result[:3, :3], result[:3, 3] = UPRIGHT @ pose[:3, :3], UPRIGHT @ pose[:3, 3]
    return result


def _mesh(body: Body, bones: Sequence[Bone], rest: LinkPoses, numbers: Numbers) -> dict[str, Any]:
    """The simple shapes of all links, else octahedra along the bones; each point moves with one bone."""
    surfaces: list[tuple[int, Surface]] = []
    for k, bone in enumerate(bones):
        for link in bone.links:
            shapes = body.links[link].visuals or body.links[link].shapes
            found = [surface for shape in shapes if (surface := surface_of(shape)) is not None]
            surfaces += [(k, _placed(surface, rest[link])) for surface in found]
    if not surfaces:
        for k, bone in enumerate(bones):
            start = rest[bone.name][:3, 3]
            ends = [rest[each.name][:3, 3] for each in bones if each.parent == k and not each.slides]
            if bone.end is not None:
                ends.append(rest[bone.name][:3, :3] @ bone.end + start)
            surfaces += [(k, octahedron(start, end)) for end in ends if np.linalg.norm(end - start) > NEAR]
    if not surfaces:
        surfaces = [(0, octahedron(np.zeros(3), np.array([0.0, 0.0, 0.1])))]
    counts = [len(surface.vertices) for _, surface in surfaces]
    starts = np.concatenate([[0], np.cumsum(counts)])
    points = np.concatenate([surface.vertices for _, surface in surfaces]) @ UPRIGHT.T
    owners = np.repeat([k for k, _ in surfaces], counts)
    none = np.zeros((len(points), 3))
    faces = np.concatenate([surface.faces + first for (_, surface), first in zip(surfaces, starts, strict=False)])
    attributes = {
        "POSITION": numbers.add(points, "VEC3", target=VERTICES),
        "JOINTS_0": numbers.add(np.column_stack([owners, none]), "VEC4", SHORT, VERTICES),
        "WEIGHTS_0": numbers.add(np.column_stack([np.ones(len(points)), none]), "VEC4", target=VERTICES),
    }
    indices = numbers.add(faces.reshape(-1, 1), "SCALAR", INT, INDICES)
    return {"name": f"{body.name or 'body'}_mesh", "primitives": [{"attributes": attributes, "indices": indices}]}


def _placed(surface: Surface, pose: Array) -> Surface:
    return surface._replace(vertices=surface.vertices @ pose[:3, :3].T + pose[:3, 3])


def steady(rotations: Array) -> Array:
    """Of q and -q the one nearer to the frame before."""
    flips = np.concatenate([[1.0], np.sign((rotations[1:] * rotations[:-1]).sum(axis=1))])
    return np.asarray(rotations * np.cumprod(np.where(flips == 0.0, 1.0, flips))[:, None])
