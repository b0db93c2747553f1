"""Animations of glTF 2.0: the keys of each animated property of a node, and what it is at any time."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from memetik.errors import FormatError, shown
from memetik.read.gltf.container import MAX_KEYS, GltfFile, index_of
from memetik.types import Array

PATHS = {"translation": "VEC3", "rotation": "VEC4", "scale": "VEC3"}


class Track(NamedTuple):
    """The keys of one property; rotations are w, x, y, z."""

    keys: Array  # (n,) [s]
    rows: Array  # (n, width)
    way: str  # LINEAR, STEP or CUBICSPLINE
    tangents: tuple[Array, Array] | None = None  # of a cubic spline: into and out of each key, (n, width) [1/s]


def animation_names(file: GltfFile) -> list[str]:
    """What its animations are called; their numbers, where they have no name."""
    animations = file.document.get("animations", [])
    return [str(each.get("name", k)) for k, each in enumerate(animations)]


def animation(file: GltfFile, chosen: str | int | None) -> dict[tuple[int, str], Track]:
    """The tracks of an animation, by node and property: of the first unless one is chosen by name or number."""
    animations = file.document.get("animations", [])
    names = animation_names(file)
    if chosen is None:
        return _tracks(file, animations[0]) if animations else {}
    if isinstance(chosen, str) and chosen in names:
        return _tracks(file, animations[names.index(chosen)])
    if isinstance(chosen, int) and not isinstance(chosen, bool) and 0 <= chosen < len(animations):
        return _tracks(file, animations[chosen])
    there = f"It has {', '.join(map(shown, names[:20]))}" if names else "It has none"
    raise FormatError(f"{file.name} has no animation {shown(chosen)}. {there}.")


def animated_nodes(file: GltfFile) -> set[int]:
    """The nodes that any animation moves."""
    channels = [channel for each in file.document.get("animations", []) for channel in each["channels"]]
    targets = [channel["target"] for channel in channels]
    return {index_of(target["node"]) for target in targets if "node" in target and target["path"] in PATHS}


def _tracks(file: GltfFile, own: dict[str, Any]) -> dict[tuple[int, str], Track]:
    found: dict[tuple[int, str], Track] = {}
    count = len(file.document["nodes"])
    for channel in own["channels"]:
        target = channel["target"]
        if "node" not in target or target["path"] not in PATHS:
            continue
        node, path = index_of(target["node"]), target["path"]
        if node >= count:
            raise FormatError(f"{file.name}: an animation moves node {node}, which does not exist.")
        sampler = own["samplers"][index_of(channel["sampler"])]
        keys = file.accessor(sampler["input"], "SCALAR")[:, 0]
        rows = file.accessor(sampler["output"], PATHS[path])
        way, tangents = sampler.get("interpolation", "LINEAR"), None
        if path == "rotation":
            rows = np.roll(rows, 1, axis=1)
        if way == "CUBICSPLINE":
            tangents, rows = (rows[0::3], rows[2::3]), rows[1::3]
        if len(rows) != len(keys) or not (np.diff(keys) > 0.0).all():
            raise FormatError(f"{file.name}: an animation has {len(keys)} times out of order, or {len(rows)} values.")
        if path == "rotation" and not (np.linalg.norm(rows, axis=1) > 1e-3).all():
            raise FormatError(f"{file.name}: an animation of node {node} has a rotation without length.")
        found[node, path] = Track(keys, rows, way, tangents)
        if (
            sum(len(track.keys) for track in found.values()) > MAX_KEYS
        ):  # channels may share the numbers of a small file
            raise FormatError(f"{file.name}: an animation has more than {MAX_KEYS} keys. Export it at a lower rate.")
    return found


def sampled(track: Track, times: Array, rotates: bool) -> Array:
    """A track at other times: steps, splines, or straight between keys, rotations along the shortest arc."""
    keys, rows = track.keys, track.rows
    if rotates and track.tangents is None:
        rows = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    if len(keys) == 1:
        return np.repeat(rows, len(times), axis=0)
    i = np.clip(np.searchsorted(keys, times, side="right") - 1, 0, len(keys) - 2)
    length = keys[i + 1] - keys[i]
    share = np.clip((times - keys[i]) / length, 0.0, 1.0)[:, None]
    one, other = rows[i], rows[i + 1]
    if track.way == "STEP":
        return np.asarray(np.where(share < 1.0, one, other))
    if track.tangents is not None:
        into, out = (length[:, None] * each for each in (track.tangents[0][i + 1], track.tangents[1][i]))
        s, s2, s3 = share, share**2, share**3
        mixed = (2 * s3 - 3 * s2 + 1) * one + (s3 - 2 * s2 + s) * out + (3 * s2 - 2 * s3) * other + (s3 - s2) * into
        return mixed / np.maximum(np.linalg.norm(mixed, axis=1, keepdims=True), 1e-12) if rotates else mixed
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
