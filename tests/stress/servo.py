"""Do followers and servos keep every limit, whatever they are asked to do? Random goals and streams of targets on six
bodies:

    python -m tests.stress.servo [--targets 10000] [--streams 1000] [--seed 0]

On the vectors that are returned, at 1 kHz: position, velocity and acceleration (and jerk, where there is a limit)
within limits, up to what rounding of positions does to them; no follower passes a goal at which it could stop; every
joint could stop before its limits after every tick; nothing but finite numbers. Prints a line for each body and what
was broken.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[2]))

import memetik as mk

RATE = 1000.0
HAND = {"panda": "panda_hand", "ur5": "tool0", "iiwa14": "tool0", "pr2": "r_wrist_roll_link", "valkyrie": "rightPalm"}
HAND["nao"] = "l_wrist"
KINDS = ("steps", "jumps", "sine", "walk", "faults", "beyond", "hold")


def braking_distance(velocity, acceleration, rate=RATE):
    """From these velocities on, without the tick they were in."""
    u = np.maximum(velocity * rate / acceleration - 1.0, 0.0)
    n = np.floor(u)
    return acceleration / rate**2 * ((n + 1.0) * u - 0.5 * n * (n + 1.0))


def broken(path, lower, upper, velocity, acceleration, jerk=None, rate=RATE) -> Counter[str]:
    """How often each limit is broken on a path (ticks, dof) that begins at rest."""
    found: Counter[str] = Counter()
    if not np.isfinite(path).all():
        return Counter(finite=1)
    rounding = 4.0 * np.finfo(float).eps * (1.0 + np.abs(path).max())
    v = np.diff(path, axis=0, prepend=path[:1]) * rate
    a = np.diff(v, axis=0) * rate
    found["position"] = int(((path < lower) | (path > upper)).sum())
    found["velocity"] = int((np.abs(v) > velocity + rounding * rate).sum())
    found["acceleration"] = int((np.abs(a) > acceleration + 2.0 * rounding * rate**2).sum())
    if jerk is not None:
        found["jerk"] = int((np.abs(np.diff(a, axis=0)) * rate > jerk + 8.0 * rounding * rate**3).sum())
    slack = 1e-9
    found["braking"] = int((path + braking_distance(v, acceleration, rate) > upper + slack).sum())
    found["braking"] += int((path - braking_distance(-v, acceleration, rate) < lower - slack).sum())
    return +found


def overshoots(path, goal, can_stop) -> int:
    """Joints that pass a constant goal on a path (ticks, dof), of those that could stop at it."""
    way = goal - path[0]
    side = np.where(way >= 0.0, 1.0, -1.0)
    passed = (side * (path - goal)).max(axis=0) > 1e-9
    return int((passed & can_stop).sum())


def follow_goals(body: mk.Body, count: int, rng: np.random.Generator, **settings: Any) -> Counter[str]:
    """A follower that gets another goal after a while, whether it has arrived or not."""
    follower = mk.motion.Follower(body, rate=RATE, **settings)
    limits = follower.velocity_limit, follower.acceleration_limit
    path, found = [follower.q], Counter[str]()
    for _ in range(count):
        goal = body.sample(rng) if rng.random() < 0.8 else body.clip(follower.q + rng.normal(0.0, 0.02, body.dof))
        ticks = int(rng.choice([3, 40, 400, 1500], p=[0.3, 0.4, 0.25, 0.05]))
        begin, v = len(path) - 1, follower.velocity
        side = np.sign(goal - path[-1])
        can_stop = braking_distance(side * v, limits[1]) <= np.abs(goal - path[-1]) + 1e-12
        path += [follower.step(goal) for _ in range(ticks)]
        if not {"jerk", "smoothing"} & set(settings):  # what the filters hold back is not seen
            found["overshoot"] += overshoots(np.array(path[begin:]), goal, can_stop)
        found["ticks"] += ticks
    jerk = follower.jerk_limit if "jerk" in settings else None
    return found + broken(np.array(path), body.lower, body.upper, *limits, jerk)


def stream(kind: str, body: mk.Body, link: str, ticks: int, rng: np.random.Generator):
    """Targets of one objective, one a tick."""
    pose = body.forward(body.sample(rng))[link]
    other = body.forward(body.sample(rng))[link]
    axis, phase = rng.normal(size=3), rng.uniform(0.0, 6.0)
    for k in range(ticks):
        if kind in ("steps", "jumps") and k % (11 if kind == "steps" else 150) == 0:
            if kind == "jumps":
                pose = body.forward(body.sample(rng))[link]
            else:
                pose = pose.copy()
                pose[:3, 3] += rng.normal(0.0, 0.01, 3)
        elif kind in ("sine", "faults", "beyond"):
            reach = 3.0 if kind == "beyond" else 0.2
            pose = other.copy()
            pose[:3, 3] += reach * axis * np.sin(phase + k * rng.choice([0.003, 0.0031]))
        elif kind == "walk":
            pose = pose.copy()
            pose[:3, 3] += rng.normal(0.0, 0.002, 3)
        if kind == "faults" and rng.random() < 0.2:
            yield rng.choice(np.array([None, "nan", "inf", "skewed", "missing"], dtype=object))
        else:
            yield pose


def servo_streams(body: mk.Body, link: str, count: int, ticks: int, rng: np.random.Generator) -> Counter[str]:
    """One servo on streams of all kinds, from a posture that it is reset to for each."""
    pose = mk.Pose(link, body.forward(body.home)[link])
    servos = [
        mk.Servo(mk.Problem(body, pose), rate=RATE),
        mk.Servo(mk.Problem(body, pose), rate=RATE, response=0.0, synchronise=False),
    ]
    found: Counter[str] = Counter()
    for k in range(count):
        servo = servos[k % len(servos)]
        servo.reset(body.sample(rng))
        path = [servo.q]
        for target in stream(KINDS[k % len(KINDS)], body, link, ticks, rng):
            bad = pose.target.copy()
            if isinstance(target, str):
                bad[0, 0] = {"nan": np.nan, "inf": np.inf, "skewed": 7.0}.get(target, 1.0)
                path.append(servo.step({} if target == "missing" else {pose: bad}))
                if target != "missing" and servo.held != (pose,):
                    found["held"] += 1
            else:
                path.append(servo.step({pose: target}))
        found["ticks"] += ticks
        found["switches"] += servo.switches
        found += broken(
            np.array(path), servo.problem.lower, servo.problem.upper, servo.velocity_limit, servo.acceleration_limit
        )
    return found


def servo_jumps(body: mk.Body, link: str, count: int, ticks: int, rng: np.random.Generator) -> Counter[str]:
    """A target that jumps to anywhere within reach again and again, while the servo is on its way."""
    pose = mk.Pose(link, body.forward(body.home)[link])
    servo = mk.Servo(mk.Problem(body, pose), rate=RATE)
    path = [servo.q]
    for _ in range(count):
        target = body.forward(body.sample(rng))[link]
        path += [servo.step({pose: target}) for _ in range(ticks)]
    found = broken(np.array(path), body.lower, body.upper, servo.velocity_limit, servo.acceleration_limit)
    return found + Counter(ticks=count * ticks)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--targets", type=int, default=10_000)
    parser.add_argument("--streams", type=int, default=1_000)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    bad = 0
    for number, (name, link) in enumerate(HAND.items()):
        body, rng = mk.load(name), np.random.default_rng(given.seed + number)
        goals, streams = given.targets // len(HAND) + 1, given.streams // len(HAND) + 1
        trials = {
            "follower": partial(follow_goals, body, goals, rng),
            "follower, together": partial(follow_goals, body, goals, rng, synchronise=True),
            "follower, jerk": partial(follow_goals, body, goals // 4, rng, jerk=200.0),
            "servo, streams": partial(servo_streams, body, link, streams, 300, rng),
            "servo, jumps": partial(servo_jumps, body, link, goals, 40, rng),
        }
        for what, trial in trials.items():
            found = trial()
            counted = {key: found.pop(key) for key in ("ticks", "switches") if key in found}
            found = +found
            bad += found.total()
            print(f"{name:9} {what:18} {counted}  {dict(found) or 'nothing broken'}", flush=True)
    print(f"{bad} broken")
    return int(bad > 0)


if __name__ == "__main__":
    sys.exit(main())
