"""A node of ROS 1: the services of MoveIt and bio_ik, and joint states."""

from __future__ import annotations

import hashlib
import threading
from dataclasses import dataclass
from functools import cache
from typing import Any

import memetik as mk
from memetik.serve.codes import Code
from memetik.serve.core import Core
from memetik.serve.request import Reply
from memetik.serve.ros import convert
from memetik.serve.ros.definitions import MESSAGES, SERVICES, fields, full_name, needed

try:
    import genpy
    import genpy.dynamic
    import rospy
except ModuleNotFoundError as error:
    if error.name is None or error.name.startswith("memetik"):  # a fault of our own is not a missing package
        raise
    raise mk.MissingExtraError(
        error.name,
        "memetik ros1, which runs where ROS 1 is: source its setup.bash first, or on Debian apt-get install python3-rospy and "
        "give --ros-path /usr/lib/python3/dist-packages;",
    ) from error


@dataclass(frozen=True)
class Service:
    """What rospy asks of the class of a service."""

    _type: str
    _md5sum: str
    _request_class: Any
    _response_class: Any


@cache
def message_class(name: str) -> Any:
    """The class of a message, made by genpy of its definition; others with the same definition understand it."""
    return _generated(name, MESSAGES[name])


@cache
def service_class(name: str) -> Service:
    """The class of a service; its sum is that of the sums of all its fields."""
    package, _ = name.split("/")
    sums, classes = "", []
    for text, suffix in zip(SERVICES[name], ("Request", "Response"), strict=True):
        parts = [(full_name(kind, package), each) for kind, each in fields(text)]
        sums += "\n".join(f"{message_class(kind)._md5sum} {each}" for kind, each in parts)
        classes.append(_generated(f"{name}{suffix}", text))
    return Service(name, hashlib.md5(sums.encode()).hexdigest(), *classes)


def _generated(name: str, text: str) -> Any:
    package = name.partition("/")[0]
    parts = dict.fromkeys(each for kind, _ in fields(text) for each in needed(full_name(kind, package)))
    line = "\n" + "=" * 80 + "\n"
    return genpy.dynamic.generate_dynamic(
        name, line.join([text, *(f"MSG: {each}\n{MESSAGES[each]}" for each in parts)])
    )[name]


class Node:
    """The services and the topic, while a master runs.

    core: what answers.
    namespace: before the names of services and topics.
    follow: a topic of joint states; the latest is where requests start that have no state of their own.
    rate: how often the latest solution is published as `joint_states_ik` [1/s]; never if 0.
    """

    def __init__(self, core: Core, *, namespace: str = "", follow: str = "", rate: float = 30.0) -> None:
        self.core, self._joints = core, convert.Joints(core.body)
        self._current: dict[str, float] = {}
        self._latest = core.body.home.copy()
        self._ended = threading.Event()
        prefix = namespace.rstrip("/") + "/" if namespace.strip("/") else ""
        position, bio = service_class("moveit_msgs/GetPositionIK"), service_class("bio_ik_msgs/GetIK")
        state = message_class("sensor_msgs/JointState")
        self._state = state
        self._services = [
            rospy.Service(f"{prefix}compute_ik", position, self._position_ik, buff_size=1 << 16),
            rospy.Service(f"{prefix}bio_ik/get_position_ik", position, self._position_ik, buff_size=1 << 16),
            rospy.Service(f"{prefix}bio_ik/get_approximate_ik", position, self._approximate_ik, buff_size=1 << 16),
            rospy.Service(f"{prefix}bio_ik/get_bio_ik", bio, self._bio_ik, buff_size=1 << 16),
        ]
        if follow:
            rospy.Subscriber(follow, state, self._followed, queue_size=1)
        if rate > 0.0:
            self._publisher = rospy.Publisher(f"{prefix}joint_states_ik", state, queue_size=1)
            threading.Thread(target=self._publish, args=(rate,), name="memetik-joint-states", daemon=True).start()

    def close(self) -> None:
        """End the services and the topic."""
        self._ended.set()
        for service in self._services:
            service.shutdown("the node ends")

    def _position_ik(self, message: Any, approximate: bool = False) -> Any:
        request = message.ik_request
        reply = self._answer(lambda: convert.position_ik(self.core, request, self._current, approximate))
        found = service_class("moveit_msgs/GetPositionIK")._response_class()
        convert.fill(found.solution, self._joints, reply, plain=True)
        found.error_code.val = int(reply.code)
        return found

    def _approximate_ik(self, message: Any) -> Any:
        return self._position_ik(message, True)

    def _bio_ik(self, message: Any) -> Any:
        reply = self._answer(lambda: convert.bio_ik(self.core, message.ik_request, self._current))
        found = service_class("bio_ik_msgs/GetIK")._response_class()
        convert.fill(found.ik_response.solution, self._joints, reply, plain=True)
        found.ik_response.error_code.val = int(reply.code)
        found.ik_response.solution_fitness = reply.fitness
        return found

    def _answer(self, make: Any) -> Reply:
        reply = convert.answer(self.core, make)
        if not reply.code.is_answer:
            rospy.logwarn_throttle(1.0, f"memetik: {reply.code.name}: {reply.message}")
        elif reply.code is Code.SUCCESS and reply.q is not None:
            self._latest = reply.q
        return reply

    def _followed(self, message: Any) -> None:
        self._current = {**self._current, **convert.joint_state(message)}

    def _publish(self, rate: float) -> None:
        while not self._ended.wait(1.0 / rate) and not rospy.is_shutdown():
            message = self._state()
            message.header.stamp = rospy.Time.now()
            message.name, message.position = self._joints.names, self._joints.positions(self._latest)
            self._publisher.publish(message)


def run(body: mk.Body, *, name: str = "memetik", **options: Any) -> None:
    """Serve until the node is shut down; options as for Node."""
    core = Core(body)
    convert.compile_ahead(core)
    rospy.init_node(name, disable_signals=False)
    node = Node(core, **options)
    print(
        f"memetik: {body.name} at {rospy.get_name()}: compute_ik, bio_ik/get_position_ik, get_approximate_ik, get_bio_ik",
        flush=True,
    )
    try:
        rospy.spin()
    finally:
        node.close()
