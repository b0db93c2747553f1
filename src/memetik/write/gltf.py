"""Motions as glTF 2.0: a node for each link, and an animation of their local poses. Numbers are of single precision there."""

from __future__ import annotations

import json
import struct
from typing import Any

import numpy as np

from memetik.motion.clips.motion import Motion
from memetik.motion.clips.turns import quaternions_of_matrices
from memetik.types import Array

FLOAT = 5126
UPRIGHT = [-(0.5**0.5), 0.0, 0.0, 0.5**0.5]  # x, y, z, w: z up to y up
STILL = 1e-9  # m; a link that moves less on its parent does not slide


def glb_bytes(motion: Motion) -> bytes:
    """The file: a header, a chunk of JSON and a chunk of numbers."""
    body, poses = motion.body, motion.forward()
    number = {link: k + 1 for k, link in enumerate(body.links)}
    nodes: list[dict[str, Any]] = [{"name": "z_up", "rotation": UPRIGHT, "children": [number[body.root]]}]
    nodes += [{"name": link} for link in body.links]
    numbers = _Numbers()
    times = numbers.add((motion.times - motion.start)[:, None], "SCALAR")
    samplers: list[dict[str, Any]] = []
    channels: list[dict[str, Any]] = []

    def animate(node: int, path: str, rows: Array) -> None:
        output = numbers.add(rows, "VEC4" if path == "rotation" else "VEC3")
        channels.append({"sampler": len(samplers), "target": {"node": node, "path": path}})
        samplers.append({"input": times, "output": output, "interpolation": "LINEAR"})

    for joint in body.joints.values():
        node = number[joint.child]
        nodes[number[joint.parent]].setdefault("children", []).append(node)
        parent, child = poses[joint.parent], poses[joint.child]
        back = parent[:, :3, :3].transpose(0, 2, 1)
        places = np.einsum("nij,nj->ni", back, child[:, :3, 3] - parent[:, :3, 3])
        turns = np.roll(_steady(quaternions_of_matrices(back @ child[:, :3, :3])), -1, axis=1)
        rest = joint.origin
        nodes[node]["translation"] = places[0].tolist() if joint.dof == 0 else rest[:3, 3].tolist()
        nodes[node]["rotation"] = np.roll(quaternions_of_matrices(rest[None, :3, :3])[0], -1).tolist()
        if joint.dof and np.abs(places - rest[:3, 3]).max() > STILL:
            animate(node, "translation", places)
        if joint.dof:
            animate(node, "rotation", turns)
    document: dict[str, Any] = {
        "asset": {"version": "2.0", "generator": "memetik"}, "scene": 0, "scenes": [{"nodes": [0]}], "nodes": nodes,
        "accessors": numbers.accessors, "bufferViews": numbers.views, "buffers": [{"byteLength": len(numbers.data)}],
    }  # fmt: skip
    if channels:
        document["animations"] = [{"name": motion.name or "motion", "channels": channels, "samplers": samplers}]
    text = json.dumps(document, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 4)
    whole = 12 + 8 + len(text) + 8 + len(numbers.data)
    head = struct.pack("<4sII", b"glTF", 2, whole) + struct.pack("<I4s", len(text), b"JSON")
    return head + text + struct.pack("<I4s", len(numbers.data), b"BIN\0") + bytes(numbers.data)


class _Numbers:
    """Arrays of single precision, one after the other."""

    def __init__(self) -> None:
        self.data = bytearray()
        self.views: list[dict[str, Any]] = []
        self.accessors: list[dict[str, Any]] = []

    def add(self, rows: Array, kind: str) -> int:
        """Append rows; the number of their accessor."""
        packed = np.ascontiguousarray(rows, dtype="<f4")
        self.views.append({"buffer": 0, "byteOffset": len(self.data), "byteLength": packed.nbytes})
        self.accessors.append(
            {"bufferView": len(self.views) - 1, "componentType": FLOAT, "count": len(packed), "type": kind,
             "min": packed.min(axis=0).tolist(), "max": packed.max(axis=0).tolist()}
        )  # fmt: skip
        self.data += packed.tobytes()
        return len(self.accessors) - 1


def _steady(rotations: Array) -> Array:
    """Of q and -q the one nearer to the frame before."""
    flips = np.concatenate([[1.0], np.sign((rotations[1:] * rotations[:-1]).sum(axis=1))])
    return np.asarray(rotations * np.cumprod(np.where(flips == 0.0, 1.0, flips))[:, None])
