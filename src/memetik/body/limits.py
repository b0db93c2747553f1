"""The limits of a body, set again or kept away from by a margin."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from memetik.body.cut import rebuilt
from memetik.body.joint import KINDS
from memetik.errors import BodyError
from memetik.geometry.checks import mapping, real_array, real_number

if TYPE_CHECKING:
    from memetik.body.body import Body


def with_limits(
    body: Body, limits: Mapping[str, tuple[float, float]] | None, margin: float | Mapping[str, float], fraction: float
) -> Body:
    """The body with some limits replaced, then all of them drawn in."""
    lower, upper = body.lower.copy(), body.upper.copy()
    for name, pair in mapping(limits, BodyError, "limits", "{'joint_1': (-1.5, 1.5)}").items():
        k = body.index(name)
        ends = real_array(pair, BodyError, f"limits of joint {name!r} are not two numbers")
        if ends.shape != (2,) or not ends[0] <= ends[1]:
            raise BodyError(f"limits of joint {name!r} are {pair}. Give two numbers, the lower one first.")
        lower[k], upper[k] = ends
    inwards = _margins(body, margin, fraction, lower, upper)
    for name, low, high, inward in zip(body.joint_names, lower, upper, inwards, strict=True):
        if 2.0 * inward > high - low and high > low:
            raise BodyError(
                f"joint {name!r} has no room for a margin of {inward:g}: its limits are {low:g} to {high:g}. Give less, by "
                "name if need be, or a share of the range."
            )
    inwards = np.where(upper > lower, inwards, 0.0)  # a joint that its limits hold in one place stays there
    lower, upper = lower + inwards, upper - inwards
    joints = []
    for joint in body.joints.values():
        if joint.dof and joint.mimic is None:
            columns = [body.index(name) for name in joint.variables]
            low, high = tuple(lower[columns].tolist()), tuple(upper[columns].tolist())
            limited = any(map(math.isfinite, (*low, *high)))
            kind = "revolute" if limited and not KINDS[joint.kind].limited else joint.kind
            joint = dataclasses.replace(joint, kind=kind, lower=low, upper=high)
        joints.append(joint)
    home = dict(zip(body.joint_names, np.clip(body.home, lower, upper).tolist(), strict=True))
    return rebuilt(body, joints=joints, home=home)


def _margins(
    body: Body, margin: float | Mapping[str, float], fraction: float, lower: np.ndarray, upper: np.ndarray
) -> np.ndarray:
    """How far each limit moves inwards [rad or m]."""
    part = real_number(fraction, BodyError, "fraction")
    if not 0.0 <= part < 0.5:
        raise BodyError(
            f"fraction is {part:g}. Give the part of the range that is kept at each end, from 0 to below 0.5."
        )
    if isinstance(margin, Mapping):
        inwards = np.zeros(body.dof)
        for name, value in margin.items():
            inwards[body.index(name)] = real_number(value, BodyError, f"the margin of joint {name!r}")
    else:
        inwards = np.full(body.dof, real_number(margin, BodyError, "margin"))
    if not ((inwards >= 0.0) & np.isfinite(inwards)).all():
        raise BodyError("a margin is negative or not finite. Give how far from each limit to stay [rad or m].")
    span = upper - lower
    return inwards + part * np.where(np.isfinite(span), span, 0.0)
