"""DDS by Cyclone DDS, as rmw_cyclonedds_cpp speaks it: services and joint states of a node.

Joint states are the same bytes with every middleware of ROS 2. Services are not: rmw_cyclonedds_cpp puts the identity of the
client and a number before each request, and the same before its reply; rmw_fastrtps sends both outside the message, in the
inline QoS of its packets, which Cyclone DDS neither sends nor shows.
"""

import logging
import struct
import threading
import time
from collections.abc import Callable
from typing import Any

import memetik as mk
from memetik.types import Array
from memetik_serve.ros.types2 import JOINT_STATE, NO_HASH, Types, dds_name, joint_state

try:
    from cyclonedds import core
    from cyclonedds.core import DDSException, GuardCondition, Listener, Policy, Qos, ReadCondition, WaitSet
    from cyclonedds.domain import DomainParticipant
    from cyclonedds.idl import make_idl_struct
    from cyclonedds.idl import types as idl
    from cyclonedds.pub import DataWriter
    from cyclonedds.sub import DataReader
    from cyclonedds.topic import Topic
    from cyclonedds.util import duration
    from rosbags.interfaces import Nodetype
except ModuleNotFoundError as error:
    raise mk.errors.MissingExtraError("cyclonedds", "memetik ros2 --dds", "ros") from error

_LOG = logging.getLogger("memetik_serve")
HEADER = {"guid": idl.uint64, "seq": idl.int64}  # cdds_request_header_t, before every request and every reply
PATIENCE = 1.0  # s until the reader of a client must have been discovered; the client would wait for the reply for ever
BASES = {"string": str, "bool": bool, "octet": idl.byte}


def _profile(depth: int, about: str = "") -> Any:
    """The default profile of ROS 2: reliable, volatile, the last `depth`; `about` is for others to read."""
    return Qos(
        Policy.Reliability.Reliable(duration(milliseconds=100)), Policy.Durability.Volatile, Policy.History.KeepLast(depth),
        Policy.WriterDataLifecycle(autodispose=False), Policy.Userdata(about.encode()),
    )  # fmt: skip


class Structs:
    """The types of a distribution as Cyclone DDS has them, made of the same fields as those of rosbags."""

    def __init__(self, known: Types) -> None:
        self._types = known
        self._made: dict[str, Any] = {}

    def get(self, name: str, before: dict[str, Any] | None = None) -> Any:
        """The class of a message, with fields before its own."""
        if name not in self._made:
            own = {each: self._kind(kind) for each, kind in self._types.store.fielddefs[name][1]}
            self._made[name] = make_idl_struct(name.rsplit("/", 1)[1] + "_", dds_name(name), {**(before or {}), **own})
        return self._made[name]

    def carrier(self, name: str) -> Any:
        """A class of what a writer of a message takes, which has the bytes already."""
        made = self.get(name)

        class Carrier(made):  # type: ignore[misc,valid-type]
            def __init__(self, data: bytes) -> None:
                self.data = data

            def serialize(self, **_: Any) -> bytes:
                return self.data

        return Carrier

    def _kind(self, kind: Any) -> Any:
        node, detail = kind
        if node == Nodetype.NAME:
            return self.get(detail)
        if node == Nodetype.BASE:
            return BASES.get(detail[0]) or getattr(idl, detail[0])
        inner, count = detail
        if node == Nodetype.ARRAY:
            return idl.array[self._kind(inner), count]
        return idl.sequence[self._kind(inner), count] if count else idl.sequence[self._kind(inner)]


def headed(data: bytes, guid: int, number: int) -> bytes:
    """CDR with the header before its fields, none of which that moves: alignments divide 16."""
    return data[:4] + struct.pack("<Qq", guid, number) + data[4:]


class Service:
    """A reader of requests and a writer of replies."""

    def __init__(self, owner: "Dds", name: str, kind: str, answer: Callable[[Any], Any], number: int) -> None:
        self._answer, self._known_clients = answer, set[int]()
        request, reply = (owner.structs.get(f"{kind}_{part}", HEADER) for part in ("Request", "Response"))
        self._carrier = owner.structs.carrier(f"{kind}_Response")
        self._write: Callable[[Any], bytes] = lambda found: owner.types.write(found, f"{kind}_Response")
        # Clients wait until they see a reader and a writer with the same serviceid.
        place = ".".join(f"{byte:x}" for byte in owner.participant.guid.bytes[:12] + number.to_bytes(4, "big"))
        about = f"serviceid={place};"
        # More than the ten of ROS, so that nothing is lost while one request is solved and many clients ask.
        reading, writing = (
            _profile(1000, about + owner.type_hash(f"{kind}_{part}")) for part in ("Request", "Response")
        )
        self.reader = DataReader(owner.participant, Topic(owner.participant, f"rq{name}Request", request), qos=reading)
        self._writer = DataWriter(owner.participant, Topic(owner.participant, f"rr{name}Reply", reply), qos=writing)
        self.asked = ReadCondition(self.reader, core.ViewState.Any | core.InstanceState.Any | core.SampleState.Any)

    def answer_all(self) -> None:
        """Answer what has come."""
        while True:
            try:
                came = self.reader.take(1)
            except DDSException:
                return
            except Exception:  # whatever bytes of a stranger make a reader raise that Cyclone DDS has let pass
                continue
            if not came:
                return
            (message,) = came
            if not message.sample_info.valid_data or not self._heard_by(message.sample_info.publication_handle):
                continue  # a writer has left, or the client
            try:
                found = self._answer(message)
            except Exception:  # a fault of ours, which must not end the service
                _LOG.exception("a request over DDS failed")
                continue
            try:
                self._writer.write(self._carrier(headed(self._write(found), message.guid, message.seq)))
            except DDSException:
                continue  # a client that does not take its replies must not hold up the others

    def _heard_by(self, client: int) -> bool:
        """Whether the reader of a client is there; a reply that is sent before would never arrive."""
        if client in self._known_clients:
            return True
        deadline = time.monotonic() + PATIENCE
        while True:
            asking = self.reader.get_matched_publication_data(client)
            if asking is None:
                return False
            identity = _client(asking)
            hearing = map(self._writer.get_matched_subscription_data, self._writer.get_matched_subscriptions())
            if not identity or identity in (_client(each) for each in hearing if each is not None):
                self._known_clients = {
                    client,
                    *self._known_clients.intersection(self.reader.get_matched_publications()),
                }
                return True
            if time.monotonic() > deadline:
                return False
            time.sleep(0.005)


def _client(endpoint: Any) -> bytes:
    """What a reader or a writer says of its client, `clientid=...`; nothing where it says nothing."""
    about = endpoint.qos[Policy.Userdata]
    return next((part for part in about.data.split(b";") if part.startswith(b"clientid=")), b"") if about else b""


class Dds:
    """What a node says and hears in a domain of DDS (ROS_DOMAIN_ID). One thread answers the requests of all services."""

    def __init__(self, known: Types, domain: int = 0) -> None:
        self.types, self.structs = known, Structs(known)
        self.participant = DomainParticipant(domain)
        self._services: list[Service] = []
        self._topics: list[Any] = []
        self._changed, self._ended = GuardCondition(self.participant), False
        self._waiting = WaitSet(self.participant)
        self._waiting.attach(self._changed)
        self._thread = threading.Thread(target=self._answer, name="memetik-dds", daemon=True)
        self._thread.start()

    def serve(self, name: str, kind: str, answer: Callable[[Any], Any]) -> None:
        """Answer the requests of a service, in the layout of rmw_cyclonedds_cpp."""
        service = Service(self, name, kind, answer, len(self._services) + 1)
        self._services.append(service)
        self._waiting.attach(service.asked)

    def follow(self, topic: str, heard: Callable[[Any], None]) -> None:
        """Call a function with every joint state of a topic."""

        class Heard(Listener):  # type: ignore[misc]
            def on_data_available(self, reader: Any) -> None:
                for message in reader.take(10):
                    if message.sample_info.valid_data:  # others say that a writer has left
                        heard(message)

        qos = _profile(10, self.type_hash(JOINT_STATE))
        self._topics.append(DataReader(self.participant, self._topic(topic), qos=qos, listener=Heard()))

    def publisher(self, topic: str) -> Callable[[list[str], Array, int], None]:
        """A function that sends names and positions of joints at a time [ns]."""
        qos = _profile(10, self.type_hash(JOINT_STATE))
        writer = DataWriter(self.participant, self._topic(topic), qos=qos)
        carrier = self.structs.carrier(JOINT_STATE)
        self._topics.append(writer)

        def publish(names: list[str], positions: Array, stamp: int) -> None:
            writer.write(carrier(self.types.write(joint_state(self.types, names, positions, stamp), JOINT_STATE)))

        return publish

    def close(self) -> None:
        """Withdraw everything."""
        self._ended = True
        self._changed.set(True)
        self._thread.join()
        self._services.clear()
        self._topics.clear()

    def type_hash(self, name: str) -> str:
        """What tools of ROS 2 read of a type, from Iron on."""
        known = self.types.hash(name)
        return f"typehash={known};" if known != NO_HASH else ""

    def _topic(self, name: str) -> Any:
        return Topic(self.participant, f"rt{name}", self.structs.get(JOINT_STATE))

    def _answer(self) -> None:
        while not self._ended:
            self._waiting.wait(duration(seconds=3600))
            for service in self._services:
                service.answer_all()
