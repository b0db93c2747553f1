"""One judge for all: what a solver answered is put through forward kinematics and held against limits and tolerance."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

import memetik as mk
from memetik.geometry import angle_between, pose_distance
from memetik.types import Array
from memetik_lab.queries import GAZE, Query, Task, Wanted

SLACK = 1e-9  # rad or m beyond a limit that rounding may explain
ROUNDING = 1e-7  # rad or m between two ways to compute an error; angles near zero lose half their digits


def within(body: mk.Body, q: Array) -> bool:
    """Whether a joint vector is finite and within the limits."""
    return bool((np.isfinite(q) & (q >= body.lower - SLACK) & (q <= body.upper + SLACK)).all())


def right(body: mk.Body, objectives: Sequence[Wanted], task: Task) -> Callable[[mk.Solution, Query], bool]:
    """Judges whether a solution is within limits and satisfies every objective, whatever it says of itself."""

    def judge(solution: mk.Solution, query: Query) -> bool:
        poses = body.forward(solution.q)
        pairs = zip(objectives, query.targets, strict=True)
        return within(body, solution.q) and all(_near(o, poses[str(o.frame)], target, task) for o, target in pairs)

    return judge


def _near(objective: Wanted, pose: Array, target: Array, task: Task) -> bool:
    match objective:
        case mk.Pose():
            position, orientation = pose_distance(pose, target)
            return position <= task.position and orientation <= task.orientation
        case mk.Position():
            return bool(np.linalg.norm(pose[:3, 3] - target) <= task.position)
        case mk.Orientation():
            return angle_between(pose[:3, :3], target) <= task.orientation
        case mk.LookAt():
            ahead, towards = pose[:3, :3] @ GAZE, target - pose[:3, 3]
            return float(np.arctan2(np.linalg.norm(np.cross(ahead, towards)), ahead @ towards)) <= task.orientation


class Judge:
    """Knows an arm, its tip and what is asked for, and nothing of the solvers."""

    def __init__(self, body: mk.Body, tip: str, task: Task) -> None:
        self.body, self.tip, self.task = body, tip, task

    def right(self, answer: Array | None, target: Array, *, whole_turns: bool = False) -> bool:
        """Whether a joint vector, or one of several rows, is within the limits and puts the tip on the target."""
        return answer is not None and any(self.agrees(q, target) for q in self.candidates(answer, whole_turns))

    def candidates(self, answer: Array, whole_turns: bool) -> list[Array]:
        """The rows of an answer that are within the limits, if need be with `whole_turns` added."""
        rows = np.atleast_2d(answer).reshape(-1, self.body.dof)
        if whole_turns:
            lower = np.where(np.isfinite(self.body.lower), self.body.lower - SLACK, rows)
            rows = rows + 2.0 * math.pi * np.ceil((lower - rows) / (2.0 * math.pi))
        return [q for q in rows if within(self.body, q)]

    def agrees(self, q: Array, target: Array) -> bool:
        """Whether forward kinematics puts the tip on the target, within the tolerances."""
        position, orientation = pose_distance(self.body.forward(q)[self.tip], target)
        return position <= self.task.position and orientation <= self.task.orientation


class Verdict(NamedTuple):
    """What an answer is worth, and what it says of itself that is not so."""

    right: bool
    position: float  # m, of the tip that is farthest away
    orientation: float  # rad, of the tip that is turned most; 0 where none is asked for
    complaints: tuple[str, ...]


class StatusJudge:
    """Examines whole solutions: where the tips of a body really are, and if limits, status and errors are what they say."""

    def __init__(self, problem: mk.Problem, tips: Sequence[str], task: Task, *, position_only: bool) -> None:
        self.problem, self.tips, self.task, self.position_only = problem, tips, task, position_only

    def examine(self, solution: mk.Solution, targets: Sequence[Array]) -> Verdict:
        """Judge an answer by itself, then hold it against its status and its errors; targets are poses, or positions."""
        found = [
            self._errors(plain_forward(self.problem.body, solution.q, tip), target)
            for tip, target in zip(self.tips, targets, strict=True)
        ]
        position, orientation = max(error[0] for error in found), max(error[1] for error in found)
        complaints = list(self._outside(solution.q))
        reached = all(near <= self.task.position and turned <= self.task.orientation for near, turned in found)
        # At the tolerance itself rounding decides, so there the status may be either.
        clearly = all(
            abs(near - self.task.position) > SLACK and abs(turned - self.task.orientation) > SLACK
            for near, turned in found
        )
        if solution.success != reached and clearly:
            complaints.append(
                f"says {solution.status.name}, but forward kinematics finds it {position:.3g} m and {orientation:.3g} rad off"
            )
        told = solution.term_errors.reshape(len(self.tips), -1)
        asked = np.array(found)[:, : told.shape[1]]
        if not np.allclose(told, asked, rtol=1e-6, atol=ROUNDING):
            complaints.append(f"reports an error of {told.max():.3g}, but it is {asked.max():.3g}")
        return Verdict(reached and not complaints, position, orientation, tuple(complaints))

    def _errors(self, pose: Array, target: Array) -> tuple[float, float]:
        if self.position_only:
            return float(np.linalg.norm(pose[:3, 3] - target)), 0.0
        return pose_distance(pose, target)

    def _outside(self, q: Array) -> Iterator[str]:
        lower, upper = self.problem.lower, self.problem.upper
        for k, name in enumerate(self.problem.body.joint_names):
            if not lower[k] - SLACK <= q[k] <= upper[k] + SLACK:
                yield f"joint {name!r} is at {q[k]:.6g}, outside its limits {lower[k]:.6g} to {upper[k]:.6g}"


def plain_forward(body: mk.Body, q: Array, link: str) -> Array:
    """world_from_link [4x4]: one matrix for each joint from the link up to the root. No kernel has a part in it."""
    above = {joint.child: joint for joint in body.joints.values()}
    pose = np.eye(4)
    while link in above:
        joint = above[link]
        drives = body.variables.drives.get(joint.name, ())
        pose = joint.transform([drive.ratio * q[drive.variable] + drive.offset for drive in drives]) @ pose
        link = joint.parent
    return pose
