"""A servo among obstacles, beside mink with its collision limit and pink with its barrier."""

from __future__ import annotations

import gc
import importlib.metadata
import math
import tempfile
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import memetik as mk
from memetik.geometry import random_rotation
from memetik.tables import text_table
from memetik.types import Array
from memetik_lab.claims.clutter import arm, scene
from memetik_lab.claims.covers import ROBOTS, model_path
from memetik_lab.claims.servo_obstacle_peers import (
    BARRIER_GAIN,
    CLOSEST,
    DETECTION,
    KINDS,
    SAFE_GAIN,
    SELF_CLEARANCE,
    Robot,
    Servo,
    installed,
)
from memetik_lab.contact_judge import ContactJudge
from memetik_lab.harness import Report, Row, progress, subplots
from memetik_lab.peers import find

RATE = 1000.0  # ticks a second
TURNS = 200  # ticks of one servo before the next one has its turn; the first one finds none of its data in the caches
CLEARANCE = 0.01  # m from obstacles
ACCELERATION = 10.0  # rad/s2, where there is a limit
PEERS = ("mink", "pink")
STILL = 1e-3  # rad/s: slower joints have no direction
BALL_FROM_HAND = (0.14, -0.02, 0.06)  # m: where the ball is from where the hand wants to be
COVERS = Path(tempfile.gettempdir()) / "memetik_talos.shapes.json"  # used again by the next run
POST = mk.Shape("cylinder", (0.03, 0.9), mk.translation(0.45, 0.0, 0.45))


class Stream(NamedTuple):
    """A robot, what its tips shall do and what obstacles do, tick by tick."""

    label: str
    robot: Robot
    targets: Array  # (ticks, tips, 4, 4)
    moves: Callable[[int], Mapping[str, Array]]  # poses of the obstacles that move in a tick


class Trace(NamedTuple):
    """What one servo did."""

    path: Array  # (ticks, dof)
    seconds: Array  # processor time of each tick


def run(folder: Path, *, quick: bool = False, count: int | None = None, peers: Sequence[str] = PEERS) -> Report:
    """Measure, print, save and plot."""
    found = find([name for name in PEERS if name in peers])
    names = installed([name for name in PEERS if name in peers])
    report = Report(
        "servo-obstacles",
        f"Ticks at {RATE:g} Hz, from targets and poses of obstacles in Python to a joint vector; the same body, shapes, pairs, "
        f"limits and targets for all; servos take turns of {TURNS} ticks in one process; processor time of the thread. Clearance "
        f"{1e3 * CLEARANCE:g} mm from obstacles, {1e3 * SELF_CLEARANCE:g} mm between links. mink: FrameTask, limits on "
        f"configuration, velocity and collisions with its own gain 0.85, detection {1e3 * DETECTION:g} mm beyond the clearance. "
        f"pink: FrameTask, limits on configuration and velocity, SelfCollisionBarrier of the closest {CLOSEST} pairs, gain "
        f"{BARRIER_GAIN:g}, safe_displacement_gain {SAFE_GAIN:g}, a clearance for each pair. Both: solver daqp, lm_damping 1, "
        "gain 1 as they come. "
        f"With '{ACCELERATION:g} rad/s2' accelerations are limited; mink has no such limit. error: of the hands, median over "
        "ticks, the farther one. contact: ticks in which coal finds overlap of robot and obstacles, or of links, at poses by "
        "Pinocchio. reversals: "
        f"changes of the direction of a joint a second, all joints together, passing over speeds below {STILL:g} rad/s.",
        remarks=[*found.remarks],
    )
    streams: list[Stream] = []
    traces = {}
    for make, ticks in progress(list(STREAMS.items()), len(STREAMS), "streams"):
        try:
            stream = make(count or (300 if quick else ticks))
        except (importlib.metadata.PackageNotFoundError, mk.errors.MissingExtraError) as missing:
            report.remarks.append(f"{make.__name__} was left out: {missing}")
            continue
        streams.append(stream)
        traces[stream.label] = measured(stream, names)
        rows = [row(stream, name, trace) for name, trace in traces[stream.label].items()]
        print(text_table(rows), flush=True)
        report.rows += rows
    return report.publish(folder, lambda: _plot(streams, traces))


# ---- Measurement ---------------------------------------------------------------------------------------------------


def measured(stream: Stream, peers: Sequence[str]) -> dict[str, Trace]:
    """All servos by turns, each on its own way."""
    limited = stream.robot._replace(acceleration=np.full(stream.robot.body.dof, ACCELERATION))
    tick = 1.0 / RATE
    servos: dict[str, Servo] = {name: KINDS[name](stream.robot, tick) for name in ("memetik", *peers)}
    for name in ("memetik", "pink"):
        if name in servos:
            servos[f"{name}, {ACCELERATION:g} rad/s2"] = KINDS[name](limited, tick)
    ticks = len(stream.targets)
    paths = {name: np.empty((ticks, stream.robot.body.dof)) for name in servos}
    seconds = {name: np.empty(ticks) for name in servos}
    gc.collect()
    for first in range(0, ticks, TURNS):
        for name, servo in servos.items():
            for k in range(first, min(first + TURNS, ticks)):
                moved = stream.moves(k)
                begin = time.thread_time()
                q = servo.step(stream.targets[k], moved)
                seconds[name][k] = time.thread_time() - begin
                paths[name][k] = q
    return {name: Trace(paths[name], seconds[name]) for name in servos}


def row(stream: Stream, name: str, trace: Trace) -> Row:
    """The table's row of one servo."""
    robot = stream.robot
    judge = ContactJudge(robot.body, mk.World(robot.obstacles), robot.pairs)
    judge.check(robot.start)
    in_contact, deepest = np.zeros(2, dtype=int), 0.0
    for k, q in enumerate(trace.path):
        for obstacle, pose in stream.moves(k).items():
            judge.place(obstacle, pose)
        judge.check(q)
        in_contact += judge.contacts()
        deepest = max(deepest, judge.depth)
    times = 1e6 * trace.seconds[TURNS:]
    error = hand_error(stream, trace.path)
    return {
        "stream": stream.label,
        "servo": name,
        "error [mm]": 1e3 * float(np.median(error)),
        "in the end [mm]": 1e3 * float(error[-1]),
        "contact": int(in_contact[0]),
        "self-contact": int(in_contact[1]),
        "deepest [mm]": 1e3 * deepest,
        "ticks": len(trace.path),
        "reversals [1/s]": reversals(trace.path, RATE),
        "median [us]": float(np.median(times)),
        "p99 [us]": float(np.percentile(times, 99.0)),
    }


def hand_error(stream: Stream, path: Array) -> Array:
    """How far the tips are off their targets in each tick, the farthest of them [m]."""
    off = np.empty((len(path), len(stream.robot.tips)))
    for k, q in enumerate(path):
        poses = stream.robot.body.forward(q)
        for j, tip in enumerate(stream.robot.tips):
            off[k, j] = np.linalg.norm(poses[tip][:3, 3] - stream.targets[k, j, :3, 3])
    farther: Array = off.max(axis=1)
    return farther


def reversals(path: Array, rate: float) -> float:
    """Changes of the direction of a joint a second, over all joints."""
    count = 0
    for velocity in (np.diff(path, axis=0) * rate).T:
        signs = np.sign(velocity[np.abs(velocity) > STILL])
        count += int((np.diff(signs) != 0.0).sum())
    return count * rate / len(path)


# ---- Streams -------------------------------------------------------------------------------------------------------


def _nothing(_: int) -> Mapping[str, Array]:
    return {}


def _free(body: mk.Body) -> tuple[Array, Array]:
    """The velocity limits of a body, and no limit on acceleration."""
    return mk.motion.Follower(body).velocity_limit, np.full(body.dof, math.inf)


def make_robot(body: mk.Body, tips: Sequence[str], start: Array, obstacles: Mapping[str, mk.Shape]) -> Robot:
    """The robot of a stream, with the limits of its body."""
    pairs = tuple(mk.SelfDistance(body, ignore="always").pairs)
    return Robot(body, tuple(tips), pairs, start, obstacles, CLEARANCE, *_free(body))


def panda() -> mk.Body:
    """The Panda with its fingers open and still."""
    body = mk.load("panda")
    return body.fix({"panda_finger_joint1": 0.035})


def _down(x: float, y: float, z: float) -> Array:
    """A hand that points down."""
    return mk.transform((x, y, z), mk.axis_angle((1.0, 0.0, 0.0), math.pi))


def _start(body: mk.Body, tip: str, target: Array, obstacles: Mapping[str, mk.Shape]) -> Array:
    """A posture that reaches the first target, free of contacts."""
    problem = mk.Problem(
        body,
        [
            mk.Pose(tip, target),
            mk.Distance(body, mk.World(obstacles, capacity=max(8, len(obstacles))), clearance=2.0 * CLEARANCE),
            mk.SelfDistance(body, clearance=CLEARANCE),
        ],
    )
    return mk.solve(problem, body.home).q


def _arm_stream(label: str, obstacles: Mapping[str, mk.Shape], poses: Sequence[Array], moves: Any = _nothing) -> Stream:
    body = panda()
    start = _start(body, "panda_hand", poses[0], obstacles)
    return Stream(label, make_robot(body, ["panda_hand"], start, obstacles), np.array(poses)[:, None], moves)


def post_slide(ticks: int) -> Stream:
    """A hand goes past a post at 0.1 m/s, which is in its way and in that of the arm."""
    ys = np.minimum(-0.3 + 0.1 * np.arange(ticks) / RATE, 0.3)
    return _arm_stream("panda, post, target slides", {"post": POST}, [_down(0.5, y, 0.4) for y in ys])


def post_jump(ticks: int) -> Stream:
    """The target jumps from one side of the post to the other."""
    sides = np.where(np.arange(ticks) // 1_500 % 2 == 0, -0.3, 0.3)
    return _arm_stream("panda, post, target jumps", {"post": POST}, [_down(0.5, y, 0.4) for y in sides])


def ball_into_hand(ticks: int) -> Stream:
    """A ball goes through where the hand is to stay, at 0.3 m/s."""
    ball, start, speed = mk.Shape("sphere", (0.06,), mk.translation(0.5, -0.45, 0.4)), -0.45, 0.3

    def moves(k: int) -> Mapping[str, Array]:
        return {"ball": mk.translation(0.5, start + speed * k / RATE, 0.4)}

    return _arm_stream("panda, ball into the hand", {"ball": ball}, [_down(0.5, 0.0, 0.4)] * ticks, moves)


def panda_clutter(ticks: int) -> Stream:
    """A hand that wanders among 20 obstacles."""
    obstacles = {f"obstacle {k}": shape for k, shape in enumerate(scene(arm(), 20))}
    t = np.arange(ticks) / RATE
    body = panda()
    home = body.forward(body.home)["panda_hand"]
    poses = []
    for s in t:
        pose = home.copy()
        pose[:3, 3] += (0.1 * math.sin(0.8 * s), 0.3 * math.sin(0.5 * s), 0.15 * math.sin(0.65 * s))
        poses.append(pose)
    return Stream(
        "panda, 20 obstacles",
        make_robot(body, ["panda_hand"], body.home, obstacles),
        np.array(poses)[:, None],
        _nothing,
    )


def upper_body() -> tuple[mk.Body, tuple[str, str]]:
    """Talos with covers of its meshes, its legs and grippers still; both grippers."""
    with warnings.catch_warnings():  # about what the file has that does not matter here
        warnings.simplefilter("ignore", mk.MemetikWarning)
        body = mk.load(model_path(ROBOTS["talos"])).with_shapes(save=COVERS, progress=False)
    still = [name for name in body.joint_names if not name.startswith(("torso", "head", "arm"))]
    body = body.fix({name: float(body.home[body.index(name)]) for name in still})
    return body, ("gripper_left_base_link", "gripper_right_base_link")


def _elbows_bent(body: mk.Body) -> Array:
    """A posture with both hands in front, free of contacts."""
    return body.vector(
        {
            "arm_left_1_joint": 0.3, "arm_left_2_joint": 0.6, "arm_left_4_joint": -1.6,
            "arm_right_1_joint": -0.3, "arm_right_2_joint": -0.6, "arm_right_4_joint": -1.6,
        }
    )  # fmt: skip


def _hands(poses: mk.body.LinkPoses, tips: Sequence[str], t: float) -> Array:
    """Both hands wander about where they are at first: (2, 4, 4)."""
    targets = np.array([poses[tip] for tip in tips])
    for j, side in enumerate((1.0, -1.0)):
        targets[j, 0, 3] += 0.12 * math.sin(1.0 * t)
        targets[j, 1, 3] += side * 0.1 * math.sin(0.7 * t)
        targets[j, 2, 3] += 0.15 * (math.sin(1.3 * t + j) - math.sin(j))
    return targets


def _humanoid(
    label: str, ticks: int, obstacles: Callable[[mk.Body, Array, Sequence[str]], dict[str, mk.Shape]]
) -> Stream:
    body, tips = upper_body()
    start = _elbows_bent(body)
    poses = body.forward(start)
    targets = np.array([_hands(poses, tips, k / RATE) for k in range(ticks)])
    return Stream(label, make_robot(body, tips, start, obstacles(body, start, tips)), targets, _nothing)


def humanoid_ball(ticks: int) -> Stream:
    """Both hands wander; a ball is in the way of the right one."""

    def ball(body: mk.Body, start: Array, tips: Sequence[str]) -> dict[str, mk.Shape]:
        at = _hands(body.forward(start), tips, 1.5)[1, :3, 3] + BALL_FROM_HAND
        return {"ball": mk.Shape("sphere", (0.08,), mk.translation(*at))}

    return _humanoid("talos upper body, ball", ticks, ball)


def humanoid_clutter(ticks: int) -> Stream:
    """The same among 20 obstacles around the arms."""

    def clutter(body: mk.Body, start: Array, tips: Sequence[str]) -> dict[str, mk.Shape]:
        rng, found = np.random.default_rng(0), dict[str, mk.Shape]()
        poses = body.forward(start)
        while len(found) < 20:
            middle = poses[tips[len(found) % 2]][:3, 3]
            at = middle + rng.uniform((-0.1, -0.35, -0.35), (0.5, 0.35, 0.5))
            kind = ("sphere", "box", "capsule")[len(found) % 3]
            size = {"sphere": (0.06,), "box": (0.08, 0.12, 0.1), "capsule": (0.03, 0.2)}[kind]
            shape = mk.Shape(kind, size, mk.transform(at, random_rotation(rng)))
            if ContactJudge(body, mk.World({"new": shape}), []).distance(start) > 0.04:
                found[f"obstacle {len(found)}"] = shape
        return found

    return _humanoid("talos upper body, 20 obstacles", ticks, clutter)


STREAMS: dict[Callable[[int], Stream], int] = {  # and ticks of a full run
    post_slide: 7_000,
    post_jump: 6_000,
    ball_into_hand: 3_000,
    panda_clutter: 10_000,
    humanoid_ball: 5_000,
    humanoid_clutter: 5_000,
}


# ---- Plot ----------------------------------------------------------------------------------------------------------


def _plot(streams: Sequence[Stream], traces: Mapping[str, Mapping[str, Trace]]) -> Any:
    figure, axes = subplots(2, len(streams), figsize=(3.6 * len(streams), 6.5), squeeze=False)
    for column, stream in zip(axes.T, streams, strict=True):
        for k, (name, trace) in enumerate(traces[stream.label].items()):
            times = np.sort(1e6 * trace.seconds[TURNS:])
            share = 1.0 - np.arange(len(times)) / len(times)
            column[0].plot(times, share, lw=1.0, color=f"C{k}", label=name)
            error = np.maximum(1e3 * hand_error(stream, trace.path), 1e-3)
            column[1].plot(np.arange(len(error)) / RATE, error, lw=1.0, color=f"C{k}")
        column[0].set(xscale="log", yscale="log", xlabel="a tick takes longer than [µs]", title=stream.label)
        column[1].set(yscale="log", xlabel="time [s]")
    axes[0, 0].set_ylabel("share of ticks")
    axes[1, 0].set_ylabel("hand off its target [mm]")
    axes[0, 0].legend(fontsize=7)
    return figure
