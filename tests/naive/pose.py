"""Twins of the pose kernels: a pose (w, x, y, z, px, py, pz) becomes a 4x4 matrix and all is done there."""

from __future__ import annotations

import math

import numpy as np

from memetik.kernels.body.records import SCREW, SLIDE
from tests.naive.kinematics import Z, slide, turn


def matrix(pose):
    """The 4x4 matrix of a pose: its quaternion is a turn by 2 acos(w) about (x, y, z)."""
    w, x, y, z, px, py, pz = pose
    sine = math.sqrt(x * x + y * y + z * z)
    T = turn((x, y, z), 2.0 * math.atan2(sine, w)) if sine > 0.0 else np.eye(4)
    T[:3, 3] = px, py, pz
    return T


def random_pose(rng):
    """A uniformly drawn rotation and a position of some decimetres, as seven floats."""
    q = rng.standard_normal(4)
    return (*map(float, q / math.sqrt(q @ q)), *map(float, rng.normal(scale=0.5, size=3)))


def compose(a, b):
    """a * b."""
    return matrix(a) @ matrix(b)


def inverse(a):
    """The matrix that undoes a."""
    return np.linalg.inv(matrix(a))


def rotated(pose, vector):
    """The vector, turned but not moved."""
    return matrix(pose)[:3, :3] @ np.asarray(vector)


def axis(pose):
    """The direction of the pose's z axis."""
    return rotated(pose, Z)


def local(node, value):
    """L = S T(value) with T a turn about z, a slide along z, or both."""
    static = matrix([float(node[name]) for name in ("w", "x", "y", "z", "px", "py", "pz")])
    if node["motion"] == SLIDE:
        return static @ slide(Z, value)
    if node["motion"] == SCREW:
        return static @ turn(Z, value) @ slide(Z, float(node["pitch"]) * value)
    return static @ turn(Z, value)
