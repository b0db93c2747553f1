"""A file of targets: which columns it must have, and how its rows become targets, starts or rejects.

    x y z               where the frame goes [m]
    qw qx qy qz         how it is turned, a unit quaternion; needed for a Pose, not read for a Position
    NAME OF A JOINT     where that joint starts [rad or m], home where a column is missing
    id                  any type; goes along to the answers

Other columns are not read. A row with a number that is missing, NaN or infinite, or with a quaternion of another length
than 1, is rejected.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from memetik.errors import FormatError, MissingExtraError, ProblemError, shown, suggest
from memetik.geometry.checks import INPUT_TOLERANCE
from memetik.objectives import Objective, Pose, Position
from memetik.problem import Problem, require_problem
from memetik.types import Array

POSITION, QUATERNION, ID = ("x", "y", "z"), ("qw", "qx", "qy", "qz"), "id"


def arrow() -> Any:
    """pyarrow with what reads and writes Parquet and CSV, or an error that says how to get it."""
    try:
        import pyarrow
        import pyarrow.compute
        import pyarrow.csv
        import pyarrow.parquet
    except ImportError:
        raise MissingExtraError("pyarrow", "solving files of targets", extra="cluster") from None
    return pyarrow


class Rows(NamedTuple):
    """Some rows of a file, the good ones as arrays."""

    targets: Array  # (good, 4, 4) for a pose, (good, 3) for a position
    starts: Array  # (good, dof)
    good: NDArray[np.bool_]  # (rows,)
    reasons: list[str]  # why each of the others was rejected


@dataclass(frozen=True)
class Layout:
    """Which columns of a file are read, and what for."""

    whole_pose: bool
    starts: tuple[tuple[str, int], ...]  # names of joints that have a column, and their places in a joint vector
    has_id: bool
    home: Array

    @property
    def columns(self) -> list[str]:
        """All columns that are read."""
        given = [*POSITION, *(QUATERNION if self.whole_pose else ()), *(name for name, _ in self.starts)]
        return given + [ID] * self.has_id

    def rows(self, table: Any) -> Rows:
        """The targets and starts of a table with these columns."""
        wanted = [name for name in self.columns if name != ID]
        values = np.column_stack([_floats(table.column(name)) for name in wanted])
        finite = np.isfinite(values)
        quaternions = values[:, 3:7] if self.whole_pose else np.tile((1.0, 0.0, 0.0, 0.0), (len(values), 1))
        with np.errstate(invalid="ignore", over="ignore"):
            norms = np.sqrt((quaternions**2).sum(axis=1))
            straight = np.abs(norms - 1.0) <= INPUT_TOLERANCE
        good = finite.all(axis=1) & straight
        reasons = []
        for k in np.flatnonzero(~good):
            bad = np.flatnonzero(~finite[k])
            if bad.size:
                reasons.append(f"{wanted[bad[0]]} is {values[k, bad[0]]:g}")
            else:
                reasons.append(f"the quaternion has length {norms[k]:.9g}, not 1")
        starts = np.tile(self.home, (int(good.sum()), 1))
        first = len(wanted) - len(self.starts)
        for column, (_, place) in enumerate(self.starts, first):
            starts[:, place] = values[good, column]
        points = values[good, :3]
        if not self.whole_pose:
            return Rows(points, starts, good, reasons)
        return Rows(_transforms(points, quaternions[good] / norms[good, None]), starts, good, reasons)


def layout_of(schema: Any, problem: Problem, objective: Objective, path: object) -> Layout:
    """How to read a file with this Arrow schema, or an error that names the column that is wrong."""
    whole_pose = isinstance(objective, Pose)
    needed = (*POSITION, *(QUATERNION if whole_pose else ()))
    missing = [name for name in needed if name not in schema.names]
    if missing:
        raise FormatError(
            f"{path}: there is no column {', '.join(missing)}. {suggest(missing[0], schema.names)} A {objective.name} needs "
            f"{' '.join(needed)} [m, unit quaternion]."
        )
    starts = tuple((name, k) for k, name in enumerate(problem.body.joint_names) if name in schema.names)
    layout = Layout(whole_pose, starts, ID in schema.names, problem.body.home)
    pa = arrow()
    for name in layout.columns:
        if schema.names.count(name) > 1:
            raise FormatError(
                f"{path}: there are {schema.names.count(name)} columns named {name!r}. Rename the others."
            )
        kind = schema.field(name).type
        if name != ID and not (pa.types.is_floating(kind) or pa.types.is_integer(kind)):
            raise FormatError(f"{path}: column {name!r} holds {kind}, not numbers. Write it as float64.")
    return layout


def target_of(problem: Problem, objective: Objective | None) -> Objective:
    """The objective whose target the rows are: the only pose or position of the problem, unless one is named."""
    require_problem(problem, "files")
    able = [other for other in problem.objectives if isinstance(other, (Pose, Position))]
    if objective is None:
        if len(able) != 1:
            raise ProblemError(
                f"files: the problem has {len(able)} objectives of the kinds Pose and Position. Say whose targets the rows "
                "are: objective=..."
            )
        return able[0]
    if not any(objective is other for other in able):
        raise ProblemError(f"files: {shown(objective)} is not a Pose or Position of this problem.")
    return objective


def _floats(column: Any) -> Array:
    """A column as float64, NaN where a value is missing. Integers beyond 2**53 are rounded."""
    return np.asarray(column.cast("float64", safe=False).to_numpy(), dtype=np.float64)


def _transforms(points: Array, quaternions: Array) -> Array:
    """4x4 transforms from positions and unit quaternions (w, x, y, z)."""
    w, x, y, z = quaternions.T
    matrices = np.zeros((len(points), 4, 4))
    rotations = (
        (1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)),
        (2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)),
        (2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)),
    )
    matrices[:, :3, :3] = np.moveaxis(np.array(rotations), 2, 0)
    matrices[:, :3, 3] = points
    matrices[:, 3, 3] = 1.0
    return matrices
