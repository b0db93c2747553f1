"""glTF 2.0: skeleton and clip of a .gltf, .glb or .vrm.

A node's local transform is translation, rotation, scale, and an animation replaces each of them. What is read is where the nodes
of the skeleton are, with all that stands above them: an armature that is turned or scaled turns and scales its bones. A node is
a ball joint, whose values are its whole rotation; the rotation at rest is the body's home. glTF is y up, in metres.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike
from typing import Any, NamedTuple

import numpy as np

from memetik.body import Body
from memetik.body.conversion import quaternions_of_matrices, turns_of_quaternions
from memetik.errors import FormatError, MemetikError, said
from memetik.read.bvh import Clip
from memetik.read.gltf.container import LARGEST, MAX_KEYS, GltfFile, index_of
from memetik.read.gltf.tracks import animated_nodes, animation, sampled
from memetik.read.gltf.vrm import humanoid_parts
from memetik.read.skeleton import Bone, checked_scale, checked_up, reach, skeleton, slides_of
from memetik.types import Array

ORDER = "zxy"
EVEN = 1e-6  # of the largest scale; by how much those of the axes may differ


class Rig(NamedTuple):
    """The skeleton of a file."""

    file: GltfFile
    body: Body
    nodes: list[int]  # of each link but the world, first to last; -1 for the scene
    parents: list[int]  # of all nodes


class Poses(NamedTuple):
    """Where a node is, in each of some frames, or in one for all: world = place + linear x."""

    place: Array  # (n or 1, 3) [m]
    linear: Array  # (n or 1, 3, 3), scale included
    rotation: Array  # (n or 1, 3, 3), the rotation nearest to it


def read_gltf(
    path: str | PathLike[str], *, up: str | None = None, scale: float | None = None, animation: str | int | None = None
) -> Clip:  # fmt: skip
    """The skeleton of a glTF file as a body and an animation as joint vectors; one frame at rest if it has none.

    animation: its name or number; the first unless given.
    """
    return _guarded(path, up, scale, animation)[1]


def read_gltf_body(path: str | PathLike[str], *, up: str | None = None, scale: float | None = None) -> Body:
    """The skeleton of a glTF file as a body."""
    return _guarded(path, up, scale, None)[0].body


def read_rig(path: str | PathLike[str]) -> Rig:
    """The skeleton of a glTF file as a body, and the nodes of its links."""
    return _guarded(path, None, None, None)[0]


def _guarded(
    path: str | PathLike[str], up: str | None, scale: float | None, chosen: str | int | None
) -> tuple[Rig, Clip]:
    """All of it; whatever a strange document makes Python raise is an error of the file."""
    axis = "y" if up is None else checked_up(up)
    unit = 1.0 if scale is None else checked_scale(scale)
    file = GltfFile(path)
    try:
        return _read(file, axis, unit, chosen)
    except MemetikError:
        raise
    except (KeyError, TypeError, ValueError, IndexError, AttributeError, OverflowError, RecursionError) as error:
        raise FormatError(f"{file.name} is no sound glTF 2.0: {type(error).__name__}: {said(error)}.") from error


def _read(file: GltfFile, up: str, scale: float, chosen: str | int | None) -> tuple[Rig, Clip]:
    nodes, parents = file.nodes(), file.parents()
    parts = humanoid_parts(file.document)
    order = _skeleton_nodes(file, parents, parts)
    tracks = animation(file, chosen)
    times = np.unique(np.concatenate([track.keys for track in tracks.values()])) if tracks else np.zeros(1)
    if len(times) * len(order) > MAX_KEYS:
        raise FormatError(
            f"{file.name}: {len(order)} nodes at {len(times)} times are more than {MAX_KEYS} transforms. Export fewer frames."
        )
    rest, now = ({k: local_transform(file, k, nodes[k]) for k in _above(order, parents)} for _ in range(2))
    for (k, path), track in tracks.items():
        if k in now:
            now[k] = now[k]._replace(**{path: sampled(track, times, path == "rotation")})
    at_rest, moving = (_world(file, each, order, parents, scale) for each in (rest, now))
    row = {k: number for number, k in enumerate(order)}
    bones = []
    for k in order:
        parent = row.get(parents[k], row.get(-1, -1)) if k >= 0 else -1
        place, rotation = _relative(at_rest, k, order[parent] if parent >= 0 else None)
        a, b, c = turns_of_quaternions(ORDER, quaternions_of_matrices(rotation))[0].tolist()
        x, y, z = (place[0] / scale).tolist()
        name = str(nodes[k].get("name") or f"node_{k}") if k >= 0 else "scene"
        holds = parent < 0 and k not in _joints(file) and k not in animated_nodes(file)
        bones.append(Bone(name, parent, (x, y, z), "", ORDER, (a, b, c), is_holder=holds))
    offsets = _settled(file, order, parents, row, bones, rest, scale)
    for number, offset in offsets.items():
        x, y, z = (0.0, 0.0, 0.0) if offset is None else (offset / scale).tolist()
        own = bones[number]
        bones[number] = own._replace(slides="xyz") if offset is None else own._replace(offset=(x, y, z))
    figure = {part: row[k] for part, k in parts.items() if k in row}
    said_of = f"{up} up, 1 unit = {scale:g} m" + (" (glTF)" if (up, scale) == ("y", 1.0) else "")
    body = skeleton(file.path.stem, bones, up=up, scale=scale, parts=figure, read_as=said_of)
    q = np.tile(body.home, (len(times), 1))
    for number, (k, joint) in enumerate(zip(order, body.joints.values(), strict=True)):
        columns = [body.index(variable) for variable in joint.variables]
        parent = bones[number].parent
        place, rotation = _relative(moving, k, order[parent] if parent >= 0 else None)
        turns = turns_of_quaternions(ORDER, quaternions_of_matrices(rotation))
        q[:, columns[-3:]] = np.unwrap(turns, axis=0)
        if parent < 0:
            q[:, columns[:3]] = place
        elif bones[number].slides:
            q[:, columns[:3]] = place - joint.origin[:3, 3]
    return Rig(file, body, order, parents), Clip(body, times, q)


# ---- Which nodes -----------------------------------------------------------------------------------------------


def _joints(file: GltfFile) -> set[int]:
    return {index_of(k) for skin in file.document.get("skins", []) for k in skin["joints"]}


def _skeleton_nodes(file: GltfFile, parents: Sequence[int], parts: Mapping[str, int]) -> list[int]:
    """The nodes of the skeleton, parents before children and each followed by all that is below it.

    These are the joints of the first skin and of all others under the same top node, those that the file calls parts of a
    person, and all between them. Without a skin they are the nodes that an animation moves, or all. What only stands above
    them is not among them, but where several roots hang on it, or an animation moves it. -1 stands for the scene, if nothing
    else is above all.
    """
    nodes = file.nodes()
    moved = animated_nodes(file)
    skins = file.document.get("skins", [])
    if skins:
        first = _tops([index_of(k) for k in skins[0]["joints"]], parents)
        wanted = {k for k in _joints(file) | set(parts.values()) if _top(k, parents) in first}
        above = {at for k in wanted for at in _ways(k, parents)}
        wanted |= above & moved
    else:
        wanted = set(parts.values()) | moved or set(range(len(nodes)))
    if not wanted <= set(range(len(nodes))):
        raise FormatError(f"{file.name}: its skin or its animation has node {max(wanted)}, which does not exist.")
    ways = [[-1, *_ways(k, parents)[::-1]] for k in sorted(wanted)]  # from the scene down to each
    common = 0
    while all(len(way) > common + 1 and way[common + 1] == ways[0][common + 1] for way in ways):
        common += 1
        if ways[0][common] in wanted:
            break
    root = ways[0][common]
    kept = {k for way in ways for k in way[common:]}
    order, waiting = [], [root]
    while waiting:
        k = waiting.pop()
        order.append(k)
        children = nodes[k].get("children", []) if k >= 0 else [n for n in range(len(nodes)) if parents[n] < 0]
        waiting += [child for child in reversed(children) if child in kept]
    return order


def _ways(k: int, parents: Sequence[int]) -> list[int]:
    """A node and all above it."""
    way = []
    while k >= 0:
        way.append(k)
        k = parents[k]
    return way


def _top(k: int, parents: Sequence[int]) -> int:
    return _ways(k, parents)[-1]


def _tops(nodes: Sequence[int], parents: Sequence[int]) -> set[int]:
    return {_top(k, parents) for k in nodes}


def _above(order: Sequence[int], parents: Sequence[int]) -> list[int]:
    """The nodes of a skeleton after all that stand above it."""
    root = next((k for k in order if k >= 0), -1)
    return [*_ways(root, parents)[:0:-1], *(k for k in order if k >= 0)]


# ---- Where they are --------------------------------------------------------------------------------------------


class LocalTransform(NamedTuple):
    """Local transforms of a node: of one frame for all, or of each."""

    translation: Array  # (n or 1, 3)
    rotation: Array  # (n or 1, 4), w, x, y, z
    scale: Array  # (n or 1, 3)
    more: Array = np.eye(3)  # of a matrix that is no product of the others: what is left


def local_transform(file: GltfFile, k: int, node: Mapping[str, Any]) -> LocalTransform:
    """At rest."""
    if "matrix" in node:
        matrix = np.asarray(node["matrix"], dtype=float).reshape(4, 4).T
        place, more = matrix[:3, 3], matrix[:3, :3]
        turn, sizes = np.array([0.0, 0.0, 0.0, 1.0]), np.ones(3)
    else:
        place, turn, sizes = (
            np.asarray(node.get(key, default), dtype=float)
            for key, default in (("translation", (0, 0, 0)), ("rotation", (0, 0, 0, 1)), ("scale", (1, 1, 1)))
        )
        more = np.eye(3)
    if place.shape != (3,) or turn.shape != (4,) or sizes.shape != (3,):
        raise FormatError(f"{file.name}: node {k} has a transform of wrong shape.")
    numbers = (place, turn, sizes, more)
    if not all(np.isfinite(each).all() and (np.abs(each) < LARGEST).all() for each in numbers):
        raise FormatError(f"{file.name}: node {k} has a transform that is not finite, or too large.")
    if not np.linalg.norm(turn) > 1e-3 or not abs(np.linalg.det(more)) * np.abs(sizes).min() > 1e-9:
        raise FormatError(f"{file.name}: node {k} has a transform without size. Give it a rotation and a scale.")
    return LocalTransform(place[None], np.roll(turn / np.linalg.norm(turn), 1)[None], sizes[None], more)


def _world(
    file: GltfFile, local: Mapping[int, LocalTransform], order: Sequence[int], parents: Sequence[int], scale: float
) -> dict[int, Poses]:
    """Where the nodes are, in the axes of the file and metres."""
    eye = scale * np.eye(3)[None]
    found = {-1: Poses(np.zeros((1, 3)), eye, np.eye(3)[None])}
    for k, own in local.items():
        above = found[parents[k]]
        with np.errstate(over="ignore", invalid="ignore"):
            place = above.place + np.einsum("nij,nj->ni", *_broadcast(above.linear, own.translation))
            linear = above.linear @ matrices_of(own.rotation) * own.scale[:, None, :] @ own.more
        if not (np.abs(place) < LARGEST).all() or not (np.abs(linear) < LARGEST).all():
            raise FormatError(f"{file.name}: node {k} is farther away or larger than {LARGEST:g} m.")
        found[k] = Poses(place, linear, rotations_of(linear))
    return {k: found[k] for k in order}


def _broadcast(linear: Array, rows: Array) -> tuple[Array, Array]:
    count = max(len(linear), len(rows))
    return np.broadcast_to(linear, (count, 3, 3)), np.broadcast_to(rows, (count, 3))


def matrices_of(quaternions: Array) -> Array:
    """Rotation matrices (n, 3, 3) of unit quaternions (n, 4)."""
    w, x, y, z = quaternions.T
    rows = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
        [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
        [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
    ]
    return np.moveaxis(np.array(rows), 2, 0)


def rotations_of(linear: Array) -> Array:
    """The rotations nearest to linear maps: themselves without their scale, where they have one for all axes."""
    lengths = np.linalg.norm(linear, axis=1, keepdims=True)
    unit = linear / np.maximum(lengths, 1e-12)
    across = np.abs(np.swapaxes(unit, 1, 2) @ unit - np.eye(3)).max(initial=0.0)
    if across > 1e-6:  # a node under an uneven scale that is turned against it is sheared
        u, _, v = np.linalg.svd(unit)
        unit = u @ v
    return np.asarray(unit * np.where(np.linalg.det(unit) < 0.0, -1.0, 1.0)[:, None, None])  # of a mirrored one


def linear_maps(rig: Rig) -> dict[int, tuple[Array, Array]]:
    """Where the nodes above a skeleton are, none of which moves: places (1, 3) and linear maps (1, 3, 3)."""
    root = next((k for k in rig.nodes if k >= 0), -1)
    above = _ways(root, rig.parents)[:0:-1]
    rest = {k: local_transform(rig.file, k, rig.file.nodes()[k]) for k in above}
    return {k: (each.place, each.linear) for k, each in _world(rig.file, rest, above, rig.parents, 1.0).items()}


def _relative(poses: Mapping[int, Poses], k: int, parent: int | None) -> tuple[Array, Array]:
    """Place [m] and rotation of a node in another one that stands above it; of the root in the file."""
    own = poses[k]
    if parent is None:
        return own.place, own.rotation
    above = poses[parent]
    back = np.swapaxes(above.rotation, 1, 2)
    return np.einsum("nij,nj->ni", *_broadcast(back, own.place - above.place)), back @ own.rotation


def _uneven(own: LocalTransform) -> bool:
    """Whether a node at rest has other scales for other axes."""
    lengths = np.linalg.norm(own.more * own.scale[0][:, None], axis=0)
    return bool(np.ptp(lengths) > EVEN * lengths.max())


def _settled(
    file: GltfFile, order: Sequence[int], parents: Sequence[int], row: Mapping[int, int], bones: Sequence[Bone],
    rest: Mapping[int, LocalTransform], scale: float,
) -> dict[int, Array | None]:  # fmt: skip
    """For bones that an animation of the file slides or scales: where they stand on their parents [m] in all of them,
    None if they slide. So the body is the same for all animations of a file."""
    size = scale * reach(bones)
    ranges: dict[int, list[Array]] = {}
    transforms = 0
    for number in range(len(file.document.get("animations", []))):
        tracks = animation(file, number)
        # Places on a parent depend on rotations only under a scale that is not the same for all axes.
        uneven = any(map(_uneven, rest.values())) or any(
            path == "scale" and np.ptp(track.rows, axis=1).max() > EVEN * np.abs(track.rows).max()
            for (_, path), track in tracks.items()
        )
        if not tracks or (not uneven and not any(path != "rotation" and k in rest for k, path in tracks)):
            for k in order[1:]:
                ranges.setdefault(row[k], []).append(np.array([bones[row[k]].offset]) * scale)
            continue
        times = np.unique(np.concatenate([track.keys for track in tracks.values()]))
        transforms += len(times) * len(order)
        if transforms > MAX_KEYS:
            raise FormatError(f"{file.name}: its animations are more than {MAX_KEYS} transforms. Export fewer frames.")
        now = dict(rest)
        for (k, path), track in tracks.items():
            if k in now and (uneven or path != "rotation"):
                now[k] = now[k]._replace(**{path: sampled(track, times, path == "rotation")})
        poses = _world(file, now, order, parents, scale)
        for k in order[1:]:
            place = _relative(poses, k, order[bones[row[k]].parent])[0]
            ranges.setdefault(row[k], []).append(np.stack([place.min(axis=0), place.max(axis=0)]))
    found: dict[int, Array | None] = {}
    for number, each in ranges.items():
        places = np.concatenate(each)
        found[number] = None if slides_of(places, size) else 0.5 * (places.min(axis=0) + places.max(axis=0))
    return found
