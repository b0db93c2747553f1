"""A node of ROS 1: the services of MoveIt and bio_ik, and joint states."""

from __future__ import annotations

import hashlib
import io
import socket
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from typing import Any, Protocol

import memetik as mk
from memetik_serve.codes import Code
from memetik_serve.core import Core
from memetik_serve.request import Reply, Request
from memetik_serve.ros import convert
from memetik_serve.ros.definitions import MESSAGES, SERVICES, fields, full_name, needed
from memetik_serve.ros.tcpros import AT_ONCE, Postures, Repeater, framed, messages

try:
    import genpy
    import genpy.dynamic
    import rospy
except ModuleNotFoundError as error:
    if error.name is None or error.name.startswith("memetik"):  # a fault of our own is not a missing package
        raise
    raise mk.errors.MissingExtraError(
        error.name,
        "memetik ros1",
        how="It comes with ROS 1 and not from pip: source the setup.bash of ROS 1 and start memetik in that shell, or on Debian "
        "apt-get install python3-rospy and give --ros-path /usr/lib/python3/dist-packages.",
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


def _bytes(message: Any) -> bytes:
    written = io.BytesIO()
    message.serialize(written)
    return written.getvalue()


def _postures(joints: convert.Joints) -> Postures:
    found, count = service_class("moveit_msgs/GetPositionIK")._response_class(), len(joints.names)
    state = found.solution.joint_state
    state.name = joints.names
    begin = len(_bytes(state)) - 2 * 4  # where velocities and efforts are not, which have a length each
    state.position, found.error_code.val = [0.0] * count, int(Code.SUCCESS)
    return Postures(_bytes(found), begin, count)


class _Client(Protocol):
    """One client of a service over a persistent connection."""

    def answer(self, request: bytes) -> bytes:
        """What is sent for a request."""

    def settle(self) -> None:
        """Do what can wait until the reply is sent."""


class _AnyClient:
    """One whose requests are made messages of, each time."""

    def __init__(self, kind: Service, handler: Callable[[Any], Any]) -> None:
        self._kind, self._handler = kind, handler

    def answer(self, request: bytes) -> bytes:
        return framed(_bytes(self._handler(self._kind._request_class().deserialize(request))))

    def settle(self) -> None:
        pass


class _Service(rospy.Service):  # type: ignore[misc]
    """A service that reads and writes a persistent connection once for each request. rospy's own loop does the same with
    buffers and copies of messages that take longer than most searches.

    connect: makes what answers one client.
    """

    def __init__(self, name: str, kind: Service, handler: Callable[[Any], Any], connect: Callable[[], _Client]) -> None:
        self._connect = connect
        super().__init__(name, kind, handler, buff_size=AT_ONCE)

    def handle(self, transport: Any, header: dict[str, str]) -> None:
        """Answer one client until it leaves, in a thread that rospy has made for it."""
        if header.get("probe") == "1" or header.get("persistent", "").lower() not in ("1", "true"):
            super().handle(transport, header)
            return
        client, connection = self._connect(), transport.socket
        try:
            connection.setblocking(True)
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            for request in messages(connection):
                try:
                    connection.sendall(client.answer(request))
                except (genpy.DeserializationError, genpy.SerializationError, rospy.ServiceException) as error:
                    self.error_handler(error, *sys.exc_info())
                    self._write_service_error(transport, f"error processing request: {error}")
                client.settle()
        except (OSError, rospy.exceptions.TransportException):
            pass  # the client has left
        finally:
            transport.close()


class Node:
    """The services and the topic, while a master runs.

    core: what answers.
    namespace: before the names of services and topics.
    follow: a topic of joint states; the latest is where requests start that have no state of their own.
    rate: how often the latest solution is published as `joint_states_ik` [1/s]; never if 0.
    """

    def __init__(self, core: Core, *, namespace: str = "", follow: str = "", rate: float = 30.0) -> None:
        self.core, self._joints = core, convert.Joints(core.body)
        self.current: dict[str, float] = {}  # the latest joint states, replaced and never changed
        self._latest = core.body.home.copy()
        self._ended = threading.Event()
        prefix = namespace.rstrip("/") + "/" if namespace.strip("/") else ""
        position, bio = service_class("moveit_msgs/GetPositionIK"), service_class("bio_ik_msgs/GetIK")
        state = message_class("sensor_msgs/JointState")
        self._state = state
        self._postures = _postures(self._joints)
        self._services = [
            _Service(f"{prefix}compute_ik", position, self._position_ik, partial(_PoseClient, self)),
            _Service(f"{prefix}bio_ik/get_position_ik", position, self._position_ik, partial(_PoseClient, self)),
            _Service(
                f"{prefix}bio_ik/get_approximate_ik", position, self._approximate_ik, partial(_PoseClient, self, True)
            ),
            _Service(f"{prefix}bio_ik/get_bio_ik", bio, self._bio_ik, partial(_AnyClient, bio, self._bio_ik)),
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

    def position_ik(self, message: Any, approximate: bool = False) -> tuple[Reply, Request | None]:
        """The reply to a GetPositionIK, and the request that it means; none if it could not be understood."""
        meant: Request | None = None

        def make() -> Request:
            nonlocal meant
            meant = convert.position_ik(self.core, message.ik_request, self.current, approximate)
            return meant

        return self.noted(convert.answer(self.core, make)), meant

    def position_bytes(self, reply: Reply) -> bytes:
        """A reply of GetPositionIK as it is sent."""
        if reply.code is Code.SUCCESS and reply.q is not None:
            return self._postures.bytes_of(self._joints.numbers(reply.q))
        return framed(_bytes(self._position_response(reply)))

    def _position_ik(self, message: Any, approximate: bool = False) -> Any:
        return self._position_response(self.position_ik(message, approximate)[0])

    def _position_response(self, reply: Reply) -> Any:
        found = service_class("moveit_msgs/GetPositionIK")._response_class()
        convert.fill(found.solution, self._joints, reply, plain=True)
        found.error_code.val = int(reply.code)
        return found

    def _approximate_ik(self, message: Any) -> Any:
        return self._position_ik(message, True)

    def _bio_ik(self, message: Any) -> Any:
        reply = self.noted(
            convert.answer(self.core, lambda: convert.bio_ik(self.core, message.ik_request, self.current))
        )
        found = service_class("bio_ik_msgs/GetIK")._response_class()
        convert.fill(found.ik_response.solution, self._joints, reply, plain=True)
        found.ik_response.error_code.val = int(reply.code)
        found.ik_response.solution_fitness = reply.fitness
        return found

    def noted(self, reply: Reply) -> Reply:
        """The reply; its posture is the next that is published, and the log says what was wrong with a request."""
        if not reply.code.is_answer:
            rospy.logwarn_throttle(1.0, f"memetik: {reply.code.name}: {reply.message}")
        elif reply.code is Code.SUCCESS and reply.q is not None:
            self._latest = reply.q
        return reply

    def _followed(self, message: Any) -> None:
        self.current = {**self.current, **convert.joint_state(message)}

    def _publish(self, rate: float) -> None:
        while not self._ended.wait(1.0 / rate) and not rospy.is_shutdown():
            message = self._state()
            message.header.stamp = rospy.Time.now()
            message.name, message.position = self._joints.names, self._joints.positions(self._latest)
            self._publisher.publish(message)


class _PoseClient:
    """One who asks for GetPositionIK; what comes a second time with other numbers is answered from its bytes alone."""

    def __init__(self, node: Node, approximate: bool = False) -> None:
        self._node, self._approximate = node, approximate
        self._repeater = Repeater(node.core)
        self._new: tuple[Any, bytes, Request] | None = None

    def answer(self, request: bytes) -> bytes:
        reply = self._repeater.answer(request, self._node.current)
        if reply is not None:
            return self._node.position_bytes(self._node.noted(reply))
        message = service_class("moveit_msgs/GetPositionIK")._request_class().deserialize(request)
        reply, meant = self._node.position_ik(message, self._approximate)
        self._new = (message.ik_request, request, meant) if meant is not None and reply.code.is_answer else None
        return self._node.position_bytes(reply)

    def settle(self) -> None:
        if self._new is not None:
            self._repeater.learn(*self._new)
            self._new = None


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
