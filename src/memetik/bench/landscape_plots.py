"""Pictures of evolutions: landscapes as maps, histories joint by joint, the last population as postures."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from memetik.bench.fitness import fitness
from memetik.bench.harness import pyplot
from memetik.body import Body
from memetik.problem import Problem
from memetik.solvers.history import History

Array = NDArray[np.float64]

GRID = 181  # points along a joint of a map
COLUMNS = 6  # joints of a history that are shown
SHOWN = 3  # elites of the runs whose parents and postures are shown
FAMILY = 15  # generations of which the parents are shown
FIT = "viridis_r"  # dark is fit


class Scene(NamedTuple):
    """A body, the links that get targets, and two of its joints for a slice through the landscape."""

    label: str
    body: Body
    tips: tuple[str, ...]
    joints: tuple[str, str]
    poses: bool = True


class Evolution(NamedTuple):
    """One run, and the problem that it was for."""

    scene: Scene
    elites: int
    problem: Problem
    targets: list[Array]
    answer: Array
    history: History
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
    for objective, target in zip(run.problem.objectives, run.targets, strict=True):
        objective.target = target if run.scene.poses else target[:3, 3]  # type: ignore[attr-defined]
    low, high = run.problem.compiled.bounds[2:4]
    place = {int(k): i for i, k in enumerate(run.problem.compiled.active)}
    across = np.linspace(low[place[first]], high[place[first]], points)
    along = np.linspace(low[place[second]], high[place[second]], points)
    postures = np.tile(run.answer, (points * points, 1))
    postures[:, first], postures[:, second] = (grid.ravel() for grid in np.meshgrid(across, along))
    return across, along, fitness(run.problem, postures).reshape(points, points)


def _maps(runs: Sequence[Evolution]) -> Any:
    plt = pyplot()
    figure, panels = plt.subplots(
        1, len(runs), figsize=(3.4 * len(runs) + 0.6, 3.6), sharey=True, squeeze=False, layout="constrained"
    )
    for axes, run in zip(panels[0], runs, strict=True):
        across, along, found = landscape(run)
        image = axes.pcolormesh(
            np.degrees(across),
            np.degrees(along),
            np.log10(found + 1e-6),
            cmap="cividis_r",
            rasterized=True,
            shading="auto",
        )
        history = run.history
        genes = np.degrees(history.genes[:, [history.joints.index(joint) for joint in run.scene.joints]])
        axes.plot(*genes[~history.elite].T, ".", ms=2, color="white", alpha=0.6, rasterized=True, label="individuals")
        axes.plot(*genes[history.elite].T, "o", ms=3, color="C1", alpha=0.7, label="elites")
        axes.plot(
            *np.degrees([run.answer[run.scene.body.index(joint)] for joint in run.scene.joints]), "kx", ms=8, mew=2
        )
        axes.set_title(
            f"{run.elites} elite{'s' if run.elites > 1 else ''}, {history.generations} generations", fontsize=9
        )
        axes.set_xlabel(f"{run.scene.joints[0]} [deg]")
        axes.grid(visible=False)
    panels[0, 0].set_ylabel(f"{run.scene.joints[1]} [deg]")
    panels[0, 0].legend(fontsize=7, loc="lower left", facecolor="lightgrey")
    figure.colorbar(image, ax=panels, label="log10 of the fitness")
    figure.suptitle(f"{runs[0].scene.label}; cross: the answer", fontsize=10)
    return figure


def _histories(runs: Sequence[Evolution]) -> Any:
    """Every individual from left to right, one column for a joint; then who came from whom, and the elites alone."""
    plt = pyplot()
    shown = next((run for run in runs if run.elites == SHOWN), runs[0])
    number = len(runs[0].history.joints)
    columns = [int(k) for k in np.unique(np.linspace(0, number - 1, COLUMNS).round())]
    lines = [*((run, "all") for run in runs), (shown, "parents"), (shown, "elites")]
    figure, panels = plt.subplots(
        len(lines), len(columns), figsize=(10, 1.5 * len(lines) + 0.8), sharey=True, sharex="row", squeeze=False
    )
    figure.subplots_adjust(left=0.07, right=0.89, bottom=0.06, top=0.92, wspace=0.08, hspace=0.3)
    worst = max(float(np.quantile(run.history.fitness, 0.95)) for run in runs)
    for line, (run, kind) in zip(panels, lines, strict=True):
        history, shares, moments = run.history, run.history.shares, _moments(run.history)
        for axes, gene in zip(line, columns, strict=True):
            if kind == "parents":
                _draw_parents(axes, history, moments, shares[:, gene])
            else:
                rows = history.elite if kind == "elites" else np.ones(len(history), dtype=np.bool_)
                order = np.flatnonzero(rows)[np.argsort(-history.fitness[rows])]  # the fit lie on top
                image = axes.scatter(
                    moments[order], shares[order, gene], s=3 if kind == "all" else 8, c=history.fitness[order], cmap=FIT,
                    vmin=0.0, vmax=worst, lw=0, rasterized=True,
                )  # fmt: skip
            axes.grid(visible=False)
        line[0].set_ylabel(f"{run.elites} elite{'s' if run.elites > 1 else ''}\n{kind}", fontsize=8)
    for axes, gene in zip(panels[0], columns, strict=True):
        axes.set_title(runs[0].history.joints[gene], fontsize=8)
    for axes in panels[-1]:
        axes.set_xlabel("generation", fontsize=8)
    figure.colorbar(image, cax=figure.add_axes((0.91, 0.3, 0.015, 0.4)), label="fitness, 0 is best")
    figure.suptitle(f"{runs[0].scene.label}: joint values as shares of their ranges", fontsize=10)
    return figure


def _moments(history: History) -> Array:
    """When each individual lived, in generations; those of one generation follow each other."""
    sizes = np.bincount(history.generation)
    first = np.concatenate([[0], np.cumsum(sizes)[:-1]])[history.generation]
    return np.asarray(history.generation + (np.arange(len(history)) - first) / sizes[history.generation])


def _draw_parents(axes: Any, history: History, moments: Array, share: Array) -> None:
    """A line from each individual of the first generations to each of its parents."""
    from matplotlib.collections import LineCollection

    children, which = np.nonzero((history.parents >= 0) & (history.generation <= FAMILY)[:, None])
    rows = np.stack([history.parents[children, which], children], axis=1)
    ends = np.stack([moments[rows], share[rows]], axis=2)
    axes.add_collection(LineCollection(list(ends), colors="C0", linewidths=0.3, alpha=0.25, rasterized=True))
    axes.set(xlim=(0.0, min(history.generations, FAMILY + 1)), ylim=(-0.02, 1.02))


def _postures(run: Evolution) -> Any:
    """The last whole generation, the fittest first, each individual as the lines between its joints."""
    plt = pyplot()
    history, body = run.history, run.scene.body
    sizes = np.bincount(history.generation)
    last = np.flatnonzero(history.generation == np.flatnonzero(sizes == sizes.max())[-1])
    last = last[np.argsort(history.fitness[last])]
    across, joints = 10, list(body.joints.values())
    figure, panels = plt.subplots(-(-len(last) // across), across, figsize=(10, 1.35 * math.ceil(len(last) / across)))
    for axes in panels.flat:
        axes.axis("off")
    for axes, row in zip(panels.flat, last, strict=False):
        q = run.answer.copy()
        q[run.problem.compiled.active] = history.genes[row]
        poses = body.forward(q)
        bones = [[poses[joint.parent][:3, 3], poses[joint.child][:3, 3], np.full(3, np.nan)] for joint in joints]
        lines = np.array(bones).reshape(-1, 3)
        axes.plot(lines[:, 1], lines[:, 2], lw=1.0, color="C1" if history.elite[row] else "C0")
        for target in run.targets:
            axes.plot(target[1, 3], target[2, 3], "k.", ms=3)
        axes.set_aspect("equal")
        axes.set_title(f"{history.fitness[row]:.2g}", fontsize=6, pad=1)
    figure.suptitle(
        f"{run.scene.label}: the last generation, its fitness; elites orange, dots are the targets", fontsize=10
    )
    figure.tight_layout()
    return figure
