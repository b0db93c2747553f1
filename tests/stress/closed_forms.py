"""Closed forms of random arms against EAIK and the naive forward kinematics, by hand:

    python -m tests.stress.closed_forms 10000 [FAMILY ...]
    python -m tests.stress.closed_forms 10000 rounded [FAMILY ...]

Of each family of arms (tests/naive/arms.py) and of the arms with seven joints, so many poses. For each: the posture that was
drawn is found; all that is found is on the target; whatever EAIK finds is found; how often EAIK does not find it all, and
how often it calls exact what is not. One pose in ten is moved away, mostly out of reach, where the same must hold without a
posture that was drawn. Of each arm also a singular pose, where two solutions fall together or one angle is open.

`rounded`: the same arms as files give them, with axes off by up to 4e-6 rad and offsets in micrometres, for which EAIK has no
exact answers. The posture that was drawn is found, and of all solutions of the arm as meant that are not next to a
singularity there is one nearby, and the other way round.
"""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass, field

import numpy as np
from scipy.spatial.transform import Rotation

import memetik as mk
from memetik.solvers.analytic import Analytic
from memetik.solvers.budget import Budget
from tests.naive import arms, eaik, kinematics
from tests.naive.arms import FAMILIES

POSES = 100  # of one arm
ATOL = 1e-6  # m or rad that a posture of EAIK may be off the target; ours 1e-8
WRONG = 1e-3  # m or rad that an answer of EAIK is off the target for certain
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
    blurred: int = (
        0  # answers of EAIK that are on the target within ATOL, and farther than NEAR from the solution next to them
    )
    compared: int = 0  # poses that EAIK was asked
    beyond: int = 0  # poses with solutions that EAIK did not find
    wrong: int = 0  # answers that EAIK calls exact and that are off by more than WRONG
    away: int = 0  # poses that were moved away, and of these the unreachable ones
    unreachable: int = 0
    singular: int = 0
    singular_missed: int = 0
    notes: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        return (
            f"{self.poses} poses, {self.solutions / max(self.poses, 1):.2f} solutions, off by {self.worst:.0e}, missed "
            f"{self.missed}, singular {self.singular} missed {self.singular_missed}; EAIK {self.compared}, of which lacking "
            f"{self.lacking} and {self.blurred} far from their solution, EAIK lacks some of {self.beyond} and calls "
            f"{self.wrong} answers exact that are not; moved away {self.away}, unreachable {self.unreachable}"
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


def newton(body, tip, q, target, moves):
    """The solution that Newton steps of the joints `moves` lead to, or None; next to a double root a small error of the pose is a
    large one of q."""
    for _ in range(40):
        pose = kinematics.pose(body, tip, q)
        turned = Rotation.from_matrix(target[:3, :3] @ pose[:3, :3].T).as_rotvec()
        off = np.concatenate((target[:3, 3] - pose[:3, 3], turned))
        if np.abs(off).max() < 1e-12:
            return q
        q = q.copy()
        q[moves] += np.linalg.lstsq(kinematics.exact_jacobian(body, tip, q)[:, moves], off, rcond=1e-12)[0]
    return None


def check(tally, body, tip, q, robot, pose, problem, moved=None, held=None):
    """One pose, which the posture q takes; moved: how far it is moved away from there [m]; held: the joint that EAIK holds."""
    target = kinematics.pose(body, tip, q)
    if moved is not None:
        target[:3, 3] += moved
    pose.target = target
    found = np.array([each.q for each in Analytic().solve_all(problem, q, ONE_VALUE)]).reshape(-1, body.dof)
    tally.poses += 1
    tally.solutions += len(found)
    if len(found):
        tally.worst = max(tally.worst, float(np.abs(kinematics.pose(body, tip, found.T) - target).max()))
    if moved is not None:
        tally.away += 1
        tally.unreachable += not len(found)
    elif apart(found, q) > NEAR:
        tally.missed += 1
        tally.notes.append(f"missed {q.tolist()}")
    if robot is None:
        return
    theirs = eaik.solutions(robot, body, tip, target, ATOL)
    _, off, exact = eaik.answers(robot, body, tip, target)
    tally.compared += 1
    tally.wrong += int((off[exact] > WRONG).sum())
    for row in theirs:
        if apart(found, row) > NEAR:
            exact = newton(body, tip, row, target, [k for k in range(body.dof) if k != held])
            if exact is not None and apart(found, exact) <= NEAR:
                tally.blurred += 1
                continue
            tally.lacking += 1
            tally.notes.append(f"lacking {row.tolist()} {apart(found, row):.1e} from {q.tolist()} {moved}")
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
            moved = rng.normal(size=3) * 2.0 if k % 10 == 9 else None
            check(tally, body, "tip", rng.uniform(-3.0, 3.0, 6), robot, pose, problem, moved)
            if k == 0:
                check_singular(tally, body, "tip", rng, pose, problem)
    return tally


@dataclass
class RoundedTally:
    """What was seen of the rounded arms of one family."""

    poses: int = 0
    solutions: int = 0
    worst: float = 0.0  # m or rad off the target
    missed: int = 0  # postures that were drawn and not found
    lost: int = 0  # solutions of the arm as meant without one nearby
    extra: int = 0  # solutions without one of the arm as meant nearby
    notes: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        return (
            f"{self.poses} poses, {self.solutions / max(self.poses, 1):.2f} solutions, off by {self.worst:.0e}, missed "
            f"{self.missed}, lost {self.lost}, extra {self.extra}"
        )


def far_from_all(rows, others, body):
    """The rows that are not next to a singularity and have none of the others nearby."""

    def least(q):
        return np.linalg.svd(kinematics.exact_jacobian(body, "tip", q), compute_uv=False)[-1]

    return [row for row in rows if apart(others, row) > 0.02 and least(row) > 0.02]


def rounded(name, count, poses=POSES):
    """The tally of a family whose arms are rounded."""
    tally = RoundedTally()
    for seed in range(count // poses):
        rng = np.random.default_rng(seed)
        meant = FAMILIES[name](rng)
        body = arms.rounded(meant, rng)
        (pose, problem), (meant_pose, meant_problem) = problem_of(body, "tip"), problem_of(meant, "tip")
        for _ in range(poses):
            q = rng.uniform(-3.0, 3.0, 6)
            pose.target = meant_pose.target = target = kinematics.pose(body, "tip", q)
            found, others = (
                np.array([each.q for each in Analytic().solve_all(of, q)]).reshape(-1, 6)
                for of in (problem, meant_problem)
            )
            tally.poses += 1
            tally.solutions += len(found)
            tally.worst = max(
                tally.worst, float(np.abs(kinematics.pose(body, "tip", found.T) - target).max(initial=0.0))
            )
            lost, extra = far_from_all(others, found, body), far_from_all(found, others, body)
            tally.lost, tally.extra = tally.lost + len(lost), tally.extra + len(extra)
            if apart(found, q) > NEAR:
                tally.missed += 1
                tally.notes.append(f"missed {q.tolist()} of arm {seed}")
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
        check(tally, body, tip, q, robot, pose, problem, held=held)
    return tally


def held_joint(problem):
    """The joint that the closed form holds."""
    from memetik.solvers.analytic import AnalyticPlan

    return problem.compiled.plans[AnalyticPlan].arm.held


def main(count, names):
    if names[:1] == ["rounded"]:
        families, tallied = names[1:] or FAMILIES, rounded
    else:
        families, tallied = names or [*FAMILIES, *SEVEN], seen
    for name in families:
        begin = time.perf_counter()
        tally = tallied(name, count)
        print(f"{name}: {tally} [{time.perf_counter() - begin:.0f} s]", flush=True)
        for note in tally.notes[:3]:
            print("   ", note)


def seen(name, count):
    """The tally of a family, or of an arm with seven joints."""
    return six(name, count) if name in FAMILIES else seven(name, count)


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2:])
