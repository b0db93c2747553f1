"""Zenoh as rmw_zenoh speaks it: keys, attachments and liveliness tokens, services and joint states of a node."""

from __future__ import annotations

import hashlib
import itertools
import json
import struct
import time
from collections.abc import Callable
from typing import Any

import memetik as mk
from memetik.types import Array
from memetik_serve.ros.types2 import JOINT_STATE, Types, dds_name, joint_state

try:
    import zenoh
except ModuleNotFoundError as error:
    raise mk.errors.MissingExtraError("eclipse-zenoh", "memetik ros2", "ros") from error

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
        raise mk.errors.FormatError(f"the attachment has {len(data)} bytes; rmw_zenoh sends 33.")
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
        raise mk.errors.ProblemError(
            f"no Zenoh router at {connect or listen}: {error}. Start one with: ros2 run rmw_zenoh_cpp rmw_zenohd."
        ) from error


class Zenoh:
    """What a node says and hears over a session of Zenoh, while that lasts."""

    def __init__(
        self, opened: Any, known: Types, *, domain: int = 0, name: str = "memetik", namespace: str = ""
    ) -> None:
        self._session, self._types, self._domain, self._name, self._namespace = opened, known, domain, name, namespace
        self._ids = itertools.count(1)
        self._kept: list[Any] = [opened.liveliness().declare_token(self._token("NN", "0"))]

    def serve(self, name: str, kind: str, answer: Callable[[Any], Any]) -> None:
        """Answer the requests of a service."""
        where = self._key(name, kind)

        def asked(query: Any) -> None:
            with query:
                try:
                    message = self._types.read(bytes(query.payload or b""), f"{kind}_Request")
                    sequence, _, gid = read_attachment(bytes(query.attachment or b""))
                except mk.MemetikError as error:
                    query.reply_err(str(error).encode())
                    return
                data = self._types.write(answer(message), f"{kind}_Response")
                query.reply(where, data, attachment=attachment(sequence, gid))

        self._kept.append(self._session.declare_queryable(where, asked, complete=True))
        self._announce("SS", name, kind)

    def follow(self, topic: str, heard: Callable[[Any], None]) -> None:
        """Call a function with every joint state of a topic."""

        def came(sample: Any) -> None:
            try:
                message = self._types.read(bytes(sample.payload), JOINT_STATE)
            except mk.errors.FormatError:
                return  # not what the key says; nothing to follow
            heard(message)

        self._kept.append(self._session.declare_subscriber(self._key(topic, JOINT_STATE), came))
        self._announce("MS", topic, JOINT_STATE)

    def publisher(self, topic: str) -> Callable[[list[str], Array, int], None]:
        """A function that sends names and positions of joints at a time [ns]."""
        publisher = self._session.declare_publisher(self._key(topic, JOINT_STATE))
        gid = self._announce("MP", topic, JOINT_STATE)
        self._kept.append(publisher)
        numbers = itertools.count(1)

        def publish(names: list[str], positions: Array, stamp: int) -> None:
            data = self._types.write(joint_state(self._types, names, positions, stamp), JOINT_STATE)
            publisher.put(data, attachment=attachment(next(numbers), gid, stamp))

        return publish

    def close(self) -> None:
        """Withdraw everything."""
        for each in reversed(self._kept):
            each.undeclare()

    def _key(self, name: str, kind: str) -> str:
        return key(self._domain, name, kind, self._types.hash(kind))

    def _token(self, entity: str, number: str, *topic: str) -> str:
        """A liveliness token, by which `ros2 node list` and clients that wait for a service see the node."""
        place = "%" + self._namespace.strip("/").replace("/", "%")
        parts = ["@ros2_lv", str(self._domain), str(self._session.zid()), "0", number, entity, "%", place, self._name]
        return "/".join([*parts, *topic])

    def _announce(self, entity: str, name: str, kind: str) -> bytes:
        """Say that something is there; the identity of it."""
        about = (name.replace("/", "%"), dds_name(kind), self._types.hash(kind), QOS)
        token = self._token(entity, str(next(self._ids)), *about)
        self._kept.append(self._session.liveliness().declare_token(token))
        return hashlib.sha256(token.encode()).digest()[:16]
