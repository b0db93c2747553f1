"""`memetik evolve`: the evolution of Bio IK towards one solution, as pictures."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np

import memetik as mk
from memetik.cli.files import OUT
from memetik.cli.show import add_body, load_body
from memetik.files import writable_file
from memetik.problem.seed import checked_seed
from memetik.write.plots import pyplot

STEPS = 8  # of L-BFGS-B; at full length, a few generations are all there is to see


def add_commands(commands: Any) -> None:
    """Add `evolve`."""
    command = commands.add_parser(
        "evolve",
        help="draw how Bio IK evolves a solution",
        description="Let Bio IK reach for where the tips are in a posture drawn at random, and draw its evolution: the way "
        "of all individuals, of parents to offspring and of elites, joint by joint; and the postures of the population in "
        "the end. Writes NAME_landscape and NAME_postures, as .png and .svg.",
    )
    add_body(command)
    command.add_argument(
        "--tip",
        action="append",
        default=[],
        metavar="LINK",
        help="what reaches; repeatable (default: ends of all limbs)",
    )
    command.add_argument("--position", action="store_true", help="reach for positions only, in any orientation")
    command.add_argument("--elites", type=int, default=3, metavar="N", help="(default: %(default)s)")
    command.add_argument("--population", type=int, metavar="N", help="(default: by degrees of freedom)")
    command.add_argument(
        "--steps", type=int, default=STEPS, metavar="N", help="of exploitation in a generation (default: %(default)s)"
    )
    command.add_argument(
        "--joints", default="", metavar="A,B,...", help="to show (default: where the elites differ most)"
    )
    command.add_argument("--seed", type=int, default=0, help="of the target and of the search (default: 0)")
    command.add_argument("--evaluations", type=int, default=20_000, help="stop after these (default: %(default)s)")
    command.add_argument("--out", type=Path, default=OUT, metavar="FOLDER", help="(default: %(default)s)")
    command.set_defaults(run=_evolve)


def _evolve(options: argparse.Namespace) -> int:
    pyplot("drawing an evolution")  # said before the search, not after it
    body = load_body(options)
    tips = options.tip or _ends(body)
    there = body.forward(body.sample(np.random.default_rng(checked_seed(options.seed))))
    if options.position:
        wanted: list[mk.Objective] = [mk.Position(tip, there[tip][:3, 3]) for tip in tips]
    else:
        wanted = [mk.Pose(tip, there[tip]) for tip in tips]
    solver = mk.BioIK(population=options.population, elites=options.elites, steps=options.steps, seed=options.seed)
    budget = mk.Budget(evaluations=options.evaluations)
    problem = mk.Problem(body, wanted)
    pictures = [
        [writable_file(options.out / f"{body.name}_{what}{suffix}") for what in ("landscape", "postures")]
        for suffix in (".png", ".svg")
    ]
    solution, history = solver.evolve(problem, budget=budget)
    elites = f"{options.elites} elite{'s' if options.elites != 1 else ''}"
    title, goals = f"{body.name}, {elites}", [there[tip][:3, 3] for tip in tips]
    joints = [name for name in options.joints.split(",") if name]
    drawn = []
    for landscape, postures in pictures:
        drawn.append(mk.draw_landscape(history, landscape, joints=joints, title=title))
        drawn.append(mk.draw_evolved(body, history, postures, targets=goals, title=title))
    alive = len(history.founders())
    niches = f"{alive} niche{'s' if alive != 1 else ''}"
    print(
        f"{solution.status.name} after {history.generations} generations of {history.rows(0).size}, by {elites}: ",
        end="",
    )
    print(f"{niches} alive in the end")
    print("drawn:", *drawn)
    return 0


def _ends(body: mk.Body) -> list[str]:
    """Of the limbs that the body names, else of all its branches."""
    named = [tip for chain in body.chains.values() for tip in chain.tips]
    parents = {joint.parent for joint in body.joints.values()}
    return list(dict.fromkeys(named)) or [link for link in body.links if link not in parents]
