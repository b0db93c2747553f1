"""`memetik ros1`: a node that answers as MoveIt and bio_ik do."""

from __future__ import annotations

import argparse
import sys
from typing import Any

from memetik.cli.options import add_body, add_command, add_number, load_body


def add_commands(commands: Any) -> None:
    """Add `ros1`."""
    command = add_command(
        commands, "ros1", _ros1, "a node of ROS 1 that answers as MoveIt and bio_ik do",
        "A node of ROS 1 with the services compute_ik, bio_ik/get_position_ik, bio_ik/get_approximate_ik "
        "(moveit_msgs/GetPositionIK) and bio_ik/get_bio_ik (bio_ik_msgs/GetIK), which publishes the latest solution on "
        "joint_states_ik. Runs where rospy is.",
    )  # fmt: skip
    add_body(command)
    command.add_argument("--name", default="memetik", help="of the node (default: %(default)s)")
    command.add_argument("--namespace", default="", help="before the names of services and topics")
    command.add_argument(
        "--follow", default="", metavar="TOPIC", help="joint states that requests without a state start from"
    )
    add_number(command, "--rate", 30.0, "of joint_states_ik; 0 publishes nothing", "HZ")
    command.add_argument("--ros-path", metavar="FOLDER", help="where rospy is, if not in this Python's own folders")


def _ros1(options: argparse.Namespace) -> int:
    if options.ros_path:
        sys.path.append(options.ros_path)  # last: what both have is this Python's own
    from memetik.serve.ros.ros1 import run  # rospy is no package of pip

    run(load_body(options), name=options.name, namespace=options.namespace, follow=options.follow, rate=options.rate)
    return 0
