"""A body as a table for people: one row for each joint."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from memetik.body.joint import Joint
from memetik.tables import aligned

if TYPE_CHECKING:
    from memetik.body.body import Body


def table(body: Body, width: int | None = None) -> str:
    """Name, kind, limits and place of every joint; variables of one joint stand below each other.

    width: that of the terminal, if the table is to fit into one.
    """
    rows: list[tuple[str, ...]] = [("joint", "kind", "lower", "upper", "parent", "child", "mimics")]
    for joint in body.joints.values():
        rows.extend(_rows(joint))
    moving = sum(joint.dof > 0 for joint in body.joints.values())
    title = f"{body.name}: {body.dof} degrees of freedom, {len(body.links)} links, {moving} moving joints"
    chains = [f"chains: {', '.join(body.chains)}"] if body.chains else []
    postures = [f"postures: {', '.join(body.named_values)}"] if body.named_values else []
    read_as = [f"read as: {body.read_as}"] if body.read_as else []
    return "\n".join([title, f"root: {body.root}", *read_as, *chains, *postures, "", *aligned(rows, width=width)])


def _rows(joint: Joint) -> list[tuple[str, ...]]:
    if joint.dof == 0:
        return [(joint.name, "fixed", "", "", joint.parent, joint.child, "")]
    mimics = ""
    if joint.mimic is not None:
        source, multiplier, offset = joint.mimic
        mimics = f"{multiplier:g} * {source}" + (f" {'+' if offset > 0 else '-'} {abs(offset):g}" if offset else "")
    rows: list[tuple[str, ...]] = []
    for k, (name, motion) in enumerate(zip(joint.variables, joint.motions(), strict=True)):
        unit = "rad" if motion.turns else "m"
        place = (joint.parent, joint.child) if k == 0 else ("", "")
        kind = joint.kind if k == 0 else ""
        rows.append((name, kind, _limit(joint.lower[k], unit), _limit(joint.upper[k], unit), *place, mimics))
    return rows


def _limit(value: float, unit: str) -> str:
    return f"{value:.4g} {unit}" if math.isfinite(value) else "free"
