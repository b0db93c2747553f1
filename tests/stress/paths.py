"""Are paths followed that some motion of the joints follows?

    python -m tests.stress.paths [--paths 1000] [--arm panda --arm ur10] [--urdf FILE --tip LINK] [--kind splines]
    python -m tests.stress.paths --seams --paths 100

Each path has 150 poses, and a motion of the joints without jumps that follows it is known from how it is made. "splines" are what
the tip does while the joints follow a monotone spline through four random postures; "lines" and "circles" begin at a random
posture, and damped least squares follows them from there step by step. The track begins from home, which knows nothing of that.
Seams are circles and lines of 300 points, about whose normal the tool may spin.

Lost: a step that is not reached. Jumped: a joint changes by more than 0.5 rad from step to step.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Iterator

import numpy as np
from scipy.interpolate import PchipInterpolator

import memetik as mk

STEPS, SEAM = 150, 300
JUMP = 0.5  # rad
TURN = 2.0 * math.pi
BUNDLED = {"panda": "panda_hand", "ur5": "tool0", "iiwa14": "tool0"}
# Denavit-Hartenberg tables that the makers publish: a, alpha, d, theta; lower and upper limits.
UR10 = [
    (0.0, math.pi / 2, 0.1273, 0.0), (-0.612, 0.0, 0.0, 0.0), (-0.5723, 0.0, 0.0, 0.0),
    (0.0, math.pi / 2, 0.163941, 0.0), (0.0, -math.pi / 2, 0.1157, 0.0), (0.0, 0.0, 0.0922, 0.0),
]  # fmt: skip
XARM7 = [
    (0.0, 0.0, 0.267, 0.0), (0.0, -math.pi / 2, 0.0, 0.0), (0.0, math.pi / 2, 0.293, 0.0), (0.0525, math.pi / 2, 0.0, 0.0),
    (0.0775, math.pi / 2, 0.3425, 0.0), (0.0, math.pi / 2, 0.0, 0.0), (0.076, -math.pi / 2, 0.097, 0.0),
]  # fmt: skip
GEN3 = [
    (0.0, math.pi / 2, -0.2848, 0.0), (0.0, math.pi / 2, -0.0118, math.pi), (0.0, math.pi / 2, -0.4208, math.pi),
    (0.0, math.pi / 2, -0.0128, math.pi), (0.0, math.pi / 2, -0.3143, math.pi), (0.0, math.pi / 2, 0.0, math.pi),
    (0.0, math.pi, -0.1674, math.pi),
]  # fmt: skip
TABLES = {  # table, convention, lower, upper, pose of the base
    "ur10": (UR10, "classic", [-TURN] * 6, [TURN] * 6, np.eye(4)),
    "xarm7": (
        XARM7, "modified", [-TURN, -2.059, -TURN, -0.19198, -TURN, -1.69297, -TURN],
        [TURN, 2.0944, TURN, 3.927, TURN, math.pi, TURN], np.eye(4),
    ),
    "gen3": (
        GEN3, "classic", [-math.inf, -2.41, -math.inf, -2.66, -math.inf, -2.23, -math.inf],
        [math.inf, 2.41, math.inf, 2.66, math.inf, 2.23, math.inf], np.diag([1.0, -1.0, -1.0, 1.0]),
    ),
}  # fmt: skip


KINDS = ("splines", "lines", "circles")


def arm(name: str) -> tuple[mk.Body, str]:
    """An arm and its tip."""
    if name in BUNDLED:
        body = mk.load(name)
        return body.chain(body.root, BUNDLED[name]), BUNDLED[name]
    table, convention, lower, upper, base = TABLES[name]
    body = mk.build.from_dh(table, convention=convention, lower=lower, upper=upper, base_pose=base, name=name)
    return body, f"link_{len(table)}"


def postures(body: mk.Body, rng: np.random.Generator, count: int) -> np.ndarray:
    """Random postures within the limits; joints without any turn by half a turn."""
    lower, upper = np.maximum(body.lower, -math.pi), np.minimum(body.upper, math.pi)
    bounded = np.isfinite(body.lower)
    lower[bounded], upper[bounded] = body.lower[bounded], body.upper[bounded]
    return rng.uniform(lower, upper, (count, body.dof))


def spline(body: mk.Body, tip: str, rng: np.random.Generator, steps: int) -> np.ndarray:
    """What the tip does while the joints follow a monotone spline through four random postures."""
    while True:
        q = PchipInterpolator(np.linspace(0.0, 1.0, 4), postures(body, rng, 4))(np.linspace(0.0, 1.0, steps))
        if np.abs(np.diff(q, axis=0)).max() < 0.5 * JUMP:
            return body.forward(q, tip)


def line(body: mk.Body, tip: str, rng: np.random.Generator, steps: int) -> tuple[np.ndarray, np.ndarray]:
    """A straight line of up to a metre from a random posture, which is the second of both."""
    q = postures(body, rng, 1)[0]
    begin = body.forward(q, tip)
    way = rng.normal(size=3)
    end = mk.translation(*(rng.uniform(0.1, 1.0) * way / np.linalg.norm(way))) @ begin
    return mk.motion.straight_line(begin, end, steps=steps), q


def circle(body: mk.Body, tip: str, rng: np.random.Generator, steps: int) -> tuple[np.ndarray, np.ndarray]:
    """A circle of up to 0.3 m from a random posture, in any plane, with the rotation of the tip there."""
    q = postures(body, rng, 1)[0]
    path = np.repeat(body.forward(q, tip)[np.newaxis], steps, axis=0)
    u, v = np.linalg.qr(rng.normal(size=(3, 2)))[0].T
    angle, radius = np.linspace(0.0, TURN, steps)[:, np.newaxis], rng.uniform(0.03, 0.3)
    path[:, :3, 3] += radius * ((np.cos(angle) - 1.0) * u + np.sin(angle) * v)
    return path, q


def paths(body: mk.Body, tip: str, kind: str, count: int, seed: int) -> Iterator[np.ndarray]:
    """So many paths of a kind that can be followed."""
    rng, made = np.random.default_rng(seed), 0
    pose = mk.Pose(tip, np.eye(4))
    problem = mk.Problem(body, pose)
    while made < count:
        if kind == "splines":
            yield spline(body, tip, rng, STEPS)
        else:
            path, q = (line if kind == "lines" else circle)(body, tip, rng, STEPS)
            if not mk.track(problem, {pose: path}, q, method="levenberg_marquardt", budget=mk.Budget(evaluations=50)):
                continue
            yield path
        made += 1


def measure(body: mk.Body, tip: str, kind: str, count: int, seed: int) -> int:
    """Print a line for an arm and a kind of path; how many are lost or jump."""
    pose = mk.Pose(tip, np.eye(4))
    problem = mk.Problem(body, pose)
    lost = jumped = 0
    seconds, bad = [], []
    for k, path in enumerate(paths(body, tip, kind, count, seed)):
        found = mk.track(problem, {pose: path})
        seconds.append(found.seconds)  # without what kernels took to compile
        misses, jumps = not found.reached.all(), bool((np.abs(np.diff(found.q, axis=0)) > JUMP).any())
        lost, jumped = lost + misses, jumped + (jumps and not misses)
        if misses or jumps:
            bad.append(k)
    p50, p95, most = 1e3 * np.quantile(seconds, (0.5, 0.95, 1.0))
    print(
        f"{body.name:8} {kind:8} {count - lost - jumped} of {count} followed, {lost} lost, {jumped} jumped; "
        f"{p50:.2f} ms in the median, {p95:.2f} ms in 95 %, {most:.1f} ms at most"
        + (f"  bad: {bad[:20]}" if bad else ""),
        flush=True,
    )
    return lost + jumped


def seam(body: mk.Body, tip: str, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """A circle or a line that a random posture begins, about whose normal the tool turns as the arm likes, and that posture."""
    return (line if rng.random() < 0.5 else circle)(body, tip, rng, SEAM)


def measure_seams(body: mk.Body, tip: str, count: int, seed: int) -> int:
    """Print a line for an arm and for those who follow the same seams; how many are lost or jump."""
    rng = np.random.default_rng(seed)
    place = mk.Position(tip, (0, 0, 0))
    axis = mk.Direction(tip, (0, 0, 1), axis=(0, 0, 1))
    problem = mk.Problem(body, [place, axis])
    seconds, bad, tried = [], 0, 0
    while tried < count:
        path, q = seam(body, tip, rng)
        targets = {place: path[:, :3, 3], axis: path[:, :3, 2]}
        if not mk.track(problem, targets, q, method="levenberg_marquardt", budget=mk.Budget(evaluations=50)):
            continue
        found = mk.track(problem, targets)
        seconds.append(found.seconds)
        tried += 1
        bad += not (found.reached.all() and (np.abs(np.diff(found.q, axis=0)) <= JUMP).all())
    p50, p95, most = 1e3 * np.quantile(seconds, (0.5, 0.95, 1.0))
    print(
        f"{body.name:8} seams    {count - bad} of {count} followed; {p50:.2f} ms in the median, {p95:.2f} ms in 95 %, "
        f"{most:.1f} ms at most",
        flush=True,
    )
    return bad


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--paths", type=int, default=1000, help="for each arm, a third of each kind")
    parser.add_argument("--arm", action="append", choices=[*BUNDLED, *TABLES], help="all unless given")
    parser.add_argument("--kind", action="append", choices=KINDS, help="all unless given")
    parser.add_argument("--urdf", help="another arm, with --tip")
    parser.add_argument("--tip")
    parser.add_argument("--seams", action="store_true", help="seams instead of paths, --paths for each arm")
    parser.add_argument("--seed", type=int, default=20261)
    given = parser.parse_args()
    if given.urdf:
        whole = mk.load(given.urdf)
        arms = [(whole.chain(whole.root, given.tip), given.tip)]
    else:
        arms = [arm(name) for name in given.arm or [*BUNDLED, *TABLES]]
    if given.seams:
        return int(sum(measure_seams(body, tip, given.paths, given.seed) for body, tip in arms) > 0)
    kinds = given.kind or KINDS
    shares = [given.paths // len(kinds) + (k < given.paths % len(kinds)) for k in range(len(kinds))]
    bad = 0
    for body, tip in arms:
        for kind, count in zip(kinds, shares, strict=True):
            bad += measure(body, tip, kind, count, given.seed)
    return int(bad > 0)


if __name__ == "__main__":
    sys.exit(main())
