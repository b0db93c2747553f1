"""Follow a moving target: 1,000 poses around a circle, each step from the last, without jumps."""

import numpy as np

import memetik as mk

body = mk.load("panda")
pose = mk.Pose("panda_hand", np.eye(4), position_tolerance=1e-5, orientation_tolerance=1e-5)
problem = mk.Problem(body, pose)

angle = np.linspace(0, 2 * np.pi, 1_000)
path = np.tile(body.forward(body.home)["panda_hand"], (1_000, 1, 1))
path[:, 0, 3] += 0.10 * (np.cos(angle) - 1)
path[:, 1, 3] += 0.15 * np.sin(angle)

result = mk.track(problem, {pose: path}, start=body.home, rate=250)
print(result)
print(f"largest joint step {result.largest_step:.4f} rad in {result.times[-1]:.1f} s of motion")
assert result.success
