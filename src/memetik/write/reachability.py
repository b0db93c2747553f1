"""A reachability as a picture: three slices through the grid, and its outside cut open."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from memetik.batch.reach import Reachability
from memetik.errors import FormatError
from memetik.geometry.checks import instance
from memetik.types import Array
from memetik.write.plots import COLORS, file_of, pyplot, save

AXES = "xyz"


def draw_reachability(reachability: Reachability, path: str | Path) -> Path:
    """Write a picture (.png, .svg, .pdf): where the tip gets to, coloured by the share of orientations there.

    The slices go through the voxel layers with the most reachable orientations; the fourth view shows the voxels on the far
    side of the layer of y, so that one looks inside.
    """
    instance(reachability, Reachability, FormatError, "a reachability. Give mk.batch.reachability(body, tip).")
    file_of(path)  # what is wrong with it is said before anything is drawn
    plt = pyplot("drawing a reachability")
    figure = plt.figure(figsize=(11.0, 9.0), layout="constrained")
    layers = [_fullest(reachability, axis) for axis in range(3)]
    shades = None
    for number, (axis, across, up) in enumerate(((2, 0, 1), (1, 0, 2), (0, 1, 2)), 1):
        shades = _slice(figure.add_subplot(2, 2, number), reachability, layers, axis, across, up)
    view = figure.add_subplot(2, 2, 4, projection="3d")
    _cut_open(view, reachability, layers[1])
    figure.colorbar(
        shades, ax=figure.axes, shrink=0.6, label=f"share of {reachability.orientations} orientations", aspect=40
    )
    figure.suptitle(
        f"{reachability.tip} of {reachability.body}: {reachability.volume:.3g} m³ in reach, voxels of {reachability.voxel:g} m"
    )
    return save(figure, path)


def _fullest(reach: Reachability, axis: int) -> int:
    """The layer across an axis in which most orientations can be taken."""
    others = tuple(k for k in range(3) if k != axis)
    return int(np.argmax(reach.fraction.sum(axis=others) + 1e-9 * reach.position.sum(axis=others)))


def _edges(reach: Reachability, axis: int) -> Array:
    """Where the voxels begin and end along an axis [m]."""
    return np.asarray(reach.corner[axis] + reach.voxel * np.arange(reach.fraction.shape[axis] + 1))


def _slice(plot: Any, reach: Reachability, layers: list[int], axis: int, across: int, up: int) -> Any:
    """One layer; what the tip does not get to stays empty. Dashes mark where the other slices are."""
    shown = np.where(reach.position, reach.fraction, np.nan).take(layers[axis], axis=axis).T
    shades = plot.pcolormesh(_edges(reach, across), _edges(reach, up), shown, cmap=COLORS, vmin=0.0, vmax=1.0)
    for draw, k in ((plot.axvline, across), (plot.axhline, up)):
        draw(reach.centers(k)[layers[k]], color="0.5", linestyle="--", linewidth=0.8)
    plot.plot(0.0, 0.0, "+", color="#D55E00", markersize=12, markeredgewidth=2)
    plot.set(
        aspect="equal",
        xlabel=f"{AXES[across]} [m]",
        ylabel=f"{AXES[up]} [m]",
        title=f"slice at {AXES[axis]} = {reach.centers(axis)[layers[axis]]:.2f} m (+ marks the origin)",
    )
    plot.title.set_fontsize(10)
    return shades


def _cut_open(view: Any, reach: Reachability, layer: int) -> None:
    """The voxels from the layer of y on, as solid cubes."""
    import matplotlib.ticker

    kept = reach.position.copy()
    kept[:, :layer] = False
    corners = np.meshgrid(*(_edges(reach, k) for k in range(3)), indexing="ij")
    colors = matplotlib.colormaps[COLORS](reach.fraction)
    view.voxels(*corners, kept, facecolors=colors, edgecolor=(0, 0, 0, 0.15), linewidth=0.2)
    view.view_init(elev=22.0, azim=-70.0)
    view.set_box_aspect(kept.shape, zoom=1.15)
    for axis in (view.xaxis, view.yaxis, view.zaxis):
        axis.set_major_locator(matplotlib.ticker.MaxNLocator(4))
    view.set(xlabel="x [m]", ylabel="y [m]", zlabel="z [m]")
    view.set_title(f"cut open at y = {reach.centers(1)[layer] - 0.5 * reach.voxel:.2f} m", fontsize=10)
