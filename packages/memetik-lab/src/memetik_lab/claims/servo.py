"""A servo at 1 kHz: what a tick costs beside pink and mink, and what happens at the edge of the workspace."""

from __future__ import annotations

import gc
import math
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import memetik as mk
from memetik import bodies
from memetik.types import Array
from memetik_lab.claims.servo_peers import Model, Tip, peer_servos
from memetik_lab.harness import Report, Row, progress, subplots
from memetik_lab.peers import find, serial_chain
from memetik_lab.queries import target_of
from memetik_lab.thesis.valkyrie import SETUPS, body_of, objectives_of

RATE = 1000.0  # ticks a second
TURNS = 50  # ticks of one servo before the next one has its turn
ACCELERATION = 10.0  # rad/s2 or m/s2 in every servo, since models have none
PEERS = ("pink", "mink")
EDGES = {  # tip, posture to begin with, and how far the target is pushed outwards [m]
    "ur5": ("base_link", "tool0", (0.3, -1.0, 1.6, -0.6, 1.0, 0.2), 0.8),
    "panda": ("panda_link0", "panda_link8", (0.2, 0.3, 0.1, -1.6, 0.1, 1.9, 0.8), 0.8),
}
OUT_AND_BACK, HOLD = 6.0, 2.0  # s

Ticker = Callable[[Array], Array]  # poses of all tips (tips, 4, 4) -> joint vector


class Stream(NamedTuple):
    """Poses for the tips of a robot, tick by tick, and those who follow them."""

    label: str
    poses: Array  # (ticks, tips, 4, 4)
    followers: dict[str, Ticker]


def run(folder: Path, *, quick: bool = False, count: int | None = None, peers: Sequence[str] = PEERS) -> Report:
    """Measure, print, save and plot."""
    ticks = count or (1_000 if quick else 10_000)
    found = find([name for name in PEERS if name in peers])
    report = Report(
        "servo",
        f"{ticks} ticks at {RATE:g} Hz, targets that joints can follow; servos take turns of {TURNS} ticks in one "
        "process. Every tick from targets in Python to a joint vector. pink and mink: one step a tick with all limits "
        "they have (pink: position, velocity, acceleration; mink: position, velocity), solver daqp; for the gaze of the "
        "humanoid they get an orientation. Processor time of the thread; wall: what else runs on the machine is in it. "
        f"Edge: the target goes out and back in {OUT_AND_BACK:g} s along a straight line, beyond the reach of the arm, "
        f"and waits {HOLD:g} s; speed and acceleration are the largest over all joints, as a share of the limit "
        f"(acceleration {ACCELERATION:g}).",
        remarks=[*found.remarks],
    )
    for stream in progress([_arm(ticks, found.adapters), _humanoid(ticks, found.adapters)], 2, "streams"):
        report.rows += _timed(stream)
    edges = {}
    for name in EDGES:
        edges[name] = _edge(name, found.adapters)
        report.remarks += _told(name, edges[name])
    return report.publish(folder, lambda: _plot(edges))


# ---- What a tick costs ---------------------------------------------------------------------------------------


def _timed(stream: Stream) -> list[Row]:
    """All followers by turns."""
    taken: dict[str, list[tuple[float, float]]] = {name: [] for name in stream.followers}
    for follower in stream.followers.values():
        for poses in stream.poses[:TURNS]:
            follower(poses)
    gc.collect()
    for first in range(TURNS, len(stream.poses), TURNS):
        for name, follower in stream.followers.items():
            for poses in stream.poses[first : first + TURNS]:
                wall, begin = time.perf_counter(), time.thread_time()
                follower(poses)
                taken[name].append((time.thread_time() - begin, time.perf_counter() - wall))
    medians = {name: 1e6 * float(np.median(times, axis=0)[0]) for name, times in taken.items()}
    return [
        {
            "robot": stream.label,
            "servo": name,
            "median [us]": medians[name],
            "p99 [us]": 1e6 * float(np.percentile(times, 99.0, axis=0)[0]),
            "p99.9 [us]": 1e6 * float(np.percentile(times, 99.9, axis=0)[0]),
            "wall p99.9 [us]": 1e6 * float(np.percentile(times, 99.9, axis=0)[1]),
            "median / memetik": medians[name] / medians["memetik"],
        }
        for name, times in taken.items()
    ]


def _arm(ticks: int, peers: Sequence[str]) -> Stream:
    """A Panda whose hand draws a figure eight and tilts."""
    base, tip, posture, _ = EDGES["panda"]
    body, start = mk.load("panda").chain(base, tip), np.array(posture)
    home, t = body.forward(start)[tip], np.arange(ticks) / RATE
    poses = np.tile(home, (ticks, 1, 1, 1))
    poses[:, 0, 1, 3] += 0.15 * np.sin(1.0 * t)
    poses[:, 0, 2, 3] += 0.08 * np.sin(2.0 * t)
    for pose, angle in zip(poses[:, 0], 0.3 * np.sin(0.7 * t), strict=True):
        pose[:3, :3] = home[:3, :3] @ mk.euler(angle, 0.5 * angle, 0.0)
    return Stream("panda, 7 joints, one pose", poses, _arm_servos(body, tip, start, peers))


def _arm_servos(body: mk.Body, tip: str, start: Array, peers: Sequence[str]) -> dict[str, Ticker]:
    wanted = mk.Pose(tip, body.forward(start)[tip])
    servo = mk.Servo(mk.Problem(body, wanted), start=start, rate=RATE, acceleration=ACCELERATION)
    made: dict[str, Ticker] = {"memetik": lambda poses: servo.step({wanted: poses[0]})}
    # The URDF that is written for peers has names of its own.
    names = [f"to_link_{k}" for k in range(body.dof)]
    model = Model(
        serial_chain(body).urdf(mass=1.0),
        False,
        dict(zip(names, servo.velocity_limit.tolist(), strict=True)),
        dict.fromkeys(names, ACCELERATION),
        dict(zip(names, start.tolist(), strict=True)),
    )
    for peer in peer_servos(model, [Tip("tip")], 1.0 / RATE, peers):
        order = [peer.index(name) for name in names]
        made[peer.name] = lambda poses, peer=peer, order=order: peer.step(poses)[order]  # type: ignore[misc]
    return made


def _humanoid(ticks: int, peers: Sequence[str]) -> Stream:
    """Valkyrie's last set-up of Table 5.4: both wrists, both feet and the gaze, with a pelvis that moves."""
    setup = SETUPS[-1]
    body, objectives = body_of(setup), objectives_of(setup)
    swing = 0.1 * np.sin(np.arange(body.dof))
    middle = body.clip(body.home + 0.2)
    t = np.arange(ticks) / RATE
    tips = [Tip(link, kind == "pose") for kind, link in setup.wanted]
    poses = np.empty((ticks, len(tips), 4, 4))
    for k in range(ticks):
        placed = body.forward(body.clip(middle + swing * math.sin(t[k])))
        for j, tip in enumerate(tips):
            poses[k, j] = placed[tip.link]
    servo = mk.Servo(mk.Problem(body, objectives), start=middle, rate=RATE, acceleration=ACCELERATION)
    made: dict[str, Ticker] = {
        "memetik": lambda poses: servo.step({o: target_of(o, pose) for o, pose in zip(objectives, poses, strict=True)})
    }
    names = mk.load("valkyrie").joint_names
    fastest = dict(zip(body.joint_names, servo.velocity_limit.tolist(), strict=True))
    model = Model(
        bodies.path("valkyrie").read_text(),
        True,
        {name: fastest[name] for name in names},
        dict.fromkeys(names, ACCELERATION),
        dict(zip(names, middle[[body.index(name) for name in names]].tolist(), strict=True)),
    )
    for peer in peer_servos(model, tips, 1.0 / RATE, peers):
        made[peer.name] = lambda poses, peer=peer: peer.step(poses)  # type: ignore[misc]
    return Stream(f"valkyrie, {body.dof} joints, five objectives", poses, made)


# ---- The edge of the workspace -------------------------------------------------------------------------------


def _edge(name: str, peers: Sequence[str]) -> dict[str, Any]:
    """Push the target over the edge and bring it back; the path of the joints and how far the tip is off, by servo."""
    base, tip, posture, far = EDGES[name]
    body, start = mk.load(name).chain(base, tip), np.array(posture)
    home = body.forward(start)[tip]
    outwards = home[:3, 3] * (1.0, 1.0, 0.0)
    outwards /= np.linalg.norm(outwards)
    t = np.arange(int((OUT_AND_BACK + HOLD) * RATE)) / RATE
    out = np.where(t < OUT_AND_BACK, 0.5 - 0.5 * np.cos(2.0 * math.pi * t / OUT_AND_BACK), 0.0)
    poses = np.tile(home, (len(t), 1, 1, 1))
    poses[:, 0, :3, 3] += far * out[:, None] * outwards
    servos = _arm_servos(body, tip, start, peers)
    wanted = mk.Pose(tip, home)
    step = mk.bind(mk.Problem(body, wanted), wanted, method="dls", budget=mk.Budget(evaluations=20))
    at = [start]

    def dls(target: Array) -> Array:
        at[0] = step(target[0], at[0])
        return at[0]

    servos["dls, no limits"] = dls
    limits = mk.Servo(mk.Problem(body, wanted), acceleration=ACCELERATION)
    traces = {}
    for label, servo in servos.items():
        path = np.array([servo(row) for row in poses])
        tips = np.array([body.forward(q)[tip][:3, 3] for q in path])
        velocity = np.diff(path, axis=0, prepend=start[None]) * RATE
        traces[label] = {
            "error": np.linalg.norm(tips - poses[:, 0, :3, 3], axis=1),
            "speed": np.abs(velocity / limits.velocity_limit).max(axis=1),
            "acceleration": np.abs(np.diff(velocity, axis=0) * RATE / ACCELERATION).max(axis=1),
        }
    return {"t": t, "traces": traces}


def _told(name: str, edge: dict[str, Any]) -> list[str]:
    return [
        f"{name} over the edge, {label}: largest speed {trace['speed'].max():.3g} and acceleration "
        f"{trace['acceleration'].max():.3g} of the limit; tip {1e3 * trace['error'][-1]:.3g} mm off at the end."
        for label, trace in edge["traces"].items()
    ]


def _plot(edges: dict[str, dict[str, Any]]) -> Any:
    figure, axes = subplots(2, len(edges), figsize=(11, 6.5), sharex=True, squeeze=False)
    for column, (name, edge) in zip(axes.T, edges.items(), strict=True):
        for label, trace in edge["traces"].items():
            column[0].plot(edge["t"], np.maximum(trace["speed"], 1e-4), lw=1.0, label=label)
            column[1].plot(edge["t"], np.maximum(1e3 * trace["error"], 1e-4), lw=1.0, label=label)
        column[0].axhline(1.0, color="black", lw=0.8, ls="--")
        column[0].set(yscale="log", ylabel="fastest joint / its limit", title=f"{name}: over the edge and back")
        column[1].set(yscale="log", xlabel="time [s]", ylabel="tip off the target [mm]")
        column[0].legend(fontsize=8)
    return figure
