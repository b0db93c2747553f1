"""What all pictures share: what they are asked for, checked, and matplotlib, set up the same for every picture of numbers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from memetik.body import Body
from memetik.errors import FormatError, MissingExtraError, shown
from memetik.files import path_of
from memetik.geometry.checks import instance
from memetik.solvers.history import History

COLORS = "viridis"  # even in lightness, and distinct for colour-blind readers


def require_body(body: object) -> Body:
    """The body; raise unless it is one."""
    return instance(body, Body, FormatError, "a body that could be drawn. Give mk.load(...) and the like.")


def require_history(history: object) -> History:
    """The history of an evolution; raise unless it is one."""
    return instance(history, History, FormatError, "a history. Give the second of mk.solvers.BioIK().evolve(problem).")


def file_of(path: object) -> Path:
    """Where a picture goes."""
    return path_of(path, FormatError, "the path of the picture")


def title_of(title: object) -> str:
    """The title of a picture; empty for none."""
    if title is not None and not isinstance(title, str):
        raise FormatError(f"the title of a picture is {shown(title)}. Give a text.")
    return title or ""


def pyplot(purpose: str = "drawing the plots of a benchmark") -> Any:
    """matplotlib's drawing functions for files, or an error that says how to get them."""
    try:
        import matplotlib

        matplotlib.use("Agg")
        import matplotlib.pyplot as plt
        from cycler import cycler
    except ImportError:
        raise MissingExtraError("matplotlib", purpose, extra="plots") from None
    # The palette of Okabe and Ito stays distinct for colour-blind readers.
    colors = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000"]
    plt.rcParams.update({"axes.prop_cycle": cycler(color=colors), "axes.grid": True, "grid.alpha": 0.3})
    return plt


def save(figure: Any, path: str | Path) -> Path:
    """Write a figure to a file, in the format of its ending, and let go of it."""
    import matplotlib.pyplot as plt

    target = file_of(path)
    try:
        figure.savefig(target, dpi=120)
    except (OSError, ValueError) as error:
        raise FormatError(f"{target}: the picture cannot be written: {error}.") from error
    finally:
        plt.close(figure)
    return target
