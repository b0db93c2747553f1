"""A person's walk on four legs: arms lead the forelegs of a wolf, legs its hind legs, by an edited plan."""

import tempfile
from pathlib import Path

import numpy as np

import memetik as mk

# The walk of a character; mk.read_motion("walk.bvh", scale=0.01) would do as well.
kyle = mk.load("kyle", base="floating")
clip = mk.motion.gait(kyle, {"left_foot": 0.0, "right_foot": 0.5}, stride=0.7, period=1.1, cycles=2, rate=30.0)
swing = 0.35 * np.cos(2.0 * np.pi * clip.times / 1.1)  # an arm is behind when the foot of its side is ahead
q = clip.q.copy()
for side, sign in (("left", 1.0), ("right", -1.0)):
    q[:, kyle.index(f"{side}_shoulder_y")] += sign * swing
    q[:, kyle.index(f"{side}_shoulder_x")] -= sign * 0.15  # arms closer to the trunk, for paws below it
clip = clip.with_q(q)

# A wolf is no figure with arms, so say which of its links are led by what.
wolf = mk.load("wolf", base="floating")
links = {"hips": "pelvis", "chest": "chest", "head": "head"}
for side in ("left", "right"):
    links |= {
        f"{side}_upper_leg": f"hind_{side}_thigh",
        f"{side}_lower_leg": f"hind_{side}_shank",
        f"{side}_foot": f"hind_{side}_toes",
        f"{side}_upper_arm": f"front_{side}_upper_arm",
        f"{side}_lower_arm": f"front_{side}_forearm",
        f"{side}_hand": f"front_{side}_toes",
    }
plan = mk.motion.retarget_plan(clip, wolf, link_map=links)

# Arms hang straight down, and forelegs as long as they are would reach below the floor.
found = mk.retarget(clip, wolf, plan=plan)
for side in ("left", "right"):
    poses = found.forward()
    below = -poses[f"front_{side}_paw"][:, 2, 3].min()
    forearm = plan[f"{side}_hand"].scale * np.linalg.norm(
        (clip.poses(plan[f"{side}_hand"].bone) - clip.poses(plan[f"{side}_lower_arm"].bone))[0, :3, 3]
    )
    plan = plan.edit(f"{side}_hand", scale=plan[f"{side}_hand"].scale * (1.0 - below / forearm), rotation=0.0)
print(plan)

found = mk.retarget(clip, wolf, plan=plan)
print(found.report)
out = Path(tempfile.mkdtemp()) / "wolf.svg"
mk.write.draw_motion(found, out, layout="strip", view=(90, 10))  # from the side, where steps are seen
print("drawn:", out)
poses = found.forward()
ahead = poses["front_left_paw"][:, 0, 3] - poses["front_right_paw"][:, 0, 3]
print(f"the left forepaw is up to {ahead.max():.2f} m ahead of the right one, and up to {-ahead.min():.2f} m behind it")
assert abs(ahead.max() + ahead.min()) < 0.05
assert found.report.outside == 0
assert found.report.sliding < 0.01
assert found.report.penetration < 0.002
