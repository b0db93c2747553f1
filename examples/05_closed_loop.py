"""A five-bar linkage: two arms that share a tip. The tree has the loop open; an objective between two frames closes it."""

import memetik as mk

builder = mk.build.BodyBuilder("five_bar")
for side, x in (("left", -0.15), ("right", 0.15)):
    builder.add(
        "base", f"{side}_motor", "revolute", f"{side}_crank", origin=(x, 0, 0), axis=(0, 0, 1), lower=-3, upper=3
    )
    builder.add(
        f"{side}_crank",
        f"{side}_elbow",
        "revolute",
        f"{side}_rod",
        origin=(0.3, 0, 0),
        axis=(0, 0, 1),
        lower=-3,
        upper=3,
    )
    builder.add(f"{side}_rod", f"{side}_end", "fixed", f"{side}_tip", origin=(0.35, 0, 0))
body = builder.build()

closed = mk.Position("left_tip", (0, 0, 0), relative_to="right_tip", tolerance=1e-6)
reach = mk.Position("left_tip", (0.05, 0.45, 0), tolerance=1e-6)
problem = mk.Problem(body, [closed, reach])
start = body.vector({"left_motor": 2.0, "left_elbow": -1.0, "right_motor": 1.0, "right_elbow": 1.0})

for target in ((0.05, 0.45, 0), (0.0, 0.40, 0), (-0.08, 0.5, 0)):
    reach.target = target
    solution = mk.solve(problem, start)
    gap = body.forward(solution.q)["left_tip"][:3, 3] - body.forward(solution.q)["right_tip"][:3, 3]
    print(
        f"tip at {target}: motors {solution['left_motor']:.3f} {solution['right_motor']:.3f} rad, gap {abs(gap).max():.1e} m"
    )
    assert solution.success
    start = solution.q
