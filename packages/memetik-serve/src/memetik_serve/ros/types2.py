"""Messages of ROS 2 without ROS: classes, CDR and type hashes by rosbags, with the types of MoveIt and bio_ik."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import Any

import numpy as np

import memetik as mk
from memetik_serve.ros.definitions import MESSAGES, SERVICES, fields, full_name

try:
    from rosbags.interfaces import Nodetype
    from rosbags.typesys import Stores, get_types_from_msg, get_typestore
except ModuleNotFoundError as error:
    raise mk.errors.MissingExtraError("rosbags", "messages of ROS 2", "ros") from error

# The oldest distribution has no type hashes, and error codes without words.
DISTRIBUTIONS = {"humble": Stores.ROS2_HUMBLE, "jazzy": Stores.ROS2_JAZZY, "kilted": Stores.ROS2_KILTED}
NO_HASH = "TypeHashNotSupported"
JOINT_STATE = "sensor_msgs/msg/JointState"
_INFO = "service_msgs/msg/ServiceEventInfo"
_EVENT_INFO = "uint8 event_type\nbuiltin_interfaces/Time stamp\nuint8[16] client_gid\nint64 sequence_number\n"
_OURS = ("moveit_msgs", "bio_ik_msgs", "object_recognition_msgs")


class Types:
    """The types of one distribution."""

    def __init__(self, distribution: str = "jazzy") -> None:
        if distribution not in DISTRIBUTIONS:
            raise mk.errors.UnknownNameError("distribution of ROS 2", distribution, DISTRIBUTIONS)
        self.distribution = distribution
        self.store = get_typestore(DISTRIBUTIONS[distribution])
        found: dict[str, Any] = {}
        for name, text in MESSAGES.items():
            package, short = name.split("/")
            if package in _OURS:
                if short == "MoveItErrorCodes" and distribution != "humble":
                    text += "string message\nstring source\n"
                found.update(get_types_from_msg(_second(text, package), f"{package}/msg/{short}"))
        self.store.register(found)
        # A char of a message file is a uint8 to ROS 2, which its hash says; rosbags has it as a char.
        info = get_types_from_msg(_EVENT_INFO, _INFO)
        if _INFO in self.store.fielddefs:
            self.store.fielddefs = {**self.store.fielddefs, **info}
        for name, (request, response) in SERVICES.items():
            self.add_service(name, request, response)

    def add_service(self, name: str, request: str, response: str) -> None:
        """Register the two messages of a service, and what its hash is made of."""
        package, short = name.split("/")
        base = f"{package}/srv/{short}"
        texts = {f"{base}_Request": _second(request, package), f"{base}_Response": _second(response, package)}
        if _INFO in self.store.fielddefs:
            texts[f"{base}_Event"] = f"{_INFO} info\n{base}_Request[<=1] request\n{base}_Response[<=1] response\n"
            texts[base] = "".join(
                f"{base}_{part} {part.lower()}_message\n" for part in ("Request", "Response", "Event")
            )
        for each, text in texts.items():
            self.store.register(_as_service(get_types_from_msg(text, each)))

    def hash(self, name: str) -> str:
        """The type hash that topics and services carry (REP 2011)."""
        return NO_HASH if self.distribution == "humble" else str(self.store.hash_rihs01(name))

    def blank(self, name: str) -> Any:
        """A message with zeros, empty texts and empty lists."""
        return self.store.types[name](**{each: self._zero(kind) for each, kind in self.store.fielddefs[name][1]})

    def write(self, message: Any, name: str) -> bytes:
        """The message as CDR."""
        return bytes(self.store.serialize_cdr(message, name))

    def read(self, data: bytes, name: str) -> Any:
        """The message in CDR; raises FormatError where it is none."""
        try:
            return self.store.deserialize_cdr(data, name)
        except Exception as error:  # whatever bytes of a stranger make a reader raise
            raise mk.errors.FormatError(f"these {len(data)} bytes are no {name}: {type(error).__name__}.") from error

    def _zero(self, kind: Any) -> Any:
        node, detail = kind
        if node == Nodetype.NAME:
            return self.blank(detail)
        if node == Nodetype.BASE:
            return _ZEROS.get(detail[0], 0)
        inner, count = detail
        if node == Nodetype.ARRAY and inner[0] == Nodetype.BASE and inner[1][0] != "string":
            return np.zeros(count, dtype=inner[1][0])
        if inner[0] == Nodetype.BASE and inner[1][0] != "string":
            return np.zeros(0, dtype=inner[1][0] if inner[1][0] not in ("octet", "char", "byte") else np.uint8)
        return [self._zero(inner) for _ in range(count if node == Nodetype.ARRAY else 0)]


_ZEROS: dict[str, Any] = {"string": "", "wstring": "", "bool": False, "float32": 0.0, "float64": 0.0}


def _as_service(found: Any) -> Any:
    """rosbags knows packages of messages only, and calls pkg/srv/X a message of pkg/srv."""
    if isinstance(found, dict):
        return {_as_service(name): _as_service(each) for name, each in found.items()}
    if isinstance(found, (list, tuple)):
        return type(found)(map(_as_service, found))
    return found.replace("/srv/msg/", "/srv/") if type(found) is str else found


@cache
def types(distribution: str) -> Types:
    """The types of a distribution, made once."""
    return Types(distribution)


def dds_name(name: str) -> str:
    """sensor_msgs/msg/JointState -> sensor_msgs::msg::dds_::JointState_"""
    package, kind, short = name.split("/")
    return f"{package}::{kind}::dds_::{short}_"


def _second(text: str, package: str) -> str:
    """A definition of ROS 1 as ROS 2 writes it: no constants, which hashes leave out, times and headers by their packages."""
    return "".join(f"{_kind(kind, package)} {name}\n" for kind, name in fields(text))


def _kind(kind: str, package: str) -> str:
    bare, bracket, rest = kind.partition("[")
    plain = {"duration": "builtin_interfaces/Duration", "time": "builtin_interfaces/Time"}
    return plain.get(bare, full_name(bare, package)) + bracket + rest


def joint_state(types_: Types, names: Iterable[str], positions: Any, stamp: int = 0) -> Any:
    """A sensor_msgs/msg/JointState; `stamp` in ns."""
    message = types_.blank(JOINT_STATE)
    message.header.stamp.sec, message.header.stamp.nanosec = divmod(stamp, 1_000_000_000)
    message.name, message.position = list(names), np.asarray(positions, dtype=np.float64)
    return message
