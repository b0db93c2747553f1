"""A node of ROS 2 on the wire, without ROS: services and joint states over Zenoh, as rmw_zenoh speaks it."""

from __future__ import annotations

import hashlib
import itertools
import json
import struct
import threading
import time
from collections.abc import Callable
from typing import Any

import memetik as mk
from memetik.serve.codes import Code
from memetik.serve.core import Core
from memetik.serve.request import Reply, Request
from memetik.serve.ros import convert
from memetik.serve.ros.types2 import Types, dds_name, joint_state, types

try:
    import zenoh
except ModuleNotFoundError as error:
    raise mk.MissingExtraError("eclipse-zenoh", "memetik ros2", "ros") from error

JOINT_STATE = "sensor_msgs/msg/JointState"
QOS = "::,10:,:,:,,"  # reliable, volatile, the last ten: the default profile as rmw_zenoh writes it
ROUTER = "tcp/127.0.0.1:7447"
PATIENCE = 2_000  # ms that a router is looked for


def key(domain: int, name: str, kind: str, type_hash: str) -> str:
    """Where a topic or a service is: domain/name/type/hash."""
    return f"{domain}/{name.strip('/')}/{dds_name(kind)}/{type_hash}"


def attachment(sequence: int, gid: bytes, stamp: int | None = None) -> bytes:
    """What goes with every sample: a number, a time [ns], and whose it is; those without are dropped."""
    return struct.pack("<qqB", sequence, time.time_ns() if stamp is None else stamp, len(gid)) + gid


def read_attachment(data: bytes) -> tuple[int, int, bytes]:
    """Number, time and identity; raises FormatError where it has none."""
    if len(data) < 33 or data[16] != 16:
        raise mk.FormatError(f"the attachment has {len(data)} bytes; rmw_zenoh sends 33.")
    sequence, stamp = struct.unpack_from("<qq", data)
    return sequence, stamp, data[17:33]


def session(connect: str = ROUTER, *, listen: str = "", mode: str = "peer") -> Any:
    """A Zenoh session: a peer of the router that rmw_zenohd is, or a router itself."""
    config = zenoh.Config()
    config.insert_json5("mode", json.dumps(mode))
    config.insert_json5("connect/endpoints", json.dumps([connect] if connect else []))
    config.insert_json5("listen/endpoints", json.dumps([listen] if listen else ["tcp/127.0.0.1:0"]))
    config.insert_json5("connect/exit_on_failure", "true")
    config.insert_json5("connect/timeout_ms", str(PATIENCE))
    config.insert_json5("scouting/multicast/enabled", "false")
    try:
        return zenoh.open(config)
    except Exception as error:  # zenoh raises its own kinds
        raise mk.ProblemError(
            f"no Zenoh router at {connect or listen}: {error}. Start one with: ros2 run rmw_zenoh_cpp rmw_zenohd."
        ) from error


class Node:
    """The services and topics of a node, while its session lasts.

    core: what answers.
    distribution: of ROS 2; it decides types and hashes.
    domain: ROS_DOMAIN_ID.
    follow: a topic of joint states; the latest is where requests start that have no state of their own.
    rate: how often the latest solution is published as `joint_states_ik` [1/s]; never if 0.
    dds: a JointStates of dds.py, over which joint states are published and followed besides.
    """

    def __init__(
        self,
        core: Core,
        opened: Any,
        *,
        name: str = "memetik",
        namespace: str = "",
        distribution: str = "jazzy",
        domain: int = 0,
        follow: str = "",
        rate: float = 30.0,
        dds: Any = None,
    ) -> None:
        self.core, self._session, self._domain, self._name = core, opened, domain, name
        self._types: Types = types(distribution)
        self._joints = convert.Joints(core.body)
        self._current: dict[str, float] = {}
        self._latest = core.body.home.copy()
        self._ended = threading.Event()
        self._ids = itertools.count(1)
        self._kept: list[Any] = [opened.liveliness().declare_token(self._token("NN", "0", namespace))]
        self._namespace = namespace
        prefix = f"/{namespace.strip('/')}/" if namespace.strip("/") else "/"
        for service, answer in (
            ("compute_ik", self._position_ik),
            ("bio_ik/get_position_ik", self._position_ik),
            ("bio_ik/get_approximate_ik", lambda message: self._position_ik(message, True)),
        ):
            self._serve(prefix + service, "moveit_msgs/srv/GetPositionIK", answer)
        self._serve(prefix + "bio_ik/get_bio_ik", "bio_ik_msgs/srv/GetIK", self._bio_ik)
        state_hash = self._types.hash(JOINT_STATE)
        if follow:
            topic = follow if follow.startswith("/") else prefix + follow
            self._kept.append(opened.declare_subscriber(key(domain, topic, JOINT_STATE, state_hash), self._followed))
            self._announce("MS", topic, JOINT_STATE)
            if dds is not None:
                dds.follow(topic, self._take)
        if rate > 0.0:
            topic = f"{prefix}joint_states_ik"
            publisher = opened.declare_publisher(key(domain, topic, JOINT_STATE, state_hash))
            gid = self._announce("MP", topic, JOINT_STATE)
            self._kept.append(publisher)
            threading.Thread(target=self._publish, args=(publisher, gid, rate, topic, dds), daemon=True).start()

    def close(self) -> None:
        """Withdraw everything."""
        self._ended.set()
        for each in reversed(self._kept):
            each.undeclare()

    # ---- Who is there --------------------------------------------------------------------------------------------

    def _token(self, entity: str, number: str, namespace: str, *topic: str) -> str:
        """A liveliness token, by which `ros2 node list` and clients that wait for a service see the node."""
        place = "%" + namespace.strip("/").replace("/", "%")
        parts = [
            "@ros2_lv",
            str(self._domain),
            str(self._session.zid()),
            "0",
            number,
            entity,
            "%",
            place,
            self._name,
            *topic,
        ]
        return "/".join(parts)

    def _announce(self, entity: str, name: str, kind: str) -> bytes:
        """Say that something is there; the identity of it."""
        about = (name.replace("/", "%"), dds_name(kind), self._types.hash(kind), QOS)
        token = self._token(entity, str(next(self._ids)), self._namespace, *about)
        self._kept.append(self._session.liveliness().declare_token(token))
        return hashlib.sha256(token.encode()).digest()[:16]

    # ---- Services ------------------------------------------------------------------------------------------------

    def _serve(self, name: str, kind: str, answer: Callable[[Any], Any]) -> None:
        where = key(self._domain, name, kind, self._types.hash(kind))

        def asked(query: Any) -> None:
            with query:
                try:
                    message = self._types.read(bytes(query.payload or b""), f"{kind}_Request")
                    sequence, _, gid = read_attachment(bytes(query.attachment or b""))
                except mk.MemetikError as error:
                    query.reply_err(str(error).encode())
                    return
                data = self._types.write(answer(message.ik_request), f"{kind}_Response")
                query.reply(where, data, attachment=attachment(sequence, gid))

        self._kept.append(self._session.declare_queryable(where, asked, complete=True))
        self._announce("SS", name, kind)

    def _position_ik(self, request: Any, approximate: bool = False) -> Any:
        reply = self._answer(lambda: convert.position_ik(self.core, request, self._current, approximate))
        found = self._types.blank("moveit_msgs/srv/GetPositionIK_Response")
        self._fill(found.solution, found.error_code, reply)
        return found

    def _bio_ik(self, request: Any) -> Any:
        reply = self._answer(lambda: convert.bio_ik(self.core, request, self._current))
        found = self._types.blank("bio_ik_msgs/srv/GetIK_Response")
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

    # ---- Joint states --------------------------------------------------------------------------------------------

    def _followed(self, sample: Any) -> None:
        try:
            message = self._types.read(bytes(sample.payload), JOINT_STATE)
        except mk.FormatError:
            return  # not what the key says; nothing to follow
        self._take(message)

    def _take(self, message: Any) -> None:
        self._current = {**self._current, **convert.joint_state(message)}

    def _publish(self, publisher: Any, gid: bytes, rate: float, topic: str, dds: Any) -> None:
        for sequence in itertools.count(1):
            if self._ended.wait(1.0 / rate):
                return
            now, positions = time.time_ns(), self._joints.positions(self._latest)
            message = joint_state(self._types, self._joints.names, positions, now)
            publisher.put(self._types.write(message, JOINT_STATE), attachment=attachment(sequence, gid, now))
            if dds is not None:
                dds.publish(topic, self._joints.names, positions, now)


def run(body: mk.Body, *, connect: str = ROUTER, dds: bool = False, **options: Any) -> None:
    """Serve until interrupted; options as for Node. With `dds`, joint states go over DDS, too."""
    if dds:
        from memetik.serve.ros.dds import JointStates

        options["dds"] = JointStates(options.get("domain", 0))
    core = Core(body)
    convert.compile_ahead(core)
    with session(connect) as opened:
        node = Node(core, opened, **options)
        print(f"memetik: {body.name} over Zenoh at {connect}: compute_ik, bio_ik/get_bio_ik and others", flush=True)
        try:
            threading.Event().wait()
        except KeyboardInterrupt:
            pass
        finally:
            node.close()
