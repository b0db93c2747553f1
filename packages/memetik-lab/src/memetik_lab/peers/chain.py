"""A serial arm in the words every peer understands: turns in a row, and a tool at the end."""

from __future__ import annotations

import math
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import numpy as np

import memetik as mk
from memetik.geometry import between
from memetik.types import Array

BASE, TIP = "base", "tip"  # the ends of the URDF written for a peer


class Turn(NamedTuple):
    """One joint that turns: the child's pose is that of the parent times origin times a turn about the axis."""

    origin: Array  # 4x4, with the fixed joints before it folded in
    axis: Array
    lower: float  # rad, -inf if the joint is continuous
    upper: float


class SerialChain(NamedTuple):
    """The joints from the base of an arm to its tip, and the fixed rest behind the last one."""

    turns: tuple[Turn, ...]
    tool: Array  # 4x4

    def limits(self, free: float = math.pi) -> Array:
        """Lower and upper limits (n, 2) [rad]; ±`free` for a continuous joint, because no peer takes infinite ones."""
        limits = np.array([(turn.lower, turn.upper) for turn in self.turns])
        return np.where(np.isfinite(limits), limits, (-free, free))

    def steps(self) -> list[Array]:
        """The fixed steps of the same arm with all joints about z: steps[0] Rz(q0) steps[1] Rz(q1) ... steps[n]."""
        steps, rest = [], np.eye(4)
        for turn in self.turns:
            align = np.eye(4)
            align[:3, :3] = between((0.0, 0.0, 1.0), turn.axis)
            steps.append(rest @ turn.origin @ align)
            rest = align.T
        return [*steps, rest @ self.tool]

    def urdf(self, free: float = math.pi, *, mass: float | None = None) -> str:
        """The arm as a bare URDF, continuous joints as revolute ones within ±`free` [rad].

        mass [kg]: of each link, for peers that simulate and take no link without one.
        """
        links, joints = [BASE], []
        for k, (turn, (lower, upper)) in enumerate(zip(self.turns, self.limits(free), strict=True)):
            more = f'<axis xyz="{_numbers(turn.axis)}"/>'
            more += f'<limit lower="{lower:.17g}" upper="{upper:.17g}" effort="1" velocity="1"/>'
            joints.append(_joint("revolute", links[-1], f"link_{k}", turn.origin, more))
            links.append(f"link_{k}")
        joints.append(_joint("fixed", links[-1], TIP, self.tool, ""))
        parts = [*(_link(link, mass) for link in [*links, TIP]), *joints]
        return "\n".join(['<robot name="arm">', *parts, "</robot>\n"])

    @contextmanager
    def urdf_file(self, free: float = math.pi, *, mass: float | None = None) -> Iterator[str]:
        """The path of a file with this URDF, for as long as it is needed."""
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "robot.urdf"
            path.write_text(self.urdf(free, mass=mass))
            yield str(path)


def serial_chain(body: mk.Body) -> SerialChain:
    """The chain of a body that is one row of turning and fixed joints."""
    turns: list[Turn] = []
    rest = np.eye(4)
    end = body.root
    for joint in body.joints.values():
        if joint.parent != end or joint.kind not in ("fixed", "revolute", "continuous") or joint.mimic is not None:
            raise mk.errors.BodyError(f"body {body.name!r} is not a row of turning joints: see joint {joint.name!r}.")
        rest, end = rest @ joint.origin, joint.child
        if joint.kind != "fixed":
            turns.append(Turn(rest, joint.axis, joint.lower[0], joint.upper[0]))
            rest = np.eye(4)
    return SerialChain(tuple(turns), rest)


def _link(name: str, mass: float | None) -> str:
    if mass is None:
        return f'<link name="{name}"/>'
    inertia = "".join(f'{axis}="{mass:g}" ' for axis in ("ixx", "iyy", "izz"))
    return (
        f'<link name="{name}"><inertial><mass value="{mass:g}"/>'
        f'<inertia {inertia}ixy="0" ixz="0" iyz="0"/></inertial></link>'
    )


def _joint(kind: str, parent: str, child: str, origin: Array, more: str) -> str:
    return (
        f'<joint name="to_{child}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>'
        f'<origin xyz="{_numbers(origin[:3, 3])}" rpy="{_numbers(mk.geometry.to_euler(origin[:3, :3]))}"/>{more}</joint>'
    )


def _numbers(values: Array) -> str:
    return " ".join(f"{value:.17g}" for value in values)
