"""A long walk through the states of problems, objectives and a world (tests/problem/states.py):

    python -m tests.stress.states STEPS [SEED]

Walks of 200 steps each. A complaint names the seed of its walk and the steps up to there.

They are walked in a thread: in the main thread each look at the compiler waits for another thread, so that signals are answered
meanwhile, which takes half of the time and is tried by the stress test of interrupts.
"""

from __future__ import annotations

import random
import sys
import threading
import time
import traceback
import warnings

from tests.problem.states import OPERATIONS, Machine

LENGTH = 200  # steps of a walk


def walk(seed: int, steps: int) -> str:
    """What went wrong in a walk; empty if nothing did."""
    dice, machine, done = random.Random(seed), Machine(), []
    for _ in range(steps):
        name, a, b = dice.choice(list(OPERATIONS)), dice.randrange(2**16), dice.randrange(2**16)
        done.append(f"{name}({a}, {b})")
        try:
            OPERATIONS[name](machine, a, b)
        except Exception:
            return f"seed {seed}, step {len(done)}: {' '.join(done[-8:])}\n{traceback.format_exc()}"
    return ""


def walks(steps: int, seed: int) -> int:
    """Walk that many steps, and return how many walks ended with a complaint."""
    begin, done, wrong = time.perf_counter(), 0, 0
    while done < steps:
        complaint = walk(seed, LENGTH)
        done, seed, wrong = done + LENGTH, seed + 1, wrong + bool(complaint)
        if complaint:
            print(complaint, flush=True)
        if seed % 50 == 0 or done >= steps:
            print(f"{done} steps, {wrong} discrepancies, {time.perf_counter() - begin:.0f} s", flush=True)
    return wrong


def main() -> None:
    steps, seed = int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 0
    warnings.simplefilter("ignore")
    found: list[int] = []
    thread = threading.Thread(target=lambda: found.append(walks(steps, seed)), daemon=True)
    thread.start()
    thread.join()
    sys.exit(found != [0])


if __name__ == "__main__":
    main()
