"""Wishes as the page shows and changes them: what a new one asks for, what a drag means, where gizmos stand, and marks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

import memetik as mk
from memetik.geometry import between
from memetik.scenes import KINDS, Scene, Wish, frame_of
from memetik.solution import GUIDE, MISSED, measures
from memetik.types import Array


def values_about(kind: str, body: mk.Body, q: Array, poses: mk.body.LinkPoses | None = None) -> dict[str, Any]:
    """Values for the fields of a kind that have none, or none that suits this body in this posture.

    They ask for the body as it is, so that adding a wish moves nothing.
    """
    known = {field.name: field.type for field in KINDS[kind].fields}
    moving = [joint.child for joint in body.joints.values()]
    link = moving[-1] if moving else body.root
    pose = (body.forward(q) if poses is None else poses)[link]
    point, wxyz = pose[:3, 3].tolist(), mk.geometry.to_quaternion(pose[:3, :3]).tolist()
    shaped = [name for name in moving if body.links[name].shapes]
    here: dict[str, Any] = {
        "frame": link, "link": shaped[-1] if shaped else link, "position": point, "wxyz": wxyz, "point": point,
    }  # fmt: skip
    if known.get("target") in ("point", "rotation"):
        here["target"] = point if known["target"] == "point" else wxyz
    if body.dof:
        here |= {"joint": body.joint_names[0], "of": body.joint_names[-1]}
        if kind == "JointValue":
            here["target"] = float(q[0])
    return {name: value for name, value in here.items() if name in known}


def dragged(wish: Wish, position: ArrayLike | None, wxyz: ArrayLike | None) -> dict[str, Any]:
    """The values of a wish whose gizmo is there: its place, its rotation, the z axis of that as its direction."""
    kind = KINDS[wish.kind]
    values: dict[str, Any] = {}
    if kind.place and position is not None:
        values[kind.place] = plain(position)
    if kind.turn and wxyz is not None:
        values[kind.turn] = plain(wxyz)
    if kind.axis and wxyz is not None:
        values[kind.axis] = mk.geometry.rotation_matrix(np.asarray(wxyz, dtype=np.float64))[:, 2].tolist()
    return {name: value for name, value in values.items() if value != wish.values[name]}


def gizmo_pose(wish: Wish, body: mk.Body, poses: mk.body.LinkPoses) -> tuple[Array, Array] | None:
    """Position and wxyz of a gizmo; None for a wish that has none, or whose target rides on a frame of the body.

    A wish without a place, such as a direction, has its gizmo at its frame.
    """
    kind = KINDS[wish.kind]
    if wish.values.get("relative_to") is not None or (kind.place, kind.turn, kind.axis) == (None, None, None):
        return None
    position = np.array(wish.values[kind.place]) if kind.place else tip(wish, body, poses)
    if kind.turn:
        return position, np.array(wish.values[kind.turn])
    along = wish.values[kind.axis] if kind.axis else (0.0, 0.0, 1.0)
    return position, mk.geometry.to_quaternion(between((0.0, 0.0, 1.0), along))


def tip(wish: Wish, body: mk.Body, poses: mk.body.LinkPoses) -> Array:
    """Where the frame of a wish is [m]."""
    frame = frame_of(wish.values["frame"], body)
    return np.asarray(poses[frame][:3, 3])


def plain(values: ArrayLike) -> list[float]:
    """Numbers as a file keeps them."""
    numbers: list[float] = np.asarray(values, dtype=np.float64).tolist()
    return numbers


class Mark(NamedTuple):
    """How far an objective is off, and whether that is good enough; None where it only guides or does not count."""

    good: bool | None
    text: str


def marks(scene: Scene, objectives: Mapping[str, mk.Objective], solution: mk.Solution | None) -> dict[str, Mark]:
    """One for every wish."""
    found = {wish.name: Mark(None, "not measured" if wish.enabled else "off") for wish in scene.wishes}
    rows = [] if solution is None else measures(solution)
    for name, objective in objectives.items():
        mine = [row for row in rows if row.objective is objective]
        if solution is not None and objective not in solution.problem.objectives:
            found[name] = Mark(None, f"left out by {solution.method}")
        if mine:
            hard = [row.verdict for row in mine if row.verdict != GUIDE]
            text = ", ".join(_amount(row.error, row.unit) for row in mine)
            found[name] = Mark(MISSED not in hard if hard else None, text)
    return found


def largest_error(solution: mk.Solution) -> float:
    """The error that is largest as a share of its tolerance; 1 is just satisfied, guides do not count."""
    terms = solution.problem.compiled.terms
    hard = terms["soft"] == 0
    errors = solution.term_errors[hard] / np.maximum(terms["tolerance"][hard], 1e-9)
    return float(np.nan_to_num(errors, posinf=1e9).max(initial=0.0))


def _amount(value: float, unit: str) -> str:
    """An error as people read it: millimetres and degrees."""
    if unit == "m":
        return f"{1e3 * value:.3g} mm"
    return f"{np.degrees(value):.3g}°" if unit == "rad" else f"{value:.3g}"
