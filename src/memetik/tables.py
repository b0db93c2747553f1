"""Text tables: aligned columns for the terminal."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from typing import Any

__all__ = ["aligned", "text_table"]


def aligned(rows: Sequence[Sequence[str]], right: Container[int] = (), *, ruled: bool = True) -> list[str]:
    """Lines of aligned columns, those in `right` to the right; the first row is a heading, `ruled` below."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    cells = [*rows[:1], ["-" * width for width in widths], *rows[1:]] if ruled else rows
    return [
        "  ".join(
            cell.rjust(width) if k in right else cell.ljust(width)
            for k, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in cells
    ]


def text_table(rows: Sequence[Mapping[str, Any]]) -> str:
    """Rows that all have the same keys as aligned columns; numbers to the right with four significant digits."""
    if not rows:
        return "(no rows)"
    right = [k for k, value in enumerate(rows[0].values()) if isinstance(value, (int, float))]
    return "\n".join(aligned([list(rows[0]), *([*map(_cell, row.values())] for row in rows)], right, ruled=False))


def _cell(value: object) -> str:
    if value is None:
        return "-"
    return f"{value:.4g}" if isinstance(value, float) else str(value)
