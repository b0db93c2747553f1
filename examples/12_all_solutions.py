"""All the ways an arm can take a pose: eight for a UR5, nearest to the start first."""

import memetik as mk

body = mk.load("ur5")
start = body.vector({"shoulder_lift_joint": -1.2, "elbow_joint": 1.4, "wrist_1_joint": -1.0, "wrist_2_joint": -1.2})
pose = mk.Pose("tool0", body.forward(start)["tool0"], position_tolerance=1e-6, orientation_tolerance=1e-6)

solutions = mk.solve_all(mk.Problem(body, pose), start, count=16)
for solution in solutions:
    print(*(f"{value:8.3f}" for value in solution.q))
assert len(solutions) == 8
assert abs(solutions[0].q - start).max() < 1e-4
