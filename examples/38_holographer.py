"""Posing a character for a photo: bones are dragged one after the other, any of them, and the whole body follows.

What the tool Holographer of the thesis (section 5.12.1) does with controllers in virtual reality: a bone that is taken hold of
gets a target, bones placed before keep theirs, the feet stand, and all else stays as near as it can to the posture before.
"""

import tempfile
from pathlib import Path

import numpy as np

import memetik as mk

body = mk.load("mannequin", base="floating", base_lower=-1.0, base_upper=1.0)
stands = body.forward(body.home)
feet = [mk.Pose(foot, stands[foot]) for foot in ("left_midfoot", "right_midfoot")]
calm = mk.Displacement(weight=1.0)  # from the start of each solve, which is the posture before

# Balanced weights: feet stand to a tenth of a millimetre, what is dragged may be off by a centimetre.
# What is dragged and by how much [m]: the end of an arm, an elbow, the pelvis, the chest, the head.
drags = {
    "left_hand": (0.35, 0.10, 0.45),
    "right_forearm": (0.02, -0.12, 0.06),
    "pelvis": (0.0, 0.02, -0.06),
    "chest": (0.02, 0.03, -0.01),
    "head": (0.02, 0.02, 0.0),
}
q, placed, shots = body.home, [], [body.home]
for bone, by in drags.items():
    target = body.forward(q)[bone][:3, 3] + by
    drag = mk.Position(bone, target, tolerance=0.01)
    solution = mk.solve(mk.Problem(body, [drag, *placed, *feet, calm], weighting="balanced"), q)
    turned = np.count_nonzero(abs(solution.q - q) > 0.02)
    print(f"{bone}: {1e3 * solution.errors[drag]:.1f} mm off, {turned} of {body.dof} joints turn")
    assert solution.success, solution.status
    assert (solution.q >= body.lower).all()
    assert (solution.q <= body.upper).all()
    q = solution.q
    placed.append(drag)
    shots.append(q)

# The photo, and how it came to be.
out = Path(tempfile.mkdtemp())
mk.draw(body, q, out / "photo.svg", show_skeleton=False, targets=[each.target for each in placed])
steps = mk.Motion(body, np.arange(len(shots), dtype=float), np.array(shots))
mk.write.draw_motion(steps, out / "steps.svg", frame_count=len(shots))
print("drawn:", out / "photo.svg", out / "steps.svg")
