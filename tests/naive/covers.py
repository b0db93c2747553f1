"""Twins of what covers are made of: how far points lie outside shapes, and the volume of a union by counting."""

import numpy as np


def outside(shapes, points):
    """For each point how far it lies outside the nearest shape along one of its measures [m]; not positive inside."""
    return np.min([_outside(shape, points) for shape in shapes], axis=0)


def _outside(shape, points):
    out = []
    for point in points:
        x, y, z = shape.link_from_shape[:3, :3].T @ (point - shape.link_from_shape[:3, 3])
        if shape.kind == "box":
            out.append(max(abs(c) - s / 2 for c, s in zip((x, y, z), shape.size, strict=True)))
        elif shape.kind == "cylinder":
            out.append(max(np.hypot(x, y) - shape.size[0], abs(z) - shape.size[1] / 2))
        else:
            half = shape.size[1] / 2 if shape.kind == "capsule" else 0.0
            out.append(np.sqrt(x * x + y * y + (z - np.clip(z, -half, half)) ** 2) - shape.size[0])
    return np.array(out)


def union_volume(shapes, low, high, count, rng):
    """The share of random points of a box that lie in a shape, times the volume of the box."""
    points = rng.uniform(low, high, size=(count, 3))
    return float(np.prod(np.subtract(high, low)) * np.mean(outside(shapes, points) <= 0.0))
