"""The postures of a population side by side, the fittest first: how far an evolution has agreed on one."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from memetik.body import Body
from memetik.errors import FormatError, shown
from memetik.geometry.checks import real_array, whole_number
from memetik.solvers.history import History
from memetik.types import Array
from memetik.write.camera import Camera, look
from memetik.write.limbs import link_colors
from memetik.write.picture import VIEW, direction_of
from memetik.write.plots import file_of, pyplot, require_body, require_history, save, title_of

PAGE = 100.0  # pixels of a posture's own page; only proportions count
ACROSS = 6
MOST = 1_000  # postures in one picture


def draw_evolved(
    body: Body,
    history: History,
    path: str | Path,
    *,
    generation: int | None = None,
    count: int = 24,
    targets: ArrayLike = (),
    view: tuple[float, float] = VIEW,
    title: str = "",
) -> Path:
    """Write a picture (.png, .svg, .pdf) of the fittest individuals of a generation, the last whole one unless given.

    Elites stand in a frame in the colour of their niche, as in `draw_landscape`. `targets` are points (n, 3) to mark [m];
    `view` is as in `draw` [degrees].
    """
    file_of(path)  # what is wrong with it is said before anything is drawn
    return save(
        evolved_figure(body, history, generation=generation, count=count, targets=targets, view=view, title=title), path
    )


def evolved_figure(
    body: Body,
    history: History,
    *,
    generation: int | None = None,
    count: int = 24,
    targets: ArrayLike = (),
    view: tuple[float, float] = VIEW,
    across: int = ACROSS,
    title: str = "",
) -> Any:
    """The same picture as a figure that is not saved yet, with so many postures in a row."""
    require_body(body)
    require_history(history)
    title = title_of(title)
    count = whole_number(count, FormatError, "count", least=1, most=MOST)
    goals = real_array(targets, FormatError, "targets are points (n, 3)")
    if goals.size % 3 or not np.isfinite(goals).all():
        raise FormatError(f"targets are {shown(targets)}. Give finite points (n, 3) [m].")
    goals = goals.reshape(-1, 3)
    plt = pyplot("drawing an evolution")
    if generation is None:
        generation = history.last_whole
    rows = history.rows(generation)
    if not len(rows):
        raise FormatError("there is no individual to draw: the history is empty.")
    rows = rows[np.argsort(history.fitness[rows], kind="stable")][:count]
    points = [_points(body, q) for q in history.postures(rows)]
    every = np.concatenate([*(p.reshape(-1, 3) for p in points), goals])
    camera = look(every, np.zeros(len(every)), direction_of(view), (PAGE, PAGE), np.full(4, 4.0))
    colors, family = link_colors(body), history.families()
    across = min(across, len(rows))
    down = math.ceil(len(rows) / across)
    figure, plots = plt.subplots(
        down, across, figsize=(1.45 * across, 1.75 * down + 0.4), squeeze=False, layout="constrained"
    )
    for plot in plots.flat:
        plot.axis("off")
    for plot, row, bones in zip(plots.flat, rows, points, strict=False):
        _posture(plot, camera, bones, [colors[joint.child] for joint in body.joints.values()], goals)
        plot.set_title(f"{history.fitness[row]:.2g}", fontsize=8, pad=2)
        if history.elite[row]:
            plot.axis("on")
            plot.set(xticks=[], yticks=[])
            plot.spines[:].set(edgecolor=f"C{family[row] % 7}", linewidth=2.0)
    about = f"the {len(rows)} fittest of generation {generation}, with their fitness; elites framed by niche"
    figure.suptitle(f"{title}: {about}" if title else about, fontsize=10)
    return figure


def _points(body: Body, q: Array) -> Array:
    """Both ends of each bone (joints, 2, 3)."""
    poses = body.forward(q)
    return np.array([[poses[j.parent][:3, 3], poses[j.child][:3, 3]] for j in body.joints.values()])


def _posture(plot: Any, camera: Camera, bones: Array, colors: list[Any], goals: Array) -> None:
    from matplotlib.collections import LineCollection

    ends = camera.project(bones)
    near = np.argsort(camera.see(bones.mean(axis=1))[:, 2], kind="stable")
    ordered = [colors[k] for k in near]
    lines = LineCollection(list(ends[near]), colors=ordered, linewidths=2.2, capstyle="round", joinstyle="round")
    plot.add_collection(lines)
    if len(goals):
        x, y = camera.project(goals).T
        plot.plot(x, y, "o", markerfacecolor="none", markeredgecolor="black", markersize=6, markeredgewidth=0.9)
    plot.set(xlim=(0.0, PAGE), ylim=(PAGE, 0.0), aspect="equal")
