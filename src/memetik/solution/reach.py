"""How far a chain can reach: an upper bound that proves a target out of reach."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from memetik.body import Frame, Joint
from memetik.objectives import Objective, Pose, Position
from memetik.types import Array

if TYPE_CHECKING:
    from memetik.problem import Problem


class Reach(NamedTuple):
    """A ball that a frame cannot leave, around the first joint that moves it."""

    joint: str
    center: Array  # m, in the world
    length: float  # m


class Beyond(NamedTuple):
    """A target outside the ball."""

    joint: str
    distance: float  # m, from the joint to the target
    length: float  # m, what the chain reaches at most


def beyond(problem: Problem, objective: Objective, q: Array) -> Beyond | None:
    """How far away the target of a position or pose is, if no posture can reach it; None if one might."""
    if not isinstance(objective, (Position, Pose)) or objective.relative_to is not None:
        return None
    if not objective.mask[:3].all():
        return None
    ball = reach(problem, problem.body.frame(objective.frame), q)
    if ball is None:
        return None
    point = objective.target[:3, 3] if isinstance(objective, Pose) else objective.target
    distance = math.dist(point, ball.center)
    return Beyond(ball.joint, distance, ball.length) if distance > ball.length + _slack(objective) else None


def _slack(objective: Position | Pose) -> float:
    """How far from the target [m] is good enough."""
    if isinstance(objective, Position) and objective.axis_tolerance is not None:
        return float(np.linalg.norm(objective.axis_tolerance))
    return math.inf if objective.tolerance is None else objective.tolerance


def reach(problem: Problem, frame: Frame, q: Array) -> Reach | None:
    """The sum of the lengths between the moving joints and of their slides bounds the distance, by the triangle
    inequality. None if nothing moves the frame; infinite if it hangs on a slide without limits."""
    first: Joint | None = None
    center, length = np.zeros(3), 0.0
    root = problem.root
    rigid = np.eye(4) if root is None else root  # from the moving joint before, or from the world
    for joint in _path(problem, frame.link):
        if not _moves(problem, joint):
            rigid = rigid @ joint.transform(_values(problem, joint, q))
            continue
        step = (rigid @ joint.origin)[:3, 3]
        if first is None:
            first, center = joint, step
        else:
            length += float(np.linalg.norm(step))
        length += _slide(problem, joint)
        rigid = np.eye(4)
    if first is None:
        return None
    return Reach(first.name, center, length + float(np.linalg.norm((rigid @ frame.link_from_frame)[:3, 3])))


def _path(problem: Problem, link: str) -> list[Joint]:
    """The joints from the root to a link."""
    above = {joint.child: joint for joint in problem.body.joints.values()}
    path = []
    while link in above:
        path.append(above[link])
        link = above[link].parent
    return path[::-1]


def _moves(problem: Problem, joint: Joint) -> bool:
    names = problem.body.joint_names
    return any(names[drive.variable] not in problem.lock for drive in problem.body.variables.drives.get(joint.name, ()))


def _values(problem: Problem, joint: Joint, q: Array) -> list[float]:
    drives = problem.body.variables.drives.get(joint.name, ())
    return [drive.ratio * float(q[drive.variable]) + drive.offset for drive in drives]


def _slide(problem: Problem, joint: Joint) -> float:
    """How far the joint's slides, which are at right angles, can take its child [m]."""
    square = 0.0
    for drive, motion in zip(problem.body.variables.drives[joint.name], joint.motions(), strict=True):
        if motion.pitch != 0.0 and drive.ratio != 0.0:
            k = drive.variable
            locked = problem.lock.get(problem.body.joint_names[k])
            ends = (problem.lower[k], problem.upper[k]) if locked is None else (locked,)
            square += (motion.pitch * max(abs(drive.ratio * float(end) + drive.offset) for end in ends)) ** 2
    return math.sqrt(square)
