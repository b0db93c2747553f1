"""Messages <-> requests and replies. It reads attributes only, so it serves the classes of rospy, rclpy and rosbags alike."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

import memetik as mk
from memetik.scenes import Wish
from memetik.types import Array
from memetik_serve.codes import Code, RequestError, code_of
from memetik_serve.core import Core
from memetik_serve.request import Reply, Request

State = Mapping[str, float]
BALANCED = 1e-3  # m around the point over which a balance goal puts the centre of mass


# ---- In ------------------------------------------------------------------------------------------------------------


def answer(core: Core, make: Callable[[], Request]) -> Reply:
    """The reply to a request that is made of a message, also where it cannot be made."""
    try:
        return as_move_group(core.answer(make()))
    except mk.MemetikError as error:
        return Reply(code_of(error), str(error))


def as_move_group(reply: Reply) -> Reply:
    """A reply with the codes of move_group, which does not tell a search that time ended from one that found nothing."""
    return replace(reply, code=Code.NO_IK_SOLUTION) if reply.code is Code.TIMED_OUT else reply


def position_ik(core: Core, message: Any, current: State | None = None, approximate: bool = False) -> Request:
    """The request in a moveit_msgs/PositionIKRequest; `current` is the state where it has none."""
    state = robot_state(message.robot_state, current)
    links, poses = list(message.ik_link_names), list(message.pose_stamped_vector)
    if not poses:
        poses, links = [message.pose_stamped], [message.ik_link_name] if message.ik_link_name else []
    if not links and len(poses) == 1:
        links = [core.tip(message.group_name)]
    elif not links and message.group_name in core.body.chains:
        links = list(core.body.chains[message.group_name].tips)
    if len(links) != len(poses):
        raise RequestError(
            Code.INVALID_LINK_NAME, f"there are {len(links)} links for {len(poses)} poses. Give as many of both."
        )
    wishes = [_pose(core, link, stamped, state, k) for k, (link, stamped) in enumerate(zip(links, poses, strict=True))]
    return Request(
        (*wishes, *_constraints(message.constraints)),
        group=message.group_name,
        state=state,
        timeout=_seconds(message.timeout),
        avoid_collisions=_avoids(message),
        approximate=approximate,
    )


def bio_ik(core: Core, message: Any, current: State | None = None) -> Request:
    """The request in a bio_ik_msgs/IKRequest, whose goals are in the frame of the root."""
    if message.robot_description not in ("", "robot_description", core.body.name):
        raise RequestError(
            Code.INVALID_OBJECT_NAME,
            f"robot_description is {message.robot_description!r}; this node answers for {core.body.name!r} only. Leave it empty.",
        )
    return Request(
        tuple(_goals(message)),
        group=message.group_name,
        state=robot_state(message.robot_state, current),
        fixed_joints=tuple(message.fixed_joints),
        approximate=bool(message.approximate),
        timeout=_seconds(message.timeout),
        attempts=int(getattr(message, "attempts", 0)) or 1,
        avoid_collisions=_avoids(message),
    )


def robot_state(message: Any, current: State | None = None) -> dict[str, float]:
    """Joint values by name in a moveit_msgs/RobotState; on top of `current` where it is a difference, or empty."""
    joints, other = message.joint_state, message.multi_dof_joint_state
    if len(joints.name) != len(joints.position):
        raise RequestError(
            Code.INVALID_ROBOT_STATE,
            f"the robot state has {len(joints.name)} names for {len(joints.position)} positions. Give as many of both.",
        )
    for name, where in zip(other.joint_names, other.transforms, strict=False):
        t, r = where.translation, where.rotation
        if max(map(abs, (t.x, t.y, t.z, r.x, r.y, r.z))) > 1e-9:
            raise RequestError(
                Code.INVALID_ROBOT_STATE,
                f"the joint {name!r} of several degrees of freedom is not at rest. Give such joints by variables in joint_state, "
                f"for example {name}.x, and targets in the frame of the root.",
            )
    found = dict(zip(joints.name, map(float, joints.position), strict=True))
    return {**(current or {}), **found} if message.is_diff or not found else found


def joint_state(message: Any) -> dict[str, float]:
    """Joint values by name in a sensor_msgs/JointState."""
    return dict(zip(message.name, map(float, message.position), strict=False))


def _pose(core: Core, link: str, stamped: Any, state: State, place: int) -> Wish:
    p, r = stamped.pose.position, stamped.pose.orientation
    position, wxyz = [p.x, p.y, p.z], [r.w, r.x, r.y, r.z]
    frame = stamped.header.frame_id
    base = core.world_from(frame.lstrip("/"), state) if frame else None
    if base is not None:
        pose = base @ mk.transform(position, _unit(wxyz))
        position, wxyz = pose[:3, 3].tolist(), mk.geometry.to_quaternion(pose[:3, :3]).tolist()
    return Wish("Pose", f"pose {place + 1}", {"frame": link, "position": position, "wxyz": wxyz})


def _unit(wxyz: list[float]) -> Array:
    length = math.hypot(*wxyz)
    if not 1e-9 < length < math.inf:
        raise RequestError(Code.INVALID_GOAL_CONSTRAINTS, f"the quaternion {wxyz} (w, x, y, z) is no rotation.")
    return np.array(wxyz) / length


def _constraints(message: Any) -> list[Wish]:
    """Joint constraints count; of the others there are objectives, which the service of bio_ik takes."""
    if message.position_constraints or message.orientation_constraints or message.visibility_constraints:
        raise RequestError(
            Code.INVALID_GOAL_CONSTRAINTS,
            "only joint constraints can be given here. Use the goals of bio_ik/get_bio_ik for positions and orientations.",
        )
    return [
        Wish("JointValue", f"joint constraint {k + 1}", {
            "joint": each.joint_name, "target": each.position, "tolerance": min(each.tolerance_above, each.tolerance_below),
            "weight": _weight(each.weight),
        })
        for k, each in enumerate(message.joint_constraints)
    ]  # fmt: skip


def _avoids(message: Any) -> bool:
    if message.avoid_collisions and message.robot_state.attached_collision_objects:
        raise RequestError(
            Code.COLLISION_CHECKING_UNAVAILABLE,
            "attached objects are not known here. Leave them out, or attach them to the body.",
        )
    return bool(message.avoid_collisions)


def _seconds(duration: Any) -> float:
    """rospy has secs and nsecs, ROS 2 sec and nanosec."""
    first = hasattr(duration, "secs")
    whole, rest = (duration.secs, duration.nsecs) if first else (duration.sec, duration.nanosec)
    return max(0.0, float(whole + 1e-9 * rest))


def _weight(weight: float, usual: float = 1.0) -> float:
    """bio_ik takes 1 where a weight is 0, which is what a field has that nobody set."""
    return weight if weight != 0.0 and math.isfinite(weight) else usual


def _three(v: Any) -> list[float]:
    return [v.x, v.y, v.z]


def _goals(message: Any) -> list[Wish]:
    """An objective for each goal of a bio_ik_msgs/IKRequest, or two."""
    found: list[Wish] = []

    def add(kind: str, goal: Any, factor: float = 1.0, **values: Any) -> None:
        found.append(Wish(kind, f"{kind} {len(found) + 1}", {**values, "weight": _weight(goal.weight) * factor}))

    for goal in message.position_goals:
        add("Position", goal, frame=goal.link_name, target=_three(goal.position))
    for goal in message.orientation_goals:
        r = goal.orientation
        add("Orientation", goal, frame=goal.link_name, target=[r.w, r.x, r.y, r.z])
    for goal in message.pose_goals:
        r, position = goal.pose.orientation, _three(goal.pose.position)
        scale = _weight(goal.rotation_scale, 0.5)
        if scale == 0.5:
            add("Pose", goal, frame=goal.link_name, position=position, wxyz=[r.w, r.x, r.y, r.z])
        else:  # how much a radian counts beside a metre, against the usual
            add("Position", goal, frame=goal.link_name, target=position)
            add("Orientation", goal, scale / 0.5, frame=goal.link_name, target=[r.w, r.x, r.y, r.z])
    for goal in message.look_at_goals:
        add("LookAt", goal, frame=goal.link_name, axis=_three(goal.axis), target=_three(goal.target))
    for goal in message.min_distance_goals:
        add("MinDistance", goal, frame=goal.link_name, target=_three(goal.target), distance=goal.distance)
    for goal in message.max_distance_goals:
        add("MaxDistance", goal, frame=goal.link_name, target=_three(goal.target), distance=goal.distance)
    for goal in message.line_goals:
        add("Line", goal, frame=goal.link_name, point=_three(goal.position), direction=_three(goal.direction))
    for goal in message.touch_goals:
        add("Touch", goal, link=goal.link_name, point=_three(goal.position), normal=_three(goal.normal))
    # About all joints: guides, also where they are called primary, since no posture could ever satisfy them.
    for kind, goals in (
        ("AvoidLimits", message.avoid_joint_limits_goals), ("CenterJoints", message.center_joints_goals),
        ("Displacement", message.minimal_displacement_goals),
    ):  # fmt: skip
        for goal in goals:
            add(kind, goal, tolerance=None)
    for goal in message.joint_variable_goals:
        guide: dict[str, Any] = {"tolerance": None} if goal.secondary else {}
        add("JointValue", goal, joint=goal.variable_name, target=goal.variable_position, **guide)
    for goal in message.balance_goals:
        add("Balance", goal, polygon=_square(goal))
    for goal in message.side_goals:
        add("Side", goal, frame=goal.link_name, axis=_three(goal.axis), direction=_three(goal.direction))
    for goal in message.direction_goals:
        add("Direction", goal, frame=goal.link_name, axis=_three(goal.axis), target=_three(goal.direction))
    for goal in message.cone_goals:
        add("Position", goal, _weight(goal.position_weight), frame=goal.link_name, target=_three(goal.position))
        axis, direction = _three(goal.axis), _three(goal.direction)
        add("Cone", goal, frame=goal.link_name, axis=axis, target=direction, half_angle=goal.angle)
    return found


def _square(goal: Any) -> list[list[float]]:
    x, y, z = _three(goal.axis)
    if (x, y) != (0.0, 0.0):
        raise RequestError(
            Code.INVALID_GOAL_CONSTRAINTS,
            f"a balance goal has the axis ({x:g}, {y:g}, {z:g}); here gravity pulls along z only.",
        )
    cx, cy, _ = _three(goal.target)
    return [[cx + i * BALANCED, cy + j * BALANCED] for i, j in ((-1, -1), (1, -1), (1, 1), (-1, 1))]


# ---- Out -----------------------------------------------------------------------------------------------------------


class Joints:
    """The joints of a body as ROS lists them: free ones by their names, then mimic joints."""

    def __init__(self, body: mk.Body) -> None:
        drives = body.variables.drives
        mimics = [(name, drives[name][0]) for name in body.joints if len(drives.get(name, ())) == 1]
        mimics = [(name, drive) for name, drive in mimics if name not in body.joint_names]
        self.names = [*body.joint_names, *(name for name, _ in mimics)]
        self._source = np.array([*range(body.dof), *(drive.variable for _, drive in mimics)], dtype=np.int64)
        self._ratio = np.array([*[1.0] * body.dof, *(drive.ratio for _, drive in mimics)])
        self._offset = np.array([*[0.0] * body.dof, *(drive.offset for _, drive in mimics)])
        self._mimics = [drive for _, drive in mimics]

    def positions(self, q: Array) -> Array:
        """The values of all of them, in the order of `names`."""
        return np.asarray(self._ratio * q[self._source] + self._offset)

    def numbers(self, q: Array) -> list[float]:
        """The same as plain numbers, which genpy packs sooner than an array of NumPy."""
        values: list[float] = q.tolist()
        return values + [ratio * values[k] + offset for k, ratio, offset in self._mimics]


def fill(state: Any, joints: Joints, reply: Reply, *, plain: bool = False) -> None:
    """Write the posture of a reply into a moveit_msgs/RobotState, `plain` as a list; it stays empty where there is none."""
    if reply.q is not None and (reply.code is Code.SUCCESS):
        state.joint_state.name = joints.names
        state.joint_state.position = joints.numbers(reply.q) if plain else joints.positions(reply.q)


def compile_ahead(core: Core) -> None:
    """Compile what a pose of each group's only tip needs, so that the first client does not wait."""
    for group, chain in core.body.chains.items():
        if len(chain.tips) == 1:
            pose = core.body.forward(core.body.home, chain.tips[0], root=core.root)
            values = {"position": pose[:3, 3].tolist(), "wxyz": mk.geometry.to_quaternion(pose[:3, :3]).tolist()}
            core.answer(Request((Wish("Pose", "pose 1", {"frame": chain.tips[0], **values}),), group=group))
