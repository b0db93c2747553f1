"""Closed forms of random arms against EAIK and the naive forward kinematics, by hand:

    python tests/stress/closed_forms.py 10000 [FAMILY ...]

Of each family of arms (tests/naive/arms.py) and of the arms with seven joints, so many poses. For each: the posture that was
drawn is found; all that is found is on the target; whatever EAIK finds is found; and how often EAIK does not find it all.
Of each arm also a singular pose, where two solutions fall together or one angle is open.
"""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass, field

import numpy as np

import memetik as mk
from memetik.solvers.analytic import Analytic
from memetik.solvers.budget import Budget
from tests.naive import eaik, kinematics
from tests.naive.arms import FAMILIES

POSES = 100  # of one arm
ATOL = 1e-6  # m or rad that a posture of EAIK may be off the target; ours 1e-8
NEAR = 1e-4  # rad; solutions nearer to each other are one: that is how well EAIK meets them at double roots
ONE_VALUE = Budget(evaluations=1)  # ends after the value at which the start holds the held joint
SEVEN = {"iiwa14": "tool0", "panda": "panda_link8"}


@dataclass
class Tally:
    """What was seen of one family."""

    poses: int = 0
    solutions: int = 0
    worst: float = 0.0  # m or rad off the target
    missed: int = 0  # postures that were drawn and not found
    lacking: int = 0  # solutions of EAIK that were not found
    compared: int = 0  # poses that EAIK was asked
    beyond: int = 0  # poses with solutions that EAIK did not find
    singular: int = 0
    singular_missed: int = 0
    notes: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        return (
            f"{self.poses} poses, {self.solutions / max(self.poses, 1):.2f} solutions, off by {self.worst:.0e}, missed "
            f"{self.missed}, singular {self.singular} missed {self.singular_missed}; EAIK {self.compared}, of which lacking "
            f"{self.lacking}, EAIK lacks some of {self.beyond}"
        )


def apart(rows, q):
    """The largest difference of a joint between q and the row that is nearest to it, whole turns apart."""
    return np.abs(np.angle(np.exp(1j * (rows - q)))).max(axis=1).min(initial=np.inf)


def singular(body, tip, rng):
    """A singular posture: between two at which the determinant of the Jacobian has different signs."""

    def volume(q):
        return np.linalg.det(kinematics.exact_jacobian(body, tip, q))

    one = rng.uniform(-3.0, 3.0, 6)
    sign = np.sign(volume(one))
    for _ in range(50):
        other = one + rng.normal(0.0, 0.5, 6)
        if np.sign(volume(other)) != sign:
            break
    else:
        return None
    for _ in range(60):
        middle = 0.5 * (one + other)
        one, other = (middle, other) if np.sign(volume(middle)) == sign else (one, middle)
    return one


def check(tally, body, tip, q, robot, pose, problem):
    """One pose, which the posture q takes."""
    target = pose.target = kinematics.pose(body, tip, q)
    found = np.array([each.q for each in Analytic().solve_all(problem, q, ONE_VALUE)]).reshape(-1, body.dof)
    tally.poses += 1
    tally.solutions += len(found)
    if len(found):
        tally.worst = max(tally.worst, float(np.abs(kinematics.pose(body, tip, found.T) - target).max()))
    if apart(found, q) > NEAR:
        tally.missed += 1
        tally.notes.append(f"missed {q.tolist()}")
    if robot is None:
        return
    theirs = eaik.solutions(robot, body, tip, target, ATOL)
    tally.compared += 1
    tally.lacking += sum(apart(found, row) > NEAR for row in theirs)
    tally.beyond += any(apart(theirs, row) > NEAR for row in found)


def check_singular(tally, body, tip, rng, pose, problem):
    """The start is the singular posture, and leaves open what the target does."""
    q = singular(body, tip, rng)
    if q is None:
        return
    pose.target = kinematics.pose(body, tip, q)
    answer = Analytic().solve(problem, q)
    tally.singular += 1
    if not (answer.success and apart(answer.q[np.newaxis], q) < NEAR):
        tally.singular_missed += 1
        tally.notes.append(
            f"singular {q.tolist()} {answer.status} {answer.term_errors} {apart(answer.q[np.newaxis], q):.1e}"
        )


def problem_of(body, tip):
    pose = mk.Pose(tip, np.eye(4), position_tolerance=1e-8, orientation_tolerance=1e-8)
    return pose, mk.Problem(body, pose)


def six(name, count, poses=POSES):
    """The tally of a family, with so many poses of each arm."""
    tally = Tally()
    for seed in range(count // poses):
        rng = np.random.default_rng(seed)
        body = FAMILIES[name](rng)
        pose, problem = problem_of(body, "tip")
        robot = eaik.robot(body, "tip")
        for k in range(poses):
            check(tally, body, "tip", rng.uniform(-3.0, 3.0, 6), robot, pose, problem)
            if k == 0:
                check_singular(tally, body, "tip", rng, pose, problem)
    return tally


def seven(name, count):
    """The tally of a bundled arm of seven joints, the held one where it was in the drawn posture."""
    tally, rng = Tally(), np.random.default_rng(0)
    body, tip = mk.load(name).chain("arm"), SEVEN[name]
    pose, problem = problem_of(body, tip)
    Analytic().check(problem)
    held = held_joint(problem)
    for _ in range(count):
        q = body.sample(rng)
        robot = eaik.robot(body, tip, [(held, q[held])])
        check(tally, body, tip, q, robot, pose, problem)
    return tally


def held_joint(problem):
    """The joint that the closed form holds."""
    from memetik.solvers.analytic import AnalyticPlan

    return problem.compiled.plans[AnalyticPlan].arm.held


def main(count, names):
    for name in names or [*FAMILIES, *SEVEN]:
        begin = time.perf_counter()
        tally = six(name, count) if name in FAMILIES else seven(name, count)
        print(f"{name}: {tally} [{time.perf_counter() - begin:.0f} s]", flush=True)
        for note in tally.notes[:3]:
            print("   ", note)


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2:])
