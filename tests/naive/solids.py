"""Solids at many poses (n, 4, 4): how low they reach, how far points and round solids are from them."""

from __future__ import annotations

import numpy as np

from tests.naive.errors import lengths, turned

ROUND = ("sphere", "capsule")


def placed(shape, poses):
    """world_from_shape of a shape whose link is at these poses."""
    return poses @ shape.link_from_shape


def half_axis(shape, poses):
    """Half the axis of a sphere (nothing) or capsule, in the world."""
    return turned(placed(shape, poses), (0.0, 0.0, 0.0 if shape.kind == "sphere" else shape.size[1] / 2.0))


def lowest(shape, poses, normals):
    """How high the lowest point of a solid is along unit vectors: height of the middle less the reach downwards."""
    T = placed(shape, poses)
    own = np.einsum("nji,nj->ni", T[:, :3, :3], normals)
    if shape.kind == "box":
        reach = (np.abs(own) * np.array(shape.size) / 2.0).sum(axis=1)
    elif shape.kind == "sphere":
        reach = shape.size[0]
    elif shape.kind == "capsule":
        reach = shape.size[0] + np.abs(own[:, 2]) * shape.size[1] / 2.0
    else:
        assert shape.kind == "cylinder"
        reach = shape.size[0] * lengths(own[:, :2]) + np.abs(own[:, 2]) * shape.size[1] / 2.0
    return (normals * T[:, :3, 3]).sum(axis=1) - reach


def beyond(shape, poses, points):
    """Signed distance from the surface of a sphere, capsule or box to points; negative inside."""
    T = placed(shape, poses)
    own = np.einsum("nji,nj->ni", T[:, :3, :3], points - T[:, :3, 3])
    if shape.kind == "box":
        gap = np.abs(own) - np.array(shape.size) / 2.0
        return lengths(np.maximum(gap, 0.0)) + np.minimum(gap.max(axis=1), 0.0)
    assert shape.kind in ROUND
    half = 0.0 if shape.kind == "sphere" else shape.size[1] / 2.0
    own[:, 2] -= np.clip(own[:, 2], -half, half)
    return lengths(own) - shape.size[0]


def between(one, poses, other, other_poses):
    """Signed distance between round solids: of their axes, less the radii."""
    a, b = placed(one, poses)[:, :3, 3], placed(other, other_poses)[:, :3, 3]
    gap = segments(a, half_axis(one, poses), b, half_axis(other, other_poses))
    return gap - one.size[0] - other.size[0]


def segments(a, u, b, v):
    """Distance of the segments a ± u and b ± v: from an end of one to the other, or square to both."""
    least = np.minimum.reduce(
        [to_segment(a + s * u, b, v) for s in (-1.0, 1.0)] + [to_segment(b + s * v, a, u) for s in (-1.0, 1.0)]
    )
    uu, vv, uv = (u * u).sum(axis=1), (v * v).sum(axis=1), (u * v).sum(axis=1)
    ur, vr = (u * (a - b)).sum(axis=1), (v * (a - b)).sum(axis=1)
    square = uu * vv - uv * uv
    crossing = square > 1e-12 * np.maximum(uu * vv, 1e-300)
    safe = np.where(crossing, square, 1.0)
    s, t = (uv * vr - vv * ur) / safe, (uu * vr - uv * ur) / safe
    inside = crossing & (np.abs(s) <= 1.0) & (np.abs(t) <= 1.0)
    return np.where(inside, np.minimum(least, lengths(a + s[:, None] * u - b - t[:, None] * v)), least)


def to_segment(points, c, u):
    """Distance of points to the segments c ± u."""
    uu = (u * u).sum(axis=1)
    share = np.clip(((points - c) * u).sum(axis=1) / np.where(uu > 0.0, uu, 1.0), -1.0, 1.0)
    return lengths(points - c - share[:, None] * u)
