"""Is the answer the nearest of all solutions? Arms of six joints, by hand:

    python -m tests.stress.nearest 10000 [ARM ...]

Of each arm so many poses that it reaches, from starts all over its limits, at home and next to a solution. A problem asks for
the pose in one of several ways: as a Pose, with a Displacement of some weight, with one whose joints weigh differently, with one
that has a reference, and as Position and Orientation in either order. Its answer is compared with the nearest solution that
`solve_all` finds of the Pose alone, and with what `bind` and `solve_batch` answer. The last number of a row is how much farther
an answer was at most [rad].
"""

from __future__ import annotations

import math
import sys

import numpy as np

import memetik as mk

WITHIN = 1e-3  # rad that an answer may be farther away
MINDED = (4.0, 1.0, 0.3, 2.0, 1.0, 0.5)  # weights of joints
REST = (0.3, -1.1, 0.9, 0.2, 0.8, -0.4)  # rad, a reference

HALF, DEGREE = 0.5 * math.pi, math.pi / 180.0
UR10 = [  # a, alpha, d, theta, as Universal Robots print them
    (0.0, HALF, 0.1273, 0.0), (-0.612, 0.0, 0.0, 0.0), (-0.5723, 0.0, 0.0, 0.0),
    (0.0, HALF, 0.163941, 0.0), (0.0, -HALF, 0.1157, 0.0), (0.0, 0.0, 0.0922, 0.0),
]  # fmt: skip
PUMA = [  # the same of the Puma 560 (Corke, "Robotics, Vision and Control")
    (0.0, HALF, 0.0, 0.0), (0.4318, 0.0, 0.0, 0.0), (0.0203, -HALF, 0.15005, 0.0),
    (0.0, HALF, 0.4318, 0.0), (0.0, -HALF, 0.0, 0.0), (0.0, 0.0, 0.0, 0.0),
]  # fmt: skip
PUMA_LIMITS = np.array([(-160, 160), (-45, 225), (-225, 45), (-110, 170), (-100, 100), (-266, 266)]) * DEGREE


def _ur10():
    return mk.build.from_dh(UR10, lower=[-2.0 * math.pi] * 6, upper=[2.0 * math.pi] * 6, name="ur10")


def _puma():
    return mk.build.from_dh(PUMA, lower=PUMA_LIMITS[:, 0].tolist(), upper=PUMA_LIMITS[:, 1].tolist(), name="puma560")


ARMS = {
    "ur5": (lambda: mk.load("ur5"), "tool0"),
    "ur10": (_ur10, "link_6"),
    "puma560": (_puma, "link_6"),
    "kr120": (lambda: mk.load("kr120"), "tool0"),
}


def guides(body):
    """What guides beside the pose, by name: the objectives, the weight of each joint, and the posture to stay near."""
    weights = dict(zip(body.joint_names, MINDED, strict=True))
    rest = np.clip(REST, body.lower, body.upper)
    alike = np.ones(6)
    return {
        "alone": ([], alike, None),
        "Displacement": ([mk.Displacement()], alike, None),
        "heavy Displacement": ([mk.Displacement(weight=10.0)], alike, None),
        "Displacement by joint": ([mk.Displacement(stiffness=weights)], np.array(MINDED), None),
        "Displacement from a reference": ([mk.Displacement(reference=rest)], alike, rest),
    }


def wanted(tip, target):
    """Ways to ask for a pose, by name."""
    pose = mk.Pose(tip, target)
    position, orientation = mk.Position(tip, target[:3, 3]), mk.Orientation(tip, target[:3, :3])
    return {"Pose": [pose], "Position, Orientation": [position, orientation], "reversed": [orientation, position]}


def aim(objectives, target):
    for objective in objectives:
        if isinstance(objective, mk.Pose):
            objective.target = target
        elif isinstance(objective, mk.Position):
            objective.target = target[:3, 3]
        else:
            objective.target = target[:3, :3]


def drawn(body, tip, count, seed):
    """Targets and starts: one in four of these is home, and one in four is next to a solution."""
    rng = np.random.default_rng(seed)
    for k in range(count):
        q = rng.uniform(body.lower, body.upper)
        start = rng.uniform(body.lower, body.upper)
        if k % 4 == 1:
            start = np.array(body.home)
        elif k % 4 == 2:
            start = np.clip(q + rng.normal(0.0, 10.0 ** rng.uniform(-4.0, -0.5), 6), body.lower, body.upper)
        yield body.forward(q, tip), start


def measure(body, tip, asked, beside, count, seed=0):
    """How many answers failed, were farther than the nearest of all, and by how much; how many ways in disagree."""
    objectives, weights, rest = beside
    alone = mk.Pose(tip, np.eye(4))
    judge, problem = mk.Problem(body, alone), mk.Problem(body, [*asked, *objectives])
    step = mk.bind(problem, *asked)
    targets, starts, answers = [], [], []
    failed = farther = otherwise = 0
    worst = 0.0
    for target, start in drawn(body, tip, count, seed):
        alone.target = target
        aim(asked, target)
        answer = mk.solve(problem, start)
        near = start if rest is None else rest
        distances = [np.linalg.norm(weights * (each.q - near)) for each in mk.solve_all(judge, near, count=64)]
        more = float(np.linalg.norm(weights * (answer.q - near))) - min(distances, default=math.inf)
        failed += not answer.success
        farther += more > WITHIN
        worst = max(worst, more)
        given = [target if isinstance(o, mk.Pose) else target[:3, 3] if isinstance(o, mk.Position) else target[:3, :3]
                 for o in asked]  # fmt: skip
        otherwise += not np.array_equal(step(*given, start), answer.q)
        targets.append(target)
        starts.append(start)
        answers.append(answer.q)
    rows = np.array(targets)
    given = {o: rows if isinstance(o, mk.Pose) else rows[:, :3, 3] if isinstance(o, mk.Position) else rows[:, :3, :3]
             for o in asked}  # fmt: skip
    batch = mk.solve_batch(problem, given, np.array(starts), progress=False)
    otherwise += int(np.sum((batch.q != np.array(answers)).any(axis=1)))
    return failed, farther, worst, otherwise


def main() -> int:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    bad = 0
    for name in sys.argv[2:] or ARMS:
        make, tip = ARMS[name]
        body = make()
        for how, asked in wanted(tip, np.eye(4)).items():
            for what, beside in guides(body).items():
                failed, farther, worst, otherwise = measure(body, tip, asked, beside, count)
                bad += failed + farther + otherwise
                print(
                    f"{name:8} {how:22} {what:30} {count} poses: {failed} failed, {farther} farther than the nearest, "
                    f"{otherwise} other answers by bind or solve_batch, {max(worst, 0.0):.1e}",
                    flush=True,
                )
    return int(bad > 0)


if __name__ == "__main__":
    sys.exit(main())
