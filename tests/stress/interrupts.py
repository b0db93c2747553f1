"""Interrupts spread over everything that takes long, in processes of their own: none may crash, be lost or be late.

    python -m tests.stress.interrupts 1000            # interrupts of each kind
    python -m tests.stress.interrupts 1000 python compilation

A process is given one kind of work, and presses Ctrl-C at random moments of it, from a thread. An interrupt counts as lost if the
work ends without a KeyboardInterrupt though the signal was sent in time, and as late if it takes longer than LATEST. On a busy
machine answers are late because the process waits for a processor.
"""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

LATEST = {"compilation": 0.5}  # s
USUAL = 0.2  # s
EACH = {"compilation": 10}  # interrupts of one process, so that compilation begins again often enough
MANY = 500
_timers: list[threading.Timer] = []  # Python ignores what is raised while it forgets a thread, so none is freed


def kinds() -> dict[str, Callable[[], Iterator[Callable[[], Any]]]]:
    """For each kind of work, what yields calls to interrupt, ready to run."""
    import numpy as np

    import memetik as mk

    body, rng = mk.load("panda"), np.random.default_rng(0)
    endless, far = mk.Budget(evaluations=10**10, seconds=3.0), mk.transform((2.0, 0.0, 0.5))
    warnings.simplefilter("ignore")

    def solve(objectives: list[Any], method: str = "memetic") -> Iterator[Callable[[], Any]]:
        problem = mk.Problem(body, objectives)
        mk.solve(problem, method=method, budget=mk.Budget(evaluations=2_000))
        while True:
            yield lambda: mk.solve(problem, method=method, budget=endless)

    def compiled() -> Iterator[Callable[[], Any]]:
        yield from solve([mk.Position("panda_hand", (2.0, 0.0, 0.5)), mk.SelfDistance(body)])

    def pose() -> Iterator[Callable[[], Any]]:
        yield from solve([mk.Pose("panda_hand", far)])

    def python() -> Iterator[Callable[[], Any]]:
        yield from solve([mk.objective(reads=["panda_hand"])(lambda h: 5.0 + float(str(h.position[0])[:5]))])

    def python_dls() -> Iterator[Callable[[], Any]]:
        yield from solve([mk.objective(reads=["panda_hand"])(lambda h: 5.0 + float(str(h.position[0])[:5]))], "dls")

    def custom() -> Iterator[Callable[[], Any]]:
        yield from solve([mk.objective(reads=["panda_hand"])(lambda h: 5.0 + h.position[0])])

    def track() -> Iterator[Callable[[], Any]]:
        hand = mk.Pose("panda_hand", far)
        problem, path = mk.Problem(body, [hand, mk.Displacement()]), np.tile(far, (100_000, 1, 1))
        mk.track(problem, {hand: path[:3]})
        while True:
            yield lambda: mk.track(problem, {hand: path}, budget=mk.Budget(evaluations=10**9))

    def batch() -> Iterator[Callable[[], Any]]:
        hand = mk.Pose("panda_hand", far)
        problem = mk.Problem(body, hand)
        mk.solve_batch(problem, {hand: far[None]}, threads=2)
        while True:
            yield lambda: mk.solve_batch(problem, {hand: np.tile(far, (50, 1, 1))}, threads=2, budget=endless)

    def check_motion() -> Iterator[Callable[[], Any]]:
        path = np.array([body.sample(rng) for _ in range(20_000)])
        mk.motion.check_motion(body, path[:3])
        while True:
            yield lambda: mk.motion.check_motion(body, path)

    def compilation() -> Iterator[Callable[[], Any]]:
        def work() -> None:
            for k in range(1_000_000):  # another function each time, so that there is always something to compile
                text = f"lambda h, j: h.position[0] * {k} + j"
                mk.Problem(body, mk.objective(reads=["panda_hand"], joints=["panda_joint1"])(eval(text)))
                mk.solve(mk.Problem(body, mk.Pose("panda_hand", far)), budget=mk.Budget(evaluations=300))

        while True:
            yield work

    return {
        f.__name__: f for f in (compiled, pose, python, python_dls, custom, track, batch, check_motion, compilation)
    }


def press(work: Callable[[], Any], after: float) -> tuple[str, float]:
    """Interrupt a call some time after its begin: what came of it, and how long it took [s]."""
    sent = [0.0]

    def send() -> None:
        sent[0] = time.perf_counter()
        os.kill(os.getpid(), signal.SIGINT)

    timer = threading.Timer(after, send)
    timer.daemon = True
    _timers.append(timer)
    try:
        timer.start()
        work()
        timer.join()
        time.sleep(0.001)
        return "lost", 0.0
    except KeyboardInterrupt:
        return "answered", time.perf_counter() - sent[0]
    except BaseException as error:
        return f"{type(error).__name__}: {error}", time.perf_counter() - sent[0]


def child(kind: str, count: int, seed: int) -> None:
    """Interrupt a kind of work in this process, and print what came of it, a line each."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    dice = random.Random(seed)
    calls = kinds()[kind]()
    work = next(calls)
    for _ in range(count):
        after = dice.uniform(0.0, 3.0 if kind == "compilation" else 0.05)
        what, took = press(work, max(after, 1e-4))
        print(json.dumps([what, took]), flush=True)
        work = next(calls)


def run(kind: str, count: int) -> dict[str, Any]:
    """The same in processes of their own: counts, and the longest time of an answer [s]."""
    found = {"interrupts": 0, "crashes": 0, "lost": 0, "late": 0, "others": [], "longest": 0.0}
    seed = 0
    with tempfile.TemporaryDirectory() as folder:
        while found["interrupts"] < count:
            seed += 1
            most = min(EACH.get(kind, MANY), count - found["interrupts"])
            environment = dict(os.environ)
            if kind == "compilation":
                environment |= {"NUMBA_CACHE_DIR": str(Path(folder) / str(seed))}
            done = subprocess.run(
                [sys.executable, "-m", "tests.stress.interrupts", "--child", kind, str(most), str(seed)],
                capture_output=True, text=True, env=environment,
            )  # fmt: skip
            lines = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("[")]
            found["interrupts"] += max(len(lines), 1)
            if done.returncode:
                found["crashes"] += 1
                found["others"].append(f"exit {done.returncode}: {done.stderr[-600:]}")
            for what, took in lines:
                if what == "lost":
                    found["lost"] += 1
                elif what != "answered":
                    found["others"].append(what)
                found["late"] += took > LATEST.get(kind, USUAL)
                found["longest"] = max(found["longest"], took)
            if "ignored" in done.stderr:
                found["others"].append(done.stderr[-600:])
    return found


def main() -> None:
    arguments = sys.argv[1:]
    if arguments[:1] == ["--child"]:
        child(arguments[1], int(arguments[2]), int(arguments[3]))
        return
    count = int(arguments[0]) if arguments else 100
    failed = False
    for kind in arguments[1:] or kinds():
        begin = time.perf_counter()
        found = run(kind, count)
        failed |= bool(found["crashes"] or found["lost"] or found["late"] or found["others"])
        others = found.pop("others")
        print(
            f"{kind:14}",
            *(f"{key} {value:.4g}" for key, value in found.items()),
            f"{time.perf_counter() - begin:.0f} s",
            flush=True,
        )
        for other in others[:5]:
            print("    ", other)
    sys.exit(failed)


if __name__ == "__main__":
    main()
