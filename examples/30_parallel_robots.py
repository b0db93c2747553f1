"""Parallel robots: their tree has the loops open, objectives close them, and closed forms agree.

A Stewart platform takes a pose, then is asked the other way round, which has no closed form: which pose do these lengths of the
legs give? A delta robot draws a circle, and its rods keep the platform level. A model of MuJoCo brings its loops along.
"""

import numpy as np

import memetik as mk

stewart = mk.build.stewart_platform()
pose = mk.Pose("platform", mk.transform((0.08, -0.05, 0.68), mk.euler(0.1, 0.2, 0.3)), position_tolerance=1e-9)
solution = mk.solve(mk.Problem(stewart, [pose, *mk.objectives.close_loops(stewart)]))
legs = {f"leg_{k}": solution[f"leg_{k}"] for k in range(1, 7)}
feet = np.array([stewart.joints[f"leg_{k}_x"].origin[:3, 3] for k in range(1, 7)])
tops = np.array([loop.other.link_from_frame[:3, 3] for loop in stewart.loops])
lengths = np.linalg.norm(pose.target[:3, 3] + tops @ pose.target[:3, :3].T - feet, axis=1)
print(f"legs of {', '.join(f'{leg:.4f}' for leg in legs.values())} m")
print(f"the closed form |p + R b - a| differs by {abs(lengths - list(legs.values())).max():.0e} m")
assert solution.success

# Forward kinematics of a parallel robot: the legs are locked, and closing the loops finds the platform.
there = mk.solve(mk.Problem(stewart, mk.objectives.close_loops(stewart), lock=legs))
back = stewart.forward(there.q, "platform")
print(f"the same lengths put the platform {1e9 * np.linalg.norm((back - pose.target)[:3, 3]):.1f} nm from where it was")
assert there.success

delta = mk.build.delta_robot()
reach = mk.Position("platform", (0.0, 0.0, -0.45), tolerance=1e-6)
angle = np.linspace(0, 2 * np.pi, 100)
circle = np.stack([0.12 * np.cos(angle), 0.12 * np.sin(angle), np.full(100, -0.45)], axis=1)
track = mk.track(mk.Problem(delta, [reach, *mk.objectives.close_loops(delta)]), {reach: circle}, rate=100)
level = delta.forward(track.q, "platform")[:, :3, :3]
print(f"{track}; the platform turns by {abs(level - np.eye(3)).max():.0e}")
assert track.success

linkage = mk.build.five_bar()
turn = mk.JointValue("left_motor", 2.0, tolerance=1e-9)
print(f"five-bar linkage: {mk.solve(mk.Problem(linkage, [turn, *mk.objectives.close_loops(linkage)]))}")
