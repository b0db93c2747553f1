"""Random joint paths in the least time: the exact extremes of position, velocity and acceleration, and toppra's durations.

    python -m tests.stress.retiming 10000 [SEED]

Each path is one of five kinds: waves that are cut off at the limits of the joints, postures anywhere within the limits,
small steps at random, postures that are held and jumps between them, and straight lines with a corner. The limits of
velocity and acceleration are random for each joint. Of each trajectory the extremes between all points are taken from
the roots of polynomials (tests/naive/retiming.py); toppra plans the same spline at the same points, and one path in 21
at four times as many. Prints what was broken and the worst, and exits with 1 if a limit was, or if toppra is faster by more
than 1 % at the same points. It may be slower.
"""

from __future__ import annotations

import sys
import time

import numpy as np

import memetik as mk
from memetik.motion.retime import retime
from memetik.motion.spline import finer
from tests.naive.retiming import extremes, toppra_duration

BODIES = ("panda", "ur5", "iiwa14", "go2")
SLOWER = 1.01  # times the duration of toppra
ROUNDING = 1e-9  # of a limit, and rad or m: what polynomials of degree five in floats may be off


def waves(body, rng):
    t = np.linspace(0.0, 0.9, rng.integers(2, 150))[:, None]
    swing = np.sin(2 * np.pi * t * rng.integers(1, 4, body.dof) + rng.uniform(0, 6, body.dof))
    return np.clip(body.home + rng.uniform(0.1, 3.0) * swing, body.lower, body.upper)


def anywhere(body, rng):
    return np.stack([body.sample(rng) for _ in range(rng.integers(2, 30))])


def small_steps(body, rng):
    steps = rng.normal(scale=rng.uniform(0.001, 0.1), size=(rng.integers(2, 200), body.dof))
    return np.clip(body.sample(rng) + np.cumsum(steps, axis=0), body.lower, body.upper)


def held(body, rng):
    return np.concatenate(
        [np.repeat(body.sample(rng)[None], rng.integers(1, 200), axis=0) for _ in range(rng.integers(2, 5))]
    )


def corner(body, rng):
    a, b, c = (body.sample(rng) for _ in range(3))
    share = np.linspace(0.0, 1.0, rng.integers(2, 60))[:, None]
    return np.concatenate([a + share * (b - a), b + share[1:] * (c - b)])


KINDS = (waves, anywhere, small_steps, held, corner)


def main(count: int, seed: int) -> int:
    bodies = [mk.load(name) for name in BODIES]
    broken, seconds, alone = 0, 0.0, 0
    ratios = {kind.__name__: [] for kind in KINDS} | {"four times": []}
    worst = np.full(3, -np.inf)  # rad or m beyond a limit, shares of velocity and acceleration beyond 1
    for number in range(count):
        rng = np.random.default_rng([seed, number])
        body, kind = bodies[rng.integers(len(bodies))], KINDS[number % len(KINDS)]
        path = kind(body, rng)
        v, a = rng.uniform(0.2, 4.0, body.dof), rng.uniform(0.5, 20.0, body.dof)
        begin = time.thread_time()
        trajectory = retime(body, path, v, a)
        seconds += time.thread_time() - begin
        low, high, fast, hard = extremes(trajectory).T
        beyond = np.array([np.max([body.lower - low, high - body.upper]), (fast / v).max() - 1, (hard / a).max() - 1])
        worst = np.maximum(worst, beyond)
        exact = np.abs(trajectory.at(trajectory.times)[0] - path).max() < 1e-5
        if not exact or not np.isfinite(trajectory.duration) or (beyond > ROUNDING).any():
            broken += 1
            print(
                f"path {number} ({kind.__name__}, {body.name}): beyond by {beyond}, postures kept: {exact}", flush=True
            )
        s = trajectory.timing.s
        grids = {kind.__name__: s}
        if number % 21 == 0:
            grids["four times"] = finer(s, np.full(len(s) - 1, 4))
        for name, grid in grids.items():
            theirs = toppra_duration(trajectory.timing.spline, grid, v, a)
            if theirs is None:
                alone += 1
            else:
                ratios[name].append(trajectory.duration / theirs)
        if (number + 1) % 1000 == 0:
            print(f"{number + 1} paths, {broken} broken, {seconds / (number + 1) * 1e3:.0f} ms each", flush=True)
    beyond = "{:.1e} rad or m, {:.1e} of velocity, {:.1e} of acceleration".format(*worst)
    print(f"{count} paths, {broken} broken; at most beyond: {beyond}")
    for kind, found in ratios.items():
        if found:
            spread = f"least {min(found):.4f}, median {np.median(found):.4f}, largest {max(found):.4f}"
            print(
                f"{kind:12} durations by toppra's: {spread}; longer by more than 1 %: {np.sum(np.array(found) > SLOWER)}"
            )
    print(f"toppra found no answer for {alone}; {seconds / count * 1e3:.1f} ms of processor time each")
    slow = sum(max(found, default=1.0) > SLOWER for kind, found in ratios.items() if kind != "four times")
    return int(broken + slow > 0)


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 1000, int(sys.argv[2]) if len(sys.argv) > 2 else 1))
