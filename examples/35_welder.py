"""A welder on a FANUC M-10iA: poses laid on a curved sheet, followed along the seam between them, and timed for the motors.

The torch stands on the sheet along its normal, 10 mm above it; how it is turned about its own axis does not matter, so the arm
chooses.
"""

import numpy as np

import memetik as mk

torch = mk.Body(
    "torch", [mk.build.Link("torch", shapes=(mk.Shape("capsule", (0.012, 0.2), mk.translation(0, 0, 0.1)),))], []
)
arm = mk.load("m10ia").attach(torch, "tool0")
nozzle = arm.frame("torch", offset=(0.0, 0.0, 0.25))


def sheet(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """The height of the sheet [m]."""
    return 0.35 + 0.06 * np.cos(6.0 * y) - 0.3 * (x - 0.8) ** 2


# A seam in the shape of a wave, laid on the sheet; z of each pose looks into it.
y = np.linspace(-0.35, 0.35, 200)
x = 0.8 + 0.06 * np.sin(12.0 * y)
h = 1e-6
slope_x = (sheet(x + h, y) - sheet(x - h, y)) / (2 * h)
slope_y = (sheet(x, y + h) - sheet(x, y - h)) / (2 * h)
normals = np.stack([-slope_x, -slope_y, np.ones_like(x)], axis=1)
normals /= np.linalg.norm(normals, axis=1, keepdims=True)
seam = np.stack([x, y, sheet(x, y)], axis=1)
into = [
    mk.geometry.look_rotation(-normal, (1, 0, 0))[:, [1, 2, 0]] for normal in normals
]  # its x, which looks, is to be z
poses = np.array([mk.transform(point, turn) for point, turn in zip(seam + 0.01 * normals, into, strict=True)])

weld = mk.Pose(nozzle, poses[0], mask=(1, 1, 1, 1, 1, 0), position_tolerance=1e-4, orientation_tolerance=1e-3)
problem = mk.Problem(arm, [weld, mk.Displacement(weight=0.01)])
start = mk.solve(problem, arm.vector({"joint_2": 0.3, "joint_5": -1.0}))
track = mk.track(problem, {weld: poses}, start=start.q, rate=50)
print(track)
timed = track.retime(velocity=1.0, acceleration=3.0)
print(
    f"{np.linalg.norm(np.diff(seam, axis=0), axis=1).sum():.2f} m of seam in {timed.duration:.1f} s, within 1 rad/s and 3 rad/s^2"
)
posed = arm.forward(track.q, nozzle)
height = posed[:, 2, 3] - sheet(posed[:, 0, 3], posed[:, 1, 3])
lean = np.degrees(np.arccos(np.clip(np.einsum("ij,ij->i", -posed[:, :3, 2], normals), -1, 1)))
print(
    f"the nozzle is {1e3 * height.min():.1f} to {1e3 * height.max():.1f} mm above the sheet and leans by {lean.max():.3f} degrees"
)
assert start.success and track.success and lean.max() < 0.1
