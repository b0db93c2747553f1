"""The node of ROS 2 on rclpy, where ROS 2 and moveit_msgs are installed: any middleware, parameters and remapping as usual."""

from __future__ import annotations

from typing import Any

import memetik as mk
from memetik_serve.codes import Code
from memetik_serve.core import Core
from memetik_serve.request import Reply
from memetik_serve.ros import convert

try:
    import rclpy
    from moveit_msgs.srv import GetPositionIK
    from sensor_msgs.msg import JointState
except ModuleNotFoundError as error:
    if error.name is None or error.name.startswith("memetik"):  # a fault of our own is not a missing package
        raise
    raise mk.errors.MissingExtraError(
        error.name,
        "memetik ros2 --rclpy",
        how="It comes with ROS 2 and not from pip: install ROS 2 and its package moveit_msgs (on Ubuntu apt install "
        "ros-$ROS_DISTRO-moveit-msgs), source its setup.bash, and start memetik in that shell with the same Python. Without "
        "ROS, memetik ros2 without --rclpy speaks to ROS 2 as well.",
    ) from error

try:  # a package that few have
    from bio_ik_msgs.srv import GetIK
except ModuleNotFoundError:
    GetIK = None


class Node:
    """Services and topics on a node of rclpy; arguments as for the node over Zenoh."""

    def __init__(self, core: Core, node: Any, *, follow: str = "", rate: float = 30.0) -> None:
        self.core, self._node, self._joints = core, node, convert.Joints(core.body)
        self._current: dict[str, float] = {}
        self._latest = core.body.home.copy()
        for name in ("compute_ik", "bio_ik/get_position_ik"):
            node.create_service(GetPositionIK, name, self._position_ik)
        node.create_service(GetPositionIK, "bio_ik/get_approximate_ik", self._approximate_ik)
        if GetIK is not None:
            node.create_service(GetIK, "bio_ik/get_bio_ik", self._bio_ik)
        if follow:
            node.create_subscription(JointState, follow, self._followed, 10)
        if rate > 0.0:
            self._publisher = node.create_publisher(JointState, "joint_states_ik", 10)
            node.create_timer(1.0 / rate, self._publish)

    def _position_ik(self, request: Any, response: Any, approximate: bool = False) -> Any:
        reply = self._answer(lambda: convert.position_ik(self.core, request.ik_request, self._current, approximate))
        self._fill(response.solution, response.error_code, reply)
        return response

    def _approximate_ik(self, request: Any, response: Any) -> Any:
        return self._position_ik(request, response, True)

    def _bio_ik(self, request: Any, response: Any) -> Any:
        reply = self._answer(lambda: convert.bio_ik(self.core, request.ik_request, self._current))
        self._fill(response.ik_response.solution, response.ik_response.error_code, reply)
        response.ik_response.solution_fitness = reply.fitness
        return response

    def _fill(self, state: Any, code: Any, reply: Reply) -> None:
        convert.fill(state, self._joints, reply)
        state.joint_state.position = [float(value) for value in state.joint_state.position]  # no arrays of NumPy here
        code.val = int(reply.code)
        if hasattr(code, "message"):
            code.message, code.source = reply.message, self._node.get_name()

    def _answer(self, make: Any) -> Reply:
        reply = convert.answer(self.core, make)
        if not reply.code.is_answer:
            self._node.get_logger().warning(f"{reply.code.name}: {reply.message}")
        elif reply.code is Code.SUCCESS and reply.q is not None:
            self._latest = reply.q
        return reply

    def _followed(self, message: Any) -> None:
        self._current = {**self._current, **convert.joint_state(message)}

    def _publish(self) -> None:
        message = JointState()
        message.header.stamp = self._node.get_clock().now().to_msg()
        message.name, message.position = self._joints.names, self._joints.positions(self._latest).tolist()
        self._publisher.publish(message)


def run(body: mk.Body, *, name: str = "memetik", namespace: str = "", **options: Any) -> None:
    """Spin until interrupted; options as for Node."""
    core = Core(body)
    convert.compile_ahead(core)
    rclpy.init()
    node = rclpy.create_node(name, namespace=namespace or None)
    Node(core, node, **options)
    try:
        rclpy.spin(node)
    except KeyboardInterrupt:
        pass
    finally:
        node.destroy_node()
        rclpy.try_shutdown()
