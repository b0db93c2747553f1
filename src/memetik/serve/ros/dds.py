"""Joint states of ROS 2 over DDS, by Cyclone DDS: the same bytes that rmw_cyclonedds and rmw_fastrtps send. No services."""

import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

import memetik as mk

try:
    from cyclonedds.core import Listener, Policy, Qos
    from cyclonedds.domain import DomainParticipant
    from cyclonedds.idl import IdlStruct
    from cyclonedds.idl.types import float64, int32, sequence, uint32
    from cyclonedds.pub import DataWriter
    from cyclonedds.sub import DataReader
    from cyclonedds.topic import Topic
    from cyclonedds.util import duration
except ModuleNotFoundError as error:
    raise mk.MissingExtraError("cyclonedds", "joint states over DDS", "ros") from error


# Cyclone reads the annotations of these, so this file does without `from __future__ import annotations`.
@dataclass
class Time(IdlStruct, typename="builtin_interfaces::msg::dds_::Time_"):  # type: ignore[call-arg,misc]
    """Seconds and nanoseconds."""

    sec: int32 = 0
    nanosec: uint32 = 0


@dataclass
class Header(IdlStruct, typename="std_msgs::msg::dds_::Header_"):  # type: ignore[call-arg,misc]
    """When and where."""

    stamp: Time = field(default_factory=Time)
    frame_id: str = ""


@dataclass
class JointState(IdlStruct, typename="sensor_msgs::msg::dds_::JointState_"):  # type: ignore[call-arg,misc]
    """sensor_msgs/msg/JointState."""

    header: Header = field(default_factory=Header)
    name: sequence[str] = field(default_factory=list)
    position: sequence[float64] = field(default_factory=list)
    velocity: sequence[float64] = field(default_factory=list)
    effort: sequence[float64] = field(default_factory=list)


# The default profile of ROS 2: reliable, volatile, the last ten.
PROFILE = Qos(
    Policy.Reliability.Reliable(duration(milliseconds=100)), Policy.Durability.Volatile, Policy.History.KeepLast(10)
)


class JointStates:
    """Topics of joint states in a domain of DDS (ROS_DOMAIN_ID)."""

    def __init__(self, domain: int = 0) -> None:
        self._participant = DomainParticipant(domain)
        self._writers: dict[str, DataWriter] = {}
        self._readers: list[DataReader] = []
        self._lock = threading.Lock()

    def publish(self, topic: str, names: Iterable[str], positions: Iterable[float], stamp: int | None = None) -> None:
        """Send joint values now; `stamp` in ns."""
        with self._lock:
            if topic not in self._writers:
                self._writers[topic] = DataWriter(self._participant, self._topic(topic), qos=PROFILE)
            writer = self._writers[topic]
        when = Time(*divmod(time.time_ns() if stamp is None else stamp, 1_000_000_000))
        writer.write(JointState(Header(when), list(names), [float(value) for value in positions]))

    def follow(self, topic: str, heard: Callable[[Any], None]) -> None:
        """Call a function with every message of a topic."""

        class Heard(Listener):  # type: ignore[misc]
            def on_data_available(self, reader: Any) -> None:
                for message in reader.take(10):
                    if isinstance(message, JointState):  # others say that a writer has left
                        heard(message)

        self._readers.append(DataReader(self._participant, self._topic(topic), qos=PROFILE, listener=Heard()))

    def _topic(self, name: str) -> Any:
        return Topic(self._participant, f"rt/{name.strip('/')}", JointState, qos=PROFILE)
