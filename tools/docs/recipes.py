"""The pictures of recipes, each of what the recipe's own code has made (`python -m tools.docs pictures`)."""

from __future__ import annotations

import contextlib
import io
import os
import re
import tempfile
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
from matplotlib import pyplot as plt
from tools.docs.pictures import BLUE, GREY

import memetik as mk

HOWTO = Path(__file__).parents[2] / "docs" / "howto"
BLOCK = re.compile(r"^```(python|xml)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
RECIPES: dict[str, Callable[[], Any]] = {}
SIZE = {"size": (440, 340)}
SOLID = {**SIZE, "show_skeleton": False}


def made(name: str) -> SimpleNamespace:
    """What is there when the code of a recipe has run."""
    names: dict[str, Any] = {"__name__": "recipe"}
    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()):
        here = Path.cwd()
        os.chdir(folder)
        try:
            for language, code in BLOCK.findall((HOWTO / f"{name}.md").read_text()):
                if language == "xml":
                    file = re.match(r"<!-- ([\w.]+) -->", code)
                    if file:  # others are shown only
                        Path(file[1]).write_text(code)
                else:
                    exec(compile(code, name, "exec"), names)
        finally:
            os.chdir(here)
    return SimpleNamespace(**names)


def recipe(function: Callable[[SimpleNamespace], Any]) -> Callable[[SimpleNamespace], Any]:
    """Put the picture of a recipe on the list, under the name of its page."""
    RECIPES[function.__name__] = lambda: function(made(function.__name__))
    return function


@recipe
def asyncio(it: SimpleNamespace) -> str:
    return mk.write.draw_many(it.body, [solution.q for solution in it.solutions], view=(20, 25), **SOLID)


@recipe
def batch(it: SimpleNamespace) -> str:
    postures = it.batch.q[it.batch.success][:6]
    return mk.write.draw_many(it.body, postures, targets=it.targets[:30], view=(35, 20), **SOLID)


@recipe
def gpu(it: SimpleNamespace) -> str:
    return mk.write.draw_many(it.body, it.batch.q[it.batch.success][:9], view=(35, 20), **SOLID)


@recipe
def build_in_python(it: SimpleNamespace) -> str:
    posture = 0.35 * np.sin(np.arange(it.snake.dof) / 2.5)
    return mk.draw(it.snake, posture, view=(-60, 25), **SOLID)


@recipe
def choose_method(it: SimpleNamespace) -> Any:
    tried = ("memetic", "levenberg_marquardt", "dls", "bioik", "ccd", "transpose", "pso", "ga")
    found = [mk.solve(it.problem, method=name) for name in tried]
    figure, axes = plt.subplots(figsize=(5.6, 2.8))
    rows = np.arange(len(tried))[::-1]
    axes.barh(rows, [each.evaluations for each in found], color=[BLUE if each.success else GREY for each in found])
    for row, each in zip(rows, found, strict=True):
        axes.text(each.evaluations * 1.15, row, f"{each.evaluations:,}, {each.status.name}", va="center", fontsize=9)
    most = max(each.evaluations for each in found)
    axes.set(
        xscale="log", xlim=(1, 30 * most), yticks=rows, yticklabels=tried, xlabel="evaluations until it is reached"
    )
    return figure


@recipe
def covers(it: SimpleNamespace) -> str:
    return mk.draw(it.body, [0.6], view=(-60, 15), **SIZE)


@recipe
def explain_failure(it: SimpleNamespace) -> str:
    found = mk.solve(mk.Problem(it.body, it.far))
    return mk.draw(it.body, found.q, targets=[it.far.target], view=(-60, 15), **SOLID)


@recipe
def free_motion(it: SimpleNamespace) -> str:
    ways = [it.left, 0.5 * (it.left + it.right), it.right]
    return mk.write.draw_many(it.body, ways, world=it.world, view=(20, 30), **SOLID)


@recipe
def keep_a_posture(it: SimpleNamespace) -> str:
    guides = (mk.CenterJoints(), mk.AvoidLimits(margin=0.2), mk.Displacement(reference=it.ready))
    postures = [mk.solve(mk.Problem(it.body, [it.reach, guide]), start=it.body.home).q for guide in guides]
    return mk.write.draw_many(it.body, postures, targets=[it.reach.target], view=(-50, 15), **SOLID)


@recipe
def limits(it: SimpleNamespace) -> str:
    return mk.draw(it.body, it.solution.q, targets=[it.reach.target], view=(-50, 20), **SOLID)


@recipe
def mujoco_model(it: SimpleNamespace) -> str:
    return mk.draw(it.body, it.solution.q, targets=[(0.45, 0.0, 0.3)], view=(-80, 10), **SIZE)


@recipe
def notebook(it: SimpleNamespace) -> str:
    return str(it.svg)


@recipe
def own_objective(it: SimpleNamespace) -> str:
    return mk.draw(it.body, it.solution.q, targets=[(0.45, 0.0, 0.35)], view=(-70, 12), **SOLID)


@recipe
def own_solver(it: SimpleNamespace) -> str:
    return mk.draw(it.arm, it.solution.q, targets=[(0.5, 0.5, 0.0)], view=(-90, 90), **SIZE)


@recipe
def own_urdf(it: SimpleNamespace) -> str:
    return mk.draw(it.body, it.solution.q, targets=[(0.2, 0.0, -0.5)], view=(-70, 12), **SIZE)


@recipe
def plan(it: SimpleNamespace) -> str:
    return mk.write.draw_many(it.body, it.plan.sample(1.0), world=it.world, view=(-20, 50), **SOLID)


@recipe
def robot_on_a_table(it: SimpleNamespace) -> str:
    world = mk.World({"table": mk.Shape("box", (0.9, 0.9, 0.04), mk.translation(0.2, 0, -0.03))})
    target = np.linalg.inv(it.table) @ (*it.reach.target, 1.0)
    return mk.draw(it.body, it.solution.q, targets=[target[:3]], world=world, view=(-50, 20), **SOLID)


@recipe
def ros(it: SimpleNamespace) -> str:
    return mk.write.draw_many(it.body, it.q[::7], view=(-60, 15), **SOLID)


@recipe
def scenes(it: SimpleNamespace) -> str:
    solution = mk.solve(it.problem)
    return mk.draw(it.problem.body, solution.q, view=(-50, 20), **SOLID)


@recipe
def some_joints(it: SimpleNamespace) -> str:
    return mk.draw(it.body, it.solution.q, targets=[it.reach.target], view=(-40, 15), **SOLID)


@recipe
def teleoperation(it: SimpleNamespace) -> str:
    return mk.write.draw_many(it.body, [it.body.home, it.q], targets=[it.pose.target[:3, 3]], view=(20, 25), **SOLID)


@recipe
def threads(it: SimpleNamespace) -> str:
    return mk.write.draw_many(it.body, it.answers, view=(20, 25), **SOLID)


@recipe
def tool_offset(it: SimpleNamespace) -> str:
    return mk.draw(it.body, it.solution.q, targets=[it.pose.target], view=(-50, 15), **SIZE)


@recipe
def unreachable(it: SimpleNamespace) -> str:
    arm = mk.load("panda")  # the recipe goes on with another body
    found = mk.solve(mk.Problem(arm, it.reach))
    return mk.draw(arm, found.q, targets=[it.reach.target], view=(-70, 12), **SOLID)


@recipe
def closed_loop(it: SimpleNamespace) -> str:
    return mk.draw(it.stewart, it.solution.q, targets=[it.pose.target], view=(-60, 15), **SIZE)


@recipe
def several_bodies(it: SimpleNamespace) -> str:
    return mk.draw(it.arms.body, it.solution.q, targets=[it.beam.target], view=(20, 20), **SOLID)


@recipe
def bear_the_weight(it: SimpleNamespace) -> str:
    return mk.draw(it.body, it.solution.q, targets=[it.reach.target], view=(-50, 15), **SOLID)


@recipe
def to_a_character(it: SimpleNamespace) -> str:
    return mk.write.draw_motion(it.found, frame_count=4, size=(900, 340), show_skeleton=True)


@recipe
def to_a_humanoid_robot(it: SimpleNamespace) -> str:
    return mk.write.draw_motion(it.found, frame_count=6, size=(900, 340))


@recipe
def to_a_quadruped(it: SimpleNamespace) -> str:
    return mk.write.draw_motion(it.found, frame_count=5, size=(900, 340))


@recipe
def to_two_arms(it: SimpleNamespace) -> str:
    return mk.write.draw_motion(it.found, frame_count=4, size=(900, 340))
