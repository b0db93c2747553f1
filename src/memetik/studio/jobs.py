"""Jobs for the worker: a longer search with its explanation, a comparison of methods, an evolution of Bio IK.

Each takes the text of a scene, a joint vector to begin with and the folders that may be read, and raises nothing: what a
page should say is part of the answer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

import memetik as mk
from memetik import scenes
from memetik.errors import MemetikError
from memetik.solvers.history import History
from memetik.types import Array

LONGEST = 1.0  # s for each method of a comparison


class Answer(NamedTuple):
    """What came of a longer search."""

    success: bool
    q: list[float]
    explanation: str


def search(text: str, q: list[float], roots: Sequence[str]) -> Answer:
    """Solve with the usual budget, and explain a failure."""
    try:
        scene, body = _scene(text, roots)
        solver = scenes.solver(scene.solving)
        problem = scenes.problem_for(solver, body, list(scenes.objectives(scene, body).values()), scene.lock)
        solution = solver.solve(problem, q, mk.Budget())
        return Answer(solution.success, solution.q.tolist(), solution.explain())
    except MemetikError as error:
        return Answer(False, q, str(error))


class Ghost(NamedTuple):
    """What a method made of the problem; `remark` says why if it could not begin."""

    method: str
    q: Array
    seconds: float
    evaluations: int
    success: bool
    remark: str = ""


def compare(text: str, q: list[float], roots: Sequence[str], methods: Sequence[str]) -> list[Ghost]:
    """Each method from the same posture with the evaluations of a frame, on a problem of its own."""
    ghosts = []
    for method in methods:
        try:
            scene, body = _scene(text, roots)
            budget = mk.Budget(scene.solving.evaluations, LONGEST)
            solver = scenes.solver(replace(scene.solving, method=method, parameters={}))
            problem = scenes.problem_for(solver, body, list(scenes.objectives(scene, body).values()), scene.lock)
            solver.solve(problem, q, budget)  # the first solve of a method also loads its machine code
            found = solver.solve(problem, q, budget)
            ghosts.append(Ghost(method, found.q, found.seconds, found.evaluations, found.success))
        except MemetikError as error:  # a method that cannot take this problem
            ghosts.append(Ghost(method, np.array(q), 0.0, 0, False, str(error)))
    return ghosts


class Evolution(NamedTuple):
    """A run of Bio IK with all its individuals; `remark` says why if there was none."""

    history: History | None
    success: bool = False
    evaluations: int = 0
    remark: str = ""


def evolve(text: str, q: list[float], roots: Sequence[str], solver: mk.BioIK, generations: int) -> Evolution:
    """Let Bio IK evolve a solution, for at most so many generations."""
    try:
        problem = scenes.problem(*_scene(text, roots))
        population, _ = solver.sizes(problem.compiled)
        # A generation takes at least one evaluation for each individual.
        solution, history = solver.evolve(problem, q, mk.Budget(evaluations=generations * population))
        return Evolution(history, solution.success, solution.evaluations)
    except MemetikError as error:
        return Evolution(None, remark=str(error))


def _scene(text: str, roots: Sequence[str]) -> tuple[scenes.Scene, mk.Body]:
    scene = scenes.loads(text)
    return scene, scenes.load_body(scene.body, roots)
