"""Where frames meet surfaces, facet by facet: the words of Projection and Surface.beside, for many frames at once."""

from __future__ import annotations

import numpy as np

from memetik.objectives import Ground, HeightField, Surface, TriangleMesh
from tests.naive.errors import angle, lengths, turned
from tests.naive.raycast import cast, normals_of, triangles_of

GRAZING = 0.05  # a ray flatter than about 3 degrees counts as a miss
INSET = 0.01  # the point beside something keeps off the rim by a hundredth of a facet


def facets_of(surface: Surface):
    """The triangles (m, 3, 3) of a height field or a mesh."""
    if isinstance(surface, HeightField):
        assert surface.spacing[0] == surface.spacing[1]
        return triangles_of(surface.heights, surface.spacing[0], surface.origin)
    assert isinstance(surface, TriangleMesh)
    return surface.vertices[surface.faces]


def projection_gaps(surface: Surface, poses, direction, lift, miss):
    """Position error [m] and orientation error [rad] of frames that should rest on a surface."""
    along = turned(poses, direction)
    places = poses[:, :3, 3]
    position, orientation = np.empty(len(poses)), np.empty(len(poses))
    facets = None if isinstance(surface, Ground) else facets_of(surface)
    for k, (place, way) in enumerate(zip(places, along, strict=True)):
        distance, normal = meet(surface, facets, place - lift * way, way)
        if normal is not None and normal @ way < -GRAZING:
            position[k] = abs(distance - lift)
        else:
            goal, normal = beside(surface, facets, place)
            position[k] = np.hypot(lengths(place - goal), miss)
        orientation[k] = angle(way, -normal)
    return position, orientation


def meet(surface: Surface, facets, origin, direction):
    """Distance and normal of the first front that a ray hits; (inf, None) if none."""
    if facets is not None:
        return cast(facets, origin, direction)
    facing, height = surface.normal @ direction, surface.normal @ (origin - surface.point)
    return (-height / facing, surface.normal) if facing < 0.0 <= height else (np.inf, None)


def beside(surface: Surface, facets, place):
    """The point of the surface next to a place, and the normal there."""
    if isinstance(surface, Ground):
        return place - surface.normal * (surface.normal @ (place - surface.point)), surface.normal
    if isinstance(surface, HeightField):
        cells = np.array(surface.heights.shape) - 1
        at = np.clip((place[:2] - surface.origin) / surface.spacing, INSET, cells - INSET)
        i, j = cell = at.astype(int)
        second = at[0] - i < at[1] - j
        facet = 2 * (i * cells[1] + j) + second
        normal, corner = normals_of(facets[facet : facet + 1])[0], facets[facet, 0]
        x, y = surface.origin + surface.spacing * at
        assert (corner[:2] == surface.origin + surface.spacing * cell).all()
        return np.array([x, y, corner[2] - (normal[:2] @ ((x, y) - corner[:2])) / normal[2]]), normal
    shares = nearest_shares(facets, place)
    points = np.einsum("fk,fkj->fj", shares, facets)
    facet = int(lengths(points - place).argmin())
    share = np.maximum(shares[facet], INSET)
    return share @ facets[facet] / share.sum(), normals_of(facets)[facet]


def nearest_shares(facets, place):
    """Of each triangle, the weights of its corners that give its point nearest to a place."""
    best, least = np.zeros((len(facets), 3)), np.full(len(facets), np.inf)
    edges = facets[:, 1:] - facets[:, :1]
    inner = np.linalg.solve(edges @ np.swapaxes(edges, 1, 2), edges @ (place - facets[:, 0])[:, :, None])[:, :, 0]
    candidates = [np.column_stack([1.0 - inner.sum(axis=1), inner])]
    for a, b in ((0, 1), (1, 2), (2, 0)):
        way = facets[:, b] - facets[:, a]
        share = np.clip(((place - facets[:, a]) * way).sum(axis=1) / (way * way).sum(axis=1), 0.0, 1.0)
        weights = np.zeros((len(facets), 3))
        weights[:, a], weights[:, b] = 1.0 - share, share
        candidates.append(weights)
    for weights in candidates:
        gap = lengths(np.einsum("fk,fkj->fj", weights, facets) - place)
        better = (weights >= 0.0).all(axis=1) & (gap < least)
        best[better], least[better] = weights[better], gap[better]
    return best
