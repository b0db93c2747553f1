"""How far a body is from balls in the world, computed with NumPy from its shapes. No kernel has a part in it."""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np

import memetik as mk
from memetik.types import Array


def clearance(body: mk.Body, q: Array, links: Iterable[str], balls: Array) -> float:
    """The least distance [m] between the shapes of links and balls (k, 4: x, y, z, radius); below zero in collision."""
    poses = body.forward(q)
    least = math.inf
    for link in links:
        for shape in body.links[link].shapes:
            world_from_shape = poses[link] @ shape.link_from_shape
            seen = (balls[:, :3] - world_from_shape[:3, 3]) @ world_from_shape[:3, :3]
            least = min(least, float((distance_from(shape, seen) - balls[:, 3]).min()))
    return least


def ball_clearance(body: mk.Body, q: Array, frames: Iterable[mk.Frame], radius: float, balls: Array) -> float:
    """The same for frames that each stand for a ball of that radius."""
    poses = body.forward(q)
    centers = np.array([(poses[frame.link] @ frame.link_from_frame)[:3, 3] for frame in frames])
    apart = np.linalg.norm(centers[:, None] - balls[None, :, :3], axis=2)
    return float((apart - radius - balls[:, 3]).min())


def distance_from(shape: mk.Shape, points: Array) -> Array:
    """Signed distance [m] of points (k, 3), given in the shape's frame, from its surface; below zero inside."""
    x, y, z = points.T
    match shape.kind:
        case "sphere":
            return np.asarray(np.linalg.norm(points, axis=1) - shape.size[0])
        case "capsule":
            radius, length = shape.size
            beyond = np.maximum(np.abs(z) - 0.5 * length, 0.0)
            return np.asarray(np.sqrt(x**2 + y**2 + beyond**2) - radius)
        case "cylinder":
            radius, length = shape.size
            return _outside(np.stack([np.hypot(x, y) - radius, np.abs(z) - 0.5 * length], axis=1))
        case "box":
            return _outside(np.abs(points) - 0.5 * np.array(shape.size))
    raise ValueError(f"no distance from a {shape.kind} is known here.")


def _outside(beyond: Array) -> Array:
    """Distance from how far a point is beyond each pair of opposite faces: the way to a corner, or the nearest face."""
    outside = np.linalg.norm(np.maximum(beyond, 0.0), axis=1)
    return np.asarray(outside + np.minimum(beyond.max(axis=1), 0.0))


def surface_points(shape: mk.Shape, count: int = 16) -> Array:
    """Points (k, 3) on the surface of a shape, in its frame, `count` along its circumference or an edge."""
    turns = np.linspace(0.0, 2.0 * math.pi, count, endpoint=False)
    ring = np.stack([np.cos(turns), np.sin(turns), 0.0 * turns], axis=1)
    match shape.kind:
        case "sphere" | "capsule":
            radius, length = shape.size[0], (shape.size[1] if shape.kind == "capsule" else 0.0)
            tilts = np.linspace(-0.5 * math.pi, 0.5 * math.pi, count)
            caps = [
                radius * (math.cos(t) * ring + (0.0, 0.0, math.sin(t))) + (0.0, 0.0, math.copysign(0.5 * length, t))
                for t in tilts
            ]
            sides = [radius * ring + (0.0, 0.0, z) for z in np.linspace(-0.5, 0.5, count) * length]
            return np.concatenate([*caps, *sides])
        case "cylinder":
            radius, length = shape.size
            lids = [
                share * radius * ring + (0.0, 0.0, z)
                for share in np.linspace(0.0, 1.0, count // 2)
                for z in (-0.5 * length, 0.5 * length)
            ]
            sides = [radius * ring + (0.0, 0.0, z) for z in np.linspace(-0.5, 0.5, count) * length]
            return np.concatenate([*lids, *sides])
        case "box":
            grid = np.linspace(-0.5, 0.5, count)
            first, second = (each.ravel() for each in np.meshgrid(grid, grid))
            faces = [
                np.insert(np.stack([first, second], axis=1), axis, end, axis=1)
                for axis in range(3)
                for end in (-0.5, 0.5)
            ]
            return np.asarray(np.concatenate(faces) * np.array(shape.size))
    raise ValueError(f"no points on a {shape.kind} are known here.")
