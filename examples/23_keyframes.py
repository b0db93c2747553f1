"""Keyframes: a robot character kicks and runs (Fig. 5.22 of the thesis).

Each key posture is solved for four pose targets, two hands and two feet; the pelvis is free. Postures are stored, and
blending between them is the animation.
"""

import sys
from pathlib import Path

import numpy as np

import memetik as mk

kyle = mk.load("kyle", base="floating", base_lower=-2.0, base_upper=2.0)
ends = ("left_hand", "right_hand", "left_midfoot", "right_midfoot")
rest = kyle.forward(kyle.home)
targets = {
    end: mk.Pose(end, rest[end], position_tolerance=1e-3, orientation_tolerance=0.01 if "foot" in end else 0.5)
    for end in ends
}
problem = mk.Problem(kyle, [*targets.values(), mk.Displacement()])


def key(start, **moves):
    """A posture whose ends are moved from where they are at rest: x, y, z [m] and a pitch [degrees]."""
    for end, pose in targets.items():
        x, y, z, pitch = moves.get(end, (0.0, 0.0, 0.0, 0.0))
        turned = mk.euler(0.0, pitch, 0.0, degrees=True) @ rest[end][:3, :3]
        pose.target = mk.transform(rest[end][:3, 3] + (x, y, z), turned)
    solution = mk.solve(problem, start)
    assert solution.success, solution.explain()
    return solution.q


stand = kyle.home
wind_up = key(stand, right_midfoot=(-0.35, 0, 0.25, 50), left_hand=(0.35, 0, 0.3, -60), right_hand=(-0.2, 0, 0.15, 30))
kick = key(wind_up, right_midfoot=(0.6, 0.05, 0.5, -35), left_hand=(-0.2, 0, 0.15, 30), right_hand=(0.3, 0, 0.3, -60))
kicking = mk.Motion(kyle, [0.0, 0.4, 0.65, 1.2], [stand, wind_up, kick, stand], name="kick").resampled(30.0, ease=True)

stride = key(
    stand, left_midfoot=(0.4, 0, 0.12, -15), right_midfoot=(-0.45, 0, 0.3, 60), left_hand=(-0.3, 0, 0.15, 40),
    right_hand=(0.35, 0, 0.35, -70),
)  # fmt: skip
run = mk.Motion(kyle, [0.0, 0.35], [stride, stride])
other = run.mirrored()  # the other leg's turn is the mirror image
steps = mk.Motion(kyle, np.arange(5) * 0.35, [stride, other[0], stride, other[0], stride], name="run")
running = steps.resampled(30.0)

keys = kicking.keyframes([0, 12, 19, 36])  # cut out again
print(f"{kicking}: right foot up to {kicking.poses('right_midfoot')[:, 2, 3].max():.2f} m, {len(keys)} keyframes")
print(f"{running}: feet {np.ptp(running.poses('left_midfoot')[:, 0, 3]):.2f} m to and fro")

if "--draw" in sys.argv:  # pictures, into a folder
    folder = Path(sys.argv[-1])
    mk.write.draw_motion(kicking, folder / "kyle_kick.svg", frame_count=7, view=(-70, 8), size=(1200, 360))
    mk.write.draw_motion(running[:22], folder / "kyle_run.svg", frame_count=7, view=(-70, 8), size=(1200, 360))
