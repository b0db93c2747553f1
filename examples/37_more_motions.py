"""One recorded reach becomes many: every way that the arm has to each keyframe, joined to whole motions that keep to one branch.

A UR5 has up to eight postures for a pose of its hand. Neighbouring keyframes are joined where the postures are near each other,
so that no motion flips from one branch to another on its way. The hand of every motion goes where that of the clip goes.
"""

import tempfile
from pathlib import Path

import numpy as np

import memetik as mk

# The clip: a reach from one side to the other, down and up again.
body = mk.load("ur5")
stops = [
    {"shoulder_pan_joint": -0.4, "shoulder_lift_joint": -1.5, "elbow_joint": 1.6, "wrist_1_joint": -1.2, "wrist_2_joint": -1.3},
    {"shoulder_pan_joint": 0.3, "shoulder_lift_joint": -1.0, "elbow_joint": 1.4, "wrist_1_joint": -1.5, "wrist_2_joint": -1.5},
    {"shoulder_pan_joint": 0.9, "shoulder_lift_joint": -1.4, "elbow_joint": 1.8, "wrist_1_joint": -1.6, "wrist_2_joint": -1.2},
]  # fmt: skip
clip = mk.Motion(body, [0.0, 1.0, 2.0], [body.vector(stop) for stop in stops]).resampled(20, ease=True)
wanted = clip.forward()["tool0"]

# Every way to each keyframe.
pose = mk.Pose("tool0", wanted[0], position_tolerance=1e-6, orientation_tolerance=1e-6)
problem = mk.Problem(body, pose)
ways = []
for pose.target in wanted:
    ways.append([solution.q for solution in mk.solve_all(problem, clip.q[0], count=16, method="analytic")])

# Each way to the first keyframe goes on by the nearest way to the next one, whole turns apart, and ends where none is near.
NEAR = 0.5  # the largest step of a joint from one keyframe to the next [rad]
motions = []
for q in ways[0]:
    rows = [q]
    for found in ways[1:]:
        turned = [other - 2.0 * np.pi * np.round((other - rows[-1]) / (2.0 * np.pi)) for other in found]
        turned = [other for other in turned if (other >= body.lower).all() and (other <= body.upper).all()]
        nearest = min(turned, key=lambda other: abs(other - rows[-1]).max(), default=None)
        if nearest is None or abs(nearest - rows[-1]).max() > NEAR:
            break
        rows.append(nearest)
    if len(rows) == len(clip):
        motions.append(clip.with_q(np.array(rows)))

# Each is verified: the hand is where it was, no limit is broken, no step jumps, and no two are alike.
print(f"from {len(ways[0])} ways to the first of {len(clip)} keyframes {len(motions)} motions:")
for motion in motions:
    off = abs(motion.forward()["tool0"] - wanted).max()
    step = abs(np.diff(motion.q, axis=0)).max()
    print(f"  begins at {np.round(motion.q[0], 2)}, hand off by {off:.0e}, largest step {step:.2f} rad")
    assert off < 1e-5
    assert step <= NEAR
    assert (motion.q >= body.lower).all()
    assert (motion.q <= body.upper).all()
apart = min(abs(a.q - b.q).max(axis=1).min() for i, a in enumerate(motions) for b in motions[:i])
print(f"in every keyframe some joint of any two of them differs by {apart:.2f} rad and more")
assert len(motions) >= 4
assert min(abs(clip.q - motion.q).max() for motion in motions) < 1e-4  # the clip itself is one of them
assert apart > 0.05

out = Path(tempfile.mkdtemp()) / "ways.svg"
mk.write.draw_many(body, [motion.q[20] for motion in motions], out, targets=[wanted[20]])
print("drawn:", out)
