"""Posture training: a trainer's posture is the goal, a practitioner's live one is corrected towards it, joint by joint.

After the Tai-Chi trainer of the thesis (section 5.12.4), where a virtual hand pushes the arms of a practitioner. The live posture
comes as points of the body, as a camera gives them. Inverse kinematics makes joint angles of them within human limits; their
errors from the recorded posture say what to correct first, and which way to push the hand. The practitioner is simulated.
"""

import tempfile
from pathlib import Path

import numpy as np

import memetik as mk

body = mk.load("mannequin")
recorded = body.vector(
    {
        "left_shoulder_y": -1.3, "left_shoulder_x": 0.3, "left_elbow": -0.6, "right_shoulder_y": -0.5, "right_shoulder_x": -0.5,
        "right_elbow": -1.0, "left_hip_y": -0.5, "left_knee": 0.7, "right_hip_y": -0.3, "right_knee": 0.5,
    }
)  # fmt: skip
recorded = np.clip(recorded, body.lower, body.upper)
arms = [name for name in body.joint_names if "shoulder" in name or "elbow" in name]
live = body.vector(
    {"left_shoulder_y": -0.6, "left_elbow": -1.1, "right_shoulder_x": -0.1, "right_elbow": -0.5}, default=recorded
)
live = np.clip(live, body.lower, body.upper)

seen = ["pelvis", "chest", "head"]
seen += [
    f"{side}_{part}"
    for side in ("left", "right")
    for part in ("upper_arm", "forearm", "hand", "thigh", "shin", "midfoot")
]
points = {link: mk.Position(link, (0, 0, 0), tolerance=0.02) for link in seen}
problem = mk.Problem(body, [*points.values(), mk.Displacement(weight=1e-4)])
goal, rng = body.forward(recorded), np.random.default_rng(0)

shots, worst, q = [], [], recorded
for lesson in range(6):
    for link, point in points.items():  # what a camera sees, with 3 mm of noise
        point.target = body.forward(live)[link][:3, 3] + rng.normal(0.0, 0.003, 3)
    found = mk.solve(problem, q)
    assert found.success, found
    q = found.q
    errors = {name: np.degrees(q[body.index(name)] - recorded[body.index(name)]) for name in arms}
    first = sorted(errors, key=lambda name: -abs(errors[name]))[:4]
    push = (goal["left_hand"] - body.forward(q)["left_hand"])[:3, 3]
    print(
        f"{lesson}: "
        + ", ".join(f"{name} {errors[name]:+.0f} deg" for name in first)
        + f"; push the left hand by {np.round(100 * push)} cm"
    )
    worst.append(abs(errors[first[0]]))
    shots.append(q)
    live = live + 0.5 * (recorded - live)  # the practitioner gives way by half

assert worst[-1] < 0.25 * worst[0]
out = Path(tempfile.mkdtemp())
mk.write.draw_many(
    body, [recorded, shots[0]], out / "first.svg", show_skeleton=False
)  # the goal as a ghost behind the live posture
mk.write.draw_many(body, [recorded, shots[-1]], out / "last.svg", show_skeleton=False)
print("drawn:", out / "first.svg", out / "last.svg")
