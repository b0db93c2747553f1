"""Does a Displacement ever make a path rougher? The arm of the PR2 on circles, with and without one (6.3 of the thesis):

    python -m tests.stress.circles [--method memetic] [--method bioik] [--circles 6] [--seeds 4]

Circles of 5, 10, 20 and 30 cm in planes of constant x at random places, some of which leave the workspace, in 100 and 200 steps.
Every weight is compared with the same path without the Displacement, by the largest change of a joint from step to step.
"""

from __future__ import annotations

import argparse
import sys

import numpy as np

import memetik as mk

RADII, STEPS, WEIGHTS = (0.05, 0.1, 0.2, 0.3), (100, 200), (0.001, 0.01, 0.03, 0.1, 0.3, 1.0)
TIP = "r_gripper_tool_frame"
LOW, HIGH = (0.45, -0.5, -0.3), (0.75, 0.1, 0.2)  # m, centres, seen from the torso


def circle(center, radius, steps):
    turn = np.linspace(0.0, 2.0 * np.pi, steps)
    path = np.tile(np.eye(4), (steps, 1, 1))
    path[:, :3, 3] = center + radius * np.stack([0.0 * turn, np.cos(turn), np.sin(turn)], axis=1)
    return path


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--method", action="append", help="memetic and bioik unless given")
    parser.add_argument("--circles", type=int, default=6, help="of each radius")
    parser.add_argument("--seeds", type=int, default=4)
    given = parser.parse_args()
    body = mk.load("pr2").chain("torso_lift_link", TIP)
    larger = 0
    for method in given.method or ["memetic", "bioik"]:
        rng, paths, beyond, calmer, rougher = np.random.default_rng(5), 0, set(), 0, []
        for radius in RADII:
            for center in rng.uniform(LOW, HIGH, (given.circles, 3)):
                for steps in STEPS:
                    path = circle(center, radius, steps)
                    pose = mk.Pose(TIP, path[0], position_tolerance=1e-4, orientation_tolerance=1e-3)
                    start = mk.solve(mk.Problem(body, pose)).q
                    for seed in range(given.seeds):
                        alone = mk.track(mk.Problem(body, pose), {pose: path}, start, method=method, seed=seed)
                        if not alone.reached.all():
                            beyond.add((radius, *center))
                        for weight in WEIGHTS:
                            problem = mk.Problem(body, [pose, mk.Displacement(weight=weight)])
                            calm = mk.track(problem, {pose: path}, start, method=method, seed=seed)
                            paths += 1
                            calmer += calm.largest_step < 0.9 * alone.largest_step
                            if calm.largest_step > alone.largest_step:
                                sizes = tuple(np.degrees([alone.largest_step, calm.largest_step]).round(3))
                                missed = int((~alone.reached).sum()), int((~calm.reached).sum())
                                rougher.append((radius, center.round(2), steps, seed, weight, sizes, missed))
        print(
            f"{method}: {paths} paths on {len(RADII) * given.circles} circles, {len(beyond)} of which leave the workspace: "
            f"{len(rougher)} with a larger step than without, {calmer} with one that is smaller by a tenth or more",
            *(f"  radius, center, steps, seed, weight, steps [degrees], missed: {each}" for each in rougher),
            sep="\n",
            flush=True,
        )
        larger += len(rougher)
    return int(larger > 0)


if __name__ == "__main__":
    sys.exit(main())
