"""A servo: the hand follows a target that jumps, leaves the workspace, blinks out and comes back, and no limit is broken."""

import math
import time

import numpy as np

import memetik as mk

RATE = 1_000  # ticks a second

body = mk.load("panda").chain("panda_link0", "panda_link8")
pose = mk.Pose("panda_link8", body.forward(body.home)["panda_link8"])
servo = mk.Servo(mk.Problem(body, pose), rate=RATE)
home = pose.target.copy()

path, spent = [servo.q], []
for tick in range(9 * RATE):
    t = tick / RATE
    target = home.copy()
    target[1, 3] += 0.15 * math.sin(t)
    if t > 1.0:
        target[2, 3] -= 0.2  # a jump
    if 2.0 < t < 4.0:
        target[0, 3] += 0.6 * math.sin(0.5 * math.pi * (t - 2.0))  # over the edge of the workspace and back
    if 5.0 < t < 5.1:
        target[:] = math.nan  # a camera that sees nothing
    begin = time.perf_counter()
    q = servo.step({pose: target})
    spent.append(time.perf_counter() - begin)
    path.append(q)

velocity = np.diff(path, axis=0, prepend=path[:1]) * RATE
acceleration = np.diff(velocity, axis=0) * RATE
print(f"fastest joint at {100 * (np.abs(velocity) / servo.velocity_limit).max():.1f} % of its velocity")
print(f"hardest at {100 * (np.abs(acceleration) / servo.acceleration_limit).max():.1f} % of its acceleration")
print(
    f"a tick takes {1e6 * np.median(spent):.1f} us; the hand is {1e3 * servo.errors[pose].position:.3f} mm off in the end"
)
assert servo.success and (np.abs(velocity) <= servo.velocity_limit + 1e-9).all()
assert (np.abs(acceleration) <= servo.acceleration_limit + 1e-6).all()
