"""What servos are tried in: robots, random worlds of obstacles that stand and move, and streams of targets."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from ctypes import c_int
from dataclasses import dataclass, field
from typing import NamedTuple

import daqp
import numpy as np

import memetik as mk
from memetik.geometry import random_rotation
from memetik.types import Array
from memetik_lab.claims.servo_obstacles import upper_body
from memetik_lab.contact_judge import ContactJudge, Near

RATE = 1000.0
CLEARANCE, SELF_CLEARANCE = 0.01, 0.002  # m
SPEEDS_UP = 0.5  # m/s2: how an obstacle gathers speed; it may stop or turn back at once
SLOW_JOINTS = 3  # links with fewer joints before them cannot get out of the way
KEEP_OFF = 0.06  # m: how near obstacles come to such links
ONE_AT_A_TIME = 0.05  # m: nearer than this there is one moving obstacle
NEAR = 0.03  # m: pairs that are looked at to know whether the robot can get away
ASIDE, REACTION = 0.015, 0.3  # m, s: a pair at distance d may close at (d - ASIDE) / REACTION
USED = 0.5  # share of the velocity limits that getting away may take
FREE = 1.0e30

KINDS = ("smooth", "jumps", "inside", "across", "unreachable", "push", "carried", "shake")
LAYOUTS = ("clutter", "posts", "table", "box", "mixed")


# ---- Robots --------------------------------------------------------------------------------------------------------


class Robot(NamedTuple):
    """A body and the links that follow targets."""

    body: mk.Body
    tips: tuple[str, ...]

    def objectives(self, world: mk.World) -> list[mk.Objective]:
        """What keeps it free of contacts."""
        apart = mk.SelfDistance(self.body, ignore="always", clearance=SELF_CLEARANCE)
        return [mk.Distance(self.body, world, clearance=CLEARANCE), apart]


def panda() -> Robot:
    return Robot(mk.load("panda"), ("panda_hand",))


def ur5() -> Robot:
    return Robot(mk.load("ur5"), ("tool0",))


def baxter() -> Robot:
    return Robot(mk.load("baxter"), ("left_gripper_base", "right_gripper_base"))


def g1() -> Robot:
    body = mk.load("g1")
    legs = [name for name in body.joint_names if any(part in name for part in ("hip", "knee", "ankle"))]
    return Robot(_still(body, legs), ("left_hand_palm_link", "right_hand_palm_link"))


def talos() -> Robot:
    """With covers of its meshes, from the package example-robot-data; legs and grippers do not move."""
    return Robot(*upper_body())


def _still(body: mk.Body, names: Sequence[str]) -> mk.Body:
    return body.fix({name: float(body.home[body.index(name)]) for name in names})


ROBOTS: dict[str, Callable[[], Robot]] = {"panda": panda, "ur5": ur5, "baxter": baxter, "g1": g1, "talos": talos}


def joints_before(body: mk.Body) -> dict[str, int]:
    """How many variables move each link."""
    found = {body.root: 0}
    for joint in body.joints.values():  # parents before children
        found[joint.child] = found[joint.parent] + joint.dof
    return found


# ---- Obstacles that move -------------------------------------------------------------------------------------------


@dataclass
class Mover:
    """An obstacle on its way between points, or after a link."""

    name: str
    way: tuple[Array, Array]
    chased: str | None  # a link that it goes after, until it has pushed for a while
    speed: float
    position: Array
    rotation: Array
    velocity: Array = field(default_factory=lambda: np.zeros(3))
    towards: int = 1
    ticks: int = 0

    def planned(self, poses: mk.body.LinkPoses) -> Array:
        """The velocity that it would take next."""
        self.ticks += 1
        chasing = self.chased is not None and self.ticks % 5_000 < 3_000
        goal = poses[self.chased][:3, 3] if chasing and self.chased is not None else self.way[self.towards]
        left = goal - self.position
        distance = float(np.linalg.norm(left))
        if not chasing and distance < 0.01:
            self.towards = 1 - self.towards
        wanted = left * min(self.speed / max(distance, 1e-9), 5.0)
        change = wanted - self.velocity
        size = float(np.linalg.norm(change))
        found: Array = self.velocity + change * min(1.0, SPEEDS_UP / RATE / max(size, 1e-9))
        return found

    @property
    def pose(self) -> Array:
        return mk.transform(self.position, self.rotation)


class Movers:
    """Moves obstacles, such that a robot can in principle keep free of all of them."""

    def __init__(self, robot: Robot, judge: ContactJudge, movers: Sequence[Mover], velocity: Array) -> None:
        self.robot, self.judge, self.movers, self.velocity = robot, judge, movers, velocity
        before = joints_before(robot.body)
        self.slow = {link for link, count in before.items() if count < SLOW_JOINTS}

    def step(self, q: Array) -> dict[str, Array]:
        """The poses of the next tick, for a robot that is at `q`."""
        if not self.movers:
            return {}
        poses = self.robot.body.forward(q)
        taken = False  # by an obstacle that is near
        for mover in self.movers:
            planned = mover.planned(poses)
            if self.judge.bound(mover.name) < KEEP_OFF + 0.01:
                near = self.judge.near(KEEP_OFF)
                own = [each for each in near if each.second == mover.name]
                if own:
                    planned = self._allowed(mover, planned, q, near, own, taken)
                    taken = taken or min(each.distance for each in own) < ONE_AT_A_TIME
            mover.velocity = planned
            mover.position = mover.position + planned / RATE
        return {mover.name: mover.pose for mover in self.movers}

    def _allowed(
        self, mover: Mover, planned: Array, q: Array, near: Sequence[Near], own: Sequence[Near], taken: bool
    ) -> Array:
        """The planned velocity, or one away from the robot, or none."""
        nearest = min(own, key=lambda each: each.distance)
        away = mover.speed * nearest.normal
        kept_off = [each.normal @ planned >= 0.0 for each in own if taken or each.first in self.slow]
        if all(kept_off) and self._can_get_away(mover, planned, q, near):
            return planned
        return away if self._can_get_away(mover, away, q, near) else np.zeros(3)

    def _can_get_away(self, mover: Mover, velocity: Array, q: Array, near: Sequence[Near]) -> bool:
        """Whether some velocity of the joints keeps all near pairs apart while the obstacle moves so."""
        body = self.robot.body
        close = [each for each in near if each.distance < NEAR]
        if not close:
            return True
        least = []
        for each in close:
            of_body = each.second in body.links
            aside = 2.0 * SELF_CLEARANCE if of_body else ASIDE
            moved = float(each.normal @ velocity) if each.second == mover.name else 0.0
            least.append(-(each.distance - aside) / REACTION - moved)
        slowest = USED * self.velocity
        high = np.minimum(slowest, (body.upper - q) / REACTION)
        low = np.maximum(-slowest, (body.lower - q) / REACTION)
        n = body.dof
        upper = np.concatenate([high, np.full(len(close), FREE)])
        lower = np.concatenate([np.minimum(low, high), least])
        rows = np.ascontiguousarray([each.jacobian for each in close])
        sense = np.zeros(len(upper), dtype=c_int)
        flag = daqp.solve(np.eye(n), np.zeros(n), rows, upper, lower, sense)[2]
        return int(flag) > 0


# ---- Worlds --------------------------------------------------------------------------------------------------------


class Trial(NamedTuple):
    """A robot in a world, before the first tick."""

    robot: Robot
    start: Array
    world: mk.World
    movers: list[Mover]
    kinds: tuple[str, ...]  # of targets, one for each tip
    streams: list[Iterator[Array]]
    with_rotation: bool  # whether targets are poses, and not positions


def random_shape(rng: np.random.Generator, place: Array) -> mk.Shape:
    kind = str(rng.choice(["sphere", "box", "capsule", "cylinder"]))
    size = {
        "sphere": (rng.uniform(0.03, 0.1),),
        "box": tuple(rng.uniform(0.04, 0.2, 3)),
        "capsule": (rng.uniform(0.02, 0.06), rng.uniform(0.05, 0.4)),
        "cylinder": (rng.uniform(0.02, 0.08), rng.uniform(0.05, 0.4)),
    }[kind]
    return mk.Shape(kind, size, mk.transform(place, random_rotation(rng)))


def _box(place: Array, width: float, wall: float) -> list[mk.Shape]:
    """A box that is open above."""
    half, height = 0.5 * width, 0.6 * width
    floor = mk.Shape("box", (width, width, wall), mk.translation(*place))
    sides = [
        ((wall, width, height), (half, 0.0, 0.5 * height)), ((wall, width, height), (-half, 0.0, 0.5 * height)),
        ((width, wall, height), (0.0, half, 0.5 * height)), ((width, wall, height), (0.0, -half, 0.5 * height)),
    ]  # fmt: skip
    return [floor, *(mk.Shape("box", size, mk.translation(*(place + at))) for size, at in sides)]


def layout(kind: str, rng: np.random.Generator, reached: Array) -> Iterator[tuple[str, list[mk.Shape]]]:
    """Obstacles without end, around points that hands reach; the first ones make up the kind."""
    low = float(np.percentile(reached[:, 2], 10.0))

    def somewhere() -> Array:
        found: Array = reached[rng.integers(len(reached))] + rng.normal(0.0, 0.05, 3)
        return found

    if kind in ("table", "mixed"):
        place = somewhere()
        place[2] = low - rng.uniform(0.0, 0.2)
        yield "table", [mk.Shape("box", (*rng.uniform(0.4, 1.2, 2), 0.04), mk.translation(*place))]
    if kind in ("box", "mixed"):
        yield "box", _box(somewhere(), rng.uniform(0.25, 0.45), 0.02)
    for k in range(1000):
        if kind == "posts" or (kind == "mixed" and k % 3 == 0):
            place = somewhere()
            size = (rng.uniform(0.02, 0.06), rng.uniform(0.4, 1.2))
            yield f"post {k}", [mk.Shape(str(rng.choice(["cylinder", "capsule"])), size, mk.translation(*place))]
        else:
            yield f"thing {k}", [random_shape(rng, somewhere())]


def draw_trial(robot: Robot, rng: np.random.Generator, speed: float) -> Trial:
    """A random world around a random posture, both free of contacts."""
    body = robot.body
    pairs = mk.SelfDistance(body, ignore="always").pairs
    alone = ContactJudge(body, mk.World({"far": mk.Shape("sphere", (0.01,), mk.translation(50.0, 0.0, 0.0))}), pairs)
    start = body.home
    for _ in range(2_000):
        start = body.clip(body.home + rng.uniform(-1.0, 1.0) * (body.sample(rng) - body.home))
        if alone.distance(start, world=False) > 1.5 * SELF_CLEARANCE:
            break
    else:
        raise RuntimeError(f"no posture of {body.name} was found in which its links are apart")
    samples = [body.forward(body.sample(rng)) for _ in range(200)]
    reached = np.array([poses[tip][:3, 3] for poses in samples for tip in robot.tips])
    fixed = [link for link, count in joints_before(body).items() if count == 0]
    world = mk.World(capacity=64)
    kind = str(rng.choice(LAYOUTS))
    most = {"posts": 4, "table": 6, "box": 6}.get(kind, 20)
    standing, moving = int(rng.integers(2, most + 1)), int(rng.integers(1, 4)) if rng.random() < 0.5 else 0
    movers: list[Mover] = []
    for name, shapes in layout(kind, rng, reached):
        if len(world) >= standing + moving:
            break
        mover = len(world) >= standing
        if mover:
            name, shapes = f"mover {len(movers)}", [random_shape(rng, shapes[0].link_from_shape[:3, 3])]
        away = ContactJudge(body, mk.World({name: shapes}), []).distance(start)
        if away < (0.15 if mover else 4.0 * CLEARANCE):
            continue
        if not mover:
            world.add(name, shapes, touching=fixed)
            continue
        pose = shapes[0].link_from_shape
        world.add(name, mk.Shape(shapes[0].kind, shapes[0].size), pose, touching=fixed)
        chased = str(rng.choice(robot.tips)) if rng.random() < 0.5 else None
        there = reached[rng.integers(len(reached))]
        movers.append(Mover(name, (pose[:3, 3].copy(), there), chased, speed, pose[:3, 3].copy(), pose[:3, :3].copy()))
    kinds = tuple(str(rng.choice(KINDS)) for _ in robot.tips)
    streams = [
        targets(each, robot, tip, samples, world, movers, rng) for each, tip in zip(kinds, robot.tips, strict=True)
    ]
    return Trial(robot, start, world, movers, kinds, streams, bool(rng.random() < 0.6))


# ---- Targets -------------------------------------------------------------------------------------------------------


def targets(
    kind: str, robot: Robot, tip: str, samples: Sequence[mk.body.LinkPoses], world: mk.World, movers: Sequence[Mover],
    rng: np.random.Generator,
) -> Iterator[Array]:  # fmt: skip
    """Poses for a tip without end, one a tick."""
    names = list(world)

    def another() -> Array:
        return np.array(samples[rng.integers(len(samples))][tip])

    pose, other, k = another(), another(), 0
    direction = rng.normal(size=3)
    direction /= np.linalg.norm(direction)
    name, period = names[rng.integers(len(names))], int(rng.integers(200, 1_500))
    carried = movers[rng.integers(len(movers))].name if movers else name
    offset = direction * rng.uniform(0.0, 0.15)
    while True:
        turn, slow = np.sin(0.0008 * k), 0.5 - 0.5 * np.cos(0.0012 * k)
        if k % period == 0 and k:
            name = names[rng.integers(len(names))]
            if kind == "jumps":
                pose = another()
        found = pose.copy()
        match kind:
            case "smooth":
                found[:3, 3] += slow * (other[:3, 3] - pose[:3, 3])
                found[:3, :3] = found[:3, :3] @ mk.euler(0.6 * turn, 0.4 * slow, 0.0)
            case "inside":
                found[:3, 3] = _middle(world, name)
            case "across":
                side = 0.25 if k // period % 2 else -0.25
                found[:3, 3] = _middle(world, names[0]) + side * direction
            case "unreachable":
                found[:3, 3] = 3.0 * (mk.axis_angle((0.0, 0.0, 1.0), 0.0005 * k) @ direction)
            case "push":
                across = np.cross(direction, (0.0, 0.0, 1.0))
                found[:3, 3] = _middle(world, names[0]) + 0.2 * np.sin(0.002 * k) * across
            case "carried":
                found[:3, 3] = _middle(world, carried) + offset
            case "shake":
                found[:3, 3] += slow * (other[:3, 3] - pose[:3, 3]) + rng.normal(0.0, 0.02, 3)
        yield found
        k += 1


def _middle(world: Mapping[str, mk.collision.Obstacle], name: str) -> Array:
    """The middle of the first shape of an obstacle, where it is now."""
    found: Array = world[name].placed[0].link_from_shape[:3, 3]
    return found
