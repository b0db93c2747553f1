"""What notebooks show: bodies, problems, solutions, batches, tracks, motions, maps and evolutions as small pieces of HTML.

Text is that of `print`, so that nothing is said twice in two ways; beside it stands a picture where one helps. No scripts, no
style sheets, nothing from the network: it looks the same in JupyterLab, VS Code, Colab and files made by nbconvert.
"""

from __future__ import annotations

from functools import singledispatch
from html import escape
from typing import Any

import numpy as np

from memetik.batch import BatchSolution, Reachability
from memetik.body import Body
from memetik.motion import Motion, Track
from memetik.objectives import Pose, Position
from memetik.problem import Problem
from memetik.solution import Solution
from memetik.solvers import History
from memetik.types import Array
from memetik.write import svg
from memetik.write.film import draw_motion
from memetik.write.picture import draw, draw_many

SIZE = (320.0, 320.0)  # pixels of a picture beside a text
PLOT = (420.0, 200.0)
MOST_LINES = 60  # of a text; bodies with hundreds of joints go on in a fold
GHOSTS = 5  # postures of a track or a batch
COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#555555")
BOX = "display:flex;flex-wrap:wrap;gap:16px;align-items:flex-start"
TEXT = "margin:0;font-family:monospace;white-space:pre;font-size:12px;line-height:1.35;overflow:auto;max-width:100%"


@singledispatch
def html(thing: object) -> str:
    """A piece of HTML about the thing."""
    return f"<pre>{escape(repr(thing))}</pre>"


@html.register
def _body(body: Body) -> str:
    return _beside(str(body), draw(body, size=SIZE))


@html.register
def _problem(problem: Problem) -> str:
    lines = [repr(problem)[1:-1], "", *(f"{_level(o)}{o!r}{_tolerances(o)}" for o in problem.objectives)]
    if problem.lock:
        lines += ["", "locked: " + ", ".join(f"{joint} = {value:.4g}" for joint, value in problem.lock.items())]
    return _beside("\n".join(lines), _drawn(problem, [problem.start(None)]))


@html.register
def _solution(solution: Solution) -> str:
    finite = np.isfinite(solution.q).all()
    return _beside(str(solution), _drawn(solution.problem, [solution.q]) if finite else "")


@html.register
def _batch(batch: BatchSolution) -> str:
    some = batch.q[np.isfinite(batch.q).all(axis=1)][:GHOSTS]
    return _beside(str(batch), draw_many(batch.problem.body, list(some), size=SIZE) if len(some) else "")


@html.register
def _track(track: Track) -> str:
    chosen = track.q[np.unique(np.linspace(0, len(track.q) - 1, GHOSTS).astype(int))] if len(track.q) else track.q
    pictures = draw_many(track.problem.body, list(chosen), size=SIZE) if len(chosen) else ""
    moving = track.problem.compiled.active
    names = [track.problem.body.joint_names[k] for k in moving]
    return _beside(repr(track)[1:-1], pictures, _plot(track.times, track.q[:, moving], names, "s", "rad or m"))


@html.register
def _motion(motion: Motion) -> str:
    return _beside(repr(motion)[1:-1], draw_motion(motion, frame_count=GHOSTS, size=(640.0, 240.0)))


@html.register
def _reachability(reach: Reachability) -> str:
    return _beside(str(reach), *(_slice(reach, axis) for axis in (1, 2)))


@html.register
def _history(history: History) -> str:
    last = int(history.generation.max(initial=0))
    best = np.array([history.fitness[history.generation == g].min(initial=np.inf) for g in range(last + 1)])
    best = np.log10(np.maximum(np.minimum.accumulate(best), 1e-16))[:, None]
    plot = _plot(np.arange(last + 1.0), best, ["log10 of the best fitness"], "generation", "")
    return _beside(repr(history)[1:-1], plot)


# ---- Parts ---------------------------------------------------------------------------------------------------------


def _beside(text: str, *pictures: str) -> str:
    """A text, and pictures to its right or, where it is narrow, below."""
    lines = text.splitlines()
    shown = f'<pre style="{TEXT}">{escape(chr(10).join(lines[:MOST_LINES]))}</pre>'
    if len(lines) > MOST_LINES:
        rest = escape("\n".join(lines[MOST_LINES:]))
        more = f"<summary>{len(lines) - MOST_LINES} more lines</summary>"
        shown += f'<details>{more}<pre style="{TEXT}">{rest}</pre></details>'
    drawn = "".join(f"<div>{each}</div>" for each in pictures if each)
    return f'<div style="{BOX}"><div style="max-width:100%">{shown}</div>{drawn}</div>'


def _drawn(problem: Problem, postures: list[Array]) -> str:
    """Postures with the targets in the world; nothing where the root stands elsewhere, as targets then would, too."""
    if problem.root is not None:
        return ""
    targets: list[Any] = [
        objective.target
        for objective in problem.objectives
        if isinstance(objective, (Position, Pose)) and objective.relative_to is None
    ]
    return draw_many(problem.body, postures, size=SIZE, targets=targets)


def _level(objective: Any) -> str:
    return f"priority {objective.priority}: " if objective.priority else ""


def _tolerances(objective: Any) -> str:
    tolerance = objective.tolerance
    return ", guide" if tolerance is None else f", tolerance {tolerance:g}"


def _plot(x: Array, y: Array, names: list[str], unit: str, height: str) -> str:
    """Lines over x, with the names of the first few."""
    if len(x) < 2 or not np.isfinite(y).all():
        return ""
    width, tall = PLOT
    left, right, top, bottom = 46.0, width - 10.0, 10.0, tall - 30.0
    low, high = float(y.min()), float(y.max())
    span, length = max(high - low, 1e-9), max(float(x[-1] - x[0]), 1e-9)
    parts = [svg.element("rect", x=left, y=top, width=right - left, height=bottom - top, fill="none", stroke="#bbb")]
    for k in range(y.shape[1]):
        places = zip(
            left + (x - x[0]) / length * (right - left), bottom - (y[:, k] - low) / span * (bottom - top), strict=True
        )
        line: dict[str, str | float] = {"fill": "none", "stroke": COLORS[k % len(COLORS)], "stroke_width": 1.5}
        parts.append(svg.element("polyline", svg.element("title", escape(names[k])), points=svg.points(places), **line))
    for value, at in ((high, top + 9.0), (low, bottom)):
        parts.append(svg.text(f"{value:.3g}", x=left - 4.0, y=at, font_size=10.0, text_anchor="end", fill="#555"))
    parts.append(svg.text(f"{x[0]:.3g}", x=left, y=bottom + 12.0, font_size=10.0, fill="#555"))
    parts.append(
        svg.text(f"{x[-1]:.3g} {unit}", x=right, y=bottom + 12.0, font_size=10.0, text_anchor="end", fill="#555")
    )
    label = (
        ", ".join(names[:2])
        + (f" and {len(names) - 2} more" if len(names) > 2 else "")
        + (f" [{height}]" if height else "")
    )
    parts.append(svg.text(label, x=left, y=tall - 4.0, font_size=10.0, fill="#555"))
    return svg.document(PLOT, label, svg.Definitions(), parts)


def _slice(reach: Reachability, axis: int) -> str:
    """The fullest layer across an axis: how many of the orientations can be taken, from light to dark."""
    others = tuple(k for k in range(3) if k != axis)
    layer = int(np.argmax(reach.position.sum(axis=others)))
    found, share = np.take(reach.position, layer, axis), np.take(reach.fraction, layer, axis)
    size = 240.0 / max(found.shape)
    parts = []
    for i, j in np.argwhere(found).tolist():
        color = (
            f"rgb({round(214 - 190 * share[i, j])},{round(230 - 140 * share[i, j])},{round(242 - 60 * share[i, j])})"
        )
        parts.append(svg.element("rect", x=10 + i * size, y=250 - (j + 1) * size, width=size, height=size, fill=color))
    label = (
        f"{'xyz'[others[0]]} to the right, {'xyz'[others[1]]} up, at {'xyz'[axis]} = {reach.centers(axis)[layer]:.3g} m"
    )
    parts.append(svg.text(label, x=10.0, y=270.0, font_size=11.0, fill="#555"))
    return svg.document((260.0, 280.0), label, svg.Definitions(), parts)
