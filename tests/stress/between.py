"""Random motions of bodies among obstacles: what `check_motion` says, against dense samples by MuJoCo.

    python -m tests.stress.between 1000

For each body, as many motions of three lengths as asked for. A motion that is called free must have no contact in the postures
along it, and the distance that is proved must not exceed the least one found there. Prints what was found and processor times.
"""

import sys
import time

import numpy as np

import memetik as mk
from tests.naive.motions import Judge, crowded, straight

BODIES = ("panda", "ur5", "shadow_hand", "h1")
LENGTHS = (1.0, 0.1, 0.01)
POSTURES = 100
ROUNDING = 1e-6  # m; MuJoCo's distances are iterated


def main(count):
    for name in BODIES:
        body, world = crowded(name)
        problem, judge = mk.Problem(body, [mk.SelfDistance(body), mk.Distance(body, world)]), Judge(body, world)
        mk.motion.check_motion(problem, [body.home, body.home])
        rng = np.random.default_rng(1)
        for length in LENGTHS:
            tally = dict.fromkeys(("free", "contact", "undecided", "wrong"), 0)
            seconds, looks = 0.0, 0
            for _ in range(count):
                q0 = body.sample(rng)
                q1 = q0 + length * (body.sample(rng) - q0)
                begin = time.thread_time()
                found = mk.motion.check_motion(problem, [q0, q1])
                seconds += time.thread_time() - begin
                looks += found.postures
                tally["free" if found else "contact" if found.contact.any() else "undecided"] += 1
                if found and judge.least(straight(q0, q1, POSTURES)) < max(found.distance, 0.0) - ROUNDING:
                    tally["wrong"] += 1
                    print("wrong:", name, q0.tolist(), q1.tolist())
            print(
                f"{name:12} length {length:4}: {tally}, {seconds / count * 1e6:.0f} us and {looks / count:.1f} postures a motion",
                flush=True,
            )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 200)
