"""Three turns about moving axes, by SciPy."""

import numpy as np
from scipy.spatial.transform import Rotation

ORDERS = ("xyz", "xzy", "yxz", "yzx", "zxy", "zyx")
RIGHT_HANDED = ("xyz", "yzx", "zxy")


def rotation(order, values):
    """R1(a) R2(b) R3(c)."""
    return Rotation.from_euler(order.upper(), values)


def turned(order, values, step):
    """R1(a) exp(d) R2(b) R3(c): a step about the axes of the first two turns and the third at right angles to both."""
    units = dict(zip("xyz", np.eye(3), strict=True))
    first, second = units[order[0]], units[order[1]]
    sign = 1.0 if order in RIGHT_HANDED else -1.0
    vector = step[0] * first + step[1] * second + step[2] * sign * np.cross(first, second)
    ahead = Rotation.from_rotvec(values[0] * first)
    behind = Rotation.from_rotvec(values[1] * second) * Rotation.from_rotvec(values[2] * units[order[2]])
    return ahead * Rotation.from_rotvec(vector) * behind


def angle(one, other):
    """The angle between two rotations [rad]."""
    return (one.inv() * other).magnitude()
