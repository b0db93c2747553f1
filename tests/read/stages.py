"""Stages of UsdPhysics, written joint by joint; USD keeps the frames of joints in single precision."""

import math

import numpy as np
from pxr import Gf, Sdf, Usd, UsdGeom, UsdPhysics

import memetik as mk

Y_FROM_Z_UP = np.array(((1.0, 0, 0, 0), (0, 0, 1.0, 0), (0, -1.0, 0, 0), (0, 0, 0, 1.0)))


def new_stage(up="Z", meters=1.0):
    stage = Usd.Stage.CreateInMemory()
    UsdGeom.SetStageUpAxis(stage, up)
    UsdGeom.SetStageMetersPerUnit(stage, meters)
    stage.SetDefaultPrim(stage.DefinePrim("/robot", "Xform"))
    return stage


def add_body(stage, path, place=None):
    """A rigid body at a place in the units of the stage."""
    xform = UsdGeom.Xform.Define(stage, path)
    xform.AddTransformOp().Set(Gf.Matrix4d((np.eye(4) if place is None else place).T.tolist()))
    UsdPhysics.RigidBodyAPI.Apply(xform.GetPrim())
    return xform.GetPrim()


def add_joint(stage, path, kind, ends, frames=(None, None), axis="Z", limits=None, excluded=False):
    """A joint between two paths, None for the world; frames are (position, (w, x, y, z)) on each."""
    joint = getattr(UsdPhysics, f"{kind}Joint").Define(stage, path)
    for number, (end, frame) in enumerate(zip(ends, frames, strict=True)):
        if end is not None:
            getattr(joint, f"CreateBody{number}Rel")().SetTargets([Sdf.Path(end)])
        position, (w, x, y, z) = frame or ((0.0, 0.0, 0.0), (1.0, 0.0, 0.0, 0.0))
        getattr(joint, f"CreateLocalPos{number}Attr")().Set(Gf.Vec3f(*map(float, position)))
        getattr(joint, f"CreateLocalRot{number}Attr")().Set(Gf.Quatf(float(w), float(x), float(y), float(z)))
    if kind in ("Revolute", "Prismatic"):
        joint.CreateAxisAttr().Set(axis)
        if limits is not None:
            joint.CreateLowerLimitAttr().Set(limits[0])
            joint.CreateUpperLimitAttr().Set(limits[1])
    joint.CreateExcludeFromArticulationAttr().Set(excluded)
    return joint.GetPrim()


def stage_of(body, q, up="Z", meters=1.0):
    """A stage of a body of revolute and prismatic joints that stands at q, and the body with frames as the stage rounds them."""
    stage = new_stage(up, meters)
    stage_from_world = Y_FROM_Z_UP if up == "Y" else np.eye(4)
    for link, place in body.forward(q).items():
        place = stage_from_world @ place
        place[:3, 3] /= meters
        add_body(stage, f"/robot/{link}", place)
    UsdPhysics.ArticulationRootAPI.Apply(stage.GetDefaultPrim())
    add_joint(
        stage, "/robot/to_world", "Fixed", (None, f"/robot/{body.root}"),
        ((np.zeros(3), mk.geometry.to_quaternion(stage_from_world[:3, :3])), None),
    )  # fmt: skip
    joints = [mk.build.Joint("to_world", "fixed", "world", body.root)]
    for joint in body.joints.values():
        turn = mk.transform(rotation=mk.geometry.rotation_matrix(_z_to(joint.axis)))
        written = [_written(place, meters) for place in (joint.origin @ turn, turn)]
        kind = {"revolute": "Revolute", "continuous": "Revolute", "prismatic": "Prismatic", "fixed": "Fixed"}[
            joint.kind
        ]
        unit = math.pi / 180.0 if kind == "Revolute" else meters
        limits = (joint.lower[0] / unit, joint.upper[0] / unit) if joint.lower else None
        prim = add_joint(
            stage,
            _path(joint.name),
            kind,
            (f"/robot/{joint.parent}", f"/robot/{joint.child}"),
            written,
            limits=limits,
        )
        if joint.mimic is not None:
            prim.CreateRelationship("newton:mimicJoint").SetTargets([_path(joint.mimic.source)])
            for name, value in (("Coef1", joint.mimic.multiplier), ("Coef0", joint.mimic.offset / unit)):
                prim.CreateAttribute(f"newton:mimic{name}", Sdf.ValueTypeNames.Float).Set(value)
        before, after = (_read(place, meters) for place in written)
        axis = after[:3, :3] @ (0.0, 0.0, 1.0)
        joints.append(
            mk.build.Joint(
                joint.name,
                joint.kind,
                joint.parent,
                joint.child,
                before @ np.linalg.inv(after),
                axis,
                joint.lower,
                joint.upper,
                mimic=joint.mimic,
            )
        )
    return stage, mk.Body(body.name, [mk.build.Link("world"), *body.links.values()], joints)


def _path(name):
    return f"/robot/{name.replace('-', '_')}"  # the names of prims are identifiers


def _z_to(axis):
    """The quaternion that turns z to an axis."""
    values = np.array((1.0 + axis[2], -axis[1], axis[0], 0.0))
    return values / np.linalg.norm(values) if values.any() else np.array((0.0, 1.0, 0.0, 0.0))


def _written(place, meters):
    return np.float32(place[:3, 3] / meters), np.float32(mk.geometry.to_quaternion(place[:3, :3]))


def _read(written, meters):
    position, quaternion = (np.asarray(part, float) for part in written)
    return mk.transform(position * meters, mk.geometry.rotation_matrix(quaternion / np.linalg.norm(quaternion)))
