"""A character stands on uneven ground: each sole is projected onto a height field while the pelvis stays near.

The terrain rises ahead and ripples sideways, so one foot stands higher than the other and both are tilted. A ray from
each sole finds the ground below it, or above it, for the ray starts half a metre higher.
"""

import numpy as np

from memetik.objectives import Displacement, HeightField, Position, Projection
from memetik.problem import Problem
from memetik.read import load
from memetik.solvers import Memetic

body = load("kyle", base="floating", base_lower=-1.0, base_upper=1.0)

# Corners every 5 cm from -1 to 1 m.
x, y = np.meshgrid(np.linspace(-1.0, 1.0, 41), np.linspace(-1.0, 1.0, 41), indexing="ij")
terrain = HeightField(0.1 + 0.15 * x + 0.08 * np.sin(4.0 * y), spacing=0.05, origin=(-1.0, -1.0))

feet = {
    "left foot": Projection(body.frame("left_midfoot", offset=(0.03, 0.0, -0.095)), terrain, name="left foot"),
    "right foot": Projection(body.frame("right_midfoot", offset=(0.03, 0.0, -0.095)), terrain, name="right foot"),
}
pelvis = Position("pelvis", (0.0, 0.0, 0.98), tolerance=0.03)
problem = Problem(body, [*feet.values(), pelvis, Displacement()])

Memetic().solve(problem, body.home)  # the first solve of a process also loads the machine code
solution = Memetic().solve(problem, body.home)
print(f"success: {solution.success}, in {1e3 * solution.seconds:.2f} ms")
for name, foot in feet.items():
    error = solution.errors[foot]
    place = body.forward(solution.q)[foot.frame.link] @ foot.frame.link_from_frame
    slope = np.degrees(np.arccos(place[2, 2]))
    print(f"{name}: {place[2, 3]:.3f} m high, tilted by {slope:.1f} degrees, off by {error}")
print(f"pelvis: {solution.errors[pelvis]:.3f} m from where it was wanted")
