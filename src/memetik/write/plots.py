"""matplotlib, set up the same for every picture of numbers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from memetik.errors import FormatError, MissingExtraError
from memetik.write.asked import file_of


def pyplot(purpose: str = "drawing the plots of a benchmark") -> Any:
    """matplotlib's drawing functions for files, or an error that says how to get them."""
    try:
        import matplotlib

        matplotlib.use("Agg")
        import matplotlib.pyplot as plt
        from cycler import cycler
    except ImportError:
        raise MissingExtraError("matplotlib", purpose, extra="bench") from None
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
