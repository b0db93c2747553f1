"""Does a track that runs along surfaces chatter? A Panda's hand that is led through obstacles which it must not touch:

    python -m tests.stress.slide [--case box] [--steps 1000] [--finer 10]

A turn is a frame in which the joint that is fastest then moves the other way than in the frame before. Paths turn round
themselves, and where a target is lost or found again the closest posture may go another way at once. So each path is also
followed in steps that are --finer times as small, of which as many as before are looked at: turns that stay are its own.
Each path is also followed with nothing in the way.
"""

from __future__ import annotations

import argparse
import time

import numpy as np

import memetik as mk

COLUMNS = (
    "surface", "turns", "turns, finer", "largest step [rad]", "its largest change [rad]", "mean error [mm]", "missed", "touching",
    "jumps", "us/step",
)  # fmt: skip
TIP = (0.0, 0.0, 0.1)  # m, of the hand; the hand itself ends 3.4 cm before


def wave(steps, height):
    s = np.linspace(0.0, 1.0, steps)
    x, y = 0.5 + 0.05 * np.cos(4.0 * np.pi * s), -0.35 * np.cos(2.0 * np.pi * s)
    return np.stack([x, y, np.full(steps, height)], axis=1)


def there_and_back(steps, begin, end, bend=(0.0, 0.0, 0.0)):
    """From one point to another and back, at rest at the ends, bent in the middle of each way."""
    s = np.linspace(0.0, 1.0, steps)[:, np.newaxis]
    share = 0.5 - 0.5 * np.cos(2.0 * np.pi * s)
    return np.asarray(begin) + share * (np.subtract(end, begin)) + 4.0 * share * (1.0 - share) * np.asarray(bend)


def over(steps, radius):
    """From side to side and back over something round whose axis is x, 0.2 m high, at this distance from the axis."""
    s = np.linspace(0.0, 1.0, steps)
    angle = -0.7 * np.cos(2.0 * np.pi * s)
    return np.stack(
        [0.5 + 0.02 * np.cos(4.0 * np.pi * s), radius * np.sin(angle), 0.2 + radius * np.cos(angle)], axis=1
    )


def ground():
    x, y = np.meshgrid(np.arange(0.1, 1.0, 0.05), np.arange(-0.6, 0.61, 0.05), indexing="ij")
    return mk.objectives.HeightField(0.25 + 0.03 * np.sin(12.0 * x) * np.cos(9.0 * y), spacing=0.05, origin=(0.1, -0.6))


def octahedron(size):
    return mk.collision.hull(size * np.concatenate([np.eye(3), -np.eye(3)]), mk.translation(0.5, 0.0, 0.25))


CASES = {  # obstacles, and the path for so many steps
    "box": (lambda: [mk.Shape("box", (0.5, 1.0, 0.3), mk.translation(0.55, 0.0, 0.15))], lambda n: wave(n, 0.27)),
    "box, out of reach": (
        lambda: [mk.Shape("box", (0.5, 1.0, 0.3), mk.translation(0.55, 0.0, 0.15))], lambda n: wave(n, 0.22),
    ),
    "edge of a box": (
        lambda: [mk.Shape("box", (0.3, 1.0, 0.3), mk.translation(0.45, 0.0, 0.25))],
        lambda n: there_and_back(n, (0.45, -0.05, 0.37), (0.62, 0.05, 0.25), (0.05, 0.0, 0.05)),
    ),
    "over a sphere": (lambda: [mk.Shape("sphere", (0.25,), mk.translation(0.5, 0.0, 0.2))], lambda n: over(n, 0.22)),
    "over a cylinder": (
        lambda: [mk.Shape("cylinder", (0.25, 0.6), mk.transform((0.5, 0.0, 0.2), mk.euler(0, 90, 0, degrees=True)))],
        lambda n: over(n, 0.22),
    ),
    "sphere": (lambda: [mk.Shape("sphere", (0.25,), mk.translation(0.5, 0.0, 0.3))], lambda n: wave(n, 0.45)),
    "capsule": (
        lambda: [mk.Shape("capsule", (0.12, 0.5), mk.transform((0.5, 0.0, 0.3), mk.euler(90, 0, 0, degrees=True)))],
        lambda n: wave(n, 0.37),
    ),
    "floor and wall": (
        lambda: [
            mk.Shape("box", (0.6, 1.2, 0.2), mk.translation(0.5, 0.0, 0.1)),
            mk.Shape("box", (0.6, 0.1, 0.8), mk.translation(0.5, 0.3, 0.4)),
        ],
        lambda n: there_and_back(n, (0.5, -0.1, 0.17), (0.45, 0.3, 0.17), (0.05, 0.0, 0.0)),
    ),
    "hull": (lambda: [octahedron(0.28)], lambda n: wave(n, 0.4)),
    "height field": (lambda: [ground()], lambda n: wave(n, 0.2)),
    "itself": (lambda: [], lambda n: there_and_back(n, (0.4, -0.3, 0.4), (0.1, 0.1, 0.3))),
}  # fmt: skip


def scene(case, steps, free=False):
    """The problem, the objective that moves, its targets, and where the track starts; `free` without what is in the way."""
    body = mk.load("panda").chain("panda_link0", "panda_hand")  # without fingers
    obstacles, path = CASES[case][0](), CASES[case][1](steps)
    hand = mk.Position(body.frame("panda_hand", offset=TIP), path[0])
    links = [link.name for link in body.links.values() if link.shapes][1:]
    apart = mk.Distance(links, obstacles) if obstacles else mk.SelfDistance(body)
    problem = mk.Problem(body, hand if free else [hand, apart])
    at_rest = mk.track(problem, {hand: np.repeat(path[:1], 20, axis=0)}, mk.solve(problem, body.home).q)
    return problem, hand, path, at_rest.q[-1]


def turns(q):
    """The frames in which the fastest joint turns round."""
    v = np.diff(q, axis=0)
    k = np.abs(v).argmax(axis=1)[1:]
    rows = np.arange(len(k))
    return np.flatnonzero(v[1:][rows, k] * v[:-1][rows, k] < 0.0) + 1


def follow(case, steps, free=False):
    """The track, its turns, and the processor time of a step [us], of three runs the least."""
    problem, hand, path, start = scene(case, steps, free)
    took = []
    for _ in range(3):
        begin = time.thread_time()
        track = mk.track(problem, {hand: path}, start)
        took.append(time.thread_time() - begin)
    return track, hand, min(took) / steps * 1e6


def row(case, steps, finer, free=False):
    track, hand, took = follow(case, steps, free)
    v = np.diff(track.q, axis=0)
    same = len(turns(follow(case, steps * finer, free)[0].q[::finer])) if finer > 1 else ""
    touching = 0 if free else int((track.errors[track.problem.objectives[1]] > 0.0).sum())
    print(
        f"| {case}{', nothing in the way' if free else ''} | {len(turns(track.q))} | {same} | {np.abs(v).max():.4f} "
        f"| {np.abs(np.diff(v, axis=0)).max():.4f} | {1e3 * track.errors[hand].mean():.3f} | {(~track.reached).sum()} "
        f"| {touching} | {track.jumped.sum()} | {took:.0f} |", flush=True,
    )  # fmt: skip


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--case", action="append", choices=CASES, help="all unless given")
    parser.add_argument("--steps", type=int, default=1000)
    parser.add_argument("--finer", type=int, default=1)
    given = parser.parse_args()
    print(f"| {' | '.join(COLUMNS)} |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    for case in given.case or CASES:
        row(case, given.steps, given.finer, free=True)
        row(case, given.steps, given.finer)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
