"""The container of glTF 2.0: the JSON document, its buffers and accessors, and the tree of nodes; without any other package."""

from __future__ import annotations

import base64
import binascii
import json
import struct
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from memetik.errors import FormatError, said, shown
from memetik.files import path_of
from memetik.types import Array

MAX_BYTES = 512 * 2**20
MAX_NODES = 10_000
MAX_DEPTH = 200
MAX_FRAMES = 1_000_000
MAX_KEYS = 10_000_000  # of all channels of an animation, and of all nodes at all its times
LARGEST = 1e9

_TYPES = {5120: "<i1", 5121: "<u1", 5122: "<i2", 5123: "<u2", 5125: "<u4", 5126: "<f4"}
_WIDTHS = {"SCALAR": 1, "VEC3": 3, "VEC4": 4}


class GltfFile:
    """One .gltf, .glb or .vrm.

    document: its JSON. chunks: of a .glb, kind and bytes of each, in their order; none of a .gltf.
    """

    def __init__(self, path: str | PathLike[str]) -> None:
        self.path = path_of(path, FormatError, "the path of a glTF file")
        self.name = self.path.name
        data = _bytes(self.path)
        self.chunks = self._chunks(data) if data[:4] == b"glTF" else []
        text = self.chunk(b"JSON") if self.chunks else data
        try:
            self.document: dict[str, Any] = json.loads(text.decode("utf-8-sig"))
        except (ValueError, RecursionError) as error:
            raise FormatError(f"{self.name}: its JSON cannot be read: {said(error)}.") from error
        asset = self.document.get("asset") if isinstance(self.document, dict) else None
        if not isinstance(asset, dict) or not str(asset.get("version", "")).startswith("2"):
            raise FormatError(f"{self.name} is no glTF 2.0: its asset says no version 2.")
        self._buffers: dict[int, bytes] = {}

    def _chunks(self, data: bytes) -> list[tuple[bytes, bytes]]:
        if len(data) < 20 or struct.unpack("<I", data[4:8])[0] != 2:
            raise FormatError(f"{self.name} is no GLB of version 2.")
        found, at = [], 12
        while at + 8 <= len(data):
            length, kind = struct.unpack("<I4s", data[at : at + 8])
            if at + 8 + length > len(data):
                raise FormatError(f"{self.name}: a chunk is longer than the file, which is cut short.")
            found.append((kind, data[at + 8 : at + 8 + length]))
            at += 8 + length
        return found

    def chunk(self, kind: bytes) -> bytes:
        """The first chunk of a kind; empty if there is none."""
        return next((data for each, data in self.chunks if each == kind), b"")

    def buffer(self, number: int) -> bytes:
        if number not in self._buffers:
            uri = self.document["buffers"][number].get("uri")
            if uri is None:
                self._buffers[number] = self.chunk(b"BIN\0")
            elif uri.startswith("data:"):
                try:
                    self._buffers[number] = base64.b64decode(uri.partition(",")[2], validate=True)
                except (binascii.Error, ValueError) as error:
                    raise FormatError(f"{self.name}: buffer {number} is no base64: {said(error)}.") from error
            else:
                beside = Path(uri)
                if beside.is_absolute() or ".." in beside.parts or ":" in uri:
                    raise FormatError(f"{self.name}: buffer {shown(uri)} is not beside the file and is not read.")
                self._buffers[number] = _bytes(self.path.parent / beside)
        return self._buffers[number]

    def accessor(self, number: int, kind: str) -> Array:
        """The numbers of an accessor, (n, width)."""
        accessor = self.document["accessors"][index_of(number)]
        if accessor["type"] != kind or "sparse" in accessor:
            raise FormatError(f"{self.name}: accessor {number} is not a plain {kind}.")
        dtype, width, count = np.dtype(_TYPES[accessor["componentType"]]), _WIDTHS[kind], index_of(accessor["count"])
        view = self.document["bufferViews"][index_of(accessor["bufferView"])]
        if "EXT_meshopt_compression" in view.get("extensions", {}):
            raise FormatError(f"{self.name}: accessor {number} is compressed by meshopt. Export it uncompressed.")
        step = index_of(view.get("byteStride", 0)) or dtype.itemsize * width
        begin = index_of(view.get("byteOffset", 0)) + index_of(accessor.get("byteOffset", 0))
        data = self.buffer(index_of(view["buffer"]))
        if not 1 <= count <= MAX_FRAMES or begin + (count - 1) * step + dtype.itemsize * width > len(data):
            raise FormatError(f"{self.name}: accessor {number} with {count} rows reaches beyond its buffer.")
        with np.errstate(invalid="ignore"):  # signalling NaNs
            rows = np.ndarray((count, width), dtype, data, begin, (step, dtype.itemsize)).astype(float)
        if dtype.kind != "f" and accessor.get("normalized"):
            rows = np.maximum(rows / np.iinfo(dtype).max, -1.0)
        if not (np.abs(rows) <= LARGEST).all():
            raise FormatError(f"{self.name}: accessor {number} has a number that is NaN, infinite or too large.")
        return rows

    def nodes(self) -> list[dict[str, Any]]:
        nodes: list[dict[str, Any]] = self.document.get("nodes", [])
        if not 1 <= len(nodes) <= MAX_NODES:
            raise FormatError(f"{self.name} has {len(nodes)} nodes. A skeleton has from 1 to {MAX_NODES}.")
        return nodes

    def parents(self) -> list[int]:
        """The node above each node, -1 for none; no node hangs on two, none in a circle."""
        nodes = self.nodes()
        parents = [-1] * len(nodes)
        for k, node in enumerate(nodes):
            for child in node.get("children", []):
                if not 0 <= index_of(child) < len(nodes) or parents[child] >= 0:
                    raise FormatError(f"{self.name}: node {shown(child)} does not exist, or hangs on two others.")
                parents[child] = k
        for k in range(len(nodes)):
            at, depth = k, 0
            while at >= 0:
                at, depth = parents[at], depth + 1
                if depth > MAX_DEPTH:
                    raise FormatError(f"{self.name}: more than {MAX_DEPTH} nodes hang in a row, or in a circle.")
        return parents


def index_of(value: object) -> int:
    """A whole number that is not negative."""
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise ValueError(f"{shown(value)} is no index")
    return value


def _bytes(path: Path) -> bytes:
    path = path_of(path, FormatError, "the path of a buffer")
    try:
        if path.stat().st_size > MAX_BYTES:
            raise FormatError(f"{path.name} has more than {MAX_BYTES // 2**20} MB, which is too much.")
        return path.read_bytes()
    except OSError as error:
        raise FormatError(f"{path} cannot be read: {error.strerror or error}.") from error
