"""What a new wish asks for: the body as it is, so that adding one moves nothing."""

from __future__ import annotations

from typing import Any

import memetik as mk
from memetik.scenes import KINDS
from memetik.types import Array


def values_about(kind: str, body: mk.Body, q: Array) -> dict[str, Any]:
    """Values for the fields of a kind that have none, or none that suits this body in this posture."""
    known = {field.name: field.type for field in KINDS[kind].fields}
    moving = [joint.child for joint in body.joints.values()]
    link = moving[-1] if moving else body.root
    pose = body.forward(q)[link]
    point, wxyz = pose[:3, 3].tolist(), mk.to_quaternion(pose[:3, :3]).tolist()
    here: dict[str, Any] = {}
    if "frame" in known:
        here["frame"] = link
    if "link" in known:
        shaped = [name for name in moving if body.links[name].shapes]
        here["link"] = shaped[-1] if shaped else link
    if "position" in known:
        here |= {"position": point, "wxyz": wxyz}
    if known.get("target") == "point":
        here["target"] = point
    if known.get("target") == "rotation":
        here["target"] = wxyz
    if "point" in known:
        here["point"] = point
    if body.dof:
        if "joint" in known:
            here["joint"] = body.joint_names[0]
        if "of" in known:
            here["of"] = body.joint_names[-1]
        if kind == "JointValue":
            here["target"] = float(q[0])
    return here
