"""Do problems with guides only end at the lowest cost?

    python -m tests.stress.guides arms 1000        # reachable poses of six arms: how many end more than 1 mm off
    python -m tests.stress.guides humanoids 1000   # several guides at once: how often the best of 20 random starts is better
    python -m tests.stress.guides tracks 40        # paths of a Panda: how many end more than 20 mm off

A solve starts from the home of the body and has the default budget. The random starts of the humanoids are minimised by L-BFGS-B
without restarts, a method that shares no search with the flagship.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[2]))

import memetik as mk

OFF, WORSE, STARTS = 1e-3, 0.01, 20
FAR = 0.02  # m; of a path
ARMS = {"panda": "panda_hand", "ur5": "tool0", "iiwa14": "tool0", "m10ia": "tool0", "kr120": "tool0"}
TIPS = {
    "valkyrie": ("leftPalm", "rightPalm", "leftFoot", "rightFoot", "head", "torso"),
    "g1": ("left_hand_palm_link", "right_hand_palm_link", "left_ankle_roll_link", "right_ankle_roll_link", "head_link"),
}


def arms() -> dict[str, tuple[mk.Body, str]]:
    """Five arms and one of a robot with two."""
    found = {name: (mk.load(name), tip) for name, tip in ARMS.items()}
    tip = "r_gripper_tool_frame"
    return {**found, "pr2, right arm": (mk.load("pr2").chain("torso_lift_link", tip), tip)}


def guide(tip: str, pose: np.ndarray, weight: float = 1.0) -> mk.Pose:
    """A pose that nothing can miss."""
    return mk.Pose(tip, pose, position_tolerance=None, orientation_tolerance=None, weight=weight)


def measure_arms(count: int, seed: int) -> int:
    """Print a line for each arm; how many poses end too far off."""
    total = 0
    for name, (body, tip) in arms().items():
        rng = np.random.default_rng(seed)
        wanted = guide(tip, np.eye(4))
        problem = mk.Problem(body, wanted)
        mk.solve(problem)
        off, evaluations, seconds = [], [], []
        for _ in range(count):
            wanted.target = body.forward(body.sample(rng))[tip]
            solution = mk.solve(problem)
            assert solution.status == mk.Status.MINIMUM
            off.append(solution.errors[wanted].position)
            evaluations.append(solution.evaluations)
            seconds.append(solution.seconds)
        bad = int((np.array(off) > OFF).sum())
        total += bad
        print(
            f"{name:16} {bad} of {count} more than 1 mm off, worst {1e3 * max(off):.3g} mm; evaluations: median "
            f"{np.median(evaluations):.0f}, most {max(evaluations)}; {1e6 * np.median(seconds):.0f} us in the median",
            flush=True,
        )
    return total


def humanoids() -> list[tuple[str, mk.Body]]:
    """Standing on a fixed and on a floating root."""
    return [
        (name, mk.load(name, base="floating", base_lower=-1.0, base_upper=1.0) if floats else mk.load(name))
        for name in TIPS
        for floats in (False, True)
    ]


def guides(body: mk.Body, tips: tuple[str, ...], rng: np.random.Generator) -> mk.Problem:
    """Two to five guides for links of one posture, of several postures (in conflict), or moved away (out of reach)."""
    how, poses, objectives = rng.integers(3), body.forward(body.sample(rng)), []
    for tip in rng.permutation(tips)[: rng.integers(2, min(len(tips), 5) + 1)]:
        if how == 1:
            poses = body.forward(body.sample(rng))
        pose, weight = poses[tip].copy(), float(10.0 ** rng.uniform(-0.7, 0.7))
        if how == 2:
            pose[:3, 3] += rng.normal(0.0, 0.5, 3)
        towards = pose[:3, 3] + rng.normal(0.0, 1.0, 3)
        kinds = (
            guide(tip, pose, weight),
            mk.Position(tip, pose[:3, 3], tolerance=None, weight=weight),
            mk.Orientation(tip, pose[:3, :3], tolerance=None, weight=weight),
            mk.LookAt(tip, target=towards, axis=(0, 0, 1), tolerance=None, weight=weight),
        )
        objectives.append(kinds[rng.integers(4)])
    if rng.random() < 0.3:
        objectives.append(mk.CenterJoints(weight=float(10.0 ** rng.uniform(-3.0, -1.0)), tolerance=None))
    return mk.Problem(body, objectives)


def measure_humanoids(count: int, seed: int) -> int:
    """Print a line for each humanoid; how often a solve costs more than the best of the random starts by more than 1 %."""
    total, single = 0, mk.solvers.LBFGSB(restarts=False)
    for name, body in humanoids():
        rng = np.random.default_rng(seed)
        tips = tuple(tip for tip in TIPS[name] if tip in body.links)
        evaluations, seconds, worst, bad = [], [], 0.0, 0
        for _ in range(count // 4):
            problem = guides(body, tips, rng)
            solution = mk.solve(problem)
            best = min(mk.solve(problem, body.sample(rng), method=single).cost for _ in range(STARTS))
            bad += solution.cost > (1.0 + WORSE) * best + 1e-9
            worst = max(worst, solution.cost / (best + 1e-9))
            evaluations.append(solution.evaluations)
            seconds.append(solution.seconds)
        total += bad
        print(
            f"{name:9} ({body.dof} variables) {bad} of {count // 4} above the best of {STARTS} random starts by more than 1 %, "
            f"worst {worst:.4f}; evaluations: median {np.median(evaluations):.0f}, most {max(evaluations)}; "
            f"{1e3 * np.median(seconds):.1f} ms in the median, {1e3 * np.quantile(seconds, 0.95):.1f} ms in 95 %",
            flush=True,
        )
    return total


def measure_tracks(count: int, seed: int) -> int:
    """Print what guides make of paths that the joints of a Panda can follow; how many end too far off somewhere."""
    body, tip, rng = mk.load("panda"), "panda_hand", np.random.default_rng(seed)
    share = 0.5 - 0.5 * np.cos(np.linspace(0.0, np.pi, 200))[:, np.newaxis]
    off, jumps, evaluations = [], 0, 0
    for _ in range(count):
        begin = body.sample(rng)
        path = body.forward(begin + 0.5 * share * (body.sample(rng) - begin), tip)
        wanted = guide(tip, path[0])
        found = mk.track(mk.Problem(body, wanted), {wanted: path})
        off.append(found.errors[wanted][:, 0].max())
        jumps, evaluations = jumps + int(found.jumped.sum()), evaluations + found.evaluations
    bad = int((np.array(off) > FAR).sum())
    print(
        f"{bad} of {count} paths more than 20 mm off somewhere, worst {1e3 * max(off):.3g} mm; {jumps} jumps, "
        f"{evaluations / count / len(share):.0f} evaluations a step"
    )
    return bad


MEASURES = {"arms": measure_arms, "humanoids": measure_humanoids, "tracks": measure_tracks}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=MEASURES)
    parser.add_argument("count", type=int, nargs="?", default=40)
    parser.add_argument("--seed", type=int, default=20261)
    given = parser.parse_args()
    return 1 if MEASURES[given.what](given.count, given.seed) else 0


if __name__ == "__main__":
    sys.exit(main())
