"""A wolf's walk is edited: it sneaks, and it keeps looking at a box (Fig. 5.23 of the thesis).

Forward kinematics of the clip gives the poses of all paws, and these are held. To sneak, two objectives lower pelvis and
withers and one raises the tail. To look at the box, only spine, forelegs, neck and head are solved; all else stays as it is.
"""

import sys
from pathlib import Path

import numpy as np

import memetik as mk

wolf = mk.load("wolf", base="floating")
legs = ("front_left", "front_right", "hind_left", "hind_right")
phases = {f"{leg}_paw": phase for leg, phase in zip(legs, (0.25, 0.75, 0.0, 0.5), strict=True)}
walk = mk.motion.gait(
    wolf, phases, stride=0.5, period=1.0, duty=0.65, height=0.07, crouch=0.03, tilt=0.0, cycles=1, rate=30.0
)

# The whole clip sneaks; a span with start, end and ease would let it begin and end on the way.
sneak = [
    mk.motion.Span(mk.Position("pelvis", (0, 0, 0), tolerance=0.01), offset=(0.0, 0.0, -0.06)),
    mk.motion.Span(mk.Position("withers", (0, 0, 0), tolerance=0.01), offset=(0.0, 0.0, -0.07)),
    mk.motion.Span(mk.Position("tail_tip", (0, 0, 0), tolerance=0.01), offset=(0.0, 0.0, 0.12)),
]
sneaking = mk.motion.edit(walk, sneak, hold=list(phases))
keys = sneaking.keyframes(6)  # cut out again, as keyframes of a new animation

box = np.array([1.3, -0.7, 0.3])
front = [name for name in wolf.joint_names if name.split("_")[0] in ("spine", "neck", "head", "front")]
look = mk.motion.Span(mk.LookAt("head_look", box, tolerance=0.02), start=0.0, end=1.0, ease=0.3)
looking = mk.motion.edit(walk, look, hold=["front_left_paw", "front_right_paw"], joints=front)

lower = (walk.poses("withers") - sneaking.poses("withers"))[:, 2, 3].mean()
slip = max(np.abs(walk.poses(paw) - sneaking.poses(paw))[:, :3, 3].max() for paw in phases)
print(
    f"{walk}\nsneaking: withers {100 * lower:.1f} cm lower, paws within {1e3 * slip:.2f} mm of the clip, {len(keys)} keyframes"
)
head = looking.poses("head_look")
to_box = box - head[:, :3, 3]
cosine = (head[:, :3, 0] * to_box).sum(axis=1) / np.linalg.norm(to_box, axis=1)
middle = np.degrees(np.arccos(np.clip(cosine, -1.0, 1.0)))[len(walk) // 2]
hind = [wolf.index(name) for name in wolf.joint_names if name.startswith(("hind", "tail", "base"))]
print(f"looking: {middle:.2f} degrees off the box in the middle; hind legs and tail untouched: "
      f"{np.array_equal(looking.q[:, hind], walk.q[:, hind])}")  # fmt: skip

if "--draw" in sys.argv:  # pictures, into a folder
    folder, prop = Path(sys.argv[-1]), mk.Shape("box", (0.14, 0.14, 0.14), mk.translation(*box))
    mk.write.draw_motion(walk, folder / "wolf_walk.svg", frame_count=5, view=(-75, 10), size=(1200, 260))
    mk.write.draw_motion(sneaking, folder / "wolf_sneak.svg", frame_count=5, view=(-75, 10), size=(1200, 260))
    mk.write.draw_motion(
        looking, folder / "wolf_look.svg", frame_count=5, view=(-75, 10), size=(1200, 260), props=[prop]
    )
