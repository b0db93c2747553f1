"""A guide that chooses: the elbow of a UR5 shall be up, wherever the arm starts.

From a start with its elbow down, a guide of little weight only bends the solution that is near. With `prefer` the solver
looks for several, and the guide chooses among them.
"""

import memetik as mk

body = mk.load("ur5")
pose = mk.Pose("tool0", mk.transform((0.4, 0.2, 0.3), mk.euler(180, 0, 0, degrees=True)))
up = mk.Plane("forearm_link", (0.0, 0.0, 0.8), (0.0, 0.0, 1.0), side="above", tolerance=None, weight=0.1)
problem = mk.Problem(body, [pose, up])
start = body.vector({"shoulder_lift_joint": 0.2, "elbow_joint": -1.98, "wrist_1_joint": 0.2, "wrist_2_joint": -1.57})

for solution in (mk.solve(problem, start), mk.solve(problem, start, prefer=True)):
    height = body.forward(solution.q)["forearm_link"][2, 3]
    print(f"elbow at {height:.2f} m, {solution.status}")
assert solution.success and height > 0.5
