"""The fields of the messages that are spoken, as their packages define them: what decides sums and hashes on the wire.

MoveIt's are those of moveit_msgs 0.11.4 (ROS 1) and of its branches for ROS 2; bio_ik_msgs are those of bio_ik_service. Types
without a package are of the same one, `Header` is std_msgs/Header, as in message files.
"""

from __future__ import annotations

# Standard messages: here so that nothing but genpy has to be installed, and because services need all they consist of.
_STANDARD = {
    "std_msgs/Header": "uint32 seq; time stamp; string frame_id",
    "geometry_msgs/Point": "float64 x; float64 y; float64 z",
    "geometry_msgs/Vector3": "float64 x; float64 y; float64 z",
    "geometry_msgs/Quaternion": "float64 x; float64 y; float64 z; float64 w",
    "geometry_msgs/Pose": "Point position; Quaternion orientation",
    "geometry_msgs/PoseStamped": "Header header; Pose pose",
    "geometry_msgs/Transform": "Vector3 translation; Quaternion rotation",
    "geometry_msgs/Twist": "Vector3 linear; Vector3 angular",
    "geometry_msgs/Wrench": "Vector3 force; Vector3 torque",
    "sensor_msgs/JointState": "Header header; string[] name; float64[] position; float64[] velocity; float64[] effort",
    "sensor_msgs/MultiDOFJointState": (
        "Header header; string[] joint_names; geometry_msgs/Transform[] transforms; geometry_msgs/Twist[] twist;"
        "geometry_msgs/Wrench[] wrench"
    ),
    "trajectory_msgs/JointTrajectoryPoint": (
        "float64[] positions; float64[] velocities; float64[] accelerations; float64[] effort; duration time_from_start"
    ),
    "trajectory_msgs/JointTrajectory": "Header header; string[] joint_names; JointTrajectoryPoint[] points",
    "shape_msgs/SolidPrimitive": (
        "uint8 BOX=1; uint8 SPHERE=2; uint8 CYLINDER=3; uint8 CONE=4; uint8 type; float64[] dimensions; uint8 BOX_X=0;"
        "uint8 BOX_Y=1; uint8 BOX_Z=2; uint8 SPHERE_RADIUS=0; uint8 CYLINDER_HEIGHT=0; uint8 CYLINDER_RADIUS=1;"
        "uint8 CONE_HEIGHT=0; uint8 CONE_RADIUS=1"
    ),
    "shape_msgs/MeshTriangle": "uint32[3] vertex_indices",
    "shape_msgs/Mesh": "MeshTriangle[] triangles; geometry_msgs/Point[] vertices",
    "shape_msgs/Plane": "float64[4] coef",
    "object_recognition_msgs/ObjectType": "string key; string db",
}

_CODES = (
    "SUCCESS=1 FAILURE=99999 PLANNING_FAILED=-1 INVALID_MOTION_PLAN=-2 MOTION_PLAN_INVALIDATED_BY_ENVIRONMENT_CHANGE=-3 "
    "CONTROL_FAILED=-4 UNABLE_TO_AQUIRE_SENSOR_DATA=-5 TIMED_OUT=-6 PREEMPTED=-7 START_STATE_IN_COLLISION=-10 "
    "START_STATE_VIOLATES_PATH_CONSTRAINTS=-11 START_STATE_INVALID=-26 GOAL_IN_COLLISION=-12 "
    "GOAL_VIOLATES_PATH_CONSTRAINTS=-13 GOAL_CONSTRAINTS_VIOLATED=-14 GOAL_STATE_INVALID=-27 UNRECOGNIZED_GOAL_TYPE=-28 "
    "INVALID_GROUP_NAME=-15 INVALID_GOAL_CONSTRAINTS=-16 INVALID_ROBOT_STATE=-17 INVALID_LINK_NAME=-18 INVALID_OBJECT_NAME=-19 "
    "FRAME_TRANSFORM_FAILURE=-21 COLLISION_CHECKING_UNAVAILABLE=-22 ROBOT_STATE_STALE=-23 SENSOR_INFO_STALE=-24 "
    "COMMUNICATION_FAILURE=-25 CRASH=-29 ABORT=-30 NO_IK_SOLUTION=-31"
)

_MOVEIT = {
    "moveit_msgs/MoveItErrorCodes": "int32 val;" + ";".join(f"int32 {code}" for code in _CODES.split()),
    "moveit_msgs/BoundingVolume": (
        "shape_msgs/SolidPrimitive[] primitives; geometry_msgs/Pose[] primitive_poses; shape_msgs/Mesh[] meshes;"
        "geometry_msgs/Pose[] mesh_poses"
    ),
    "moveit_msgs/JointConstraint": (
        "string joint_name; float64 position; float64 tolerance_above; float64 tolerance_below; float64 weight"
    ),
    "moveit_msgs/PositionConstraint": (
        "Header header; string link_name; geometry_msgs/Vector3 target_point_offset; BoundingVolume constraint_region;"
        "float64 weight"
    ),
    "moveit_msgs/OrientationConstraint": (
        "Header header; geometry_msgs/Quaternion orientation; string link_name; float64 absolute_x_axis_tolerance;"
        "float64 absolute_y_axis_tolerance; float64 absolute_z_axis_tolerance; uint8 parameterization;"
        "uint8 XYZ_EULER_ANGLES=0; uint8 ROTATION_VECTOR=1; float64 weight"
    ),
    "moveit_msgs/VisibilityConstraint": (
        "float64 target_radius; geometry_msgs/PoseStamped target_pose; int32 cone_sides; geometry_msgs/PoseStamped sensor_pose;"
        "float64 max_view_angle; float64 max_range_angle; uint8 SENSOR_Z=0; uint8 SENSOR_Y=1; uint8 SENSOR_X=2;"
        "uint8 sensor_view_direction; float64 weight"
    ),
    "moveit_msgs/Constraints": (
        "string name; JointConstraint[] joint_constraints; PositionConstraint[] position_constraints;"
        "OrientationConstraint[] orientation_constraints; VisibilityConstraint[] visibility_constraints"
    ),
    "moveit_msgs/CollisionObject": (
        "Header header; geometry_msgs/Pose pose; string id; object_recognition_msgs/ObjectType type;"
        "shape_msgs/SolidPrimitive[] primitives; geometry_msgs/Pose[] primitive_poses; shape_msgs/Mesh[] meshes;"
        "geometry_msgs/Pose[] mesh_poses; shape_msgs/Plane[] planes; geometry_msgs/Pose[] plane_poses; string[] subframe_names;"
        "geometry_msgs/Pose[] subframe_poses; byte ADD=0; byte REMOVE=1; byte APPEND=2; byte MOVE=3; byte operation"
    ),
    "moveit_msgs/AttachedCollisionObject": (
        "string link_name; CollisionObject object; string[] touch_links; trajectory_msgs/JointTrajectory detach_posture;"
        "float64 weight"
    ),
    "moveit_msgs/RobotState": (
        "sensor_msgs/JointState joint_state; sensor_msgs/MultiDOFJointState multi_dof_joint_state;"
        "AttachedCollisionObject[] attached_collision_objects; bool is_diff"
    ),
    "moveit_msgs/PositionIKRequest": (
        "string group_name; moveit_msgs/RobotState robot_state; Constraints constraints; bool avoid_collisions;"
        "string ik_link_name; geometry_msgs/PoseStamped pose_stamped; string[] ik_link_names;"
        "geometry_msgs/PoseStamped[] pose_stamped_vector; duration timeout"
    ),
}

_ON_LINK = "string link_name; float64 weight;"
_POINT, _AXIS = "geometry_msgs/Point", "geometry_msgs/Vector3"
_BIO_IK = {
    "bio_ik_msgs/PositionGoal": f"{_ON_LINK} {_POINT} position",
    "bio_ik_msgs/OrientationGoal": f"{_ON_LINK} geometry_msgs/Quaternion orientation",
    "bio_ik_msgs/PoseGoal": f"{_ON_LINK} geometry_msgs/Pose pose; float64 rotation_scale",
    "bio_ik_msgs/LookAtGoal": f"{_ON_LINK} {_AXIS} axis; {_POINT} target",
    "bio_ik_msgs/MinDistanceGoal": f"{_ON_LINK} {_POINT} target; float64 distance",
    "bio_ik_msgs/MaxDistanceGoal": f"{_ON_LINK} {_POINT} target; float64 distance",
    "bio_ik_msgs/LineGoal": f"{_ON_LINK} {_POINT} position; {_AXIS} direction",
    "bio_ik_msgs/TouchGoal": f"{_ON_LINK} {_POINT} position; {_AXIS} normal",
    "bio_ik_msgs/AvoidJointLimitsGoal": "float64 weight; bool primary",
    "bio_ik_msgs/CenterJointsGoal": "float64 weight; bool primary",
    "bio_ik_msgs/MinimalDisplacementGoal": "float64 weight; bool primary",
    "bio_ik_msgs/JointVariableGoal": (
        "string variable_name; float64 variable_position; float64 weight; bool secondary"
    ),
    "bio_ik_msgs/BalanceGoal": f"float64 weight; {_POINT} target; {_AXIS} axis",
    "bio_ik_msgs/SideGoal": f"{_ON_LINK} {_AXIS} axis; {_AXIS} direction",
    "bio_ik_msgs/DirectionGoal": f"{_ON_LINK} {_AXIS} axis; {_AXIS} direction",
    "bio_ik_msgs/ConeGoal": (
        f"{_ON_LINK} {_POINT} position; float64 position_weight; {_AXIS} axis; {_AXIS} direction; float64 angle"
    ),
    "bio_ik_msgs/IKRequest": (
        "string robot_description; string group_name; bool approximate; duration timeout; string[] fixed_joints;"
        "moveit_msgs/RobotState robot_state; bool avoid_collisions; PositionGoal[] position_goals;"
        "OrientationGoal[] orientation_goals; PoseGoal[] pose_goals; LookAtGoal[] look_at_goals;"
        "MinDistanceGoal[] min_distance_goals; MaxDistanceGoal[] max_distance_goals; LineGoal[] line_goals;"
        "TouchGoal[] touch_goals; AvoidJointLimitsGoal[] avoid_joint_limits_goals; CenterJointsGoal[] center_joints_goals;"
        "MinimalDisplacementGoal[] minimal_displacement_goals; JointVariableGoal[] joint_variable_goals;"
        "BalanceGoal[] balance_goals; SideGoal[] side_goals; DirectionGoal[] direction_goals; ConeGoal[] cone_goals"
    ),
    "bio_ik_msgs/IKResponse": (
        "moveit_msgs/RobotState solution; moveit_msgs/MoveItErrorCodes error_code; float64 solution_fitness"
    ),
}

MESSAGES: dict[str, str] = {
    name: "\n".join(line.strip() for line in text.split(";") if line.strip()) + "\n"
    for name, text in {**_STANDARD, **_MOVEIT, **_BIO_IK}.items()
}

SERVICES = {  # request and response
    "moveit_msgs/GetPositionIK": (
        "PositionIKRequest ik_request\n",
        "RobotState solution\nMoveItErrorCodes error_code\n",
    ),
    "bio_ik_msgs/GetIK": ("IKRequest ik_request\n", "IKResponse ik_response\n"),
}


def full_name(type_name: str, package: str) -> str:
    """The type of a field with its package, without the brackets of an array: "Pose[]" in geometry_msgs is geometry_msgs/Pose."""
    bare = type_name.partition("[")[0]
    if bare == "Header":
        return "std_msgs/Header"
    return bare if "/" in bare or f"{package}/{bare}" not in MESSAGES else f"{package}/{bare}"


def fields(text: str) -> list[tuple[str, str]]:
    """(type, name) of each field of a definition, without constants."""
    return [(kind, name) for kind, name in (line.split(None, 1) for line in text.splitlines()) if "=" not in name]


def needed(name: str) -> list[str]:
    """All messages that a message consists of, itself first."""
    found: dict[str, None] = {}

    def visit(each: str) -> None:
        if each in MESSAGES and each not in found:
            found[each] = None
            for kind, _ in fields(MESSAGES[each]):
                visit(full_name(kind, each.partition("/")[0]))

    visit(name)
    return list(found)
