"""Joint values that turn every link as its target, where the links on both sides of a joint have one: rotations are copied."""

from __future__ import annotations

import numpy as np

from memetik.body import Body
from memetik.body.joint import Joint
from memetik.motion.clips.turns import endless_of, quaternions_of_matrices, steady_turns
from memetik.motion.retargeting.plan import BoneMatch, RetargetPlan
from memetik.motion.retargeting.structure import Tree
from memetik.motion.retargeting.targets import Targets
from memetik.types import Array

Pose = tuple[Array, Array]  # rotations (frames, 3, 3) and places (frames, 3)
BALLS = ("spherical", "floating")
SLIDES = ("floating", "xyz")


def copied(body: Body, plan: RetargetPlan, targets: Targets) -> Array | None:
    """Joint vectors (frames, dof) of a body whose led links turn any way, or whose links are all led; None of other bodies.

    Joints that nothing leads stay as they are at home. Limits are not looked at.
    """
    led = {match.link: match for match in plan.matches if match.rotation > 0.0 or match is plan.matches[0]}
    tree = Tree(body)
    moving = [link for link in body.links if tree.moves(link) and tree.joint[link].mimic is None]
    tops = [match.link for match in plan.matches if not match.relative and match.link in moving]
    whole = plan.matches[0].link in moving and all(link in led for link in moving)
    if not whole and not all(tree.is_ball(link) and link in led for link in tops):
        return None
    frames = len(targets.points[plan.matches[0].part])
    q = np.tile(body.home, (frames, 1))
    turned = {body.root: np.broadcast_to(np.eye(3), (frames, 3, 3))}
    at = {body.root: np.zeros((frames, 3))}
    home = body.forward(body.home)
    for joint in (tree.joint[link] for link in body.links if link in tree.joint):
        before = turned[joint.parent] @ joint.origin[:3, :3]
        place = at[joint.parent] + turned[joint.parent] @ joint.origin[:3, 3]
        match = led.get(joint.child)
        rest = np.linalg.inv(home[joint.parent] @ joint.origin) @ home[joint.child]
        pose = before @ rest[:3, :3], place + before @ rest[:3, 3]
        if match is not None and joint.dof and joint.mimic is None:
            pose = _led(body, joint, before, place, match, targets, q, pose)
        turned[joint.child], at[joint.child] = pose
    endless = endless_of(body)
    q[:, endless] = np.unwrap(q[:, endless], axis=0)
    return q


def _led(
    body: Body, joint: Joint, before: Array, place: Array, match: BoneMatch, targets: Targets, q: Array, still: Pose
) -> Pose:
    """Write the values of a joint into q. Returns how its child is turned and where it is; `still` if the joint cannot be led."""
    columns = [body.index(name) for name in joint.variables]
    wanted = targets.rotations[match.part]
    relative = np.swapaxes(before, 1, 2) @ wanted
    if joint.kind in SLIDES and (match.position > 0.0 or match.parent is None):
        point = targets.points[match.part] - wanted @ np.array(match.point)
        q[:, columns[:3]] = np.einsum("nji,nj->ni", before, point - place)
        moved = point
    elif joint.kind in SLIDES:
        moved = place + np.einsum("nij,nj->ni", before, q[:, columns[:3]])
    else:
        moved = place
    if joint.kind in BALLS:
        turns = columns[-3:]
        q[:, turns] = steady_turns(joint.order, quaternions_of_matrices(relative), body.home[turns])
        return wanted, moved
    if joint.kind in ("revolute", "continuous"):
        a = joint.axis
        # The angle about the axis that is nearest to the rotation: of its quaternion, the part along the axis.
        w, v = quaternions_of_matrices(relative)[:, 0], quaternions_of_matrices(relative)[:, 1:] @ a
        angle = 2.0 * np.arctan2(v, w)
        q[:, columns[0]] = np.arctan2(np.sin(angle), np.cos(angle))
        c, s = np.cos(angle)[:, None, None], np.sin(angle)[:, None, None]
        cross = np.array([[0.0, -a[2], a[1]], [a[2], 0.0, -a[0]], [-a[1], a[0], 0.0]])
        return before @ (np.eye(3) + s * cross + (1.0 - c) * (cross @ cross)), moved
    return still
