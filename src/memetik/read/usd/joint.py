"""Joints of UsdPhysics as what they leave free between two frames.

USD gives every joint a frame on each of its two bodies; at the value q of a joint that slides along or turns about an axis a,
world_from_frame1 = world_from_frame0 @ motion(a, q). Frames, axes and limits are of single precision.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from memetik.errors import FormatError
from memetik.geometry import invert
from memetik.read.usd.link import AXES
from memetik.read.usd.stage import Prim, Stage
from memetik.types import Array

FREE = (-math.inf, math.inf)


class End(NamedTuple):
    """Where a joint holds a body: the path of the body, "" for the world, and the joint frame on it."""

    body: str
    link_from_joint: Array


class Move(NamedTuple):
    """One motion that a joint leaves free: "prismatic", "revolute" or "spherical", about an axis of the joint frame."""

    kind: str
    axis: Array
    lower: float = -math.inf
    upper: float = math.inf
    velocity: float = math.inf
    effort: float = math.inf
    suffix: str = ""  # of its name, where the joint has several


class UsdJoint(NamedTuple):
    """A joint as the stage has it: its moves lead from the frame on the first body to that on the second."""

    path: str
    ends: tuple[End, End]
    moves: tuple[Move, ...]
    excluded: bool  # from the articulation, as those are that close loops
    mimic: tuple[str, float, float] | None  # path of the source, multiplier, offset [rad or m]


class JointReader:
    """Reads joints; `bodies` are the rigid bodies by path, with their places in the world."""

    def __init__(self, stage: Stage, bodies: Mapping[str, Array], left_out: dict[str, None], articulated: bool) -> None:
        self._stage, self._bodies, self._left_out, self._articulated = stage, bodies, left_out, articulated
        self._physics = stage.pxr.UsdPhysics

    def read(self, prim: Prim) -> UsdJoint | None:
        """The joint of a prim; None for one that is switched off, or holds bodies at a distance only."""
        joint = self._physics.Joint(prim)
        if not joint.GetJointEnabledAttr().Get():
            return None
        path = str(prim.GetPath())
        moves = self._moves(prim)
        if moves is None:
            return None
        first = self._end(path, 0, joint.GetBody0Rel(), joint.GetLocalPos0Attr(), joint.GetLocalRot0Attr())
        second = self._end(path, 1, joint.GetBody1Rel(), joint.GetLocalPos1Attr(), joint.GetLocalRot1Attr())
        if first.body == second.body:
            what = "one and the same rigid body" if first.body else "no rigid body"
            raise FormatError(
                f"{path}: body0 and body1 lead to {what}. Name two prims of which at least one has, or is below one that "
                "has, the PhysicsRigidBodyAPI."
            )
        excluded = not self._articulated or bool(joint.GetExcludeFromArticulationAttr().Get())
        return UsdJoint(path, (first, second), moves, excluded, self._mimic(prim, moves))

    def _end(self, path: str, number: int, relation: Any, position: Any, turn: Any) -> End:
        """The rigid body that a relation leads to, itself or by a prim below it, and the joint frame on it."""
        targets = relation.GetTargets()
        if len(targets) > 1:
            raise FormatError(
                f"{path}: physics:body{number} names {len(targets)} prims. Name one, or none for the world."
            )
        prim = None
        if targets:
            prim = self._stage.stage.GetPrimAtPath(targets[0])
            if not prim:
                raise FormatError(
                    f"{path}: physics:body{number} names {targets[0]}, which is not on the stage. Correct the path, or load "
                    "what it is in."
                )
        place = self._stage.joint_place(prim, tuple(position.Get()), turn.Get(), f"{path}, body{number}")
        above = prim
        while above and str(above.GetPath()) not in self._bodies:
            above = above.GetParent()
        if not above:
            return End("", place)
        body = str(above.GetPath())
        return End(body, invert(self._bodies[body]) @ place)

    def _moves(self, prim: Prim) -> tuple[Move, ...] | None:
        physics, path = self._physics, str(prim.GetPath())
        if prim.IsA(physics.FixedJoint):
            return ()
        if prim.IsA(physics.RevoluteJoint) or prim.IsA(physics.PrismaticJoint):
            turns = bool(prim.IsA(physics.RevoluteJoint))
            joint = physics.RevoluteJoint(prim) if turns else physics.PrismaticJoint(prim)
            low, high = joint.GetLowerLimitAttr().Get(), joint.GetUpperLimitAttr().Get()
            return (self._move(prim, str(joint.GetAxisAttr().Get()), turns, low, high),)
        if prim.IsA(physics.SphericalJoint):
            joint = physics.SphericalJoint(prim)
            if max(joint.GetConeAngle0LimitAttr().Get(), joint.GetConeAngle1LimitAttr().Get()) >= 0.0:
                self._left_out["the cones of spherical joints"] = None
            return (Move("spherical", np.array(AXES["Z"])),)
        if prim.IsA(physics.DistanceJoint):
            self._left_out["distance joints"] = None
            return None
        if str(prim.GetTypeName()) == "PhysicsJoint":
            return self._generic(prim)
        raise FormatError(
            f"{path}: joints of type {prim.GetTypeName()} are not read. Make it a revolute or prismatic one."
        )

    def _move(self, prim: Prim, axis: str, turns: bool, low: float, high: float, suffix: str = "") -> Move:
        unit = math.pi / 180.0 if turns else self._stage.meters
        lower, upper = float(low) * unit, float(high) * unit
        if not lower <= upper:
            raise FormatError(
                f"{prim.GetPath()}: its lower limit {low:g} is not below its upper limit {high:g}. Correct them."
            )
        velocity = _number(prim, "physxJoint:maxJointVelocity") * unit
        kind = "angular" if turns else "linear"
        dof = f"{'rot' if turns else 'trans'}{axis}" if suffix else kind
        force = _number(prim, f"drive:{dof}:physics:maxForce") * self._stage.kilograms * self._stage.meters
        effort = force * self._stage.meters if turns else force
        return Move(
            "revolute" if turns else "prismatic", np.array(AXES[axis]), lower, upper, velocity if velocity >= 0.0 else math.inf,
            effort if effort > 0.0 else math.inf, suffix,
        )  # fmt: skip

    def _generic(self, prim: Prim) -> tuple[Move, ...]:
        """A joint of six degrees of freedom: those whose low limit is above the high one are locked."""
        limits = {}
        for dof in ("transX", "transY", "transZ", "rotX", "rotY", "rotZ"):
            low, high = FREE
            if prim.HasAPI(self._physics.LimitAPI, dof):
                limit = self._physics.LimitAPI(prim, dof)
                low, high = limit.GetLowAttr().Get(), limit.GetHighAttr().Get()
            if not low > high:
                limits[dof] = (low, high)
        turns = [dof for dof in limits if dof.startswith("rot")]
        slides = [dof for dof in limits if dof not in turns]
        if len(turns) == 2:
            raise FormatError(
                f"{prim.GetPath()}: it is free in {' and '.join(turns)}, and USD does not say which turns first. Write two "
                "revolute joints with a body between them."
            )
        single = len(limits) == 1
        moves = [self._move(prim, dof[-1], False, *limits[dof], "" if single else f"_{dof}") for dof in slides]
        if len(turns) == 1:
            moves.append(self._move(prim, turns[0][-1], True, *limits[turns[0]], "" if single else f"_{turns[0]}"))
        if len(turns) == 3:
            if any(limits[dof] != FREE for dof in turns):
                self._left_out["the limits of joints that turn about three axes"] = None
            moves.append(Move("spherical", np.array(AXES["Z"]), suffix="" if len(limits) == 3 else "_rot"))
        return tuple(moves)

    def _mimic(self, prim: Prim, moves: tuple[Move, ...]) -> tuple[str, float, float] | None:
        """What the schemas of Newton and PhysX say: q = c0 + c1 q_source, or q + gearing q_source + offset = 0."""
        if len(moves) != 1 or moves[0].kind == "spherical":
            return None
        unit = math.pi / 180.0 if moves[0].kind == "revolute" else self._stage.meters
        names = {
            name.rpartition(":")[2]: name for name in prim.GetPropertyNames() if name.startswith("physxMimicJoint:")
        }
        if prim.GetRelationship("newton:mimicJoint") and _number(prim, "newton:mimicEnabled", 1.0):
            source = prim.GetRelationship("newton:mimicJoint").GetTargets()
            factor, offset = _number(prim, "newton:mimicCoef1", 1.0), _number(prim, "newton:mimicCoef0", 0.0)
        elif "referenceJoint" in names:
            source = prim.GetRelationship(names["referenceJoint"]).GetTargets()
            factor, offset = -_number(prim, names.get("gearing", ""), 1.0), -_number(prim, names.get("offset", ""), 0.0)
        else:
            return None
        return (str(source[0]), factor, offset * unit) if source else None


def _number(prim: Prim, name: str, default: float = math.inf) -> float:
    """A number of a schema that usd-core may not know, or the default; NaN counts as not given."""
    attribute = prim.GetAttribute(name) if name else None
    value = attribute.Get() if attribute else None
    return default if value is None or math.isnan(value) else float(value)
