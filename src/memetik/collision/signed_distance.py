"""Grids of signed distances as obstacles: from arrays, or from meshes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from os import PathLike, fspath
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from memetik.body import Shape
from memetik.collision.meshes import read_triangles, require_trimesh
from memetik.collision.triangle_tree import flat_triangles, triangle_tree
from memetik.errors import ProblemError, shown
from memetik.geometry import translation
from memetik.geometry.checks import real_array, real_number
from memetik.kernels.collision.sampling import distances_from_grid, distances_from_triangles, winding_numbers
from memetik.sharing import cached_property
from memetik.types import Array

MOST_SAMPLES = 100_000_000  # of a grid from a mesh
CERTAIN = 1.001  # spacings from the surface, at which rounding does not put a neighbour on its other side


class SignedDistanceGrid:
    """Signed distances [m] over a grid: values[i, j, k] at origin + (i, j, k) spacing, below zero inside of what is solid.

    values: (nx, ny, nz), at least 2 along each axis.
    spacing: between neighbouring samples [m], one number or one for each axis.
    origin: the place of the first sample [m].
    error: how far the interpolated distance can be above the true one [m]; half the diagonal of a cell, E, unless given. Where
    the distance v is large, E² / (2 (v - 3 E)) is enough, and is taken where it is less.

    For mk.Distance(links, grid), or as an obstacle of a World, where it may be turned and moved. Between samples the distance is
    interpolated, and the error subtracted. **What is promised**: if every sample is at most the signed distance of its place
    from the solid, and the solid lies within the grid, then the distances that are judged are never above the true ones, so
    that an answer that is REACHED keeps the clearance from the solid itself. The bounds hold for every solid, since a signed
    distance changes by no more than the way, and bends up by no more than one over itself; give an error only if you know more.
    Of what is round the middle counts, which is a radius away: those lose E only where that is less than 3.5 E. Of capsules a
    distance is less by up to 5 % of the spacing, of boxes, cylinders and hulls by 25 % (up to 100 % where thousands of
    places are equally near), which is how far the search for their nearest point goes. Values may be cut off,
    np.clip(values, -a, a).
    """

    def __init__(
        self, values: ArrayLike, *, spacing: float | Sequence[float], origin: Sequence[float] = (0.0, 0.0, 0.0),
        error: float | None = None,
    ) -> None:  # fmt: skip
        steps = real_array(spacing, ProblemError, "SignedDistanceGrid: spacing must be one number or three")
        if steps.shape not in ((), (3,)) or not (np.isfinite(steps) & (steps > 0.0)).all():
            raise ProblemError(
                f"SignedDistanceGrid: spacing is {shown(spacing)}; it must be one number above zero, or three."
            )
        place = real_array(origin, ProblemError, "SignedDistanceGrid: origin must be x, y and z of the first sample")
        if place.shape != (3,) or not np.isfinite(place).all():
            raise ProblemError(
                f"SignedDistanceGrid: origin must be x, y and z of the first sample, not {shown(origin)}."
            )
        self.spacing, self.origin = np.full(3, steps), np.array(place)
        usual = 0.5 * float(np.linalg.norm(self.spacing))
        self.error = usual if error is None else real_number(error, ProblemError, "SignedDistanceGrid: error")
        if not (math.isfinite(self.error) and self.error >= 0.0):
            raise ProblemError(f"SignedDistanceGrid: error is {shown(error)}; it must be zero or positive.")
        size = (*self.spacing.tolist(), self.error)
        self.shape = Shape("grid", size, translation(*self.origin), values=real_array(
            values, ProblemError, "SignedDistanceGrid: values must be numbers"
        ))  # fmt: skip

    @classmethod
    def from_mesh(
        cls, source: str | PathLike[str] | Any, spacing: float, *, margin: float | None = None, scale: ArrayLike = 1.0,
        error: float | None = None,
    ) -> SignedDistanceGrid:  # fmt: skip
        """The signed distances from a mesh: a file (STL, OBJ, DAE, glTF, PLY), or one with `vertices` and `faces`, as trimesh's.

        spacing: between samples [m]; the error is 0.87 times as much close to the surface, a tenth of that at 8 spacings.
        margin: how far the grid reaches beyond the mesh [m], two spacings unless given. Beyond it distances are bounded by
        those at the rim of the grid, which is less exact.
        scale: factors for x, y and z, one number for all.

        Distances are exact. What is inside is decided by winding numbers, so that small holes do no harm; faces must be
        anticlockwise from outside.
        """
        step = real_number(spacing, ProblemError, "from_mesh: spacing")
        if not (math.isfinite(step) and step > 0.0):
            raise ProblemError(f"from_mesh: spacing is {shown(spacing)}; it must be above zero.")
        beyond = 2.0 * step if margin is None else real_number(margin, ProblemError, "from_mesh: margin")
        if not (math.isfinite(beyond) and beyond >= step):
            raise ProblemError(f"from_mesh: margin is {shown(margin)}; it must be at least the spacing, {step:g} m.")
        factors = real_array(scale, ProblemError, "from_mesh: scale must be a number or three")
        if factors.shape not in ((), (3,)) or not np.isfinite(factors).all() or (factors == 0.0).any():
            raise ProblemError(f"from_mesh: scale is {shown(scale)}; it must be a number or three, none of them zero.")
        triangles = _triangles(source) * factors
        if np.prod(np.full(3, factors)) < 0.0:
            triangles = triangles[:, ::-1]  # a mirror turns the faces over
        low, high = triangles.min(axis=(0, 1)) - beyond, triangles.max(axis=(0, 1)) + beyond
        counts = np.ceil((high - low) / step - 1e-5).astype(int) + 1
        if float(np.prod(counts.astype(float))) > MOST_SAMPLES:
            raise ProblemError(
                f"from_mesh: a grid of {' x '.join(map(str, counts))} samples is too large. Take a wider spacing."
            )
        values = _signed_distances(triangles, [low[k] + step * np.arange(counts[k]) for k in range(3)], step)
        return cls(values, spacing=step, origin=low, error=error)

    @property
    def values(self) -> Array:
        """The signed distances (nx, ny, nz) [m]."""
        assert self.shape.values is not None
        return self.shape.values

    def distance(self, points: ArrayLike) -> Array:
        """The signed distance of points (n, 3) [m] as obstacles have it: interpolated, less the error; never above the truth."""
        rows = real_array(points, ProblemError, "SignedDistanceGrid: points must be numbers")
        if rows.ndim != 2 or rows.shape[1] != 3 or not np.isfinite(rows).all():
            raise ProblemError(
                f"SignedDistanceGrid: points have the shape {rows.shape}; it must be (n, 3), all finite."
            )
        out = np.empty(len(rows))
        seen = np.ascontiguousarray(rows - self.origin - self._middle)
        distances_from_grid(self.shape.samples, seen, out)
        return out

    @cached_property
    def _middle(self) -> Array:
        return self.shape.field_box[0]

    def __repr__(self) -> str:
        nx, ny, nz = self.values.shape
        return f"<SignedDistanceGrid of {nx} x {ny} x {nz} samples>"


def _triangles(source: Any) -> Array:
    """Of a file or a mesh (n, 3, 3), those that are flat left out."""
    if isinstance(source, (str, PathLike)):
        corners = read_triangles(Path(fspath(source)), "from_mesh")
    else:
        vertices = real_array(
            getattr(source, "vertices", None), ProblemError, "from_mesh: give a file, or a mesh with vertices and faces"
        )
        faces = np.asarray(getattr(source, "faces", None))
        if vertices.ndim != 2 or vertices.shape[1] != 3 or not np.isfinite(vertices).all():
            raise ProblemError(f"from_mesh: vertices have the shape {vertices.shape}; it must be (n, 3), all finite.")
        if faces.ndim != 2 or faces.shape[1] != 3 or faces.dtype.kind not in "iu" or len(faces) == 0:
            raise ProblemError("from_mesh: faces must be whole numbers (m, 3), m at least 1.")
        if faces.min() < 0 or faces.max() >= len(vertices):
            raise ProblemError(f"from_mesh: faces name vertices {faces.min()} to {faces.max()} of {len(vertices)}.")
        corners = vertices[faces]
    corners = corners[~flat_triangles(corners)]
    if len(corners) == 0:
        raise ProblemError("from_mesh: every face has its corners in one line, so there is no surface.")
    return corners


def _signed_distances(triangles: Array, axes: list[Array], step: float) -> Array:
    """At each place of a grid. Neighbours have the same sign unless the surface is nearer than their distance from each other."""
    tree = np.concatenate([[0.0], triangle_tree(triangles)])
    places = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1)
    points = np.ascontiguousarray(places.reshape(-1, 3))
    far = np.empty(len(points))
    distances_from_triangles(tree, points, far)
    shape = places.shape[:3]
    first, group = _one_of_each(far.reshape(shape), step)
    around = np.empty(len(first))
    winding_numbers(tree, points[first], around)
    signs = np.where(around > 0.5, -1.0, 1.0)
    return np.asarray((far * signs[group]).reshape(shape))


def _one_of_each(far: Array, step: float) -> tuple[Any, Any]:
    """Places of a grid in groups of equal sign: one place of each group, and the group of each place."""
    require_trimesh("a grid of signed distances")  # and with it SciPy
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components

    number = np.arange(far.size).reshape(far.shape)
    ends = []
    for axis in range(3):
        one, two = (np.take(number, range(k, far.shape[axis] - 1 + k), axis=axis) for k in (0, 1))
        alike = np.maximum(far.ravel()[one], far.ravel()[two]) > CERTAIN * step
        ends.append((one[alike], two[alike]))
    one, two = (np.concatenate([pair[k] for pair in ends]) for k in (0, 1))
    graph = coo_matrix((np.ones(len(one), dtype=bool), (one, two)), shape=(far.size, far.size))
    _, group = connected_components(graph, directed=False)
    _, first = np.unique(group, return_index=True)
    return first, group
