"""A client of GetPositionIK over DDS, in a process of its own: python dds_client.py DOMAIN COUNT POSE

It knows nothing of memetik. Types are written by hand after the message files of Jazzy, with the header that rmw_cyclonedds_cpp
puts before them, and the client does what that does: it waits for a reader and a writer with the same serviceid, has a clientid
in the user data of its own two, and takes replies by identity and number. POSE is x,y,z,qx,qy,qz,qw of panda_hand. It prints a
line of JSON: codes, words, joints and the times of the round trips [s].
"""

import json
import sys
import time

from cyclonedds.core import Policy, Qos
from cyclonedds.domain import DomainParticipant
from cyclonedds.idl import make_idl_struct
from cyclonedds.idl.types import array, byte, float32, float64, int32, int64, sequence, uint8, uint32, uint64
from cyclonedds.pub import DataWriter
from cyclonedds.sub import DataReader
from cyclonedds.topic import Topic
from cyclonedds.util import duration


def message(type_name, /, **fields):
    package, kind, short = type_name.split("/")
    return make_idl_struct(short, f"{package}::{kind}::dds_::{short}_", fields)


def blank(kind):
    """Zeros, empty texts and empty lists."""
    if hasattr(kind, "__idl__"):
        return kind(**{name: blank(each) for name, each in kind.__annotations__.items()})
    return [] if "sequence" in str(kind) else "" if kind is str else False if kind is bool else 0


Time = message("builtin_interfaces/msg/Time", sec=int32, nanosec=uint32)
Duration = message("builtin_interfaces/msg/Duration", sec=int32, nanosec=uint32)
Header = message("std_msgs/msg/Header", stamp=Time, frame_id=str)
Point = message("geometry_msgs/msg/Point", x=float64, y=float64, z=float64)
Vector3 = message("geometry_msgs/msg/Vector3", x=float64, y=float64, z=float64)
Quaternion = message("geometry_msgs/msg/Quaternion", x=float64, y=float64, z=float64, w=float64)
Pose = message("geometry_msgs/msg/Pose", position=Point, orientation=Quaternion)
PoseStamped = message("geometry_msgs/msg/PoseStamped", header=Header, pose=Pose)
Transform = message("geometry_msgs/msg/Transform", translation=Vector3, rotation=Quaternion)
Twist = message("geometry_msgs/msg/Twist", linear=Vector3, angular=Vector3)
Wrench = message("geometry_msgs/msg/Wrench", force=Vector3, torque=Vector3)
numbers = sequence[float64]
JointState = message(
    "sensor_msgs/msg/JointState", header=Header, name=sequence[str], position=numbers, velocity=numbers, effort=numbers
)
MultiDOFJointState = message(
    "sensor_msgs/msg/MultiDOFJointState", header=Header, joint_names=sequence[str], transforms=sequence[Transform],
    twist=sequence[Twist], wrench=sequence[Wrench],
)  # fmt: skip
Polygon = message(
    "geometry_msgs/msg/Polygon", points=sequence[message("geometry_msgs/msg/Point32", x=float32, y=float32, z=float32)]
)
SolidPrimitive = message("shape_msgs/msg/SolidPrimitive", type=uint8, dimensions=sequence[float64, 3], polygon=Polygon)
MeshTriangle = message("shape_msgs/msg/MeshTriangle", vertex_indices=array[uint32, 3])
Mesh = message("shape_msgs/msg/Mesh", triangles=sequence[MeshTriangle], vertices=sequence[Point])
Plane = message("shape_msgs/msg/Plane", coef=array[float64, 4])
JointTrajectoryPoint = message(
    "trajectory_msgs/msg/JointTrajectoryPoint", positions=numbers, velocities=numbers, accelerations=numbers, effort=numbers,
    time_from_start=Duration,
)  # fmt: skip
JointTrajectory = message(
    "trajectory_msgs/msg/JointTrajectory",
    header=Header,
    joint_names=sequence[str],
    points=sequence[JointTrajectoryPoint],
)
BoundingVolume = message(
    "moveit_msgs/msg/BoundingVolume", primitives=sequence[SolidPrimitive], primitive_poses=sequence[Pose], meshes=sequence[Mesh],
    mesh_poses=sequence[Pose],
)  # fmt: skip
JointConstraint = message(
    "moveit_msgs/msg/JointConstraint", joint_name=str, position=float64, tolerance_above=float64, tolerance_below=float64,
    weight=float64,
)  # fmt: skip
PositionConstraint = message(
    "moveit_msgs/msg/PositionConstraint", header=Header, link_name=str, target_point_offset=Vector3,
    constraint_region=BoundingVolume, weight=float64,
)  # fmt: skip
OrientationConstraint = message(
    "moveit_msgs/msg/OrientationConstraint", header=Header, orientation=Quaternion, link_name=str,
    absolute_x_axis_tolerance=float64, absolute_y_axis_tolerance=float64, absolute_z_axis_tolerance=float64,
    parameterization=uint8, weight=float64,
)  # fmt: skip
VisibilityConstraint = message(
    "moveit_msgs/msg/VisibilityConstraint", target_radius=float64, target_pose=PoseStamped, cone_sides=int32,
    sensor_pose=PoseStamped, max_view_angle=float64, max_range_angle=float64, sensor_view_direction=uint8, weight=float64,
)  # fmt: skip
Constraints = message(
    "moveit_msgs/msg/Constraints", name=str, joint_constraints=sequence[JointConstraint],
    position_constraints=sequence[PositionConstraint], orientation_constraints=sequence[OrientationConstraint],
    visibility_constraints=sequence[VisibilityConstraint],
)  # fmt: skip
CollisionObject = message(
    "moveit_msgs/msg/CollisionObject", header=Header, pose=Pose, id=str,
    type=message("object_recognition_msgs/msg/ObjectType", key=str, db=str), primitives=sequence[SolidPrimitive],
    primitive_poses=sequence[Pose], meshes=sequence[Mesh], mesh_poses=sequence[Pose], planes=sequence[Plane],
    plane_poses=sequence[Pose], subframe_names=sequence[str], subframe_poses=sequence[Pose], operation=byte,
)  # fmt: skip
AttachedCollisionObject = message(
    "moveit_msgs/msg/AttachedCollisionObject", link_name=str, object=CollisionObject, touch_links=sequence[str],
    detach_posture=JointTrajectory, weight=float64,
)  # fmt: skip
RobotState = message(
    "moveit_msgs/msg/RobotState", joint_state=JointState, multi_dof_joint_state=MultiDOFJointState,
    attached_collision_objects=sequence[AttachedCollisionObject], is_diff=bool,
)  # fmt: skip
PositionIKRequest = message(
    "moveit_msgs/msg/PositionIKRequest", group_name=str, robot_state=RobotState, constraints=Constraints, avoid_collisions=bool,
    ik_link_name=str, pose_stamped=PoseStamped, ik_link_names=sequence[str], pose_stamped_vector=sequence[PoseStamped],
    timeout=Duration,
)  # fmt: skip
MoveItErrorCodes = message("moveit_msgs/msg/MoveItErrorCodes", val=int32, message=str, source=str)
Request = message("moveit_msgs/srv/GetPositionIK_Request", guid=uint64, seq=int64, ik_request=PositionIKRequest)
Response = message(
    "moveit_msgs/srv/GetPositionIK_Response", guid=uint64, seq=int64, solution=RobotState, error_code=MoveItErrorCodes
)


def service_ids(endpoints):
    return {
        part for each in endpoints if each is not None
        for part in each.qos[Policy.Userdata].data.split(b";") if part.startswith(b"serviceid=")
    }  # fmt: skip


def main(domain, count, pose):
    participant = DomainParticipant(domain)
    profile = Qos(
        Policy.Reliability.Reliable(duration(seconds=10)), Policy.Durability.Volatile, Policy.History.KeepLast(1000),
        Policy.Userdata(f"clientid={participant.guid.hex};".encode()),
    )  # fmt: skip
    writer = DataWriter(participant, Topic(participant, "rq/compute_ikRequest", Request), qos=profile)
    reader = DataReader(participant, Topic(participant, "rr/compute_ikReply", Response), qos=profile)
    deadline = time.monotonic() + 30
    while not service_ids(map(writer.get_matched_subscription_data, writer.get_matched_subscriptions())) & service_ids(
        map(reader.get_matched_publication_data, reader.get_matched_publications())
    ):
        if time.monotonic() > deadline:
            sys.exit("no service")
        time.sleep(0.01)
    request = blank(Request)
    request.guid = identity = participant.guid.int >> 64
    request.ik_request.group_name, request.ik_request.ik_link_name = "arm", "panda_hand"
    x, y, z, qx, qy, qz, qw = pose
    request.ik_request.pose_stamped.pose = Pose(Point(x, y, z), Quaternion(qx, qy, qz, qw))
    codes, words, times, reply = [], set(), [], None
    for number in range(count):
        request.seq = number + 1
        begin = time.perf_counter()
        writer.write(request)
        reply = None
        while reply is None or reply.guid != identity:  # others ask, too
            reply = reader.take_one(timeout=duration(seconds=20))
        times.append(time.perf_counter() - begin)
        if reply.seq != number + 1:
            sys.exit(f"the reply is to {reply.seq}, not to {number + 1}")
        codes.append(reply.error_code.val)
        words.add(reply.error_code.message)
    state = reply.solution.joint_state
    joints = dict(zip(state.name, state.position, strict=True))
    print(json.dumps({"codes": codes, "words": sorted(words), "joints": joints, "times": times}))


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), [float(word) for word in sys.argv[3].split(",")])
