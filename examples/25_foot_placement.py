"""A run over hills: feet that would disappear in the ground are put on it (Fig. 5.24 and 5.25 of the thesis).

The clip was made for flat ground. Rays from half a metre above each sole end at its contact points: where one meets the
terrain, the leg is solved so that the sole lies on it; where none does, the foot keeps the pose of the clip.
"""

import sys
import time
from pathlib import Path

import numpy as np

import memetik as mk

kyle = mk.load("kyle", base="floating")
soles = [kyle.frame(f"{side}_midfoot", offset=(0.03, 0.0, -0.095)) for side in ("left", "right")]
phases = {soles[0]: 0.0, soles[1]: 0.5}
run = mk.motion.gait(kyle, phases, stride=1.1, period=0.8, duty=0.35, height=0.15, tilt=0.9, cycles=3)

x, y = np.meshgrid(np.linspace(-1.0, 5.0, 61), np.linspace(-0.8, 0.8, 17), indexing="ij")
hills = mk.objectives.HeightField(0.03 + 0.06 * np.sin(3.0 * x) * np.cos(4.0 * y), spacing=0.1, origin=(-1.0, -0.8))

placed = mk.motion.place_feet(run, hills, soles, sole=(0.2, 0.094))

# The same live, frame by frame, as a game does it.
placer = mk.motion.FootPlacer(kyle, hills, soles, sole=(0.2, 0.094))
begin = time.thread_time()
frames = [placer(q) for q in run.q]
each = (time.thread_time() - begin) / len(run)
standing = np.array([frame.standing for frame in frames])


def deepest(motion):
    """How deep the middle of a sole is below the ground at most [m]."""
    points = np.concatenate([motion.poses(sole)[:, :3, 3] for sole in soles])
    return max(hills.beside(point)[0][2] - point[2] for point in points)


swing = max(
    np.abs(placed.poses(sole) - run.poses(sole))[~standing[:, k]].max(initial=0.0) for k, sole in enumerate(soles)
)
steps = [np.abs(np.diff(motion.q, axis=0)).max() for motion in (placed, run)]
print(f"{run}: soles up to {100 * deepest(run):.1f} cm in the ground; placed: {1e3 * max(0.0, deepest(placed)):.2f} mm")
print(
    f"swinging feet differ from the clip by {swing:.1e}; the largest step is {steps[0] / steps[1]:.2f} times the clip's"
)
print(f"{1e3 * each:.3f} ms a frame")

if "--draw" in sys.argv:  # pictures, into a folder
    folder = Path(sys.argv[-1])
    view = {"frames": 6, "layout": "path", "terrain": hills, "view": (-60.0, 12.0), "size": (1200, 420)}
    mk.write.draw_motion(run, folder / "feet_clip.svg", **view)
    mk.write.draw_motion(placed, folder / "feet_placed.svg", **view)
