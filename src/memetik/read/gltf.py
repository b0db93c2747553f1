"""glTF 2.0: skeleton and clip of a .gltf, .glb or .vrm, read without any other package.

A node's local transform is translation, rotation, scale, and an animation replaces each of them. So a node is a ball joint at
its resting translation, whose values are its whole rotation; the resting rotation is the body's home. glTF is y up, in metres.
"""

from __future__ import annotations

import base64
import binascii
import json
import math
import struct
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from memetik.body import Body
from memetik.body.conversion import turns_of_quaternions
from memetik.errors import FormatError, MemetikError, said, shown
from memetik.files import path_of
from memetik.read.bvh import Clip
from memetik.read.skeleton import Bone, checked_scale, checked_up, skeleton
from memetik.types import Array

MAX_BYTES = 512 * 2**20
MAX_NODES = 10_000
MAX_DEPTH = 200
MAX_FRAMES = 1_000_000
LARGEST = 1e9
ORDER = "zxy"
MOVED = 1e-6  # m; a translation that differs less from the one at rest is none

_TYPES = {5120: "<i1", 5121: "<u1", 5122: "<i2", 5123: "<u2", 5125: "<u4", 5126: "<f4"}
_WIDTHS = {"SCALAR": 1, "VEC3": 3, "VEC4": 4}


def read_gltf(path: str | PathLike[str], *, up: str = "y", scale: float = 1.0) -> Clip:
    """The skeleton of a glTF file as a body and its first animation as joint vectors; one frame at rest if it has none.

    Of cubic splines the keys are read, with straight ways between them.
    """
    return _Gltf(path, up, scale).clip()


def read_gltf_body(path: str | PathLike[str], *, up: str = "y", scale: float = 1.0) -> Body:
    """The skeleton of a glTF file as a body."""
    return _Gltf(path, up, scale).clip().body


class _Gltf:
    """One file."""

    def __init__(self, path: str | PathLike[str], up: str, scale: float) -> None:
        self.up, self.scale = checked_up(up), checked_scale(scale)
        self.path = path_of(path, FormatError, "the path of a glTF file")
        self.name = self.path.name
        self.document, self.binary = self._opened(_bytes(self.path))
        self.buffers: dict[int, bytes] = {}

    def clip(self) -> Clip:
        """All of it; whatever a strange document makes Python raise is an error of the file."""
        try:
            return self._clip()
        except MemetikError:
            raise
        except (KeyError, TypeError, ValueError, IndexError, AttributeError, OverflowError, RecursionError) as error:
            raise FormatError(f"{self.name} is no sound glTF 2.0: {type(error).__name__}: {said(error)}.") from error

    # The container

    def _opened(self, data: bytes) -> tuple[dict[str, Any], bytes]:
        text, binary = data, b""
        if data[:4] == b"glTF":
            if len(data) < 20 or struct.unpack("<I", data[4:8])[0] != 2:
                raise FormatError(f"{self.name} is no GLB of version 2.")
            at = 12
            chunks: dict[bytes, bytes] = {}
            while at + 8 <= len(data):
                length, kind = struct.unpack("<I4s", data[at : at + 8])
                if at + 8 + length > len(data):
                    raise FormatError(f"{self.name}: a chunk is longer than the file, which is cut short.")
                chunks.setdefault(kind, data[at + 8 : at + 8 + length])
                at += 8 + length
            text, binary = chunks.get(b"JSON", b""), chunks.get(b"BIN\0", b"")
        try:
            document = json.loads(text.decode("utf-8-sig"))
        except (ValueError, RecursionError) as error:
            raise FormatError(f"{self.name}: its JSON cannot be read: {said(error)}.") from error
        if not isinstance(document, dict) or not str(document.get("asset", {}).get("version", "")).startswith("2"):
            raise FormatError(f"{self.name} is no glTF 2.0: its asset says no version 2.")
        return document, binary

    def _buffer(self, number: int) -> bytes:
        if number not in self.buffers:
            uri = self.document["buffers"][number].get("uri")
            if uri is None:
                self.buffers[number] = self.binary
            elif uri.startswith("data:"):
                try:
                    self.buffers[number] = base64.b64decode(uri.partition(",")[2], validate=True)
                except (binascii.Error, ValueError) as error:
                    raise FormatError(f"{self.name}: buffer {number} is no base64: {said(error)}.") from error
            else:
                beside = Path(uri)
                if beside.is_absolute() or ".." in beside.parts or ":" in uri:
                    raise FormatError(f"{self.name}: buffer {shown(uri)} is not beside the file and is not read.")
                self.buffers[number] = _bytes(self.path.parent / beside)
        return self.buffers[number]

    def _accessor(self, number: int, kind: str) -> Array:
        """The numbers of an accessor, (n, width)."""
        accessor = self.document["accessors"][_index(number)]
        if accessor["type"] != kind or "sparse" in accessor:
            raise FormatError(f"{self.name}: accessor {number} is not a plain {kind}.")
        dtype, width, count = np.dtype(_TYPES[accessor["componentType"]]), _WIDTHS[kind], _index(accessor["count"])
        view = self.document["bufferViews"][_index(accessor["bufferView"])]
        step = _index(view.get("byteStride", 0)) or dtype.itemsize * width
        begin = _index(view.get("byteOffset", 0)) + _index(accessor.get("byteOffset", 0))
        data = self._buffer(_index(view["buffer"]))
        if not 1 <= count <= MAX_FRAMES or begin + (count - 1) * step + dtype.itemsize * width > len(data):
            raise FormatError(f"{self.name}: accessor {number} with {count} rows reaches beyond its buffer.")
        rows = np.ndarray((count, width), dtype, data, begin, (step, dtype.itemsize)).astype(float)
        if dtype.kind != "f" and accessor.get("normalized"):
            rows = np.maximum(rows / np.iinfo(dtype).max, -1.0)
        if not (np.abs(rows) <= LARGEST).all():
            raise FormatError(f"{self.name}: accessor {number} has a number that is NaN, infinite or too large.")
        return rows

    # The skeleton

    def _clip(self) -> Clip:
        nodes = self.document.get("nodes", [])
        if not 1 <= len(nodes) <= MAX_NODES:
            raise FormatError(f"{self.name} has {len(nodes)} nodes. A skeleton has from 1 to {MAX_NODES}.")
        parents = self._parents(nodes)
        tracks, times = self._animation()
        order = self._kept(nodes, parents, {node for node, _ in tracks})
        rest = {k: self._rest(k, nodes[k]) for k in order}
        place = {k: row for row, k in enumerate(order)}
        grown: dict[int, float] = {}  # product of the scales of a node and all above it
        bones, moves = [], {}
        for k in order:
            above = grown.get(parents[k], self.scale)
            grown[k] = above * rest[k][2]
            moved = above * (tracks[k, "translation"] - rest[k][0]) if (k, "translation") in tracks else None
            if moved is not None and np.abs(moved).max() > MOVED:
                moves[k] = moved
            x, y, z = (above * rest[k][0] / self.scale).tolist()
            a, b, c = turns_of_quaternions(ORDER, rest[k][1][None])[0].tolist()
            name = str(nodes[k].get("name") or f"node_{k}")
            slides = "xyz" if k in moves else ""
            bones.append(Bone(name, place.get(parents[k], -1), (x, y, z), slides, ORDER, (a, b, c)))
        body = skeleton(self.path.stem, bones, up=self.up, scale=self.scale)
        q = np.tile(body.home, (len(times), 1))
        joints = list(body.joints.values())
        for row, k in enumerate(order):
            joint = joints[row]
            columns = [body.index(variable) for variable in joint.variables]
            if (k, "rotation") in tracks:
                q[:, columns[-3:]] = np.unwrap(turns_of_quaternions(ORDER, tracks[k, "rotation"]), axis=0)
            if k in moves:
                q[:, columns[:3]] = moves[k]
        return Clip(body, times, q)

    def _parents(self, nodes: list[Any]) -> list[int]:
        parents = [-1] * len(nodes)
        for k, node in enumerate(nodes):
            for child in node.get("children", []):
                if not 0 <= _index(child) < len(nodes) or parents[child] >= 0:
                    raise FormatError(f"{self.name}: node {shown(child)} does not exist, or hangs on two others.")
                parents[child] = k
        return parents

    def _kept(self, nodes: list[Any], parents: list[int], animated: set[int]) -> list[int]:
        """The nodes of the skeleton, parents before children and each followed by all that is below it."""
        skins = self.document.get("skins", [])
        wanted = {_index(k) for k in skins[0]["joints"]} if skins else set(animated) or set(range(len(nodes)))
        kept: set[int] = set()
        for k in wanted:
            at, depth = k, 0
            while at >= 0 and at not in kept:
                kept.add(at)
                at, depth = parents[at], depth + 1
                if depth > MAX_DEPTH:
                    raise FormatError(f"{self.name}: more than {MAX_DEPTH} nodes hang in a row, or in a circle.")
        tops = [k for k in sorted(kept) if parents[k] < 0]
        if len(tops) != 1:
            raise FormatError(f"{self.name}: the skeleton has {len(tops)} roots. Join them under one node.")
        order, waiting = [], [tops[0]]
        while waiting:
            k = waiting.pop()
            order.append(k)
            waiting += [child for child in reversed(nodes[k].get("children", [])) if child in kept]
        return order

    def _rest(self, k: int, node: dict[str, Any]) -> tuple[Array, Array, float]:
        """Translation, rotation (w, x, y, z) and scale of a node at rest."""
        if "matrix" in node:
            raise FormatError(f"{self.name}: node {k} has a matrix. Export translation, rotation and scale instead.")
        place, turn, sizes = (
            np.asarray(node.get(key, default), dtype=float)
            for key, default in (("translation", (0, 0, 0)), ("rotation", (0, 0, 0, 1)), ("scale", (1, 1, 1)))
        )
        if place.shape != (3,) or turn.shape != (4,) or sizes.shape != (3,):
            raise FormatError(f"{self.name}: node {k} has a transform of wrong shape.")
        finite = all(np.isfinite(each).all() and (np.abs(each) < LARGEST).all() for each in (place, turn, sizes))
        if not finite or not np.linalg.norm(turn) > 1e-3 or not sizes.min() > 1e-6:
            raise FormatError(f"{self.name}: node {k} has a transform that is none.")
        if np.ptp(sizes) > 1e-3 * sizes.max():
            raise FormatError(
                f"{self.name}: node {k} is scaled unevenly, {sizes.tolist()}. Apply the scale and export again."
            )
        return place, np.roll(turn / np.linalg.norm(turn), 1), float(sizes.mean())

    # The animation

    def _animation(self) -> tuple[dict[tuple[int, str], Array], Array]:
        """The rows of each animated property of the first animation at all its times, and these."""
        animations = self.document.get("animations", [])
        found: list[tuple[tuple[int, str], Array, Array, str]] = []
        for channel in animations[0]["channels"] if animations else []:
            target = channel["target"]
            if "node" not in target or target["path"] not in ("translation", "rotation"):
                continue
            sampler = animations[0]["samplers"][_index(channel["sampler"])]
            keys = self._accessor(sampler["input"], "SCALAR")[:, 0]
            rows = self._accessor(sampler["output"], "VEC4" if target["path"] == "rotation" else "VEC3")
            way = sampler.get("interpolation", "LINEAR")
            if way == "CUBICSPLINE":
                rows = rows[1::3]  # the middle ones of in-tangent, value, out-tangent
            if len(rows) != len(keys) or not (np.diff(keys) > 0.0).all():
                raise FormatError(
                    f"{self.name}: an animation has {len(keys)} times out of order, or {len(rows)} values."
                )
            found.append(((_index(target["node"]), target["path"]), keys, rows, way))
        if not found:
            return {}, np.zeros(1)
        times = np.unique(np.concatenate([keys for _, keys, _, _ in found]))
        if len(times) > MAX_FRAMES:
            raise FormatError(f"{self.name}: the animation has {len(times)} different times, more than {MAX_FRAMES}.")
        tracks = {}
        for key, keys, rows, way in found:
            if not 0 <= key[0] < len(self.document["nodes"]):
                raise FormatError(f"{self.name}: an animation moves node {key[0]}, which does not exist.")
            tracks[key] = _sampled(keys, rows, times, way, key[1] == "rotation")
        for key, rows in tracks.items():
            if key[1] == "rotation" and not (np.linalg.norm(rows, axis=1) > 1e-3).all():
                raise FormatError(f"{self.name}: node {key[0]} has a rotation without length.")
        return tracks, times


def _sampled(keys: Array, rows: Array, times: Array, way: str, rotates: bool) -> Array:
    """A track at other times: steps, or straight between keys, rotations along the shortest arc."""
    if rotates:
        lengths = np.linalg.norm(rows, axis=1, keepdims=True)
        rows = np.roll(rows / np.where(lengths > 1e-3, lengths, math.inf), 1, axis=1)  # w, x, y, z
    if len(keys) == 1:
        return np.repeat(rows, len(times), axis=0)
    i = np.clip(np.searchsorted(keys, times, side="right") - 1, 0, len(keys) - 2)
    share = np.clip((times - keys[i]) / (keys[i + 1] - keys[i]), 0.0, 1.0)[:, None]
    if way == "STEP":
        return np.asarray(np.where(share < 1.0, rows[i], rows[i + 1]))
    one, other = rows[i], rows[i + 1]
    if not rotates:
        return np.asarray(one + share * (other - one))
    cosine = (one * other).sum(axis=1, keepdims=True)
    other = np.where(cosine < 0.0, -other, other)
    angle = np.arccos(np.clip(np.abs(cosine), 0.0, 1.0))
    near = np.sin(angle) < 1e-9
    sine = np.where(near, 1.0, np.sin(angle))
    mixed = np.where(near, 1.0 - share, np.sin((1.0 - share) * angle) / sine) * one
    mixed = mixed + np.where(near, share, np.sin(share * angle) / sine) * other
    return np.asarray(mixed / np.maximum(np.linalg.norm(mixed, axis=1, keepdims=True), 1e-12))


def _index(value: object) -> int:
    """A whole number that is not negative."""
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise ValueError(f"{shown(value)} is no index")
    return value


def _bytes(path: Path) -> bytes:
    try:
        if path.stat().st_size > MAX_BYTES:
            raise FormatError(f"{path.name} has more than {MAX_BYTES // 2**20} MB, which is too much.")
        return path.read_bytes()
    except OSError as error:
        raise FormatError(f"{path} cannot be read: {error.strerror or error}.") from error
