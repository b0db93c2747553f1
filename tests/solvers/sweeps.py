"""What CCD and FABRIK are tested on alike."""

from __future__ import annotations

import math

import numpy as np

import memetik as mk
from memetik.build import snake
from memetik.objectives import Orientation, Pose, Position
from memetik.problem import Problem
from tests.naive import kinematics
from tests.timing import ratio

FINGERTIPS = ("rh_fftip", "rh_mftip", "rh_rftip", "rh_lftip", "rh_thtip")
LIMBS = ("rightPalm", "leftPalm", "rightFoot", "leftFoot")


def reach(body, tips, kind):
    """A problem about some links, with targets to be set by `aim`."""
    if kind is Position:
        return Problem(body, [Position(tip, (0.0, 0.0, 0.0)) for tip in tips])
    return Problem(body, [Pose(tip, np.eye(4)) for tip in tips])


def aim(problem, q):
    """Let all objectives want what the posture q has."""
    for objective in problem.objectives:
        pose = kinematics.pose(problem.body, objective.frame, q)
        parts = {Position: pose[:3, 3], Orientation: pose[:3, :3]}
        objective.target = parts.get(type(objective), pose)


BODIES = {
    "planar": (lambda: mk.build.planar_chain([0.6, 0.4]), ("tip",)),
    "chain": (lambda: snake(10), ("tip",)),
    "ur5": (lambda: mk.load("ur5"), ("tool0",)),
    "nao": (lambda: mk.load("nao").chain("left_arm"), ("l_gripper",)),
    "hand": (lambda: mk.load("shadow_hand"), FINGERTIPS),
    "valkyrie": (lambda: mk.load("valkyrie"), LIMBS),
}


def honest(solution):
    """Whether limits hold and status and errors are those of plain matrices."""
    body, problem = solution.problem.body, solution.problem
    q = solution.q
    if not ((q >= problem.lower).all() and (q <= problem.upper).all()):
        return False
    good = True
    for objective in problem.objectives:
        pose, error = kinematics.pose(body, objective.frame, q), solution.errors[objective]
        target = np.eye(4)
        if isinstance(objective, Position):
            target[:3, 3], error, allowed = objective.target, (error, 0.0), (objective.tolerance, 0.0)
            turned = 0.0
        else:
            target, allowed = objective.target, (objective.position_tolerance, objective.orientation_tolerance)
            turned = math.acos(np.clip(0.5 * (np.trace(target[:3, :3].T @ pose[:3, :3]) - 1.0), -1.0, 1.0))
        away = math.dist(pose[:3, 3], target[:3, 3])
        if abs(away - error[0]) > 1e-9 or abs(turned - error[1]) > 1e-6:
            return False
        good = good and error[0] <= allowed[0] and error[1] <= allowed[1]
    return good == solution.success


def growth(solver, few=100, many=1600, sweeps=25):
    """How many times as long a sweep over the longer of two chains takes.

    The target asks for more than can be had, which keeps the sweeps busy.
    """

    def work(joints):
        body = snake(joints)
        problem = Problem(body, Pose("tip", np.diag([-1.0, -1.0, 1.0, 1.0]), position_tolerance=0.0))
        start, budget = body.sample(np.random.default_rng(joints)), mk.Budget(evaluations=sweeps)
        assert solver.solve(problem, start, budget).evaluations == sweeps
        return lambda: solver.solve(problem, start, budget)

    return ratio(work(many), work(few))
