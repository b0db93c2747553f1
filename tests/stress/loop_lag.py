"""How late is an asyncio loop while tasks solve in threads? By hand:

    python -m tests.stress.loop_lag 20 [CASE ...]

For so many seconds each: a loop that sleeps for a millisecond again and again while four tasks solve by `asyncio.to_thread`, one
problem after another, with targets that can be reached and with targets that cannot. A lag is how much longer a sleep took. Two
rows to compare with: the loop alone, and beside four threads that compute without Python, which is what the operating system
adds where there are fewer cores than threads.
"""

from __future__ import annotations

import asyncio
import sys
import time

import numpy as np

import memetik as mk

TASKS, SLEEP = 4, 0.001
FAR = (9.0, 0.0, 0.0)


def _poses(name, tip, reach, *guides, contacts=False):
    """A function that solves for a random target each time, of a task's own problem."""
    body = mk.load(name)
    made = [mk.SelfDistance(body)] if contacts else []

    def task(seed):
        rng = np.random.default_rng(seed)
        pose = mk.Pose(tip, body.forward(body.home, tip))
        problem = mk.Problem(body, [pose, *(guide() for guide in guides), *made])

        def solve():
            target = body.forward(body.sample(rng), tip)
            if not reach:
                target[:3, 3] = FAR
            pose.target = target
            return mk.solve(problem, body.home)

        return solve

    return task


def _hands(reach):
    """Both hands of a humanoid."""
    body = mk.load("g1")
    tips = ("left_wrist_yaw_link", "right_wrist_yaw_link")

    def task(seed):
        rng = np.random.default_rng(seed)
        hands = [mk.Position(tip, body.forward(body.home, tip)[:3, 3]) for tip in tips]
        problem = mk.Problem(body, [*hands, mk.Displacement()])

        def solve():
            posture = body.sample(rng)
            for hand, tip in zip(hands, tips, strict=True):
                hand.target = body.forward(posture, tip)[:3, 3] if reach else FAR
            return mk.solve(problem, body.home)

        return solve

    return task


def _bound(reach):
    """Steps of `bind`."""
    body, tip = mk.load("panda"), "panda_hand"

    def task(seed):
        rng = np.random.default_rng(seed)
        pose = mk.Pose(tip, body.forward(body.home, tip))
        step = mk.bind(mk.Problem(body, pose), pose)

        def solve():
            target = body.forward(body.sample(rng), tip)
            if not reach:
                target[:3, 3] = FAR
            return step(target, body.home)

        return solve

    return task


def _computing(seed):
    """No Python: what a thread that releases the GIL does to the loop."""
    rows = np.random.default_rng(seed).normal(size=400_000)
    return lambda: np.sort(rows)


CASES = {
    "nothing": None,
    "no Python": lambda: _computing,
    "Panda": lambda: _poses("panda", "panda_hand", True),
    "Panda out of reach": lambda: _poses("panda", "panda_hand", False),
    "Panda guided": lambda: _poses("panda", "panda_hand", True, mk.Displacement),
    "Panda apart": lambda: _poses("panda", "panda_hand", True, contacts=True),
    "Panda apart out of reach": lambda: _poses("panda", "panda_hand", False, contacts=True),
    "bind": lambda: _bound(True),
    "bind out of reach": lambda: _bound(False),
    "G1": lambda: _hands(True),
    "G1 out of reach": lambda: _hands(False),
}


async def _lags(tasks, seconds):
    """The lags of a loop while tasks solve, and how many solves that were."""
    ends, solved, lags = time.perf_counter() + seconds, [0] * len(tasks), []

    async def work(k):
        while time.perf_counter() < ends:
            await asyncio.to_thread(tasks[k])
            solved[k] += 1

    running = [asyncio.create_task(work(k)) for k in range(len(tasks))]
    while time.perf_counter() < ends:
        begin = time.perf_counter()
        await asyncio.sleep(SLEEP)
        lags.append(time.perf_counter() - begin - SLEEP)
    await asyncio.gather(*running)
    return np.array(lags), sum(solved)


def measure(case, seconds):
    """Lags [s] and the number of solves of a case."""
    make = CASES[case]
    tasks = [make()(seed) for seed in range(TASKS)] if make is not None else []
    for task in tasks:  # compiled before the clock runs
        for _ in range(50):
            task()
    return asyncio.run(_lags(tasks, seconds))


def main() -> int:
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 5.0
    print(f"{'case':26} {'solves':>8} {'p50':>8} {'p99':>8} {'p99.9':>8} {'most':>8}  ms")
    for case in sys.argv[2:] or CASES:
        lags, solved = measure(case, seconds)
        shown = [f"{1e3 * value:8.3f}" for value in (*np.percentile(lags, (50.0, 99.0, 99.9)), lags.max())]
        print(f"{case:26} {solved:8d} {' '.join(shown)}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
