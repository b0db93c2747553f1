"""Two people shake hands: two bodies in one problem, each with its feet on the ground and its eyes on the other."""

import numpy as np

import memetik as mk

person = mk.load("mannequin", base="xyz", base_lower=-0.4, base_upper=0.4)
group = mk.body.Group(
    {"ann": person, "ben": person}, placements={"ben": mk.transform((1.0, 0, 0), mk.euler(0, 0, 180, degrees=True))}
)
stands = group.body.forward(group.body.home)
palm = {name: group.frame(name, "right_hand", (0.0, 0.0, -0.09)) for name in group.bodies}

# Palm to palm, fingers past each other, thumbs up; where in the world is left open.
grip = mk.Pose(palm["ann"], mk.transform((0, 0.04, 0), mk.euler(180, 0, 0, degrees=True)), relative_to=palm["ben"])
feet = [
    mk.Pose(group.frame(name, f"{side}_midfoot"), stands[group.name(name, f"{side}_midfoot")])
    for name in group.bodies
    for side in ("left", "right")
]
eyes = [
    mk.LookAt(
        group.frame(one, "head_look"),
        (0, 0, 0),
        axis=(1, 0, 0),
        relative_to=group.frame(other, "head_look"),
        tolerance=0.02,
    )
    for one, other in (("ann", "ben"), ("ben", "ann"))
]
height = mk.Position(palm["ann"], (0.5, 0.0, 1.0), tolerance=1e-3)
problem = mk.Problem(group.body, [grip, height, *feet, *eyes, mk.Displacement(weight=0.01)])

swing = 1.0 + 0.06 * np.sin(np.linspace(0, 4 * np.pi, 81))
path = np.stack([np.full(81, 0.5), np.zeros(81), swing], axis=1)
start = mk.solve(problem)
print(f"{start.status.name} in {1e3 * start.seconds:.1f} ms")
track = mk.track(problem, {height: path}, start=start.q, rate=40)
print(track)
for name, q in group.split(track.q).items():
    body = group.bodies[name]
    lift = body.forward(q, "right_hand")[:, 2, 3]
    print(f"{name}: {q.shape[1]} joints, the hand goes up and down by {100 * np.ptp(lift):.0f} cm")
assert start.success and track.success
