"""A node of ROS 2 on the wire, without ROS: services and joint states over Zenoh, DDS or both."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Iterable
from typing import Any, Protocol

import memetik as mk
from memetik.types import Array
from memetik_serve.codes import Code
from memetik_serve.core import Core
from memetik_serve.request import Reply, Request
from memetik_serve.ros import convert
from memetik_serve.ros.types2 import Types, types

POSITION_IK, BIO_IK = "moveit_msgs/srv/GetPositionIK", "bio_ik_msgs/srv/GetIK"


class Wire(Protocol):
    """What messages of ROS 2 travel by: `Zenoh` or `Dds`. Names are absolute, with a slash first."""

    def serve(self, name: str, kind: str, answer: Callable[[Any], Any]) -> None:
        """Answer the requests of a service."""

    def follow(self, topic: str, heard: Callable[[Any], None]) -> None:
        """Call a function with every joint state of a topic."""

    def publisher(self, topic: str) -> Callable[[list[str], Array, int], None]:
        """A function that sends names and positions of joints at a time [ns]."""

    def close(self) -> None:
        """Withdraw everything."""


class Node:
    """The services and topics of a node, while its wires last.

    core: what answers.
    known: the types of a distribution.
    follow: a topic of joint states; the latest is where requests start that have no state of their own.
    rate: how often the latest solution is published as `joint_states_ik` [1/s]; never if 0.
    """

    def __init__(
        self,
        core: Core,
        wires: Iterable[Wire],
        known: Types,
        *,
        name: str = "memetik",
        namespace: str = "",
        follow: str = "",
        rate: float = 30.0,
    ) -> None:
        self.core, self._types, self._name, self._wires = core, known, name, tuple(wires)
        self._joints = convert.Joints(core.body)
        self._current: dict[str, float] = {}
        self._latest = core.body.home.copy()
        self._ended, self._publishing = threading.Event(), threading.Thread()
        prefix = f"/{namespace.strip('/')}/" if namespace.strip("/") else "/"
        for wire in self._wires:
            wire.serve(f"{prefix}compute_ik", POSITION_IK, self._position_ik)
            wire.serve(f"{prefix}bio_ik/get_position_ik", POSITION_IK, self._position_ik)
            wire.serve(f"{prefix}bio_ik/get_approximate_ik", POSITION_IK, self._approximate_ik)
            wire.serve(f"{prefix}bio_ik/get_bio_ik", BIO_IK, self._bio_ik)
            if follow:
                wire.follow(follow if follow.startswith("/") else prefix + follow, self._followed)
        if rate > 0.0:
            publishers = [wire.publisher(f"{prefix}joint_states_ik") for wire in self._wires]
            self._publishing = threading.Thread(target=self._publish, args=(publishers, rate), daemon=True)
            self._publishing.start()

    def close(self) -> None:
        """Withdraw everything."""
        self._ended.set()
        if self._publishing.is_alive():  # what is withdrawn can be sent no more
            self._publishing.join()
        for wire in self._wires:
            wire.close()

    def _position_ik(self, message: Any, approximate: bool = False) -> Any:
        request = message.ik_request
        reply = self._answer(lambda: convert.position_ik(self.core, request, self._current, approximate))
        found = self._types.blank(f"{POSITION_IK}_Response")
        self._fill(found.solution, found.error_code, reply)
        return found

    def _approximate_ik(self, message: Any) -> Any:
        return self._position_ik(message, True)

    def _bio_ik(self, message: Any) -> Any:
        reply = self._answer(lambda: convert.bio_ik(self.core, message.ik_request, self._current))
        found = self._types.blank(f"{BIO_IK}_Response")
        self._fill(found.ik_response.solution, found.ik_response.error_code, reply)
        found.ik_response.solution_fitness = reply.fitness
        return found

    def _fill(self, state: Any, code: Any, reply: Reply) -> None:
        convert.fill(state, self._joints, reply)
        code.val = int(reply.code)
        if hasattr(code, "message"):
            code.message, code.source = reply.message, self._name

    def _answer(self, make: Callable[[], Request]) -> Reply:
        reply = convert.answer(self.core, make)
        if reply.code is Code.SUCCESS and reply.q is not None:
            self._latest = reply.q
        return reply

    def _followed(self, message: Any) -> None:
        self._current = {**self._current, **convert.joint_state(message)}

    def _publish(self, publishers: list[Callable[[list[str], Array, int], None]], rate: float) -> None:
        while not self._ended.wait(1.0 / rate):
            now, positions = time.time_ns(), self._joints.positions(self._latest)
            for publish in publishers:
                publish(self._joints.names, positions, now)


def run(
    body: mk.Body,
    *,
    connect: str = "",
    dds: bool = False,
    domain: int = 0,
    distribution: str = "jazzy",
    name: str = "memetik",
    namespace: str = "",
    **options: Any,
) -> None:
    """Serve until interrupted; other options as for Node.

    connect: a router of Zenoh; where none is given, the usual one, or none at all with `dds`.
    dds: speak DDS, as rmw_cyclonedds_cpp does.
    domain: ROS_DOMAIN_ID.
    distribution: of ROS 2; it decides types and hashes.
    """
    known, wires, places = types(distribution), list[Wire](), list[str]()
    with contextlib.ExitStack() as stack:
        if connect or not dds:
            from memetik_serve.ros.zenoh_wire import ROUTER, Zenoh, session

            opened = stack.enter_context(session(connect or ROUTER))
            wires.append(Zenoh(opened, known, domain=domain, name=name, namespace=namespace))
            places.append(f"Zenoh at {connect or ROUTER}")
        if dds:
            from memetik_serve.ros.dds import Dds

            wires.append(Dds(known, domain))
            places.append(f"DDS in domain {domain}")
        core = Core(body)
        convert.compile_ahead(core)
        node = Node(core, wires, known, name=name, namespace=namespace, **options)
        print(f"memetik: {body.name} over {' and '.join(places)}: compute_ik, bio_ik/get_bio_ik and others", flush=True)
        try:
            threading.Event().wait()
        except KeyboardInterrupt:
            pass
        finally:
            node.close()
