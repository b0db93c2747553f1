"""The <origin> of URDF: a position and roll, pitch, yaw about fixed axes."""

from __future__ import annotations

import math

import numpy as np

from memetik.geometry import transform
from memetik.read.xml import Element
from memetik.types import Array

NONE = (0.0, 0.0, 0.0)


def read_origin(element: Element) -> Array:
    """The 4x4 parent_from_child of the <origin> in this element; the identity if there is none.

    R = Rz(yaw) Ry(pitch) Rx(roll), written out because a body has hundreds of them. A file may give quat_xyzw
    instead of rpy, as URDF 1.2 allows.
    """
    pose = np.eye(4)
    origin = element.one("origin")
    if origin is None:
        return pose
    if "xyz" in origin.attributes:
        pose[:3, 3] = origin.vector("xyz", "metres", "0 0 0.5", 3)
    if "quat_xyzw" in origin.attributes:
        if "rpy" in origin.attributes:
            raise origin.error("origin has both rpy and quat_xyzw. Keep one.")
        return transform(pose[:3, 3], _quaternion(origin))
    roll, pitch, yaw = origin.vector("rpy", "radians", "0 0 1.57", 3) if "rpy" in origin.attributes else NONE
    if (roll, pitch, yaw) != NONE:
        sr, cr, sp, cp, sy, cy = (f(angle) for angle in (roll, pitch, yaw) for f in (math.sin, math.cos))
        pose[:3, :3] = (
            (cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr),
            (sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr),
            (-sp, cp * sr, cp * cr),
        )
    return pose


def _quaternion(origin: Element) -> tuple[float, ...]:
    """(w, x, y, z) of unit length from quat_xyzw, which has w last."""
    x, y, z, w = origin.vector("quat_xyzw", "x y z w of a quaternion of length 1", "0 0 0 1", 4)
    length = math.hypot(w, x, y, z)
    if abs(length - 1.0) > 1e-3:  # typed decimals are off by less
        raise origin.error(f"origin quat_xyzw has length {length:g}, but a rotation has length 1. Divide it by that.")
    return w / length, x / length, y / length, z / length
