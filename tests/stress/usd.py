"""All USD stages of installed packages, against USD itself: `python -m tests.stress.usd [FOLDER ...]`.

At home every rigid body is where the stage has it, and at random joint vectors the two frames of every joint, as the
parser of UsdPhysics gives them, differ by the motion of the joint alone. Other packages bring stages: `pip install newton`.
"""

import site
import sys
import warnings
from pathlib import Path

import numpy as np
from pxr import Usd, UsdGeom, UsdPhysics

import memetik as mk
from memetik.errors import MemetikError

COUNT = 20  # joint vectors of a stage
MOTIONS = {  # which of the six coordinates of log(frame0_from_frame1) may differ from zero: the turns, then the slides
    UsdPhysics.ObjectType.FixedJoint: lambda axis: (),
    UsdPhysics.ObjectType.RevoluteJoint: lambda axis: (axis,),
    UsdPhysics.ObjectType.PrismaticJoint: lambda axis: (3 + axis,),
    UsdPhysics.ObjectType.SphericalJoint: lambda axis: (0, 1, 2),
}


def frame(position, quaternion):
    return mk.transform(np.array(position, float), mk.geometry.rotation_matrix(_unit(quaternion)))


def _unit(quaternion):
    values = np.array((quaternion.GetReal(), *quaternion.GetImaginary()), float)
    return values / np.linalg.norm(values)


def rigid(matrix):
    result = np.array(matrix.GetOrthonormalized(False), float).T
    result[:3, 3] = np.array(matrix.ExtractTranslation())
    return result


def check(path, rng):
    """The largest errors at home [m or matrix entry] and of joints, and the number of joints that were compared."""
    stage = Usd.Stage.Open(str(path))
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        body = mk.load(path)
    unlike = any("places of bodies on the stage" in str(each.message) for each in said)
    meters = UsdGeom.GetStageMetersPerUnit(stage)
    turn = {"Y": mk.transform(rotation=mk.euler(90, 0, 0, degrees=True)), "Z": np.eye(4)}[UsdGeom.GetStageUpAxis(stage)]
    names = {}
    for prim in Usd.PrimRange(stage.GetPseudoRoot(), Usd.TraverseInstanceProxies()):
        if prim.HasAPI(UsdPhysics.RigidBodyAPI) and (prim.GetName() in body.links):
            names[str(prim.GetPath())] = prim.GetName()
    names = {path: name for path, name in names.items() if list(names.values()).count(name) == 1}
    at_home = 0.0
    poses = body.forward(body.home)
    for prim_path, name in names.items():
        place = rigid(
            UsdGeom.Xformable(stage.GetPrimAtPath(prim_path)).ComputeLocalToWorldTransform(Usd.TimeCode.Default())
        )
        place[:3, 3] *= meters
        at_home = max(at_home, float(np.abs(poses[name] - turn @ place).max()))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # its newer name is not in older releases
        descriptions = UsdPhysics.LoadUsdPhysicsFromRange(stage, ["/"])
    worst, count = 0.0, 0
    low, high = np.maximum(body.lower, -3.0), np.minimum(body.upper, 3.0)
    for _ in range(COUNT):
        poses = body.forward(rng.uniform(low, np.maximum(low, high)))
        for kind, motion in MOTIONS.items():
            for each in descriptions.get(kind, ((), ()))[1]:
                ends = [str(each.body0), str(each.body1)]
                if (
                    not each.jointEnabled
                    or not all(end in names or end == "" for end in ends)
                    or not body_has(body, each)
                ):
                    continue
                frames = []
                for end, position, rotation in zip(
                    ends, (each.localPose0Position, each.localPose1Position),
                    (each.localPose0Orientation, each.localPose1Orientation), strict=True,
                ):  # fmt: skip
                    local = frame(np.array(position, float) * meters, rotation)
                    frames.append((poses[names[end]] if end else turn) @ local)
                axis = getattr(each, "axis", None)
                index = {UsdPhysics.Axis.X: 0, UsdPhysics.Axis.Y: 1, UsdPhysics.Axis.Z: 2}.get(axis, 0)
                apart = np.linalg.inv(frames[0]) @ frames[1]
                axis_turn, angle = mk.geometry.to_axis_angle(apart[:3, :3])
                twist = np.concatenate([np.array(axis_turn) * angle, apart[:3, 3]])
                worst = max(worst, float(np.abs(np.delete(twist, motion(index))).max(initial=0.0)))
                count += 1
    return at_home if not unlike else float("nan"), worst, count


def body_has(body, description):
    """Whether a joint is one of the tree, not one that closes a loop."""
    return str(description.primPath).rpartition("/")[2] in body.joints


def main(folders):
    rng = np.random.default_rng(1)
    files = sorted(file for folder in folders for file in Path(folder).rglob("*.usd*") if "pxr" not in file.parts)
    counts = {"read": 0, "without rigid bodies": 0, "refused": 0}
    home = worst = 0.0
    for file in files:
        try:
            at_home, error, joints = check(file, rng)
        except MemetikError as reason:
            kind = "without rigid bodies" if "no rigid body on" in str(reason) else "refused"
            counts[kind] += 1
            if kind == "refused":
                print(f"{file.name}: {reason}")
            continue
        counts["read"] += 1
        home, worst = max(home, np.nan_to_num(at_home)), max(worst, error)
        print(f"{file.name}: at home {at_home:.1e}, joints {error:.1e} of {joints}")
    print(counts, f"at home within {home:.1e}, joints within {worst:.1e}")


if __name__ == "__main__":
    main(sys.argv[1:] or site.getsitepackages())
