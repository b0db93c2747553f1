"""Lift a box: palms and fingertips ride on it, the gaze follows it, the feet stay, and the whole body does the rest."""

import numpy as np

import memetik as mk

body = mk.load("valkyrie", base="floating", base_lower=-1, base_upper=1)
posed = body.forward(body.home)
box = mk.translation(0.45, 0.0, -0.05)  # between the hands, seen from where the pelvis stands at home

# Both palms beside the box, looking at each other.
beside = {
    "leftPalm": mk.transform((-0.07, 0.17, 0.05), [(0, 1, 0), (-1, 0, 0), (0, 0, 1)]),
    "rightPalm": mk.transform((-0.07, -0.17, 0.05), [(0, -1, 0), (1, 0, 0), (0, 0, 1)]),
}
palms = {
    link: mk.Pose(link, box @ place, position_tolerance=1e-4, orientation_tolerance=1e-3)
    for link, place in beside.items()
}
feet = [
    mk.Pose(link, posed[link], position_tolerance=1e-4, orientation_tolerance=1e-3)
    for link in ("leftFoot", "rightFoot")
]
gaze = mk.LookAt("head", box[:3, 3], tolerance=2e-3)
arms = [
    side + part
    for side in ("left", "right")
    for part in ("ElbowPitchLink", "ForearmLink", "HipPitchLink", "KneePitchLink")
]
apart = mk.SelfDistance(body, ["torso", "pelvis", *arms])
calm = mk.Displacement(weight=0.1)
problem = mk.Problem(body, [*palms.values(), *feet, gaze, apart, calm])

# The box goes down, up, and turns; every target is the box's pose times a constant.
stops = [
    box, mk.translation(0, 0, -0.4) @ box, mk.translation(0, 0, 0.25) @ box,
    mk.translation(0, 0, 0.25) @ box @ mk.transform((0, 0, 0), mk.euler(0, 0, 30, degrees=True)),
]  # fmt: skip
way = mk.motion.waypoints(stops, speed=0.3, turn_speed=0.5, tip_acceleration=1.0, blend=0.05)
targets = {palms[link]: way @ place for link, place in beside.items()}
targets[gaze] = way[:, :3, 3]

start = mk.solve(problem).q
track = mk.track(problem, targets, start=start, rate=100)
print(track)
timed = track.retime(acceleration=10.0)
print(f"the robot could do it in {timed.duration:.2f} s instead of {track.times[-1]:.2f} s")
pelvis = body.forward(track.q, "pelvis")[:, 2, 3]
print(f"the pelvis goes down by {100 * (pelvis[0] - pelvis.min()):.0f} cm on its own")
picture = mk.write.draw_many(body, track.q[np.linspace(0, len(track.q) - 1, 4).astype(int)], view=(40, 12))
print(f"a picture of {len(picture) // 1000} kB: write it by mk.write.draw_many(..., path='lift.svg')")
assert track.success
