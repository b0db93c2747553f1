"""Bags: joint states and poses in the files of ros2 bag, read and written by rosbags."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

import memetik as mk
from memetik.errors import known, said
from memetik.types import Array
from memetik_serve.ros.types2 import joint_state, types

try:
    from rosbags.highlevel import AnyReader
    from rosbags.rosbag2 import StoragePlugin, Writer
except ModuleNotFoundError as error:
    raise mk.errors.MissingExtraError("rosbags", "bags", "ros") from error

JOINT_STATE, POSE = "sensor_msgs/msg/JointState", "geometry_msgs/msg/PoseStamped"
VERSION = 9  # of the metadata


def write_joint_states(
    path: str | PathLike[str], body: mk.Body, times: ArrayLike, q: ArrayLike, *, topic: str = "/joint_states"
) -> None:
    """Write joint vectors (n, dof) at times [s] as a bag (a new folder with a file of MCAP) that `ros2 bag play` takes."""
    rows, when = np.atleast_2d(np.asarray(q, dtype=np.float64)), np.asarray(times, dtype=np.float64)
    if rows.shape != (len(when), body.dof) or not (np.isfinite(rows).all() and np.isfinite(when).all()):
        raise mk.errors.ProblemError(
            f"q is {rows.shape} at {len(when)} times; give finite numbers, one row of {body.dof} for each time."
        )
    kind = types("jazzy")
    messages = [joint_state(kind, body.joint_names, row, int(1e9 * t)) for t, row in zip(when, rows, strict=True)]
    _write(Path(path), topic, JOINT_STATE, when, messages)


def write_poses(
    path: str | PathLike[str], times: ArrayLike, poses: ArrayLike, *, frame: str = "world", topic: str = "/pose"
) -> None:
    """Write poses (n, 4, 4) at times [s] as a bag of geometry_msgs/PoseStamped in a frame."""
    rows, when = np.asarray(poses, dtype=np.float64), np.asarray(times, dtype=np.float64)
    if rows.shape != (len(when), 4, 4):
        raise mk.errors.ProblemError(
            f"poses are {rows.shape} at {len(when)} times; give one 4x4 transform for each time."
        )
    kind, messages = types("jazzy"), []
    for t, pose in zip(when, rows, strict=True):
        message = kind.blank(POSE)
        message.header.frame_id = frame
        message.header.stamp.sec, message.header.stamp.nanosec = divmod(int(1e9 * t), 1_000_000_000)
        p, r = message.pose.position, message.pose.orientation
        p.x, p.y, p.z = pose[:3, 3].tolist()
        r.w, r.x, r.y, r.z = mk.geometry.to_quaternion(pose[:3, :3]).tolist()
        messages.append(message)
    _write(Path(path), topic, POSE, when, messages)


def read_joint_states(path: str | PathLike[str], body: mk.Body, *, topic: str | None = None) -> tuple[Array, Array]:
    """Times [s] and joint vectors (n, dof) of a bag of ROS 1 or ROS 2.

    Joints that a message does not name keep their last value, home at first; those that the body does not have are left out.
    """
    index = {name: k for k, name in enumerate(body.joint_names)}
    times, rows, q = [], [], body.home.copy()
    for stamp, message in _read(path, JOINT_STATE, topic):
        for name, value in zip(message.name, message.position, strict=False):
            if name in index:
                q[index[name]] = value
        times.append(stamp)
        rows.append(q.copy())
    return np.array(times), np.array(rows).reshape(-1, body.dof)


def read_poses(path: str | PathLike[str], *, topic: str | None = None) -> tuple[Array, Array]:
    """Times [s] and poses (n, 4, 4) of a bag of geometry_msgs/PoseStamped, in the frames that they are in."""
    times, rows = [], []
    for stamp, message in _read(path, POSE, topic):
        p, r = message.pose.position, message.pose.orientation
        times.append(stamp)
        rows.append(mk.transform((p.x, p.y, p.z), mk.quaternion(r.w, r.x, r.y, r.z)))
    return np.array(times), np.array(rows).reshape(-1, 4, 4)


def _write(path: Path, topic: str, name: str, times: Array, messages: Sequence[object]) -> None:
    kind = types("jazzy")
    try:
        with Writer(path, version=VERSION, storage_plugin=StoragePlugin.MCAP) as writer:
            connection = writer.add_connection(topic, name, typestore=kind.store)
            for t, message in zip(times, messages, strict=True):
                writer.write(connection, int(1e9 * t), kind.write(message, name))
    except Exception as error:  # rosbags raises its own kinds, and those of the system
        raise mk.errors.ProblemError(f"the bag {str(path)!r} cannot be written: {said(error)}.") from error


def _read(path: str | PathLike[str], name: str, topic: str | None) -> list[tuple[float, Any]]:
    try:
        with AnyReader([Path(path)]) as reader:
            fitting = [each for each in reader.connections if each.msgtype == name]
            if topic is not None:
                known(topic, [each.topic for each in fitting], f"topic of {name}", f"the bag {str(path)!r}")
                fitting = [each for each in fitting if each.topic == topic]
            if not fitting:
                raise mk.errors.FormatError(f"the bag {str(path)!r} has no {name}.")
            return [(1e-9 * stamp, reader.deserialize(data, name)) for _, stamp, data in reader.messages(fitting)]
    except mk.MemetikError:
        raise
    except Exception as error:  # as above
        raise mk.errors.FormatError(f"the bag {str(path)!r} cannot be read: {said(error)}.") from error
