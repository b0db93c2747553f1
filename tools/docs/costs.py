"""What objectives and methods cost on a Panda, for the tables of the reference (`python -m tools.docs costs`).

Processor time, so that other programs do not count. An objective is solved from the same 200 random starts in one thread, after
a first round that compiles: alone, or beside a Position where alone it would ask for next to nothing. A method takes the same 50
random poses that can be reached, from the home posture.
"""

from __future__ import annotations

import dataclasses
import json
import math
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import memetik as mk

FILE = Path(__file__).parents[2] / "docs" / "reference" / "costs.json"
HAND, PLACE, DOWN = "panda_hand", (0.45, 0.1, 0.4), (0.0, 0.0, -1.0)
BUDGET = mk.Budget(evaluations=10_000)
ROUNDS = 5  # the fastest counts


def panda() -> mk.Body:
    """The bundled arm with a kilogram on each link, so that it has a centre of mass and its motors bear something."""
    body = mk.load("panda")
    links = [dataclasses.replace(link, mass=1.0) for link in body.links.values()]
    home = dict(zip(body.joint_names, body.home, strict=True))
    return mk.Body("panda", links, body.joints.values(), home=home, touching=body.touching)


def terrain() -> mk.objectives.HeightField:
    x, y = np.meshgrid(np.linspace(-1, 1, 41), np.linspace(-1, 1, 41), indexing="ij")
    return mk.objectives.HeightField(0.1 + 0.05 * np.sin(5 * x) * np.cos(5 * y), spacing=0.05, origin=(-1, -1))


def objectives(body: mk.Body) -> dict[str, tuple[mk.Objective, bool]]:
    """One of each kind, and whether a Position is solved beside it."""
    world = mk.World({"post": mk.Shape("cylinder", (0.05, 0.9), mk.translation(0.3, -0.25, 0.45))})
    square = [(-0.15, -0.15), (0.25, -0.15), (0.25, 0.15), (-0.15, 0.15)]

    @mk.objective(reads=[HAND], tolerance=1e-3)
    def above(hand: Any) -> Any:
        return max(0.0, 0.35 - hand.position[2])

    pose = mk.transform(PLACE, mk.euler(180, 0, 0, degrees=True))
    joint = "panda_joint4"
    return {
        "Position": (mk.Position(HAND, PLACE), False),
        "Orientation": (mk.Orientation(HAND, pose[:3, :3]), False),
        "Pose": (mk.Pose(HAND, pose), False),
        "Direction": (mk.Direction(HAND, DOWN), False),
        "LookAt": (mk.LookAt(HAND, (1.0, 0.2, 0.3), axis=(0, 0, 1)), False),
        "Cone": (mk.Cone(HAND, DOWN, math.radians(10)), False),
        "Line": (mk.Line(HAND, PLACE, (0, 1, 0)), False),
        "Plane": (mk.Plane(HAND, PLACE, (0, 0, 1)), False),
        "Side": (mk.Side(HAND, (0, 0, 1)), False),
        "Touch": (mk.Touch(HAND, (0, 0, 0.3)), False),
        "Projection": (mk.Projection(HAND, terrain(), direction=(0, 0, 1)), False),
        "MinDistance": (mk.MinDistance(HAND, PLACE, 0.3), False),
        "MaxDistance": (mk.MaxDistance(HAND, PLACE, 0.1), False),
        "Distance": (mk.Distance(body, world), True),
        "SelfDistance": (mk.SelfDistance(body), True),
        "Balance": (mk.Balance(square), True),
        "GravityTorque": (mk.GravityTorque(dict.fromkeys(body.joint_names[:7], 20.0)), True),
        "Manipulability": (mk.Manipulability(HAND), True),
        "Displacement": (mk.Displacement(), True),
        "JointValue": (mk.JointValue(joint, -1.8), True),
        "CenterJoints": (mk.CenterJoints(), True),
        "AvoidLimits": (mk.AvoidLimits(), True),
        "FunctionalRelation": (mk.FunctionalRelation(joint, lambda a: -1.5 - 0.2 * a, sources=["panda_joint2"]), True),
        "objective": (above, True),
    }


def best(work: Callable[[], Any], rounds: int = ROUNDS) -> float:
    """Processor seconds of the fastest of some rounds."""
    times = []
    for _ in range(rounds):
        begin = time.process_time()
        work()
        times.append(time.process_time() - begin)
    return min(times)


def of_objectives(body: mk.Body, names: Sequence[str] = (), rows: int = 200) -> dict[str, dict[str, float | bool]]:
    """Microseconds a solve, evaluations a solve, and the share that was reached; of all, or of those that are named."""
    starts = np.random.default_rng(0).uniform(body.lower, body.upper, (rows, body.dof))
    found: dict[str, dict[str, float | bool]] = {}
    for name, (objective, beside) in objectives(body).items():
        if names and name not in names:
            continue
        problem = mk.Problem(body, [mk.Position(HAND, PLACE), objective] if beside else objective)

        def work(problem: mk.Problem = problem) -> mk.batch.BatchSolution:
            return mk.solve_batch(problem, starts=starts, budget=BUDGET, threads=1, progress=False)

        batch = work()
        seconds = best(work)
        found[name] = {
            "us": float(f"{1e6 * seconds / rows:.2g}"),
            "evaluations": round(float(np.mean(batch.evaluations)), 1),
            "reached": round(float(batch.success.mean()), 3),
            "beside": beside,
        }
        print(f"{name:20} {found[name]}", flush=True)
    return found


def of_methods(body: mk.Body, count: int = 50) -> dict[str, dict[str, float | str]]:
    """The median of microseconds a solve, and the share that was reached, of every method that needs no training."""
    rng = np.random.default_rng(0)
    targets = body.forward(rng.uniform(body.lower, body.upper, (count, body.dof)), HAND)
    pose = mk.Pose(HAND, targets[0])
    problem = mk.Problem(body, pose)
    found: dict[str, dict[str, float | str]] = {}
    for method in mk.methods():
        if method.name == "learned":
            found[method.name] = {"refused": "it is trained for a problem first"}
            continue
        try:
            mk.solve(problem, method=method.name, budget=BUDGET)  # compiles
        except mk.MemetikError as error:
            found[method.name] = {"refused": str(error).split(". ")[0]}
            print(f"{method.name:20} {error}", flush=True)
            continue
        times, reached = [], 0
        for target in targets:
            pose.target = target
            begin = time.process_time()
            reached += bool(mk.solve(problem, method=method.name, budget=BUDGET))
            times.append(time.process_time() - begin)
        found[method.name] = {"us": float(f"{1e6 * float(np.median(times)):.2g}"), "reached": reached / count}
        print(f"{method.name:20} {found[method.name]}", flush=True)
    return found


def write(names: Sequence[str] = ()) -> None:
    """Measure all, and keep it for the pages; or only the objectives that are named, beside what was measured before."""
    body = panda()
    if names:
        made = json.loads(FILE.read_text())
        found = made["objectives"] | of_objectives(body, names)
        made["objectives"] = {name: found[name] for name in objectives(body)}
        FILE.write_text(json.dumps(made, indent=1) + "\n")
        return
    made = {"objectives": of_objectives(body), "methods": of_methods(body)}
    FILE.write_text(json.dumps(made, indent=1) + "\n")
