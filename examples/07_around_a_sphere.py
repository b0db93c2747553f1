"""Reach a pose with the arm around an obstacle: Distance keeps the solids of all links off a sphere.

The first solution does not know of the sphere, which sits where its elbow is. The others keep off while the sphere
moves, and nothing is compiled again.
"""

import memetik as mk

body = mk.load("panda")
target = body.forward(body.vector({"panda_joint1": 0.6, "panda_joint2": 0.4, "panda_joint4": -1.6}))["panda_hand"]
reach = mk.Pose("panda_hand", target)
careless = mk.solve(mk.Problem(body, reach))
x, y, z = body.forward(careless.q)["panda_link4"][:3, 3]

arm = [link.name for link in body.links.values() if link.shapes and link.name != body.root]
keep_off = mk.Distance(arm, [(x, y, z, 0.10)])  # a sphere with a radius of 10 cm
problem = mk.Problem(body, [reach, keep_off, mk.SelfDistance(body)])

for step in range(5):
    keep_off.obstacles = [(x, y + 0.03 * step, z, 0.10)]
    solution = mk.solve(problem)
    elbow = body.forward(solution.q)["panda_link4"][:3, 3]
    print(f"sphere at y = {y + 0.03 * step:.2f} m: {solution.status.name}, elbow at", elbow.round(2), "m")
    assert solution.success

print(solution.explain())
