"""TCPROS: requests and replies as the bytes of a connection of ROS 1, for those who ask again and again."""

from __future__ import annotations

import socket
import struct
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import memetik as mk
from memetik_serve.core import Core
from memetik_serve.repeated import RepeatedPose, start_vector
from memetik_serve.request import Reply, Request
from memetik_serve.ros import convert

AT_ONCE = 1 << 16  # bytes that are read at once
MOST_BYTES = 1 << 24  # of a message; a request has some hundred
MOST_LAYOUTS = 16  # of one connection, each with a problem of its own
_LENGTH = struct.Struct("<I")
_SEQUENCE_AND_STAMP = "12x"  # of a header, which no answer depends on


def messages(connection: socket.socket) -> Iterator[bytes]:
    """The messages that come until the other side closes the connection, or announces one that is too large to be a request."""
    pending = bytearray()
    while data := connection.recv(AT_ONCE):
        pending += data
        while len(pending) >= 4:
            end = 4 + _LENGTH.unpack_from(pending)[0]
            if end > MOST_BYTES:
                return
            if len(pending) < end:
                break
            yield bytes(pending[4:end])
            del pending[:end]


class Numbers(NamedTuple):
    """What differs from request to request."""

    state: Sequence[float]  # positions of joints
    position: Sequence[float]  # [m]
    wxyz: Sequence[float]
    timeout: float  # [s]


class Layout:
    """Where the numbers are in requests of GetPositionIK that ask for one pose, and what is between them.

    Whatever says how long something is belongs to what is between. So a request with the same bytes there has the same fields,
    and one look by `struct` reads it.
    """

    def __init__(self, request: bytes, form: str, state: int) -> None:
        self._form = struct.Struct(form)
        self.size, self._state = self._form.size, state
        self._between = self._parts(self._form.unpack(request))[1]

    def read(self, request: bytes) -> Numbers | None:
        """The numbers of a request; None if it is another."""
        numbers, between = self._parts(self._form.unpack(request))
        return numbers if between == self._between else None

    def _parts(self, found: tuple[Any, ...]) -> tuple[Numbers, tuple[Any, ...]]:
        end = 2 + self._state
        px, py, pz, x, y, z, w, counts, seconds, nanoseconds = found[end + 4 :]
        numbers = Numbers(found[2:end], (px, py, pz), (w, x, y, z), max(0.0, seconds + 1e-9 * nanoseconds))
        return numbers, (found[:2], found[end : end + 4], counts)


def layout(message: Any, request: bytes) -> Layout | None:
    """The layout of a moveit_msgs/PositionIKRequest in bytes; None if it has more in it than a pose and joint positions."""
    state, constraints = message.robot_state, message.constraints
    joints, several = state.joint_state, state.multi_dof_joint_state
    more = (
        several.joint_names, several.transforms, several.twist, several.wrench, state.attached_collision_objects,
        constraints.joint_constraints, constraints.position_constraints, constraints.orientation_constraints,
        constraints.visibility_constraints, message.ik_link_names, message.pose_stamped_vector,
    )  # fmt: skip
    if any(len(each) for each in more):
        return None
    names = _text(joints.header.frame_id) + 4 + sum(map(_text, joints.name)) + 4
    # The rest of the robot state, constraints, whether to avoid collisions, and the link.
    rest = _text(several.header.frame_id) + 4 * 4 + 4 + 1
    rest += _text(constraints.name) + 4 * 4 + 1 + _text(message.ik_link_name)
    form = (
        f"<{_text(message.group_name)}s{_SEQUENCE_AND_STAMP}{names}s{len(joints.position)}d4s{8 * len(joints.velocity)}x"
        f"4s{8 * len(joints.effort)}x{_SEQUENCE_AND_STAMP}{rest}s"
        f"{_SEQUENCE_AND_STAMP}{_text(message.pose_stamped.header.frame_id)}s7d8s2i"
    )
    return Layout(request, form, len(joints.position)) if struct.calcsize(form) == len(request) else None


def _text(text: str) -> int:
    """How many bytes a text takes."""
    return 4 + len(text.encode())


class Postures:
    """Replies of GetPositionIK with a posture in them, of which all but the numbers is always the same.

    reply: one in bytes, whose posture begins at `begin` and has `count` numbers.
    """

    def __init__(self, reply: bytes, begin: int, count: int) -> None:
        end = begin + 8 * count
        self._form = struct.Struct(f"<{5 + begin}s{count}d{len(reply) - end}s")
        self._head, self._tail = framed(reply)[: 5 + begin], reply[end:]

    def bytes_of(self, values: Sequence[float]) -> bytes:
        """What is sent: that the call went well, the length, and the reply."""
        return self._form.pack(self._head, *values, self._tail)


def framed(reply: bytes) -> bytes:
    """A reply as it is sent: that the call went well, the length, and the reply."""
    return b"\x01" + _LENGTH.pack(len(reply)) + reply


class _Known(NamedTuple):
    """A layout that came before, and what answers requests of it."""

    layout: Layout
    indices: list[int]  # of the joints in the robot state; -1 for mimic joints, which follow others
    on_top: bool  # of the latest joint states that the node follows; of home otherwise
    pose: RepeatedPose


class Repeater:
    """What one connection asks again and again, answered without making messages of it."""

    def __init__(self, core: Core) -> None:
        self._core = core
        self._known: list[_Known] = []
        self._home = core.body.home.tolist()
        self._followed: tuple[Mapping[str, float], list[float]] = ({}, self._home)

    def answer(self, request: bytes, current: Mapping[str, float]) -> Reply | None:
        """The reply to a request whose like was learnt, from `current` where it has no state or a difference; None if it was not
        learnt, or has something in it that is to be refused."""
        for known in self._known:
            if known.layout.size == len(request) and (numbers := known.layout.read(request)) is not None:
                try:
                    start = start_vector(
                        self._base(current) if known.on_top else self._home, known.indices, numbers.state
                    )
                    reply = start is not None and known.pose.answer(start, *numbers[1:])
                except mk.MemetikError:
                    return None
                return convert.as_move_group(reply) if reply else None
        return None

    def learn(self, message: Any, request: bytes, meant: Request) -> None:
        """Take in a request that was answered: the message, its bytes, and what they mean."""
        frame, state = message.pose_stamped.header.frame_id, message.robot_state
        if len(self._known) >= MOST_LAYOUTS or [wish.kind for wish in meant.objectives] != ["Pose"]:
            return
        if self._core.world_from(frame.lstrip("/"), meant.state) is not None:  # another place with every state
            return
        found = layout(message, request)
        if found is not None:
            names = {name: k for k, name in enumerate(self._core.body.joint_names)}
            indices = [names.get(name, -1) for name in state.joint_state.name]
            on_top = bool(state.is_diff or not indices)
            self._known.append(_Known(found, indices, on_top, RepeatedPose(self._core, meant)))

    def _base(self, current: Mapping[str, float]) -> list[float]:
        """The joint vector of the latest joint states, made once for each."""
        if current is not self._followed[0]:
            self._followed = current, self._core.start(current).tolist()
        return self._followed[1]
