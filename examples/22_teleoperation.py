"""Teleoperation: a headset and two hand controllers move Valkyrie, whose feet stay on the ground, from a recorded stream."""

import math
import tempfile
import time
from pathlib import Path

import numpy as np

import memetik as mk

RATE, DEVICES = 500, 90  # ticks of the servo and samples of the devices, a second

# A person in a room of their own: smaller than the robot, and turned by half a radian. T-pose, wave, stretch, kneel.
room = mk.transform((2.0, 1.0, 0.0), mk.euler(0.0, 0.0, 0.5))


def person(t):
    wave = 0.5 - 0.5 * math.cos(math.pi * min(t, 2.0))  # out and back within two seconds
    stretch = 0.5 - 0.5 * math.cos(math.pi * min(max(t - 2.0, 0.0), 2.0))
    kneel = 0.5 - 0.5 * math.cos(math.pi * min(max(t - 4.0, 0.0), 2.0))
    down = -0.35 * kneel
    nod = mk.euler(0.0, 0.4 * stretch, 0.6 * math.sin(2.0 * t) * wave)
    right = (0.4 * stretch + 0.2 * wave, -0.78 + 0.3 * wave, 1.40 + 0.15 * wave * math.sin(5.0 * t) + down)
    left = (0.6 * stretch, 0.78 - 0.1 * stretch, 1.40 + down)  # farther than an arm is long
    poses = {"head": mk.transform((0.1, 0.0, 1.65 + down), nod)}
    poses |= {"left": mk.transform(left), "right": mk.transform(right, mk.euler(0.5 * wave, 0.0, 0.0))}
    return {name: room @ pose for name, pose in poses.items()}


recording = Path(tempfile.mkdtemp()) / "stream.jsonl"
mk.motion.write_stream(recording, ((k / DEVICES, person(k / DEVICES)) for k in range(6 * DEVICES)))
samples = mk.motion.read_stream(recording)

body = mk.load("valkyrie").with_base("xyz", lower=-1.0, upper=1.0)  # the pelvis is solved, too
joints = ("ShoulderPitch", "ShoulderRoll", "ShoulderYaw", "ElbowPitch")
start = body.home.copy()
start[[body.index(f"{side}{joint}") for side in ("left", "right") for joint in joints]] = 0.0  # a T-pose
stands = body.forward(start)
hands = {"left": mk.Pose("leftPalm", stands["leftPalm"]), "right": mk.Pose("rightPalm", stands["rightPalm"])}
head = mk.Orientation("head", stands["head"][:3, :3])
feet = [mk.Pose(foot, stands[foot], weight=10.0) for foot in ("leftFoot", "rightFoot")]
# The file has no accelerations. A replay has no clock to keep up with: evaluations alone give the same path on a busy machine.
limits = {"response": 0.03, "acceleration": 50.0, "budget": mk.Budget(evaluations=50)}
servo = mk.Servo(mk.Problem(body, [*hands.values(), head, *feet]), start=start, rate=RATE, **limits)

links = {"head": "head", "left": "leftPalm", "right": "rightPalm"}
calibration = mk.motion.Calibration.of(samples[0].poses, {device: stands[link] for device, link in links.items()})
operator = mk.motion.Teleoperator(servo, {**hands, "head": head}, calibration)

begin = time.thread_time()
path = operator.replay(samples)
spent = (time.thread_time() - begin) / len(path)

# How late is the right hand? By the shift that brings its way nearest to that of its targets.
placed = [body.forward(q) for q in path]
hand = np.array([each["rightPalm"][:3, 3] for each in placed])
ticks = np.arange(len(path)) / RATE
seen = np.array([sample.time for sample in samples])
wanted = np.array([calibration.apply("right", sample.poses["right"])[:3, 3] for sample in samples])


def missed(late):
    shifted = np.array([np.interp(ticks - late, seen, axis) for axis in wanted.T]).T
    return np.linalg.norm(hand - shifted, axis=1).mean()


latency = min(np.arange(0.0, 0.3, 0.002), key=missed)
slip = max(np.linalg.norm(each[foot.frame][:3, 3] - stands[foot.frame][:3, 3]) for each in placed for foot in feet)
velocity = np.diff(path, axis=0) * RATE
print(f"scale {calibration.scale:.2f}, {len(samples)} samples, {len(path)} ticks of {1e6 * spent:.0f} us")
print(f"right hand {1e3 * latency:.0f} ms late, then {1e3 * missed(latency):.0f} mm off its way in the mean")
print(f"feet slip by up to {1e3 * slip:.0f} mm; largest step of a joint {np.abs(np.diff(path, axis=0)).max():.4f} rad")
assert (np.abs(velocity) <= servo.velocity_limit + 1e-9).all()
assert latency < 0.2 and slip < 0.05
