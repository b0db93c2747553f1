"""Retargeting: Kyle squats and waves; the same motion on a Unitree G1 and on Valkyrie, feet on the floor."""

import tempfile
from pathlib import Path

import numpy as np

import memetik as mk

RATE = 60
times = np.arange(4 * RATE) / RATE

# The motion: targets for hips, feet and hands over time, followed by a character. A .bvh file would do as well:
# clip = mk.read_motion("dance.bvh", scale=0.01)
kyle = mk.load("kyle", base="floating")
stands = kyle.forward(kyle.home)
down = 0.25 * np.sin(np.pi * times / 4.0) ** 2
wave = np.sin(np.pi * np.clip(times / 4.0, 0.0, 1.0)) ** 2


def moved(link, offsets):
    poses = np.tile(stands[link], (len(times), 1, 1))
    poses[:, :3, 3] += offsets
    return poses


still = np.zeros((len(times), 3))
hand = np.stack([0.25 * wave, 0.1 * wave + 0.1 * wave * np.sin(9.0 * times), 0.7 * wave - down], axis=1)
targets = {
    mk.Pose("pelvis", stands["pelvis"]): moved("pelvis", still - down[:, None] * (0.0, 0.0, 1.0)),
    mk.Pose("left_foot", stands["left_foot"]): moved("left_foot", still),
    mk.Pose("right_foot", stands["right_foot"]): moved("right_foot", still),
    mk.Position("left_hand", stands["left_hand"][:3, 3], tolerance=None): moved("left_hand", hand)[:, :3, 3],
}
bent = kyle.vector(
    {f"{side}_knee": 0.6 for side in ("left", "right")}, default=kyle.home
)  # knees know which way to bend
path = mk.track(mk.Problem(kyle, [*targets, mk.Displacement(weight=0.1)]), targets, bent, rate=RATE)
clip = mk.Motion(kyle, times, path.q, name="squat and wave")
print(clip)

out = Path(tempfile.mkdtemp())
for name in ("g1", "valkyrie"):
    body = mk.load(name)
    plan = mk.motion.retarget_plan(clip, body)  # by names and structure; print(plan) shows it, plan.edit changes it
    found = mk.retarget(clip, body, plan=plan)
    print(f"\n{name}: {plan!r}")
    print(found.report)
    found.write(out / f"{name}.csv")
    mk.write.draw_motion(found, out / f"{name}.svg")
    assert found.report.outside == 0
    assert found.report.sliding < 0.01
    assert found.report.penetration < 0.002
