"""Where an arm begins in its first scene: where it can move."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

import memetik as mk
from memetik.scenes.limbs import Limb
from memetik.types import Array

WIDE = 1.0  # rad or m, across the range of a joint that is no gripper's
AT_LIMIT = 0.02  # of the range
SINGULAR = 0.03  # the smallest singular value of a Jacobian in m and rad; 0.2 for Panda, UR5 and iiwa14 at home


def first_posture(body: mk.Body, found: Sequence[Limb]) -> dict[str, float]:
    """Where the joints of an arm begin; those of other bodies are at home.

    At home many an arm is folded up, stretched out or at a limit, and a target that is dragged from there leaves it no way but
    far around. So a joint at a limit begins in the middle of its range, and where the arm is singular still, all joints are
    moved to where the smallest singular value of its Jacobian is largest, of some postures around.
    """
    if len(found) != 1 or found[0].dof < 6:
        return {}
    low, high, tip = body.lower, body.upper, body.frame(found[0].tip, mk.translation(*found[0].offset))
    wide, q = high - low, body.home.copy()
    bounded = np.isfinite(wide) & (wide > WIDE)
    span = np.where(bounded, wide, 0.0)
    q = np.where(bounded & (q - low < AT_LIMIT * span), low + 0.5 * span, q)
    q = np.where(bounded & (high - q < AT_LIMIT * span), high - 0.5 * span, q)

    def bent(q: Array) -> float:
        # By differences: forward kinematics is compiled anyway, the kernel of Jacobians would keep the first page waiting.
        columns = []
        for step in 1e-5 * np.eye(body.dof):
            before, after = body.forward(q - step, tip), body.forward(q + step, tip)
            turn = after[:3, :3] @ before[:3, :3].T
            columns.append([*(after[:3, 3] - before[:3, 3]), turn[2, 1], turn[0, 2], turn[1, 0]])
        return float(np.linalg.svd(np.array(columns) / 2e-5, compute_uv=False)[5])

    if bent(q) < SINGULAR:
        rng, moves = np.random.default_rng(0), bounded | ~np.isfinite(wide)
        around = [np.clip(q + moves * rng.uniform(-0.8, 0.8, body.dof), low, high) for _ in range(50)]
        q = max(around, key=bent)
    return {name: float(q[k]) for k, name in enumerate(body.joint_names) if q[k] != body.home[k]}
