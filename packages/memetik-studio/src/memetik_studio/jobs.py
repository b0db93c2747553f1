"""Jobs for the worker: kernels for a scene, a longer search with its explanation, a comparison of methods, an evolution, a
cover of meshes.

Each takes the text of a scene, a joint vector to begin with and the folders that may be read, and raises nothing: what a
page should say is part of the answer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

import memetik as mk
from memetik import scenes
from memetik.read import resolve_mesh
from memetik.types import Array
from memetik_studio.session import Session

LONGEST = 1.0  # s for each method of a comparison


class Answer(NamedTuple):
    """What came of a longer search."""

    success: bool
    q: list[float]
    explanation: str


def search(text: str, q: list[float], roots: Sequence[str]) -> Answer:
    """Solve with the usual budget, and explain a failure."""
    try:
        _, solver, problem = _posed(text, roots)
        solution = solver.solve(problem, q, mk.Budget())
        return Answer(solution.success, solution.q.tolist(), solution.explain())
    except mk.MemetikError as error:
        return Answer(False, q, str(error))


def prepare(text: str, roots: Sequence[str]) -> str:
    """Compile what it takes to solve a scene, in reach and out of it; why that cannot be, in words, if so."""
    try:
        scene = scenes.loads(text)
        session = Session(scene, roots=roots)
        if session.problem is not None:
            # After one evaluation hardly anything is reached, so all that may follow a search does.
            scenes.solver(scene.solving).solve(session.problem, session.start, mk.Budget(evaluations=1)).explain()
        return ""
    except mk.MemetikError as error:
        return str(error)


class Covered(NamedTuple):
    """The links of a body with simple shapes in place of meshes; `remark` says why if there are still meshes."""

    links: tuple[mk.build.Link, ...]
    remark: str


def cover(text: str, q: list[float], roots: Sequence[str]) -> Covered:
    """Cover the meshes of a scene's body, those that lie in the folders that may be read."""
    links: tuple[mk.build.Link, ...] = ()
    try:
        body = scenes.load_body(scenes.loads(text).body, roots)
        links = tuple(body.links.values())
        meshes = {link.name: [s for s in link.shapes or link.visuals if s.kind == "mesh"] for link in links}
        there = [name for name, own in meshes.items() if own and all(resolve_mesh(s.mesh, roots) for s in own)]
        lost = [name for name, own in meshes.items() if own and name not in there]
        made = mk.collision.cover(body, links=there, roots=roots, progress=False).body
        remark = f"the meshes of {', '.join(lost)} are not in the folders of the studio." if lost else ""
        return Covered(tuple(made.links.values()), remark)
    except mk.MemetikError as error:
        return Covered(links, str(error))


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
            solving, solver, problem = _posed(text, roots, method=method, parameters={})
            budget = mk.Budget(solving.evaluations, LONGEST)
            solver.solve(problem, q, budget)  # the first solve of a method also loads its machine code
            found = solver.solve(problem, q, budget)
            ghosts.append(Ghost(method, found.q, found.seconds, found.evaluations, found.success))
        except mk.MemetikError as error:  # a method that cannot take this problem
            ghosts.append(Ghost(method, np.array(q), 0.0, 0, False, str(error)))
    return ghosts


class Evolution(NamedTuple):
    """A run of Bio IK with all its individuals; `remark` says why if there was none."""

    history: mk.solvers.History | None
    success: bool = False
    evaluations: int = 0
    remark: str = ""


def evolve(text: str, q: list[float], roots: Sequence[str], solver: mk.solvers.BioIK, generations: int) -> Evolution:
    """Let Bio IK evolve a solution, for at most so many generations."""
    try:
        scene = scenes.loads(text)
        problem = scenes.problem(scene, scenes.load_body(scene.body, roots))
        population, _ = solver.sizes(problem.compiled)
        # A generation takes at least one evaluation for each individual.
        solution, history = solver.evolve(problem, q, mk.Budget(evaluations=generations * population))
        return Evolution(history, solution.success, solution.evaluations)
    except mk.MemetikError as error:
        return Evolution(None, remark=str(error))


def _posed(text: str, roots: Sequence[str], **other: Any) -> tuple[scenes.Solving, mk.solvers.Solver, mk.Problem]:
    """The problem of a scene as far as its method can take it, or one with `other` settings."""
    scene = scenes.loads(text)
    body = scenes.load_body(scene.body, roots)
    solving = replace(scene.solving, **other)
    solver = scenes.solver(solving)
    return (
        solving,
        solver,
        scenes.problem_for(solver, body, scenes.objectives(scene, body).values(), scene.lock, scenes.root(scene)),
    )
