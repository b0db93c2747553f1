"""Objectives without a tolerance guide: the arm reaches the same point each time, in the way the guide prefers."""

import memetik as mk

body = mk.load("iiwa14")
start = body.vector({"joint_a2": 0.6, "joint_a4": -1.2, "joint_a6": 0.8})
reach = mk.Position("tool0", (0.45, 0.2, 0.6), tolerance=1e-5)

guides = {
    "nothing": None,
    "stay close to the start": mk.Displacement(),
    "move joint 1 and 2 least": mk.Displacement(stiffness={"joint_a1": 20.0, "joint_a2": 20.0}, weight=0.1),
    "stay near the middle": mk.CenterJoints(),
    "keep off the limits": mk.AvoidLimits(margin=0.3),
    "elbow at -1 rad, if it can be": mk.JointValue("joint_a4", -1.0, tolerance=None, weight=0.1),
}
for wish, guide in guides.items():
    solution = mk.solve(mk.Problem(body, [reach] if guide is None else [reach, guide]), start)
    assert solution.success
    print(f"{wish:30}", *(f"{value:7.3f}" for value in solution.q))
