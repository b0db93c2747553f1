"""`memetik ros1` and `memetik ros2`: nodes that answer as MoveIt and bio_ik do."""

from __future__ import annotations

import argparse
import sys
from typing import Any

from memetik.cli import add_body, add_command, add_number, load_body


def add_ros1(commands: Any) -> None:
    """Add `ros1`."""
    command = add_command(
        commands, "ros1", _ros1, "a node of ROS 1 that answers as MoveIt and bio_ik do",
        "A node of ROS 1 with the services compute_ik, bio_ik/get_position_ik, bio_ik/get_approximate_ik "
        "(moveit_msgs/GetPositionIK) and bio_ik/get_bio_ik (bio_ik_msgs/GetIK), which publishes the latest solution on "
        "joint_states_ik. Runs where rospy is.",
    )  # fmt: skip
    _add_common(command)
    command.add_argument("--ros-path", metavar="FOLDER", help="where rospy is, if not in this Python's own folders")


def add_ros2(commands: Any) -> None:
    """Add `ros2`."""
    command = add_command(
        commands, "ros2", _ros2, "a node of ROS 2 over Zenoh or DDS, without an installation of ROS",
        "The same node for ROS 2, which needs no installation of ROS. It speaks Zenoh as rmw_zenoh does, by the router that "
        "`ros2 run rmw_zenoh_cpp rmw_zenohd` starts; or, with --dds, DDS as rmw_cyclonedds_cpp does; or both.",
    )  # fmt: skip
    _add_common(command)
    router = "the router of Zenoh (default: tcp/127.0.0.1:7447; with --dds, none)"
    command.add_argument("--connect", default="", metavar="ADDRESS", help=router)
    add_number(command, "--domain", 0, "as ROS_DOMAIN_ID says", "N")
    command.add_argument("--dds", action="store_true", help="over DDS, by Cyclone DDS; with --connect, over Zenoh, too")
    command.add_argument(
        "--rclpy", action="store_true", help="a node of the ROS 2 that is installed, with its middleware"
    )
    releases = "whose messages are spoken: humble, jazzy or kilted (default: %(default)s)"
    command.add_argument("--distribution", default="jazzy", metavar="NAME", help=releases)


def _add_common(command: argparse.ArgumentParser) -> None:
    add_body(command)
    command.add_argument("--name", default="memetik", metavar="NAME", help="of the node (default: %(default)s)")
    command.add_argument("--namespace", default="", metavar="NAME", help="before the names of services and topics")
    follow = "joint states that requests without a state start from"
    command.add_argument("--follow", default="", metavar="TOPIC", help=follow)
    add_number(command, "--rate", 30.0, "of joint_states_ik; 0 publishes nothing", "HZ")


def _common(options: argparse.Namespace) -> dict[str, Any]:
    """What both nodes take."""
    return {"name": options.name, "namespace": options.namespace, "follow": options.follow, "rate": options.rate}


def _ros1(options: argparse.Namespace) -> int:
    if options.ros_path:
        sys.path.append(options.ros_path)  # last: what both have is this Python's own
    from memetik_serve.ros.ros1 import run  # rospy is no package of pip

    run(load_body(options), **_common(options))
    return 0


def _ros2(options: argparse.Namespace) -> int:
    if options.rclpy:
        from memetik_serve.ros.rclpy_node import run as run_with_ros

        run_with_ros(load_body(options), **_common(options))
        return 0
    from memetik_serve.ros.ros2 import run  # Zenoh is an extra

    run(
        load_body(options), **_common(options), connect=options.connect, domain=options.domain, distribution=options.distribution,
        dds=options.dds,
    )  # fmt: skip
    return 0
