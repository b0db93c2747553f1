"""Tables and trajectories for other programs: data frames, CSV, Parquet, NumPy archives, messages of ROS as plain dicts.

A table is a dict of columns, arrays of the same length; each class that has one inherits from `Table`.
"""

from __future__ import annotations

import io
import math
from collections.abc import Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from memetik.errors import FormatError, MissingExtraError
from memetik.files import path_of, writable_file, write_whole
from memetik.types import Array

__all__ = ["Table", "TableColumns", "by_name", "data_frame", "joint_trajectory", "save_table"]

TableColumns = dict[str, Any]  # name -> array (rows,)


class Table:
    """What can be seen as rows and columns."""

    __slots__ = ()

    def to_columns(self) -> TableColumns:
        """The columns by name, each an array with a number for each row."""
        raise NotImplementedError

    def to_frame(self) -> Any:
        """The same as a data frame of pandas or, where that is not installed, of polars."""
        return data_frame(self.to_columns())

    def save(self, path: str | PathLike[str]) -> Path:
        """Write the columns as .csv, .parquet (needs pyarrow) or .npz, by the ending of the path; return the path."""
        return save_table(self.to_columns(), path)


def data_frame(columns: TableColumns) -> Any:
    """Columns as a data frame of pandas, or of polars."""
    try:
        import pandas
    except ImportError:
        try:
            import polars
        except ImportError:
            raise MissingExtraError("pandas", "to_frame()") from None
        return polars.DataFrame(columns)
    return pandas.DataFrame(columns)


def save_table(columns: TableColumns, path: str | PathLike[str]) -> Path:
    """Write columns to a file, whole or not at all."""
    file = writable_file(path_of(path, FormatError, "the path of a table"), ".csv", ".parquet", ".npz")
    buffer = io.BytesIO()
    if file.suffix.lower() == ".npz":
        arrays: dict[str, Any] = {name: np.asarray(column) for name, column in columns.items()}
        np.savez_compressed(buffer, **arrays)
    elif file.suffix.lower() == ".parquet":
        arrow = _arrow()
        arrow.parquet.write_table(arrow.table(columns), buffer)
    else:
        rows = zip(*(np.asarray(column).tolist() for column in columns.values()), strict=True)
        lines = [",".join(map(_quoted, columns)), *(",".join(map(_cell, row)) for row in rows)]
        buffer.write(("\n".join(lines) + "\n").encode())
    write_whole(file, buffer.getvalue())
    return file


def joint_trajectory(
    names: Sequence[str], times: Array, q: Array, qd: Array | None = None, qdd: Array | None = None
) -> dict[str, Any]:
    """Rows of joint vectors in the shape of ROS's trajectory_msgs/JointTrajectory, as plain dicts, lists and numbers."""
    empty: list[list[float]] = [[]] * len(q)
    rows = (np.asarray(part).tolist() if part is not None else empty for part in (q, qd, qdd))
    points = [
        {
            "positions": at,
            "velocities": velocities,
            "accelerations": accelerations,
            "effort": [],
            "time_from_start": _stamp(t),
        }
        for t, at, velocities, accelerations in zip(np.asarray(times).tolist(), *rows, strict=True)
    ]
    return {"header": {"stamp": _stamp(0.0), "frame_id": ""}, "joint_names": list(names), "points": points}


def by_name(names: Sequence[str], rows: Array) -> Mapping[str, Array]:
    """The columns of an array (rows, names)."""
    return dict(zip(names, np.asarray(rows).T, strict=True))


def _stamp(seconds: float) -> dict[str, int]:
    whole = math.floor(seconds)
    nanoseconds = round((seconds - whole) * 1e9)
    return {"sec": whole + nanoseconds // 10**9, "nanosec": nanoseconds % 10**9}


def _arrow() -> Any:
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise MissingExtraError("pyarrow", "writing Parquet files", "cluster") from None
    return pyarrow


def _cell(value: object) -> str:
    return repr(value) if isinstance(value, float) else _quoted(str(value))


def _quoted(text: str) -> str:
    return f'"{text.replace(chr(34), chr(34) * 2)}"' if any(c in text for c in ',"\n') else text
