"""`memetik solve`: a problem from the command line, its solution as text, JSON and picture."""

from __future__ import annotations

import argparse
import json
import math
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import memetik as mk
from memetik import scenes
from memetik.cli.options import (
    MOVING,
    add_body,
    add_command,
    add_common,
    add_draw,
    add_number,
    assignments,
    ends,
    load_body,
)
from memetik.cli.targets import Tip, add_targets, objectives, points
from memetik.files import writable_file
from memetik.problem import checked_seed
from memetik.solution import count
from memetik.tables import aligned, terminal_width
from memetik.types import Array

NOT_REACHED = 1
FRAMES, HALT, RATE = 20, 6, 15.0  # of a moving picture: on the way, at each end, a second
BALL = 0.015  # m, radius of what marks a target in it


def add_commands(commands: Any) -> None:
    """Add `solve`."""
    command = add_command(
        commands, "solve", _solve, "find a posture that reaches targets",
        "Find a posture that reaches targets. Each --tip starts a new group: the targets after it are its "
        "own; a body or a chain with one tip needs none. Metres, radians, world coordinates. Exit code 0: reached, "
        "1: not reached, 2: the question is wrong.",
    )  # fmt: skip
    add_body(command, nargs="?")
    saved = "a scene saved by the studio, in place of body and targets"
    command.add_argument("--scene", type=Path, metavar="FILE.json", help=saved)
    add_targets(command)
    where = "where to start: home, random, or values of joints with commas between (default: %(default)s)"
    command.add_argument("--start", default="home", metavar="JOINT=VALUE", help=where)
    add_common(command, "--lock")
    add_common(command, "--chain")
    command.add_argument(
        "--method", default="memetic", metavar="METHOD", help="see `memetik methods` (default: %(default)s)"
    )
    add_number(command, "--seed", 0, "of the search and of a random start")
    command.add_argument(
        "--seconds", type=float, default=math.inf, metavar="S", help="stop after this time (default: never)"
    )
    add_number(command, "--evaluations", mk.Budget().evaluations, "stop after these")
    command.add_argument(
        "--solutions", type=int, metavar="N", help="up to N distinct solutions, nearest to the start first"
    )
    add_common(command, "--json")
    add_draw(command, "the posture with its targets; a .gif moves there from the start", MOVING)


class _Asked(NamedTuple):
    """A problem, where to start, what a picture marks, and how to solve it."""

    problem: mk.Problem
    start: Array
    targets: list[Array]
    method: mk.solvers.Solver | str
    seed: int = 0  # that of the method, if it has one of its own


def _solve(options: argparse.Namespace) -> int:
    if options.draw:
        writable_file(options.draw, *MOVING)  # a picture that cannot be written is told before the search
    asked = _asked(options) if options.scene is None else _scene(options)
    solutions = _solutions(asked, options)
    if options.draw:
        _draw(asked, [solution.q for solution in solutions[::-1]], options.draw)
    if options.json:
        plain = [_plain(solution) for solution in solutions]
        print(json.dumps(plain[0] if options.solutions is None else {"solutions": plain}, allow_nan=False))
    else:
        print(_people(solutions), *(["\ndrawn:", options.draw] if options.draw else []))
    return 0 if solutions[0].success else NOT_REACHED


def _solutions(asked: _Asked, options: argparse.Namespace) -> list[mk.Solution]:
    """What was asked for; where several were and none exists, the closest."""
    budget = mk.Budget(evaluations=options.evaluations, seconds=options.seconds)
    how: dict[str, Any] = {"method": asked.method, "budget": budget, "seed": asked.seed}
    found = (
        [] if options.solutions is None else mk.solve_all(asked.problem, asked.start, count=options.solutions, **how)
    )
    return found or [mk.solve(asked.problem, asked.start, **how)]


# ---- What was asked ----------------------------------------------------------------------------------------


def _asked(options: argparse.Namespace) -> _Asked:
    """What the body and targets on the command line ask for."""
    if options.body is None:
        raise mk.errors.ProblemError("no body is named. Give one, or a scene: memetik solve --scene FILE.json")
    body = load_body(options)
    start = _start(body, options.start, options.seed)
    lock = {**_held(body, options.chain, start), **assignments(options.lock, "--lock")}
    tips = _tips(body, options)
    problem = mk.Problem(body, objectives(tips, options.position_tolerance, options.orientation_tolerance), lock=lock)
    return _Asked(problem, start, points(tips), options.method, options.seed)


def _scene(options: argparse.Namespace) -> _Asked:
    """What a scene asks for, which also says the method, its parameters and the seed."""
    if options.body is not None or options.tips or options.lock or options.chain:
        raise mk.errors.ProblemError(
            "--scene brings its own body, targets and locks. Leave the others out, or edit the scene."
        )
    scene = scenes.read_scene(options.scene)
    body = scenes.load_body(scene.body, [options.scene.resolve().parent])
    method = scenes.solver(scene.solving)
    problem = scenes.problem_for(method, body, scenes.objectives(scene, body).values(), scene.lock, scenes.root(scene))
    marks = scenes.marked(scene)
    if problem.root is not None:  # pictures are seen from the root
        back = np.linalg.inv(problem.root)
        marks = [back @ mark if mark.shape == (4, 4) else (back @ (*mark, 1.0))[:3] for mark in marks]
    return _Asked(problem, scenes.start(scene, body), marks, method)


def _start(body: mk.Body, text: str, seed: int) -> Array:
    if text == "home":
        return body.home.copy()
    if text == "random":
        return body.sample(np.random.default_rng(checked_seed(seed)))
    return body.vector(assignments(text.split(","), "--start"))


def _held(body: mk.Body, chain: str | None, start: Array) -> dict[str, float]:
    """The joints that are not of the chain, at their start."""
    if chain is None:
        return {}
    names, drives = body.joint_names, body.variables.drives
    # A mimic joint whose source was cut away moves its source here.
    moving = {name if name in names else names[drives[name][0].variable] for name in body.chain(chain).joint_names}
    return {name: float(start[k]) for k, name in enumerate(names) if name not in moving}


def _tips(body: mk.Body, options: argparse.Namespace) -> list[Tip]:
    """The groups of targets; one without a tip means that of the chain, or the only one of the body."""
    known = body.chains[options.chain].tips if options.chain else ends(body)
    tips: list[Tip] = options.tips or []
    for tip in tips:
        if tip.link is None and len(known) != 1:
            some = f"{', '.join(known[:6])}{' ...' if len(known) > 6 else ''}"
            raise mk.errors.ProblemError(f"a target stands before any tip. Name the link first, --tip LINK: {some}.")
        tip.link = tip.link or known[0]
    return tips


# ---- What comes out ----------------------------------------------------------------------------------------


def _people(solutions: list[mk.Solution]) -> str:
    nearest = solutions[0]
    if len(solutions) == 1:
        return str(nearest) if nearest.success else f"{nearest}\n\n{nearest.explain()}"
    heading = ["joint", *(str(k + 1) for k in range(len(solutions)))]
    names = nearest.problem.body.joint_names
    rows = [[name, *(f"{solution[name]:.4f}" for solution in solutions)] for name in names]
    table = aligned([heading, *rows], range(1, len(heading)), width=terminal_width())
    spent = f"{count(nearest.evaluations, 'evaluation')}, {count(nearest.attempts, 'attempt')}"
    first = f"{len(solutions)} solutions, nearest to the start first ({spent})"
    return "\n".join([first, "", *table])


def _draw(asked: _Asked, postures: list[Array], path: Path) -> None:
    """The postures, the last one solid; or the way to it from the start, if the picture can move."""
    body = asked.problem.body
    if path.suffix.lower() != ".gif":
        mk.write.draw_many(body, postures, path, targets=asked.targets)
        return
    # Slow at both ends; the halts there are seen for what they are.
    share = np.concatenate([np.zeros(HALT), 0.5 - 0.5 * np.cos(np.linspace(0.0, np.pi, FRAMES)), np.ones(HALT)])
    way = asked.start + share[:, None] * (postures[-1] - asked.start)
    balls = [
        mk.Shape("sphere", (BALL,), mk.transform(mark if mark.ndim == 1 else mark[:3, 3])) for mark in asked.targets
    ]
    motion = mk.Motion(body, np.arange(len(way)) / RATE, way)
    mk.write.draw_motion(motion, path, frame_count=len(way), layout="film", props=balls, size=(500, 500))


def _plain(solution: mk.Solution) -> dict[str, Any]:
    """A solution as JSON takes it, with the reason if it failed."""
    plain = solution.to_dict()
    return plain if solution.success else {**plain, "explanation": solution.explain()}
