"""A person who walks, made by this library: motions that are nobody's, with skeletons named as the usual files name theirs."""

from __future__ import annotations

import math

import numpy as np

import memetik as mk
from memetik.types import Array

HEIGHT = 1.75  # m
STRIDE, SECONDS, STANCE = 1.0, 1.1, 0.62  # of two steps: length [m], time [s], and the share in which a foot stands

# Parts in the order of the tree: name, parent, where its joint is in the parent's frame, as shares of the height (x forward).
SHAPE: tuple[tuple[str, str | None, tuple[float, float, float]], ...] = (
    ("hips", None, (0.0, 0.0, 0.0)),
    ("spine", "hips", (0.0, 0.0, 0.06)),
    ("chest", "spine", (0.0, 0.0, 0.11)),
    ("neck", "chest", (0.0, 0.0, 0.13)),
    ("head", "neck", (0.0, 0.0, 0.06)),
    *(
        (f"{side}_{part}", parent if parent in ("hips", "chest") else f"{side}_{parent}", (x, y * sign, z))
        for side, sign in (("left", 1.0), ("right", -1.0))
        for part, parent, (x, y, z) in (
            ("upper_leg", "hips", (0.0, 0.052, -0.02)),
            ("lower_leg", "upper_leg", (0.0, 0.0, -0.245)),
            ("foot", "lower_leg", (0.0, 0.0, -0.235)),
            ("toes", "foot", (0.085, 0.0, -0.03)),
            ("shoulder", "chest", (0.0, 0.03, 0.1)),
            ("upper_arm", "shoulder", (0.0, 0.075, 0.0)),
            ("lower_arm", "upper_arm", (0.0, 0.16, 0.0)),
            ("hand", "lower_arm", (0.0, 0.145, 0.0)),
        )
    ),
)  # fmt: skip
_BVH = {
    "hips": "Hips", "spine": "Spine", "chest": "Spine1", "neck": "Neck", "head": "Head", "upper_leg": "UpLeg", "lower_leg": "Leg",
    "foot": "Foot", "toes": "ToeBase", "shoulder": "Shoulder", "upper_arm": "Arm", "lower_arm": "ForeArm", "hand": "Hand",
}  # fmt: skip
_VRM = {
    "hips": "Hips", "spine": "Spine", "chest": "Chest", "neck": "Neck", "head": "Head", "upper_leg": "UpperLeg",
    "lower_leg": "LowerLeg", "foot": "Foot", "toes": "ToeBase", "shoulder": "Shoulder", "upper_arm": "UpperArm",
    "lower_arm": "LowerArm", "hand": "Hand",
}  # fmt: skip
_SMPL = {
    "hips": "Pelvis", "spine": "Spine1", "chest": "Spine2", "neck": "Neck", "head": "Head", "upper_leg": "Hip",
    "lower_leg": "Knee", "foot": "Ankle", "toes": "Foot", "shoulder": "Collar", "upper_arm": "Shoulder",
    "lower_arm": "Elbow", "hand": "Wrist",
}  # fmt: skip
NAMINGS = ("cmu", "lafan", "mixamo", "vrm", "smpl", "unreal")
_UNREAL = {
    "hips": "pelvis", "spine": "spine_01", "chest": "spine_02", "neck": "neck_01", "head": "head", "upper_leg": "thigh",
    "lower_leg": "calf", "foot": "foot", "toes": "ball", "shoulder": "clavicle", "upper_arm": "upperarm", "lower_arm": "lowerarm",
    "hand": "hand",
}  # fmt: skip


def named(part: str, naming: str) -> str:
    """What a part is called in one of the usual ways."""
    side, _, rest = part.partition("_")
    if side not in ("left", "right"):
        side, rest = "", part
    match naming:
        case "vrm":
            return f"J_Bip_{side[:1].upper() or 'C'}_{_VRM[rest]}"
        case "smpl":
            return f"{side[:1].upper()}_{_SMPL[rest]}" if side else _SMPL[rest]
        case "unreal":
            return f"{_UNREAL[rest]}_{side[0]}" if side else _UNREAL[rest]
        case "lafan" if rest == "toes":
            return f"{side.capitalize()}Toe"
    return ("mixamorig:" if naming == "mixamo" else "") + side.capitalize() + _BVH[rest]


def skeleton(naming: str = "cmu", height: float = HEIGHT) -> mk.Body:
    """A person in T pose, 1.75 m tall unless given, with a floating root and ball joints."""
    links = [mk.build.Link(named(part, naming)) for part, _, _ in SHAPE]
    joints = []
    for part, parent, offset in SHAPE[1:]:
        assert parent is not None
        origin = mk.translation(*(height * share for share in offset))
        joints.append(
            mk.build.Joint(
                f"{named(part, naming)}_joint", "spherical", named(parent, naming), named(part, naming), origin=origin
            )
        )
    return mk.Body(f"person ({naming})", links, joints).with_base("floating")


def walk(seconds: float = 6.0, rate: float = 60.0, naming: str = "cmu", height: float = HEIGHT) -> mk.Motion:
    """The person walks along x: feet stand and swing, hips sway, arms swing against the legs.

    Knees and elbows bend as a person's do, though they are balls here as in most files: every bone is led.
    """
    body = skeleton(naming, height)
    times = np.arange(round(seconds * rate) + 1) / rate
    size = height / HEIGHT
    phase = times / SECONDS
    ankle = 0.045 * height
    targets: dict[mk.Objective, Array] = {}

    def lead(part: str, points: Array, weight: float) -> None:
        objective = mk.Position(named(part, naming), points[0], tolerance=None, weight=weight, name=part)
        targets[objective] = points

    def face(part: str, rotations: Array, weight: float) -> None:
        objective = mk.Orientation(
            named(part, naming), rotations[0], tolerance=None, weight=weight, name=f"{part} turned"
        )
        targets[objective] = rotations

    x = STRIDE * size * phase
    sway = 0.02 * size * np.sin(2.0 * np.pi * phase)
    bob = 0.015 * size * np.cos(4.0 * np.pi * phase)
    hips = np.stack([x, sway, (0.495 * height + bob)], axis=1)
    turned = np.array([mk.rpy(0.0, 0.03, 0.08 * math.sin(2.0 * math.pi * p)) for p in phase])
    lead("hips", hips, 10.0)
    face("hips", turned, 10.0)
    face("chest", np.array([mk.rpy(0.0, 0.05, -0.1 * math.sin(2.0 * math.pi * p)) for p in phase]), 10.0)
    joints = {part: height * np.array(offset) for part, _, offset in SHAPE}
    for side, sign, start in (("left", 1.0, 0.0), ("right", -1.0, 0.5)):
        steps, lift, pitch = _gait(phase + start)
        along = STRIDE * size * (steps - start + 0.5 * STANCE)
        points = np.stack([along, np.full_like(along, sign * 0.052 * height), ankle + 0.12 * size * lift], axis=1)
        lead(f"{side}_foot", points, 30.0)
        face(f"{side}_foot", np.array([mk.rpy(0.0, float(p), 0.0) for p in pitch]), 30.0)
        bones = [float(np.linalg.norm(joints[f"{side}_{part}"])) for part in ("lower_leg", "foot")]
        thigh, shin = _leg(hips + turned @ joints[f"{side}_upper_leg"], points, *bones)
        face(f"{side}_upper_leg", thigh, 10.0)
        face(f"{side}_lower_leg", shin, 10.0)
        swing = 0.35 * np.sin(2.0 * np.pi * (phase + start) + np.pi)
        hangs = mk.rpy(-sign * (0.5 * np.pi - 0.12), 0.0, 0.0)  # out of the T pose, a little away from the trunk
        face(f"{side}_upper_arm", np.array([mk.rpy(0.0, -float(a), 0.0) @ hangs for a in swing]), 10.0)
        face(f"{side}_lower_arm", np.array([mk.rpy(0.0, -float(a) - 0.35, 0.0) @ hangs for a in swing]), 10.0)
    problem = mk.Problem(body, [*targets, mk.Displacement(weight=1e-3)])
    path = mk.track(problem, targets, rate=rate)
    return mk.Motion(body, times, path.q, name=f"walk ({naming})")


def _gait(phase: Array) -> tuple[Array, Array, Array]:
    """Of a foot: how many strides it has made, how high it is (0 to 1), and its pitch [rad]."""
    whole, part = np.floor(phase), phase % 1.0
    swing = np.clip((part - STANCE) / (1.0 - STANCE), 0.0, 1.0)
    moved = swing**3 * (10.0 - 15.0 * swing + 6.0 * swing**2)
    lift = np.sin(np.pi * swing) ** 2
    pitch = 0.5 * np.sin(np.pi * swing) ** 2 * np.cos(np.pi * swing)
    return whole + moved, lift, pitch


def _leg(hip: Array, ankle: Array, thigh: float, shin: float) -> tuple[Array, Array]:
    """How the two bones of a leg are turned (n, 3, 3) whose knee points forward, by the law of cosines."""
    way = ankle - hip
    reach = np.linalg.norm(way, axis=1)
    inside = np.clip((thigh**2 + reach**2 - shin**2) / (2.0 * thigh * reach), -1.0, 1.0)  # the cosine at the hip
    way = way / reach[:, None]
    left = np.cross(-way, (1.0, 0.0, 0.0))
    left = left / np.linalg.norm(left, axis=1, keepdims=True)
    knee = thigh * (inside[:, None] * way + np.sqrt(1.0 - inside**2)[:, None] * np.cross(way, left))
    turns = []
    for bone in (knee, ankle - hip - knee):
        up = -bone / np.linalg.norm(bone, axis=1, keepdims=True)
        turns.append(np.stack([np.cross(left, up), left, up], axis=2))
    return turns[0], turns[1]
