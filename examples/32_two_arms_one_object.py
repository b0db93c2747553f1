"""Two robots carry one beam: both arms and the beam are bodies of one problem, and the hands ride on the beam."""

import numpy as np

import memetik as mk

beam = mk.Body("beam", [mk.build.Link("beam", mass=4.0, shapes=(mk.Shape("box", (0.9, 0.05, 0.05)),))], [])
cell = mk.body.Group(
    {"left": mk.load("panda"), "right": mk.load("panda"), "beam": beam.with_base("floating", lower=-2, upper=2)},
    placements={"left": (0, 0.55, 0), "right": (0, -0.55, 0)},
)
down = mk.euler(180, 0, 0, degrees=True)
across = mk.euler(0, 0, 90, degrees=True)
carried = mk.Pose("beam/beam", mk.transform((0.45, 0, 0.4), across), position_tolerance=1e-4)
grips = [
    mk.Pose(f"{arm}/panda_hand", mk.transform((x, 0, 0.13), down), relative_to="beam/beam", name=f"{arm} grip")
    for arm, x in (("left", 0.35), ("right", -0.35))
]
problem = mk.Problem(cell.body, [carried, *grips, mk.Displacement(weight=0.01)])

stops = [
    mk.transform((0.45, 0, 0.4), across), mk.transform((0.5, 0, 0.6), across),
    mk.transform((0.5, 0, 0.6), mk.euler(0, 10, 75, degrees=True)), mk.transform((0.4, 0, 0.4), across),
]  # fmt: skip
way = mk.motion.waypoints(stops, speed=0.25, turn_speed=0.4, tip_acceleration=1.0, blend=0.03)
start = mk.solve(problem)
print(f"{start.status.name} in {1e3 * start.seconds:.1f} ms")
track = mk.track(problem, {carried: way}, start=start.q, rate=100)
print(track)
posed = cell.body.forward(track.q)
span = np.linalg.norm(posed["left/panda_hand"][:, :3, 3] - posed["right/panda_hand"][:, :3, 3], axis=1)
print(
    f"the hands stay {span.min():.4f} to {span.max():.4f} m apart; {list(cell.split(track.q))} have their own motions"
)
assert start.success and track.success
