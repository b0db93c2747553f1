"""Text tables: aligned columns for the terminal, folded where it is too narrow for them."""

from __future__ import annotations

import shutil
import sys
import textwrap
from collections.abc import Container, Mapping, Sequence
from itertools import zip_longest
from typing import Any

__all__ = ["aligned", "terminal_width", "text_table"]

NARROW = 12  # characters below which no column is folded


def aligned(
    rows: Sequence[Sequence[str]], right: Container[int] = (), *, ruled: bool = True, width: int | None = None
) -> list[str]:
    """Lines of aligned columns, those in `right` to the right; the first row is a heading, `ruled` below.

    Where `width` is given and too small, the widest columns of words are folded; if that does not do, the columns go on in
    further tables below, each of which begins with the first column.
    """
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    if width is not None:
        widths = _fitted(widths, right, width)
        count = _columns_within(widths, width)
        if count < len(widths):
            first = [[row[0], *row[1:count]] for row in rows]
            others = [[row[0], *row[count:]] for row in rows]
            shifted = {k - count + 1 for k in range(count, len(widths)) if k in right}
            return [
                *aligned(first, right, ruled=ruled, width=width),
                "",
                *aligned(others, shifted, ruled=ruled, width=width),
            ]
    rule = [["-" * width for width in widths]] if ruled else []
    cells = [_folded(row, widths) for row in rows]
    lines = [*cells[0], *rule, *(line for row in cells[1:] for line in row)] if cells else []
    return [
        "  ".join(
            cell.rjust(width) if k in right else cell.ljust(width)
            for k, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    ]


def text_table(rows: Sequence[Mapping[str, Any]], width: int | None = None) -> str:
    """Rows that all have the same keys as aligned columns; numbers to the right with four significant digits."""
    if not rows:
        return "(no rows)"
    right = [k for k, value in enumerate(rows[0].values()) if isinstance(value, (int, float))]
    cells = [list(rows[0]), *([*map(_cell, row.values())] for row in rows)]
    return "\n".join(aligned(cells, right, ruled=False, width=width))


def terminal_width() -> int | None:
    """Characters in a line of the terminal; None where a file or another program reads."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else None


def _fitted(widths: Sequence[int], right: Container[int], width: int) -> list[int]:
    """Widths of columns that are narrower, the widest first, until all fit or none can give any more."""
    fitted = list(widths)
    words = [k for k in range(1, len(fitted)) if k not in right]  # the first column is what others are looked up by
    while sum(fitted) + 2 * (len(fitted) - 1) > width and words:
        widest = max(words, key=lambda k: fitted[k])
        if fitted[widest] <= NARROW:
            break
        fitted[widest] -= 1
    return fitted


def _columns_within(widths: Sequence[int], width: int) -> int:
    """How many columns stand side by side, the first and at least one more."""
    used = widths[0]
    for k, each in enumerate(widths[1:], 1):
        used += 2 + each
        if used > width and k > 1:
            return k
    return len(widths)


def _folded(row: Sequence[str], widths: Sequence[int]) -> list[tuple[str, ...]]:
    """The lines of a row."""
    if all(len(cell) <= width for cell, width in zip(row, widths, strict=True)):
        return [tuple(row)]
    cells = [textwrap.wrap(cell, width) or [""] for cell, width in zip(row, widths, strict=True)]
    return list(zip_longest(*cells, fillvalue=""))


def _cell(value: object) -> str:
    if value is None:
        return "-"
    return f"{value:.4g}" if isinstance(value, float) else str(value)
