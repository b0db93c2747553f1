"""`memetik evolve`: the evolution of Bio IK towards one solution, as pictures."""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np

import memetik as mk
from memetik.cli.options import OUT, add_body, add_command, add_names, add_number, add_out, ends, load_body
from memetik.files import writable_file
from memetik.problem import checked_seed
from memetik.solution import count
from memetik.write import pyplot

STEPS = 8  # of L-BFGS-B; at full length, a few generations are all there is to see


def add_commands(commands: Any) -> None:
    """Add `evolve`."""
    command = add_command(
        commands, "evolve", _evolve, "draw how Bio IK evolves a solution",
        "Let Bio IK reach for where the tips are in a posture drawn at random, and draw its evolution: the way "
        "of all individuals, of parents to offspring and of elites, joint by joint; and the postures of the population in "
        "the end. Writes NAME_landscape and NAME_postures, as .png and .svg.",
    )  # fmt: skip
    add_body(command)
    reaches = "what reaches; repeatable (default: ends of all limbs)"
    command.add_argument("--tip", action="append", default=[], metavar="LINK", help=reaches)
    command.add_argument("--position-only", action="store_true", help="reach for positions, not for whole poses")
    add_number(command, "--elites", 3, unit="N")
    command.add_argument("--population", type=int, metavar="N", help="(default: by degrees of freedom)")
    add_number(command, "--steps", STEPS, "of exploitation in a generation", "N")
    shown = "to show (default: where the elites differ most)"
    add_names(command, "--joints", "JOINT", shown)
    add_number(command, "--seed", 0, "of the target and of the search")
    add_number(command, "--evaluations", 20_000, "stop after these")
    add_out(command, "folder for the pictures", OUT, "FOLDER")


def _evolve(options: argparse.Namespace) -> int:
    pyplot("drawing an evolution")  # said before the search, not after it
    body = load_body(options)
    tips = options.tip or ends(body)
    there = body.forward(body.sample(np.random.default_rng(checked_seed(options.seed))))
    if options.position_only:
        wanted: list[mk.Objective] = [mk.Position(tip, there[tip][:3, 3]) for tip in tips]
    else:
        wanted = [mk.Pose(tip, there[tip]) for tip in tips]
    solver = mk.solvers.BioIK(
        population=options.population, elites=options.elites, steps=options.steps, seed=options.seed
    )
    budget = mk.Budget(evaluations=options.evaluations)
    problem = mk.Problem(body, wanted)
    pictures = [
        [writable_file(options.out / f"{body.name}_{what}{suffix}") for what in ("landscape", "postures")]
        for suffix in (".png", ".svg")
    ]
    solution, history = solver.evolve(problem, budget=budget)
    elites = count(options.elites, "elite")
    title, goals = f"{body.name}, {elites}", [there[tip][:3, 3] for tip in tips]
    drawn = []
    for landscape, postures in pictures:
        drawn.append(mk.write.draw_landscape(history, landscape, joints=options.joints, title=title))
        drawn.append(mk.write.draw_evolved(body, history, postures, targets=goals, title=title))
    run = f"{solution.status.name} after {history.generations} generations of {history.rows(0).size}, by {elites}"
    print(f"{run}: {count(len(history.founders()), 'niche')} alive in the end")
    print("drawn:", *drawn)
    return 0
