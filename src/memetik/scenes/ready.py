"""Ready scenes, one for each thing worth seeing first."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

import memetik as mk
from memetik.errors import UnknownNameError
from memetik.scenes.build import load_body
from memetik.scenes.first_posture import first_posture
from memetik.scenes.kinds import KINDS
from memetik.scenes.limbs import limbs
from memetik.scenes.scene import BodySource, Scene, Wish
from memetik.types import Array


def ready(name: str) -> Scene:
    """A ready scene by its name in READY."""
    if name not in READY:
        raise UnknownNameError("ready scene", name, READY)
    return READY[name]()


def blank(source: BodySource, body: mk.Body) -> Scene:
    """Any body with a wish for each of its limbs, where it is: a pose if enough joints move the limb alone, else a position."""
    found = limbs(body)
    start = first_posture(body, found)
    posed = body.forward(body.vector(start))
    wishes = []
    for limb in found:
        frame = {"link": limb.tip, "position": list(limb.offset)} if any(limb.offset) else limb.tip
        pose = posed[limb.tip] @ mk.translation(*limb.offset)
        values: dict[str, Any] = {"target": _list(pose[:3, 3])}
        if limb.dof >= 6:
            values = {"position": _list(pose[:3, 3]), "wxyz": _list(mk.geometry.to_quaternion(pose[:3, :3]))}
        wishes.append(KINDS["Pose" if limb.dof >= 6 else "Position"].new(limb.tip, frame=frame, **values))
    return Scene(body.name[:200], source, (*wishes, _calm()) if wishes else (), start=start)


def _arm_reach() -> Scene:
    hand = {"link": "panda_hand", "position": [0.0, 0.0, 0.10]}
    down = mk.geometry.to_quaternion(mk.euler(180, 0, 0, degrees=True))
    pose = KINDS["Pose"].new("hand", frame=hand, position=[0.5, 0.1, 0.4], wxyz=_list(down))
    return Scene("arm reach", BodySource("bundled", "panda"), (pose, _calm()), lock={"panda_finger_joint1": 0.04})


def _humanoid() -> Scene:
    source = BodySource("bundled", "valkyrie", "xyz", 1.0)
    posed = load_body(source).forward(load_body(source).home)
    shifts = {
        "rightFoot": (0.0, 0.0, 0.0),
        "leftFoot": (0.0, 0.0, 0.0),
        "rightPalm": (0.25, 0.05, 0.20),
        "leftPalm": (0.15, -0.05, -0.10),
    }
    poses = [_pose(link, mk.translation(*shift) @ posed[link]) for link, shift in shifts.items()]
    gaze = KINDS["LookAt"].new("gaze", frame="head", target=[1.2, -0.5, 0.3])
    return Scene("humanoid with four tips and gaze", source, (*poses, gaze, _calm()))


def _hand_grasp() -> Scene:
    source = BodySource("bundled", "shadow_hand")
    body = load_body(source)
    bent = {f"rh_{finger}J{j}": value for finger in ("FF", "MF", "RF", "LF") for j, value in ((3, 0.9), (2, 0.7))}
    touching = body.forward(body.vector({**bent, "rh_THJ4": 1.1, "rh_THJ2": 0.3, "rh_THJ1": 0.4}))
    tips = ("rh_fftip", "rh_mftip", "rh_rftip", "rh_lftip", "rh_thtip")
    return Scene("hand grasp", source, (*(_position(tip, touching[tip][:3, 3]) for tip in tips), _calm()))


def _around_a_sphere() -> Scene:
    source = BodySource("bundled", "panda")
    body = load_body(source)
    posed = body.forward(body.vector({"panda_joint1": 0.6, "panda_joint2": 0.4, "panda_joint4": -1.6}))
    elbow = _list(posed["panda_link4"][:3, 3])
    off = KINDS["Distance"].new("keep off the sphere", obstacles=[[*elbow, 0.10]])
    apart = KINDS["SelfDistance"].new("links apart")
    return Scene("arm around a sphere", source, (_pose("panda_hand", posed["panda_hand"]), off, apart, _calm()))


def _foot_on_terrain() -> Scene:
    x, y = np.meshgrid(np.linspace(-1.0, 1.0, 21), np.linspace(-1.0, 1.0, 21), indexing="ij")
    heights = (0.1 + 0.15 * x + 0.08 * np.sin(4.0 * y)).round(4).tolist()
    surface = {"kind": "height field", "heights": heights, "spacing": 0.1, "origin": [-1.0, -1.0]}
    wishes = []
    for side, place in (("left", (0.15, 0.12)), ("right", (-0.05, -0.12))):
        sole = {"link": f"{side}_midfoot", "position": [0.03, 0.0, -0.095]}
        wishes.append(KINDS["Projection"].new(f"{side} foot on the ground", frame=sole, surface=surface))
        line = {"point": [*place, 0.3], "direction": [0.0, 0.0, 1.0]}  # where it stands, whatever the height
        wishes.append(KINDS["Line"].new(f"{side} foot here", frame=sole, **line))
    pelvis = KINDS["Position"].new("pelvis", frame="pelvis", target=[0.0, 0.0, 0.97], tolerance=0.03)
    return Scene("foot on terrain", BodySource("bundled", "kyle", "floating", 1.0), (*wishes, pelvis, _calm()))


def _five_bar() -> Scene:
    closed = KINDS["Position"].new("tips together", frame="left_tip", relative_to="right_tip", tolerance=1e-6)
    reach = KINDS["Position"].new("reach", frame="left_tip", target=[0.05, 0.45, 0.0])
    return Scene("parallel five-bar", BodySource("built", "five_bar"), (closed, reach))


def _quadruped() -> Scene:
    source = BodySource("bundled", "go2", "floating", 1.0)
    body = load_body(source)
    posed = body.forward(body.home)
    feet = [link for link in body.links if link.endswith("_foot")]
    planted = [_position(foot, posed[foot][:3, 3]) for foot in feet]
    trunk = next(joint.child for joint in body.joints.values() if joint.name == "base")
    pose = mk.transform((0.05, 0.0, -0.04), mk.euler(0.0, 8.0, 12.0, degrees=True)) @ posed[trunk]
    return Scene("quadruped", source, (*planted, _pose(trunk, pose, "trunk"), _calm()))


def _snake() -> Scene:
    coil = {f"joint_{k}": 0.12 * math.sin(0.35 * k) for k in range(1, 101)}
    reach = KINDS["Pose"].new("head", frame="tip", position=[0.9, 0.5, 0.5], wxyz=[1.0, 0.0, 0.0, 0.0])
    return Scene("100-joint snake", BodySource("built", "snake_100"), (reach, _calm()), start=coil)


READY: dict[str, Callable[[], Scene]] = {
    "arm reach": _arm_reach,
    "humanoid": _humanoid,
    "hand grasp": _hand_grasp,
    "arm around a sphere": _around_a_sphere,
    "foot on terrain": _foot_on_terrain,
    "parallel five-bar": _five_bar,
    "quadruped": _quadruped,
    "100-joint snake": _snake,
}


def _position(link: str, point: Array) -> Wish:
    return KINDS["Position"].new(link, frame=link, target=_list(point))


def _pose(link: str, pose: Array, name: str | None = None) -> Wish:
    wxyz = _list(mk.geometry.to_quaternion(pose[:3, :3]))
    return KINDS["Pose"].new(name or link, frame=link, position=_list(pose[:3, 3]), wxyz=wxyz)


def _calm() -> Wish:
    return KINDS["Displacement"].new("stay close")


def _list(values: Any) -> list[float]:
    return [round(float(value), 9) for value in values]
