"""A long walk through the states of problems, objectives, a world, servos, tracks, batches and jobs (tests/problem/states.py):

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
# How often operations are done besides once: what takes longest most rarely, so that a step is cheap.
SHARES = {
    "assign": 8, "assign_to_problem": 3, "change_world": 5, "tick": 10, "recompile": 0.3, "travel": 0.2, "end_loop": 0.2,
    "follow": 0.5, "solve_many": 0.5, "do_job": 0.1, "assign_together": 0.5, "change_world_together": 0.5,
    "assign_to_problem_together": 0.5,
}  # fmt: skip


def walk(seed: int, steps: int) -> str:
    """What went wrong in a walk; empty if nothing did."""
    dice, machine, done = random.Random(seed), Machine(), []
    names = dice.choices(list(OPERATIONS), [SHARES.get(name, 1) for name in OPERATIONS], k=steps)
    for name in [*names, "end"]:
        a, b = dice.randrange(2**16), dice.randrange(2**16)
        done.append(f"{name}({a}, {b})")
        try:
            machine.end() if name == "end" else OPERATIONS[name](machine, a, b)
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
