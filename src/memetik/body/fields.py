"""Height fields and grids of signed distances as shapes: their checks, their numbers for kernels, their surface and volume.

A height field has its first corner above the origin of its frame, heights[i, j] at (i dx, j dy). It is solid from there down to
`depth` below its lowest corner. A grid has its first sample in the origin, values[i, j, k] at (i dx, j dy, k dz), and is solid
where it is below zero.
"""

from __future__ import annotations

from itertools import permutations

import numpy as np
from numpy.typing import NDArray

from memetik.body.hull import Hull
from memetik.errors import BodyError
from memetik.geometry.checks import real_array
from memetik.types import Array

HEIGHTS, GRID = "heights", "grid"
DRAWN = 48  # cells along a side of what is drawn
ROUNDING = 1e-9  # share of the spacing by which neighbours may differ beyond it


def checked_samples(kind: str, values: object, size: tuple[float, ...]) -> Array:
    """The samples of a field, checked together with its size."""
    what = "height field" if kind == HEIGHTS else "grid of signed distances"
    dimensions = 2 if kind == HEIGHTS else 3
    if values is None:
        raise BodyError(f"a {what} has no values. Give an array of {dimensions} dimensions, values=...")
    numbers = np.array(real_array(values, BodyError, f"the values of a {what} are not numbers"))
    if numbers.ndim != dimensions or min(numbers.shape) < 2:
        raise BodyError(
            f"the values of a {what} have the shape {numbers.shape}; they must have {dimensions} dimensions, with 2 or more "
            "along each."
        )
    if not np.isfinite(numbers).all():
        raise BodyError(f"the values of a {what} have an entry that is NaN or infinite. Fill gaps before.")
    if min(size[:dimensions]) <= 0.0:
        raise BodyError(f"a {what} has a spacing of zero. Give the distance of neighbouring samples [m].")
    if kind == HEIGHTS and size[2] <= 0.0:
        raise BodyError(
            "a height field has no depth. Give how far it is solid below its lowest corner [m], above zero."
        )
    for axis, step in enumerate(size[:3] if kind == GRID else ()):
        change = np.abs(np.diff(numbers, axis=axis))
        if change.max() > step * (1.0 + ROUNDING):
            at = np.unravel_index(int(change.argmax()), change.shape)
            place = ", ".join(map(str, at))
            raise BodyError(
                f"no signed distances: the values at ({place}) and its neighbour along {'xyz'[axis]} differ by "
                f"{change.max():.6g} m, but are only {step:g} m apart. Check spacing and unit; of an occupancy grid take the "
                "distances first."
            )
    return numbers


def box_around(kind: str, values: Array, size: tuple[float, ...]) -> tuple[Array, Array]:
    """The middle of the box around a field, in its frame, and the half sizes of the box [m]."""
    if kind == GRID:
        half = 0.5 * (np.array(values.shape) - 1.0) * size[:3]
        return half, half
    x, y = 0.5 * (np.array(values.shape) - 1.0) * size[:2]
    low, high = float(values.min()) - size[2], float(values.max())
    return np.array([x, y, 0.5 * (low + high)]), np.array([x, y, 0.5 * (high - low)])


def kernel_samples(kind: str, values: Array, size: tuple[float, ...]) -> Array:
    """As kernels/geometry/heights.py and grids.py read them."""
    middle, half = box_around(kind, values, size)
    if kind == GRID:
        return np.concatenate([values.shape, size, [0.5 * np.linalg.norm(size[:3])], values.ravel()])
    return np.concatenate([values.shape, size[:2], [-half[2]], (values - middle[2]).ravel()])


def surface(kind: str, values: Array, size: tuple[float, ...]) -> Hull:
    """Vertices and triangles of what a field is the surface of, coarser where it has many cells: for pictures."""
    if kind == HEIGHTS:
        return _height_surface(values, size)
    picks = [np.unique(np.linspace(0, n - 1, min(n, DRAWN)).round().astype(int)) for n in values.shape]
    return _zero_surface(values[np.ix_(*picks)], [pick * step for pick, step in zip(picks, size[:3], strict=True)])


def volume_and_center(kind: str, values: Array, size: tuple[float, ...]) -> tuple[float, Array]:
    """The volume [m3] of a field and its centre of mass [m], by its samples."""
    places = np.stack(np.meshgrid(*map(np.arange, values.shape), indexing="ij"), axis=-1)
    if kind == GRID:
        solid = places[values < 0.0] * size[:3]
        volume = len(solid) * float(np.prod(size[:3]))
        return volume, solid.mean(axis=0) if len(solid) else box_around(kind, values, size)[0]
    bottom = float(values.min()) - size[2]
    columns = (values - bottom) * size[0] * size[1] * _shares(values.shape)
    center = np.concatenate([places * size[:2], 0.5 * (values + bottom)[..., None]], axis=-1)
    return float(columns.sum()), (columns[..., None] * center).sum(axis=(0, 1)) / columns.sum()


def _shares(shape: tuple[int, ...]) -> Array:
    """How many cells belong to each corner: those at the rim have a half of one side, or of both."""
    x, y = (np.concatenate([[0.5], np.ones(n - 2), [0.5]]) for n in shape)
    return np.outer(x, y)


def _height_surface(values: Array, size: tuple[float, ...]) -> Hull:
    """The facets from above and the walls at the rim, which reach a little below the lowest corner."""
    rows, columns = (np.unique(np.linspace(0, n - 1, min(n, DRAWN)).round().astype(int)) for n in values.shape)
    heights = values[np.ix_(rows, columns)]
    nx, ny = heights.shape
    top = np.stack([*np.meshgrid(rows * size[0], columns * size[1], indexing="ij"), heights], axis=-1).reshape(-1, 3)
    number = np.arange(nx * ny).reshape(nx, ny)
    a, b, c, d = (number[:-1, :-1], number[1:, :-1], number[1:, 1:], number[:-1, 1:])
    faces = [np.stack(each, axis=-1).reshape(-1, 3) for each in ((a, b, c), (a, c, d))]
    rim = np.concatenate([number[:, 0], number[-1, 1:], number[-2::-1, -1], number[0, -2:0:-1]])  # anticlockwise
    low = float(values.min()) - min(size[2], max(float(np.ptp(values)), 2.0 * max(size[:2])))
    under = len(top) + np.arange(len(rim))
    following, after = np.roll(rim, -1), np.roll(under, -1)
    faces += [np.stack([rim, under, after], axis=-1), np.stack([rim, after, following], axis=-1)]
    vertices = np.concatenate([top, np.column_stack([top[rim, :2], np.full(len(rim), low)])])
    return Hull(vertices, np.concatenate(faces))


def _zero_surface(values: Array, axes: list[Array]) -> Hull:
    """Where samples on a grid pass through zero, by marching tetrahedra: a cell is six of them around a diagonal."""
    padded = np.pad(
        values, 1, constant_values=max(1e-9, float(np.abs(values).max()))
    )  # so that it is closed at the rim
    spread = [np.concatenate([axis[:1], axis, axis[-1:]]) for axis in axes]
    points = np.stack(np.meshgrid(*spread, indexing="ij"), axis=-1).reshape(-1, 3)
    number = np.arange(padded.size).reshape(padded.shape)
    flat = padded.ravel()
    corners = []
    for order in permutations(range(3)):
        offset, path = np.zeros(3, dtype=int), [number[:-1, :-1, :-1]]
        for axis in order:
            offset[axis] = 1
            path.append(number[tuple(slice(o, o - 1 or None) for o in offset)])
        corners.append(np.stack(path, axis=-1).reshape(-1, 4))
    tetrahedra = np.concatenate(corners)
    inside = flat[tetrahedra] < 0.0
    crossed = inside.any(axis=1) & ~inside.all(axis=1)
    triangles: list[Array] = []
    for four, within in zip(tetrahedra[crossed], inside[crossed], strict=True):
        low, high = four[within], four[~within]
        cuts = [points[i] + flat[i] / (flat[i] - flat[j]) * (points[j] - points[i]) for i in low for j in high]
        out = points[high].mean(axis=0) - points[low].mean(axis=0)
        quad = [cuts] if len(cuts) == 3 else [[cuts[0], cuts[1], cuts[3]], [cuts[0], cuts[3], cuts[2]]]
        triangles += [np.array(t if np.cross(t[1] - t[0], t[2] - t[0]) @ out >= 0.0 else t[::-1]) for t in quad]
    if not triangles:
        return Hull(np.empty((0, 3)), np.empty((0, 3), np.int64))
    vertices, faces = _merged(np.concatenate(triangles))
    return Hull(vertices, faces)


def _merged(corners: Array) -> tuple[Array, NDArray[np.int64]]:
    """Vertices that are equal, once, and the faces by their numbers, without those of no area."""
    vertices, number = np.unique(corners.round(9), axis=0, return_inverse=True)
    faces = number.reshape(-1, 3).astype(np.int64)
    whole = (faces[:, 0] != faces[:, 1]) & (faces[:, 1] != faces[:, 2]) & (faces[:, 2] != faces[:, 0])
    return vertices, faces[whole]
