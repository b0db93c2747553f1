"""Pictures of evolutions: landscapes as maps, histories joint by joint, the last population as postures."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

import memetik as mk
from memetik.problem import fitness
from memetik.types import Array
from memetik.write import (
    LandscapeRow,
    elites,
    evolved_figure,
    individuals,
    landscape_columns,
    landscape_figure,
    procreation,
)
from memetik_lab.harness import subplots
from memetik_lab.queries import Query, aim

GRID = 181  # points along a joint of a map
SHOWN = 3  # elites of the runs whose parents and postures are shown
POSTURES, ACROSS = 50, 10  # of a generation that are shown, and how many of them in a row


class Scene(NamedTuple):
    """A body, the links that get targets, and two of its joints for a slice through the landscape."""

    label: str
    body: mk.Body
    tips: tuple[str, ...]
    joints: tuple[str, str]
    poses: bool = True
    gaze: tuple[str, ...] = ()  # links that look at a point


class Evolution(NamedTuple):
    """One run, and the problem that it was for."""

    scene: Scene
    elites: int
    problem: mk.Problem
    query: Query
    answer: Array
    history: mk.solvers.History
    right: bool


def figures(runs: Sequence[Evolution]) -> dict[str, Any]:
    """All pictures of the runs, by the name of their file."""
    drawn: dict[str, Any] = {}
    scenes = list(dict.fromkeys(run.scene.label for run in runs))
    for k, label in enumerate(scenes):
        mine = [run for run in runs if run.scene.label == label]
        name = label.replace(",", "").replace(" ", "_")
        drawn[f"landscapes_{name}"] = _maps(mine)
        if len(mine[0].history.joints) > 2:
            drawn[f"histories_{name}"] = _histories(mine)
        if k == len(scenes) - 1:
            drawn[f"postures_{name}"] = _postures(next(run for run in mine if run.elites == SHOWN))
    return drawn


def landscape(run: Evolution, points: int = GRID) -> tuple[Array, Array, Array]:
    """The fitness over two joints, all others as in the answer: the values of both, and the map (second, first)."""
    body = run.scene.body
    first, second = (body.index(joint) for joint in run.scene.joints)
    aim(run.problem, run.query)
    variables = run.problem.compiled.variables
    low, high = variables["sample_lower"], variables["sample_upper"]
    place = {int(k): i for i, k in enumerate(run.problem.compiled.active)}
    across = np.linspace(low[place[first]], high[place[first]], points)
    along = np.linspace(low[place[second]], high[place[second]], points)
    postures = np.tile(run.answer, (points * points, 1))
    postures[:, first], postures[:, second] = (grid.ravel() for grid in np.meshgrid(across, along))
    return across, along, fitness(run.problem, postures).reshape(points, points)


def _maps(runs: Sequence[Evolution]) -> Any:
    figure, panels = subplots(
        1, len(runs), figsize=(3.4 * len(runs) + 0.6, 3.6), sharey=True, squeeze=False, layout="constrained"
    )
    for axes, run in zip(panels[0], runs, strict=True):
        across, along, found = landscape(run)
        image = axes.pcolormesh(
            np.degrees(across), np.degrees(along), np.log10(found + 1e-6), cmap="cividis_r", rasterized=True, shading="auto",
        )  # fmt: skip
        history = run.history
        genes = np.degrees(history.genes[:, [history.joints.index(joint) for joint in run.scene.joints]])
        axes.plot(*genes[~history.elite].T, ".", ms=2, color="white", alpha=0.6, rasterized=True, label="individuals")
        axes.plot(*genes[history.elite].T, "o", ms=3, color="C1", alpha=0.7, label="elites")
        axes.plot(
            *np.degrees([run.answer[run.scene.body.index(joint)] for joint in run.scene.joints]), "kx", ms=8, mew=2
        )
        axes.set_title(f"{_elites(run)}, {history.generations} generations", fontsize=9)
        axes.set_xlabel(f"{run.scene.joints[0]} [deg]")
        axes.grid(visible=False)
    panels[0, 0].set_ylabel(f"{run.scene.joints[1]} [deg]")
    panels[0, 0].legend(fontsize=7, loc="lower left", facecolor="lightgrey")
    figure.colorbar(image, ax=panels, label="log10 of the fitness")
    figure.suptitle(f"{runs[0].scene.label}; cross: the answer", fontsize=10)
    return figure


def _histories(runs: Sequence[Evolution]) -> Any:
    """Every individual of every run; then, for one of them, who came from whom, and the elites alone."""
    shown = next((run for run in runs if run.elites == SHOWN), runs[0])
    rows = [LandscapeRow(f"{_elites(run)}, all", run.history, individuals) for run in runs]
    rows.append(LandscapeRow(f"{_elites(shown)}, procreation", shown.history, procreation))
    rows.append(LandscapeRow(f"{_elites(shown)}, by niche", shown.history, elites))
    return landscape_figure(rows, landscape_columns(shown.history, ()), runs[0].scene.label)


def _elites(run: Evolution) -> str:
    return f"{run.elites} elite{'s' if run.elites > 1 else ''}"


def _postures(run: Evolution) -> Any:
    """The last whole generation, the fittest first."""
    points = [target[:3, 3] if target.ndim == 2 else target for target in run.query.targets]
    return evolved_figure(
        run.scene.body, run.history, count=POSTURES, targets=points, across=ACROSS,
        title=run.scene.label,
    )  # fmt: skip
