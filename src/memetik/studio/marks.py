"""Marks: how far every wish is off, as the page shows it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

import memetik as mk
from memetik.scenes import Scene
from memetik.solution.measures import GUIDE, MISSED, measures


class Mark(NamedTuple):
    """How far an objective is off, and whether that is good enough; None where it only guides or does not count."""

    good: bool | None
    text: str


def marks(scene: Scene, objectives: Mapping[str, mk.Objective], solution: mk.Solution | None) -> dict[str, Mark]:
    """One for every wish."""
    found = {wish.name: Mark(None, "not measured" if wish.enabled else "off") for wish in scene.wishes}
    rows = [] if solution is None else measures(solution)
    for name, objective in objectives.items():
        mine = [row for row in rows if row.objective is objective]
        if solution is not None and objective not in solution.problem.objectives:
            found[name] = Mark(None, f"left out by {solution.method}")
        if mine:
            hard = [row.verdict for row in mine if row.verdict != GUIDE]
            text = ", ".join(_amount(row.error, row.unit) for row in mine)
            found[name] = Mark(MISSED not in hard if hard else None, text)
    return found


def largest_error(solution: mk.Solution) -> float:
    """The error that is largest as a share of its tolerance; 1 is just satisfied, guides do not count."""
    terms = solution.problem.compiled.terms
    hard = terms["soft"] == 0
    errors = solution.term_errors[hard] / np.maximum(terms["tolerance"][hard], 1e-9)
    return float(np.nan_to_num(errors, posinf=1e9).max(initial=0.0))


def _amount(value: float, unit: str) -> str:
    """An error as people read it: millimetres and degrees."""
    if unit == "m":
        return f"{1e3 * value:.3g} mm"
    return f"{np.degrees(value):.3g}°" if unit == "rad" else f"{value:.3g}"
