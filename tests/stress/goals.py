"""Does a guide that cannot be met disturb a hand that can be in its place? Servos with a Position and guides, by hand:

    python -m tests.stress.goals servo 20 [BODY ...]   # so many runs for each guide and body
    python -m tests.stress.goals track 20 [BODY ...]   # the same paths by `track`

Every target lies on the path of the hand between two postures, so it can be reached. It stands still, moves on at up to a
third of the velocity of the joints, or jumps to the other end. Humanoids stand on both feet besides. Guides have weights of
1 and more, and most of them cannot be met. A run counts what happens once the hand has been in its place: by how much
it leaves that, how far the goal moves in a tick while it satisfies all that can be missed, how often the branch is lost
(the goal misses something), and how often joints turn round.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[2]))

import memetik as mk

RATE, SECONDS, SETTLING = 1000.0, 3.0, 1.5
FEW = mk.Budget(evaluations=50)  # without a time, so that a busy machine changes nothing
OFF, LEAP = 1e-3, 0.2  # m that a hand may be off, rad or m that a goal may move in a tick
MOVING = 1e-3  # rad/s or m/s; a joint that is slower rests
REACH = 0.6  # rad between the postures at the ends of a path, at most
BODIES = ("panda", "iiwa14", "ur5", "pr2", "valkyrie", "g1")
PATHS = ("still", "moving", "jump")


@dataclass
class Robot:
    """A body, its hand, a frame that gazes, and what else it must keep."""

    body: mk.Body
    hand: str
    head: str
    feet: tuple[str, ...] = ()

    def objectives(self, q: np.ndarray) -> list[mk.Objective]:
        """The hand and, on the ground, the feet as they are at a posture."""
        poses = self.body.forward(q)
        return [mk.Position(self.hand, poses[self.hand][:3, 3]), *(mk.Pose(foot, poses[foot]) for foot in self.feet)]


def robot(name: str) -> Robot:
    """One of BODIES."""
    if name == "pr2":
        return Robot(
            mk.load("pr2").chain("torso_lift_link", "r_wrist_roll_link"), "r_wrist_roll_link", "r_forearm_link"
        )
    if name == "valkyrie":
        return Robot(mk.load(name, base="floating"), "rightPalm", "head", ("leftFoot", "rightFoot"))
    if name == "g1":
        feet = ("left_ankle_roll_link", "right_ankle_roll_link")
        return Robot(mk.load(name, base="floating"), "right_hand_palm_link", "head_link", feet)
    hand = {"panda": "panda_hand"}.get(name, "tool0")
    return Robot(mk.load(name), hand, hand)


def _turned(pose: np.ndarray, rng: np.random.Generator, angle: float) -> np.ndarray:
    return pose[:3, :3] @ mk.axis_angle(rng.normal(size=3), angle)


def _custom(robot: Robot) -> mk.Objective:
    @mk.objective(reads=[robot.hand], tolerance=None, weight=3.0, name="tilt")
    def tilt(hand):  # type: ignore[no-untyped-def]
        return hand.axis_z[2] - 1.0, hand.axis_x[1]

    return tilt


Guide = Callable[[Robot, np.ndarray, np.random.Generator], list[mk.Objective]]


def _look(robot: Robot, q: np.ndarray, rng: np.random.Generator) -> list[mk.Objective]:
    at = robot.body.forward(q)[robot.head][:3, 3] + rng.normal(0.0, 1.0, 3)
    return [mk.LookAt(robot.head, at, axis=(0, 0, 1), tolerance=None)]


def _orientation(robot: Robot, q: np.ndarray, rng: np.random.Generator) -> list[mk.Objective]:
    turned = _turned(robot.body.forward(q)[robot.hand], rng, math.radians(60.0))
    return [mk.Orientation(robot.hand, turned, tolerance=None)]


def _direction(robot: Robot, q: np.ndarray, rng: np.random.Generator) -> list[mk.Objective]:
    return [mk.Direction(robot.hand, rng.normal(size=3), tolerance=None, weight=3.0)]


def _joint(robot: Robot, q: np.ndarray, rng: np.random.Generator) -> list[mk.Objective]:
    moved = np.flatnonzero(robot.body.upper > robot.body.lower)
    chain = [k for k in moved if _moves(robot, q, k)]
    k = rng.choice(chain)
    value = float(np.clip(q[k] + rng.choice([-1.5, 1.5]), robot.body.lower[k], robot.body.upper[k]))
    return [mk.JointValue(robot.body.joint_names[k], value, tolerance=None, weight=3.0)]


def _moves(robot: Robot, q: np.ndarray, k: int) -> bool:
    other = q.copy()
    other[k] += 0.01 if q[k] + 0.01 <= robot.body.upper[k] else -0.01
    here, there = (robot.body.forward(each)[robot.hand] for each in (q, other))
    return not np.allclose(here, there) and not robot.body.joint_names[k].startswith("base")


def _several(robot: Robot, q: np.ndarray, rng: np.random.Generator) -> list[mk.Objective]:
    return [
        *_look(robot, q, rng),
        *_orientation(robot, q, rng),
        mk.CenterJoints(weight=0.1),
        mk.Displacement(weight=0.1),
    ]


GUIDES: dict[str, Guide] = {
    "nothing": lambda robot, q, rng: [],  # to compare with
    "LookAt": _look,
    "Orientation": _orientation,
    "CenterJoints": lambda robot, q, rng: [mk.CenterJoints(weight=1.0)],
    "Displacement": lambda robot, q, rng: [mk.Displacement(weight=1.0)],
    "Displacement to home": lambda robot, q, rng: [mk.Displacement(reference=robot.body.home, weight=1.0)],
    "JointValue": _joint,
    "Direction": _direction,
    "Manipulability": lambda robot, q, rng: [mk.Manipulability(robot.hand, axes="position")],
    "custom": lambda robot, q, rng: [_custom(robot)],
    "several": _several,
    "several, moving": _several,
    "LookAt, obstacles": _look,
    "several, obstacles": _several,
}


def _obstacles(robot: Robot, path: np.ndarray, rng: np.random.Generator) -> mk.World:
    """Up to four balls that no posture of the path comes near."""
    world = mk.World()
    test = mk.Problem(robot.body, [mk.Distance(robot.body, world, clearance=0.03)])
    middle = robot.body.forward(path[len(path) // 2])[robot.hand][:3, 3]
    for k in range(4):
        for _ in range(20):
            at = middle + rng.normal(0.0, 0.25, 3)
            world[f"ball_{k}"] = mk.Shape("sphere", (0.05,), mk.translation(*at))
            if all(mk.Solution.of(test, q).success for q in path[:: len(path) // 8]):
                break
            del world[f"ball_{k}"]
    return world


@dataclass
class Scene:
    """One run: the problem, the hand's targets, and how guides move."""

    robot: Robot
    problem: mk.Problem
    reach: mk.Objective
    start: np.ndarray
    targets: np.ndarray  # (ticks, 3)
    guides: list[mk.Objective] = field(default_factory=list)
    moving: bool = False

    def of_tick(self, tick: int) -> dict[mk.Objective, Any]:
        wanted: dict[mk.Objective, Any] = {self.reach: self.targets[tick]}
        if self.moving:
            for guide in self.guides:
                if isinstance(guide, mk.LookAt):
                    wanted[guide] = self._look + 0.5 * np.array([np.sin(0.002 * tick), np.cos(0.0015 * tick), 0.0])
                elif isinstance(guide, mk.Orientation):
                    wanted[guide] = self._turn @ mk.axis_angle((0.0, 0.6, 0.8), 0.0005 * tick)
        return wanted

    def __post_init__(self) -> None:
        for guide in self.guides:
            if isinstance(guide, mk.LookAt):
                self._look = np.array(guide.target)
            elif isinstance(guide, mk.Orientation):
                self._turn = np.array(guide.target)


def scene(robot: Robot, guide: str, path: str, rng: np.random.Generator) -> Scene:
    """A random one."""
    body, ticks = robot.body, int(RATE * SECONDS)
    start = _posture(robot, rng)
    other = body.clip(start + REACH * rng.uniform(-1.0, 1.0, body.dof) * _free(robot))
    wait = int(RATE * SETTLING)
    share = np.zeros(ticks)
    if path == "moving":
        longest = np.max(np.abs(other - start) / np.maximum(body.variables.velocity, 0.5))
        turns = np.pi * min(1.0, (SECONDS - SETTLING) / (0.5 * np.pi * 3.0 * longest))
        share[wait:] = 0.5 - 0.5 * np.cos(np.linspace(0.0, turns, ticks - wait))
    elif path == "jump":
        share[wait // 3 :] = 1.0
    postures = start + share[:, np.newaxis] * (other - start)
    targets = body.forward(postures, robot.hand)[:, :3, 3]
    objectives = robot.objectives(start)
    guides = GUIDES[guide](robot, start, rng)
    if "obstacles" in guide:
        world = _obstacles(robot, postures[:: ticks // 16], rng)
        objectives.append(mk.Distance(body, world, clearance=0.01))
    problem = mk.Problem(body, [*objectives, *guides])
    return Scene(robot, problem, objectives[0], start, targets, guides, "moving" in guide)


def _free(robot: Robot) -> np.ndarray:
    """1 for joints that move the hand and no foot."""
    body, q = robot.body, robot.body.home
    if not robot.feet:
        return np.ones(body.dof)
    free = np.zeros(body.dof)
    here = body.forward(q)
    for k in range(body.dof):
        other = q.copy()
        other[k] += 0.01 if q[k] + 0.01 <= body.upper[k] else -0.01
        there = body.forward(other)
        free[k] = all(np.allclose(here[foot], there[foot]) for foot in robot.feet)
    return free


def _posture(robot: Robot, rng: np.random.Generator) -> np.ndarray:
    """Anywhere for an arm; around home for a humanoid."""
    if not robot.feet:
        return robot.body.clip(0.8 * robot.body.sample(rng))
    return robot.body.clip(robot.body.home + 0.4 * rng.uniform(-1.0, 1.0, robot.body.dof) * _free(robot))


@dataclass
class Found:
    """What became of one run."""

    reached: bool = False
    off: float = 0.0  # m, the largest error of the hand once it was in its place
    leap: float = 0.0  # rad or m, the largest change of the goal in a tick, which satisfies all before and after
    lost: int = 0  # ticks in which the goal misses something
    switches: int = 0
    reversals: float = 0.0  # of a joint in a second, of the one that turns round most
    kept: bool = True  # whether the status was REACHED in all of the last ticks


def run(scene: Scene) -> Found:
    """One servo."""
    servo = mk.Servo(scene.problem, start=scene.start, rate=RATE, budget=FEW)
    found, ticks = Found(), len(scene.targets)
    jumps = np.flatnonzero(np.linalg.norm(np.diff(scene.targets, axis=0), axis=1) > 1e-2) + 1
    path = np.empty((ticks, scene.robot.body.dof))
    goal, satisfied, there = servo.goal, False, False
    for tick in range(ticks):
        if tick in jumps:
            satisfied = there = False
        path[tick] = servo.step(scene.of_tick(tick))
        good = servo.goal_status == mk.Status.REACHED
        if servo.errors[scene.reach] <= 1e-4 and servo.success:
            there = True
        if there:
            found.off = max(found.off, servo.errors[scene.reach])
            found.lost += not good
            if satisfied and good:
                found.leap = max(found.leap, float(np.abs(servo.goal - goal).max()))
        goal, satisfied = servo.goal, good
    found.reached, found.switches = there, servo.switches
    found.kept = servo.success
    velocity = np.diff(path, axis=0) * RATE
    found.reversals = max(map(_reversals, velocity.T)) / SECONDS
    return found


def _reversals(velocity: np.ndarray) -> int:
    """How often a joint turns round; what is slower than MOVING does not count."""
    signs = np.sign(velocity[np.abs(velocity) > MOVING])
    return int((np.diff(signs) != 0).sum())


def measure_servo(count: int, names: list[str], seed: int, only: list[str]) -> int:
    """A line for each body and guide; how many runs break a rule."""
    total = 0
    for name in names:
        whole = robot(name)
        for guide in only or GUIDES:
            rng, rows = np.random.default_rng(seed), []
            for k in range(count):
                rows.append(run(scene(whole, guide, PATHS[k % len(PATHS)], rng)))
            bad = [each for each in rows if each.reached and (each.off > OFF or each.leap > LEAP)]
            total += len(bad)
            print(
                f"{name:9} {guide:22} {sum(each.reached for each in rows)} of {count} reached; off by "
                f"{1e3 * max(each.off for each in rows):7.3f} mm ({sum(each.off > OFF for each in rows)}), goal moves "
                f"{max(each.leap for each in rows):.3f} ({sum(each.leap > LEAP for each in rows)}); lost "
                f"{sum(each.lost > 0 for each in rows)}, {sum(each.switches for each in rows)} switches; joints turn round "
                f"{np.median([each.reversals for each in rows]):.1f}/s, at most {max(each.reversals for each in rows):.1f}/s",
                flush=True,
            )
    return total


def measure_track(count: int, names: list[str], seed: int, only: list[str]) -> int:
    """The same for `track`: how far a step misses its target or goes, where the hand moves by millimetres."""
    total = 0
    for name in names:
        whole = robot(name)
        for guide in only or GUIDES:
            rng, missed, steps, jumped = np.random.default_rng(seed), [], [], 0
            for _ in range(count):
                each = scene(whole, guide, "moving", rng)
                paths = [each.of_tick(tick) for tick in range(int(RATE * SETTLING), len(each.targets), 10)]
                found = mk.track(each.problem, {o: np.array([row[o] for row in paths]) for o in paths[0]}, each.start)
                missed.append(float(found.errors[each.reach].max()))
                steps.append(float(np.abs(np.diff(found.q, axis=0)).max()))
                jumped += not found.success
            bad = int(((np.array(missed) > OFF) | (np.array(steps) > LEAP)).sum())
            total += bad
            print(
                f"{name:9} {guide:22} {bad} of {count} paths: off by up to {1e3 * max(missed):.3f} mm, largest step "
                f"{max(steps):.3f}, of the median path {np.median(steps):.4f}; {jumped} without success",
                flush=True,
            )
    return total


MEASURES = {"servo": measure_servo, "track": measure_track}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=MEASURES)
    parser.add_argument("count", type=int, nargs="?", default=12)
    parser.add_argument("bodies", nargs="*", default=list(BODIES))
    parser.add_argument("--guide", action="append", default=[])
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    return 1 if MEASURES[given.what](given.count, given.bodies, given.seed, given.guide) else 0


if __name__ == "__main__":
    sys.exit(main())
