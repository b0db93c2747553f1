"""Denavit-Hartenberg tables: four numbers for each joint -> Body.

A row holds a [m], alpha [rad], d [m] and theta [rad]. The joint's variable q is added to theta (revolute) or
to d (prismatic). The two conventions in use differ in where a and alpha stand:

- classic (Denavit and Hartenberg 1955, Paul):  A_i = Rz(theta_i) Tz(d_i) Tx(a_i) Rx(alpha_i)
- modified (Khalil and Kleinfinger, Craig):     A_i = Rx(alpha_{i-1}) Tx(a_{i-1}) Rz(theta_i) Tz(d_i)

with A_i = link_{i-1}_from_link_i. Row i of a modified table holds a_{i-1} and alpha_{i-1}, as books print it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from memetik.body import Body, Chain, Joint, Link
from memetik.errors import FormatError, said, shown
from memetik.geometry import TransformLike, axis_angle, transform
from memetik.geometry.transform import frozen_transform
from memetik.types import Array

CONVENTIONS = ("classic", "modified")
KINDS = ("revolute", "prismatic")
UNITS = {"a": "m", "alpha": "rad", "d": "m", "theta": "rad"}
FIELD_OF = {"joint_types": "kind", "lower": "lower", "upper": "upper", "names": "name"}  # keyword -> field of a row


class DHRow(NamedTuple):
    """One joint: a [m], alpha [rad], d [m], theta [rad], its kind, its limits [rad or m] and its name.

    `theta` of a revolute joint and `d` of a prismatic one are the offset at q = 0. Without a name, the joint
    of row i is "joint_i".
    """

    a: float
    alpha: float
    d: float
    theta: float
    kind: str = "revolute"
    lower: float = -math.inf
    upper: float = math.inf
    name: str = ""


def from_dh(
    table: ArrayLike | Sequence[DHRow],
    *,
    convention: str = "classic",
    joint_types: str | Sequence[str] | None = None,
    lower: Sequence[float] | None = None,
    upper: Sequence[float] | None = None,
    names: Sequence[str] | None = None,
    base_pose: TransformLike | None = None,
    tool_pose: TransformLike | None = None,
    name: str = "arm",
) -> Body:
    """The serial arm of a Denavit-Hartenberg table; `body.forward(q)["link_i"]` is DH frame i.

    `table` is a list of `DHRow`, or an (n, 4) array with the columns a [m], alpha [rad], d [m], theta [rad]. An array takes the
    rest from the keywords: `joint_types` (one for all rows, or one for each; revolute if not given), `lower`,
    `upper` and `names`.

    `base_pose` places DH frame 0 in the root link "base"; `tool_pose` adds a link "tool", placed in the last DH frame.
    (A modified table has no row for a_n and alpha_n; `tool_pose` is where they go.) The chain "arm" runs from the
    root to the end.
    """
    if not isinstance(convention, str) or convention not in CONVENTIONS:
        raise FormatError(f"unknown DH convention {shown(convention)}. Give 'classic' or 'modified' (Craig).")
    lines = _table(table, {"joint_types": joint_types, "lower": lower, "upper": upper, "names": names})
    origin = frozen_transform(base_pose, FormatError, "bad base of a DH arm", name="base_pose")
    links, joints = [Link("base")], []
    for i, row in enumerate(lines, start=1):
        parent, child, step = links[-1].name, f"link_{i}", _step(row, convention)
        if convention == "modified":
            joints.append(_joint(row, i, parent, child, origin @ step, (0.0, 0.0, 1.0)))
        elif row.kind == "prismatic" or row.a == 0.0:
            # The joint moves along or about z of frame i-1, which frame i sees tilted by alpha.
            tilted = (0.0, math.sin(row.alpha), math.cos(row.alpha))
            joints.append(_joint(row, i, parent, child, origin @ step, tilted))
        else:
            # The axis passes frame i at the distance a: a link that turns on the axis carries frame i.
            links.append(Link(f"axis_{i}"))
            joints.append(_joint(row, i, parent, f"axis_{i}", origin, (0.0, 0.0, 1.0)))
            joints.append(Joint(f"axis_{i}_to_link_{i}", "fixed", f"axis_{i}", child, step))
        links.append(Link(child))
        origin = np.eye(4)
    if tool_pose is not None:
        placed = frozen_transform(tool_pose, FormatError, "bad tool of a DH arm", name="tool_pose")
        joints.append(Joint("tool_joint", "fixed", links[-1].name, "tool", placed))
        links.append(Link("tool"))
    return Body(name, links, joints, chains={"arm": Chain("base", (links[-1].name,))})


def _step(row: DHRow, convention: str) -> Array:
    """link_{i-1}_from_link_i at q = 0."""
    about_x = transform((row.a, 0.0, 0.0), axis_angle((1.0, 0.0, 0.0), row.alpha))
    about_z = transform((0.0, 0.0, row.d), axis_angle((0.0, 0.0, 1.0), row.theta))
    return about_z @ about_x if convention == "classic" else about_x @ about_z


def _joint(row: DHRow, i: int, parent: str, child: str, origin: Array, axis: tuple[float, float, float]) -> Joint:
    limits = (row.lower,), (row.upper,)
    return Joint(row.name or f"joint_{i}", row.kind, parent, child, origin, np.array(axis), *limits)


# ---- Reading the table -------------------------------------------------------------------------------------


def _table(rows: object, columns: dict[str, Any]) -> list[DHRow]:
    """The rows in one form, every entry checked; `columns` are the keywords that go with an array."""
    if isinstance(rows, (list, tuple)) and rows and all(isinstance(row, DHRow) for row in rows):
        extra = [key for key, value in columns.items() if value is not None]
        if extra:
            raise FormatError(f"{extra[0]}= goes with an array; a DHRow holds its own. Put them into the rows.")
        return [_checked(row, i) for i, row in enumerate(rows, start=1)]
    try:
        array = np.asarray(rows)
    except Exception as error:  # whatever the conversion of a stranger's object raises
        raise FormatError(
            f"the DH rows cannot be read as a table: {said(error)}. Give four numbers for each row."
        ) from error
    if array.dtype.kind not in "iuf" or array.ndim != 2 or array.shape[1] != 4 or len(array) == 0:
        raise FormatError(
            f"a DH table is an (n, 4) array of a, alpha, d, theta or a list of DHRow; got "
            f"{type(rows).__name__} of shape {array.shape} holding {array.dtype}."
        )
    if isinstance(columns["joint_types"], str):
        columns["joint_types"] = [columns["joint_types"]] * len(array)
    fields = {key: _column(values, key, len(array)) for key, values in columns.items() if values is not None}
    table = []
    for i, numbers in enumerate(array.tolist()):
        given = {FIELD_OF[key]: values[i] for key, values in fields.items()}
        table.append(_checked(DHRow(*numbers, **given), i + 1))
    return table


def _column(values: object, key: str, count: int) -> list[Any]:
    """One entry for each row."""
    entries = values.tolist() if isinstance(values, np.ndarray) else values
    if not isinstance(entries, (list, tuple)):
        raise FormatError(f"{key} must be a list with one entry for each DH row, not {type(values).__name__}.")
    if len(entries) != count:
        raise FormatError(f"{key} has {len(entries)} entries for {count} DH rows. Give one for each row.")
    return list(entries)


def _checked(row: DHRow, i: int) -> DHRow:
    """The row as plain floats; raise at the first entry that cannot be used."""
    a, alpha, d, theta = (_number(getattr(row, field), f"DH row {i}: {field}", unit) for field, unit in UNITS.items())
    if not isinstance(row.kind, str) or row.kind not in KINDS:
        raise FormatError(f"DH row {i}: unknown kind {row.kind!r}. The kinds are: {', '.join(KINDS)}.")
    unit = "rad" if row.kind == "revolute" else "m"
    lower = _number(row.lower, f"DH row {i}: lower limit", unit, finite=False)
    upper = _number(row.upper, f"DH row {i}: upper limit", unit, finite=False)
    if lower > upper or lower == math.inf or upper == -math.inf:
        raise FormatError(f"DH row {i}: no value lies between the limits {lower:g} and {upper:g}. Correct them.")
    if not isinstance(row.name, str):
        raise FormatError(f"DH row {i}: the joint's name is {shown(row.name)}. Give a string.")
    return DHRow(a, alpha, d, theta, row.kind, lower, upper, row.name)


def _number(value: object, what: str, unit: str, *, finite: bool = True) -> float:
    try:
        number = float(value) if isinstance(value, Real) else math.nan
    except OverflowError:  # an int that no float can hold
        number = math.nan
    if math.isnan(number) or (finite and math.isinf(number)):
        raise FormatError(f"{what} is {shown(value)}. Give a {'finite ' if finite else ''}number [{unit}].")
    return number
