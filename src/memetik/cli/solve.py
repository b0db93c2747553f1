"""`memetik solve`: a problem from the command line, its solution as text, JSON and picture."""

from __future__ import annotations

import argparse
import json
import math
from pathlib import Path
from typing import Any

import numpy as np

import memetik as mk
from memetik import scenes
from memetik.cli.show import add_body, load_body
from memetik.cli.targets import Tip, add_targets, assignments, objectives, points
from memetik.files import writable_file
from memetik.problem.seed import checked_seed
from memetik.solution.measures import Measure, measures, title
from memetik.solution.report import columns
from memetik.solution.words import count
from memetik.types import Array

NOT_REACHED = 1


def add_commands(commands: Any) -> None:
    """Add `solve`."""
    command = commands.add_parser(
        "solve",
        help="find a posture that reaches targets",
        description="Find a posture that reaches targets. Each --tip starts a new group: the targets after it are its "
        "own. Metres, radians, world coordinates. Exit code 0: reached, 1: not reached, 2: the question is wrong.",
    )
    add_body(command, nargs="?")
    command.add_argument(
        "--scene", type=Path, metavar="FILE.json", help="a scene saved by the studio, in place of body and targets"
    )
    add_targets(command)
    command.add_argument("--start", default="home", help='where to start: home, random or "joint=value,..."')
    command.add_argument("--lock", action="append", default=[], metavar="JOINT=VALUE", help="hold a joint; repeatable")
    command.add_argument("--chain", help="only the joints of this named chain move; its tip need not be named")
    command.add_argument("--method", default="memetic", help="see `memetik methods` (default: %(default)s)")
    command.add_argument("--seed", type=int, default=0, help="of the search and of a random start (default: 0)")
    command.add_argument("--seconds", type=float, default=math.inf, help="stop after this time (default: never)")
    most = mk.Budget().evaluations
    command.add_argument("--evaluations", type=int, default=most, help="stop after these (default: %(default)s)")
    command.add_argument("--all", type=int, metavar="N", help="up to N distinct solutions, nearest to the start first")
    command.add_argument("--json", action="store_true", help="print one JSON object, for machines")
    command.add_argument("--draw", type=Path, metavar="FILE.svg", help="draw the posture with its targets")
    command.set_defaults(run=_solve)


def _solve(options: argparse.Namespace) -> int:
    if options.draw:
        writable_file(options.draw, ".svg")  # a picture that cannot be written is told before the search
    problem, start, targets = _asked(options) if options.scene is None else _scene(options)
    solutions = _solutions(problem, start, options)
    if options.draw:
        postures = [solution.q for solution in solutions[::-1]]
        mk.draw_many(problem.body, postures, options.draw, targets=targets)
    if options.json:
        print(json.dumps(_machine(solutions, options.all), allow_nan=False))
    else:
        print(_people(solutions), *(["\ndrawn:", options.draw] if options.draw else []))
    return 0 if solutions[0].success else NOT_REACHED


def _solutions(problem: mk.Problem, start: Array, options: argparse.Namespace) -> list[mk.Solution]:
    """What was asked for; where several were and none exists, the closest."""
    budget = mk.Budget(evaluations=options.evaluations, seconds=options.seconds)
    if options.all is not None:
        found = mk.solve_all(problem, start, method=options.method, budget=budget, seed=options.seed, count=options.all)
        if found:
            return found
    if options.scene is not None:
        return [scenes.solver(scenes.read_scene(options.scene).solving).solve(problem, start, budget)]
    return [mk.solve(problem, start, method=options.method, budget=budget, seed=options.seed)]


# ---- What was asked ----------------------------------------------------------------------------------------


def _asked(options: argparse.Namespace) -> tuple[mk.Problem, Array, list[Array]]:
    """The problem of the body and targets on the command line, where to start, and what a picture marks."""
    if options.body is None:
        raise mk.ProblemError("no body is named. Give one, or a scene: memetik solve --scene FILE.json")
    body = load_body(options)
    start = _start(body, options.start, options.seed)
    lock = {**_held(body, options.chain, start), **assignments(options.lock, "--lock")}
    tips = _tips(body, options)
    problem = mk.Problem(body, objectives(tips, options.tolerance, options.angle_tolerance), lock=lock)
    return problem, start, points(tips)


def _scene(options: argparse.Namespace) -> tuple[mk.Problem, Array, list[Array]]:
    """The same of a scene, which also says the method, its parameters and the seed."""
    if options.body is not None or options.tips or options.lock or options.chain:
        raise mk.ProblemError(
            "--scene brings its own body, targets and locks. Leave the others out, or edit the scene."
        )
    scene = scenes.read_scene(options.scene)
    body = scenes.load_body(scene.body, [options.scene.resolve().parent])
    options.method, options.seed = scene.solving.method, scene.solving.seed
    wanted = list(scenes.objectives(scene, body).values())
    problem = scenes.problem_for(scenes.solver(scene.solving), body, wanted, scene.lock)
    return problem, scenes.start(scene, body), scenes.marked(scene)


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
    drives = body.variables.drives
    part = body.chain(chain)
    # A mimic joint whose source was cut away moves its source here.
    moving = {
        name if name in body.joint_names else body.joint_names[drives[name][0].variable] for name in part.joint_names
    }
    return {name: float(start[k]) for k, name in enumerate(body.joint_names) if name not in moving}


def _tips(body: mk.Body, options: argparse.Namespace) -> list[Tip]:
    """The groups of targets; one without a tip means that of the chain."""
    known = body.chains[options.chain].tips if options.chain else ()
    tips: list[Tip] = options.tips or []
    for tip in tips:
        if tip.link is None and len(known) == 1:
            tip.link = known[0]
    return tips


# ---- What comes out ----------------------------------------------------------------------------------------


def _people(solutions: list[mk.Solution]) -> str:
    nearest = solutions[0]
    if len(solutions) == 1:
        return str(nearest) if nearest.success else f"{nearest}\n\n{nearest.explain()}"
    names = nearest.problem.body.joint_names
    heading = ("joint", *(str(k + 1) for k in range(len(solutions))), "")
    rows = [(name, *(f"{solution[name]:.4f}" for solution in solutions), "") for name in names]
    spent = f"{count(nearest.evaluations, 'evaluation')}, {count(nearest.attempts, 'attempt')}"
    return "\n".join(
        [f"{len(solutions)} solutions, nearest to the start first ({spent})", "", *columns([heading, *rows])]
    )


def _machine(solutions: list[mk.Solution], several: int | None) -> dict[str, Any]:
    if several is None:
        return _plain(solutions[0])
    return {"solutions": [_plain(solution) for solution in solutions]}


def _plain(solution: mk.Solution) -> dict[str, Any]:
    """A solution as JSON takes it."""
    names = solution.problem.body.joint_names
    plain = {
        "body": solution.problem.body.name,
        "method": solution.method,
        "success": solution.success,
        "status": solution.status.name,
        "q": {name: _finite(value) for name, value in zip(names, solution.q.tolist(), strict=True)},
        "objectives": [_measure(row) for row in measures(solution)],
        "seconds": solution.seconds,
        "compile_seconds": solution.compile_seconds,
        "evaluations": solution.evaluations,
        "attempts": solution.attempts,
        "timed_out": solution.timed_out,
        "start_moved": solution.start_moved,
    }
    return plain if solution.success else {**plain, "explanation": solution.explain()}


def _measure(row: Measure) -> dict[str, Any]:
    return {
        "objective": title(row.objective),
        "part": row.part,
        "error": _finite(row.error),
        "tolerance": row.tolerance,
        "unit": row.unit,
        "verdict": row.verdict,
    }


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None  # JSON has no NaN
