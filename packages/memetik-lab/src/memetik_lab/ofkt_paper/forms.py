"""Why poses are quaternion and vector: the same chain in both forms, measured side by side.

The matrix form keeps rotations as 3x3: 12 numbers a pose against 7. It needs no step to find the axes for a Jacobian,
so both are timed alone and with a Jacobian of the tip behind them.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Literal

import numba
import numpy as np

import memetik as mk
from memetik.body import replay
from memetik_lab.harness import Report, best_seconds
from memetik_lab.peers import serial_chain

# As the library compiles its kernels, so that the forms differ in nothing else.
_compiled = numba.njit(error_model="numpy", fastmath={"contract"}, forceinline=True)


def run(folder: Path, *, quick: bool = False) -> Report:
    """Measure, print and save."""
    evaluations = 2_000 if quick else 50_000
    report = Report(
        "forms",
        f"Serial chain, all joints change, mean of {evaluations} evaluations in a compiled loop, best of 15 runs.",
    )
    for joints in (7, 30, 120):
        body = mk.build.snake(joints)
        statics, all_joints = np.array(serial_chain(body).steps()[:-1]), np.arange(joints)[None]
        for task, with_jacobian in (("forward", False), ("forward and Jacobian", True)):
            way: Literal["jacobian", "plain"] = "jacobian" if with_jacobian else "plain"
            quaternion = best_seconds(replay(body, all_joints, evaluations, way))
            matrix = best_seconds(lambda: _matrix_loop(statics, evaluations, with_jacobian))  # noqa: B023
            report.rows.append(
                {
                    "joints": joints,
                    "task": task,
                    "quaternion [us]": quaternion / evaluations * 1e6,
                    "matrix [us]": matrix / evaluations * 1e6,
                    "matrix / quaternion": matrix / quaternion,
                }
            )
    return report.publish(folder)


@_compiled
def _matrix_loop(statics, evaluations, with_jacobian):  # type: ignore[no-untyped-def]
    n = statics.shape[0]
    q, poses, jacobian = np.zeros(n), np.empty((n, 3, 4)), np.zeros((6, n))
    for _ in range(evaluations):
        q += 1e-6
        _matrix_forward(statics, q, poses)
        if with_jacobian:
            _matrix_columns(poses, jacobian)
    return poses[-1, 0, 3] + jacobian[0, 0]


@_compiled
def _matrix_forward(statics, q, poses):  # type: ignore[no-untyped-def]
    """A chain of turns about z: local = S Rz(q), reference = parent local, in scalars as the quaternion kernel is."""
    for i in range(q.size):
        c, s = math.cos(q[i]), math.sin(q[i])
        xx, xy, xz = (
            c * statics[i, 0, 0] + s * statics[i, 0, 1],
            c * statics[i, 1, 0] + s * statics[i, 1, 1],
            c * statics[i, 2, 0] + s * statics[i, 2, 1],
        )
        yx, yy, yz = (
            c * statics[i, 0, 1] - s * statics[i, 0, 0],
            c * statics[i, 1, 1] - s * statics[i, 1, 0],
            c * statics[i, 2, 1] - s * statics[i, 2, 0],
        )
        for r in range(3):
            if i == 0:
                a, b, d, p = 1.0 if r == 0 else 0.0, 1.0 if r == 1 else 0.0, 1.0 if r == 2 else 0.0, 0.0
            else:
                a, b, d, p = poses[i - 1, r, 0], poses[i - 1, r, 1], poses[i - 1, r, 2], poses[i - 1, r, 3]
            poses[i, r, 0] = a * xx + b * xy + d * xz
            poses[i, r, 1] = a * yx + b * yy + d * yz
            poses[i, r, 2] = a * statics[i, 0, 2] + b * statics[i, 1, 2] + d * statics[i, 2, 2]
            poses[i, r, 3] = a * statics[i, 0, 3] + b * statics[i, 1, 3] + d * statics[i, 2, 3] + p


@_compiled
def _matrix_columns(poses, jacobian):  # type: ignore[no-untyped-def]
    n = poses.shape[0]
    for i in range(n):
        ux, uy, uz = poses[i, 0, 2], poses[i, 1, 2], poses[i, 2, 2]
        rx = poses[n - 1, 0, 3] - poses[i, 0, 3]
        ry = poses[n - 1, 1, 3] - poses[i, 1, 3]
        rz = poses[n - 1, 2, 3] - poses[i, 2, 3]
        jacobian[0, i] += uy * rz - uz * ry
        jacobian[1, i] += uz * rx - ux * rz
        jacobian[2, i] += ux * ry - uy * rx
        jacobian[3, i] += ux
        jacobian[4, i] += uy
        jacobian[5, i] += uz
