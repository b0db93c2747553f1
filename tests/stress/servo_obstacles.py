"""Do servos stay free of contacts, whatever they are asked to do, among obstacles that stand and move? Random worlds:

    python -m tests.stress.servo_obstacles [--ticks 1000000] [--worlds 200] [--seed 0] [--robots panda,ur5,...]
        [--speed 0.1] [--acceleration limits|off|both] [--world K] [--exhaustive] [--beside mink,pink]

Bodies: panda, ur5, baxter (two arms), g1 (upper body, shapes of its file), talos (upper body, covers of its meshes). Worlds of
spheres, boxes, capsules, cylinders, posts, tables and open boxes; half of them with one to three obstacles that move. Targets
of each hand: smooth, jumping, inside obstacles (also those that move), across posts, out of reach, pushed into tables, carried
by an obstacle, shaking. Every posture that is returned is judged in the world of its tick, by coal at poses by Pinocchio
(memetik_lab.contact_judge):

- contact: a pair that was apart in the tick before and overlaps now, of robot and obstacle or of two links that SelfDistance
  keeps apart. By the robot if it would overlap as well where the obstacle was in the tick before, else by the obstacle.
- limits: position, velocity, acceleration, and whether joints could stop before their limits, as in tests.stress.servo.

In a tick obstacles move first, then the servo takes its step. What may be asked of a servo, and so holds for obstacles that move:

- They are at most as fast as --speed (0.1 m/s), and gather speed with at most 0.5 m/s2. They stop and turn back at once.
- At the start no obstacle is nearer than 4 cm, and none that moves nearer than 15 cm.
- They come no nearer than 6 cm to a link with fewer than three joints before it, which cannot get out of the way. They are
  not judged against links that no joint moves.
- One of them at a time: while one is within 5 cm, others do not come nearer.
- They do not trap a limb: an obstacle within 3 cm goes on only if some joint velocity, of at most half the limits and that can
  stop before the limits of positions, keeps all pairs within 3 cm apart (distance d to the world may shrink by
  (d - 15 mm) / 0.3 s, to the robot's own links by (d - 4 mm) / 0.3 s). Else it goes away along the normal, or waits. So a servo
  that stands still is run into, as long as it could get away.

The same seed gives the same worlds; --world K repeats one of them and prints each contact. With --beside, peers take the same
targets in the same worlds, each with a copy of its own, since obstacles keep off the robot as it is;
no accelerations are limited, and the servo's joints do not wait for each other, as those of peers do not.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[2]))

import memetik as mk
from memetik.types import Array
from memetik_lab.claims import servo_obstacle_peers as peers
from memetik_lab.claims.servo_obstacles import STILL, reversals
from memetik_lab.contact_judge import Contact, ContactJudge
from tests.stress.servo import broken
from tests.stress.servo_worlds import CLEARANCE, RATE, ROBOTS, Movers, Robot, Trial, draw_trial

NO_LIMIT = 1e12  # rad/s2: what counts as infinite


@dataclass
class Found:
    """What came out of some ticks."""

    ticks: int = 0
    counts: Counter[str] = field(default_factory=Counter)  # of new contacts
    limits: Counter[str] = field(default_factory=Counter)
    touching: int = 0  # ticks in contact
    deepest: float = 0.0  # [m]
    turns: float = 0.0  # reversals
    moving: int = 0  # ticks in which a joint moves: a servo that never moves seldom touches anything
    seconds: list[Array] = field(default_factory=list)  # of each tick of the servo
    errors: dict[str, list[Array]] = field(default_factory=lambda: defaultdict(list))  # by kind of target [m]

    def add(self, other: Found) -> None:
        self.ticks += other.ticks
        self.counts += other.counts
        self.limits += other.limits
        self.touching += other.touching
        self.deepest = max(self.deepest, other.deepest)
        self.turns += other.turns
        self.moving += other.moving
        self.seconds += other.seconds
        for kind, errors in other.errors.items():
            self.errors[kind] += errors

    @property
    def bad(self) -> int:
        return self.counts.total() + self.limits.total()

    def __str__(self) -> str:
        times = 1e6 * np.concatenate(self.seconds)
        every = np.concatenate([each for errors in self.errors.values() for each in errors])
        errors = {kind: f"{1e3 * np.median(np.concatenate(each)):.3g}" for kind, each in sorted(self.errors.items())}
        return (
            f"{self.ticks} ticks; new contacts {dict(self.counts) or 'none'}; {self.touching} ticks in contact, deepest "
            f"{1e3 * self.deepest:.3g} mm; limits broken {dict(self.limits) or 'none'}; "
            f"{self.turns * RATE / self.ticks:.3g} reversals/s, moving in {100.0 * self.moving / self.ticks:.3g} % of ticks; "
            f"tick {np.median(times):.3g} us, p99 {np.percentile(times, 99.0):.3g} us; median error [mm] "
            f"{1e3 * np.median(every):.3g}, by kind {errors}"
        )


class Loop(NamedTuple):
    """A control loop in one world: the wanted poses of the tips and the poses of what has moved in, a joint vector out."""

    step: Callable[[Sequence[Array], Mapping[str, Array]], Array]
    velocity: Array  # limits
    acceleration: Array


def make_servo(trial: Trial, acceleration: float | None, *, synchronise: bool = True) -> Loop:
    """Return mk.Servo in the world of a trial."""
    robot, body = trial.robot, trial.robot.body
    poses = body.forward(trial.start)
    hands = [mk.Pose(t, poses[t]) if trial.with_rotation else mk.Position(t, poses[t][:3, 3]) for t in robot.tips]
    problem = mk.Problem(body, [*hands, *robot.objectives(trial.world)])
    servo = mk.Servo(
        problem, start=trial.start, rate=RATE, acceleration=acceleration, synchronise=synchronise,
        budget=mk.Budget(evaluations=50),
    )  # fmt: skip

    def step(wanted: Sequence[Array], moved: Mapping[str, Array]) -> Array:
        return servo.step({o: w if trial.with_rotation else w[:3, 3] for o, w in zip(hands, wanted, strict=True)})

    return Loop(step, servo.velocity_limit, servo.acceleration_limit)


def make_peer(kind: str, trial: Trial) -> Loop:
    """Return a peer's control loop among the obstacles of a trial."""
    robot, body = trial.robot, trial.robot.body
    velocity, free = mk.motion.Follower(body).velocity_limit, np.full(body.dof, np.inf)
    obstacles = {
        f"{name}/{k}": shape for name, obstacle in trial.world.items() for k, shape in enumerate(obstacle.placed)
    }
    pairs = tuple(mk.SelfDistance(body, ignore="always").pairs)
    setup = peers.Robot(body, robot.tips, pairs, trial.start, obstacles, CLEARANCE, velocity, free, trial.with_rotation)
    peer = peers.KINDS[kind](setup, 1.0 / RATE)

    def step(wanted: Sequence[Array], moved: Mapping[str, Array]) -> Array:
        return peer.step(wanted, {f"{name}/0": pose for name, pose in moved.items()})  # what moves has one shape

    return Loop(step, velocity, free)


def run_trial(trial: Trial, ticks: int, loop: Loop, *, exhaustive: bool = False, say: bool = False) -> Found:
    """One control loop in one world."""
    robot, body = trial.robot, trial.robot.body
    judge = ContactJudge(body, trial.world, mk.SelfDistance(body, ignore="always").pairs, exhaustive=exhaustive)
    judge.check(trial.start)
    movers = Movers(robot, judge, trial.movers, loop.velocity)
    found, path, q = Found(ticks), np.empty((ticks + 1, body.dof)), trial.start
    path[0] = q
    seconds, errors = np.empty(ticks), np.empty((len(robot.tips), ticks))
    for k in range(ticks):
        moved = movers.step(q)
        for name, pose in moved.items():
            judge.place(name, pose)
        if moved:
            trial.world.move(moved)
        wanted = [next(stream) for stream in trial.streams]
        begin = time.thread_time()
        q = loop.step(wanted, moved)
        seconds[k] = time.thread_time() - begin
        path[k + 1] = q
        for contact in judge.check(q):
            found.counts[_kind(contact)] += 1
            if say:
                print(f"  tick {k}: {contact}")
        found.touching += any(judge.contacts())
        found.deepest = max(found.deepest, judge.depth)
        poses = body.forward(q)
        for j, tip in enumerate(robot.tips):
            errors[j, k] = np.linalg.norm(poses[tip][:3, 3] - wanted[j][:3, 3])
    hardest = np.where(np.isfinite(loop.acceleration), loop.acceleration, NO_LIMIT)
    found.limits = broken(path, body.lower, body.upper, loop.velocity, hardest)
    found.turns = reversals(path, RATE) * ticks / RATE
    found.moving = int((np.abs(np.diff(path, axis=0)).max(axis=1) * RATE > STILL).sum())
    found.seconds.append(seconds)
    for kind, each in zip(trial.kinds, errors, strict=True):
        found.errors[kind].append(each)
    return found


def _kind(contact: Contact) -> str:
    if not contact.of_world:
        return "self"
    return "by the robot" if contact.by_robot else "by an obstacle"


def run_robot(name: str, robot: Robot, worlds: list[int], ticks: int, given: argparse.Namespace) -> dict[str, Found]:
    """One body in its worlds: what came out for each control loop."""
    total: dict[str, Found] = defaultdict(Found)
    for number in worlds:
        for kind in ("memetik", *given.beside):
            rng = np.random.default_rng([given.seed, number])
            off = bool(rng.random() < 0.5) if given.acceleration == "both" else given.acceleration == "off"
            trial = draw_trial(robot, rng, given.speed)
            loop = (
                make_servo(trial, np.inf if off or given.beside else None, synchronise=not given.beside)
                if kind == "memetik"
                else make_peer(kind, trial)
            )
            found = run_trial(trial, ticks, loop, exhaustive=given.exhaustive, say=given.world is not None)
            total[kind].add(found)
            if found.bad and kind == "memetik":
                what = f"{len(trial.world)} obstacles, {len(trial.movers)} move, {'/'.join(trial.kinds)}"
                line = f"{name}, world {number} ({what}): {dict(found.counts)} {dict(found.limits)}"
                print("  " + line, flush=True)
    return total


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ticks", type=int, default=1_000_000)
    parser.add_argument("--worlds", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--robots", default=",".join(ROBOTS))
    parser.add_argument("--speed", type=float, default=0.1, help="of obstacles [m/s]")
    parser.add_argument("--acceleration", choices=["limits", "off", "both"], default="both")
    parser.add_argument("--world", type=int, help="only this one")
    parser.add_argument("--exhaustive", action="store_true", help="ask coal for every pair in every tick")
    parser.add_argument("--beside", type=lambda names: names.split(","), default=(), help="mink, pink or both")
    given = parser.parse_args()
    total, names = defaultdict[str, Found](Found), given.robots.split(",")
    ticks = max(1, given.ticks // given.worlds)
    for k, name in enumerate(names):
        worlds = [n for n in range(given.worlds) if n % len(names) == k]
        if given.world is not None:
            worlds = [n for n in worlds if n == given.world]
        if not worlds:
            continue
        try:
            robot = ROBOTS[name]()
        except (importlib.metadata.PackageNotFoundError, mk.errors.MissingExtraError) as missing:
            print(f"{name} was left out: {missing}")
            continue
        begin = time.process_time()
        found = run_robot(name, robot, worlds, ticks, given)
        for kind, each in found.items():
            print(f"{name}, {len(worlds)} worlds, {kind}: {each}", flush=True)
            total[kind].add(each)
        print(f"{name}: {time.process_time() - begin:.0f} s", flush=True)
    for kind, each in total.items():
        print(f"all, {kind}: {each}")
    bad = total["memetik"].bad
    print(f"{bad} broken")
    return int(bad > 0)


if __name__ == "__main__":
    sys.exit(main())
