"""The path of a root over the ground: taken out of a clip, put back, blended and integrated.

A path has a row (x, y, heading) for each frame [m, m, rad]. Two clips are blended by the velocities of their paths, as seen from
the body (forward, sideways, turn): a mixture of velocities lies between both, which the velocity of mixed positions does not.
"""

from __future__ import annotations

import numpy as np

from memetik.body import Body, Joint
from memetik.errors import ProblemError
from memetik.geometry import invert
from memetik.motion.clips.turns import balls_of, product, quaternions, quaternions_of_matrices, steady_turns
from memetik.types import Array


def floating_joint(body: Body) -> Joint | None:
    """The floating joint that carries the whole body, if there is one."""
    moving = next((joint for joint in body.joints.values() if joint.dof), None)
    return moving if moving is not None and moving.kind == "floating" else None


def require_floating(body: Body) -> Joint:
    """The floating joint that carries the whole body."""
    joint = floating_joint(body)
    if joint is None:
        raise ProblemError(f"body {body.name!r} has no floating base, so its root stays. Load it with base='floating'.")
    return joint


def moved_roots(body: Body, q: Array, world_from_world: Array) -> Array:
    """Joint vectors (n, dof) with the whole body moved by a rigid transform (n, 4, 4) for each frame."""
    joint = require_floating(body)
    here = body.forward(body.home, joint.parent) @ joint.origin
    change = invert(here) @ world_from_world @ here
    first = body.index(joint.variables[0])
    ball = next(each for each in balls_of(body) if each.joint == joint.name)
    moved = q.copy()
    places = q[:, first : first + 3]
    moved[:, first : first + 3] = (change[:, :3, :3] @ places[:, :, None])[:, :, 0] + change[:, :3, 3]
    turned = product(quaternions_of_matrices(change[:, :3, :3]), quaternions(ball, q))
    moved[:, ball.columns] = steady_turns(ball.order, turned, q[0, ball.columns])
    return moved


def path_of(roots: Array, upright: Array) -> Array:
    """The path (n, 3) of a root with these poses (n, 4, 4).

    upright: how the root is turned when the body is upright and faces along x (3, 3). The heading is the twist about the vertical
        (w, z of the quaternion) of the turn from there; it is followed through whole turns.
    """
    since = roots[:, :3, :3] @ upright.T
    w, _, _, z = quaternions_of_matrices(since).T
    heading = np.unwrap(2.0 * np.arctan2(z, w))
    return np.column_stack([roots[:, 0, 3], roots[:, 1, 3], heading])


def transforms_of(path: Array) -> Array:
    """The rigid transforms (n, 4, 4) that take the origin, facing along x, to the places of a path (n, 3)."""
    c, s = np.cos(path[:, 2]), np.sin(path[:, 2])
    found = np.zeros((len(path), 4, 4))
    found[:, 0, 0], found[:, 0, 1], found[:, 1, 0], found[:, 1, 1] = c, -s, s, c
    found[:, 2, 2] = found[:, 3, 3] = 1.0
    found[:, :2, 3] = path[:, :2]
    return found


def along(body: Body, q: Array, old: Array, new: Array) -> Array:
    """Joint vectors (n, dof) of a body on the path `old`, moved to the path `new`."""
    return moved_roots(body, q, transforms_of(new) @ np.linalg.inv(transforms_of(old)))


def steps_of(path: Array) -> Array:
    """The way from each frame of a path to the next, as seen from the middle of the turn between them (n - 1, 3)."""
    turn = np.diff(path[:, 2])
    middle = path[:-1, 2] + 0.5 * turn
    dx, dy = np.diff(path[:, 0]), np.diff(path[:, 1])
    c, s = np.cos(middle), np.sin(middle)
    return np.column_stack([c * dx + s * dy, -s * dx + c * dy, turn])


def path_from(start: Array, steps: Array) -> Array:
    """The path that begins at `start` (3,) and makes these steps (n - 1, 3): the inverse of `steps_of`."""
    heading = np.concatenate([[start[2]], start[2] + np.cumsum(steps[:, 2])])
    middle = heading[:-1] + 0.5 * steps[:, 2]
    c, s = np.cos(middle), np.sin(middle)
    x = start[0] + np.concatenate([[0.0], np.cumsum(c * steps[:, 0] - s * steps[:, 1])])
    y = start[1] + np.concatenate([[0.0], np.cumsum(s * steps[:, 0] + c * steps[:, 1])])
    return np.column_stack([x, y, heading])
