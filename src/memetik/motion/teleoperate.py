"""Teleoperation: poses of a headset and hand controllers move a body, as in 5.8 of the thesis.

Devices and control loop run at their own pace. Devices post what they measure, from any thread; the loop takes the
newest, turns it by a calibration into targets, and a servo follows them within the limits of the joints.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from memetik.errors import GeometryError, ProblemError, known, shown
from memetik.geometry import TransformLike, as_transform, axis_angle
from memetik.geometry.checks import instance, mapping, real_number, several
from memetik.motion.servo import Servo
from memetik.motion.stream import Sample
from memetik.objectives import Objective, Orientation, Pose, Position
from memetik.types import Array

EXAMPLE = '{"head": 4x4 transform, "left": 4x4 transform}'


@dataclass(frozen=True, eq=False)
class Calibration:
    """From poses of a person to poses of a body: one scale, a turn about z and a shift for all, and a turn for each
    device.

        p' = scale Rz(yaw) p + offset        R' = Rz(yaw) R turns[name]

    Both spaces have z upwards, in metres. `Calibration.of` finds the numbers from one pose that person and body both
    take.
    """

    scale: float
    yaw: float  # rad
    offset: Array  # m
    turns: Mapping[str, Array]  # 3x3, by device

    @staticmethod
    def of(measured: Mapping[str, TransformLike], wanted: Mapping[str, TransformLike]) -> Calibration:
        """Of a person in a T-pose, say, and a body in the same.

        measured: where the devices are then, by name; at least two, apart from each other.
        wanted: where the frames of the body are then that follow them, by the same names: body.forward(q).

        Scale, yaw and offset are those of least squares, sum |scale Rz(yaw) p + offset - p'|^2 over all devices; the
        turns make the rotations agree exactly.
        """
        given, bodily = _poses(measured, "Calibration: measured"), _poses(wanted, "Calibration: wanted")
        if set(given) != set(bodily) or len(given) < 2:
            raise ProblemError(
                f"Calibration: measured are {sorted(given)} and wanted {sorted(bodily)}. Give the same two or more names in "
                "both."
            )
        p = np.array([given[name][:3, 3] for name in given])
        r = np.array([bodily[name][:3, 3] for name in given])
        middle, center = p.mean(axis=0), r.mean(axis=0)
        p, r = p - middle, r - center
        yaw = math.atan2(float((p[:, 0] * r[:, 1] - p[:, 1] * r[:, 0]).sum()), float((p[:, :2] * r[:, :2]).sum()))
        turn = axis_angle((0.0, 0.0, 1.0), yaw)
        spread = float((p * p).sum())
        scale = float(((p @ turn.T) * r).sum()) / spread if spread > 0.0 else 0.0
        if not scale > 1e-6:
            raise ProblemError(
                "Calibration: devices and frames are not arranged alike: no scale above zero fits. Measure them in the "
                "same pose, with z upwards and apart from each other."
            )
        turns = {name: (turn @ given[name][:3, :3]).T @ bodily[name][:3, :3] for name in given}
        return Calibration(scale, yaw, center - scale * turn @ middle, turns)

    def apply(self, name: str, pose: TransformLike) -> Array:
        """Where the frame that follows a device is to be, for a pose of the device."""
        known(name, self.turns, "device", "the calibration")
        return self._apply(name, as_transform(pose, name="pose"))

    def _apply(self, name: str, pose: Array) -> Array:
        """The same for any 4x4 array; what is not finite stays so."""
        turn = axis_angle((0.0, 0.0, 1.0), self.yaw)
        result = np.eye(4)
        result[:3, :3] = turn @ pose[:3, :3] @ self.turns[name]
        result[:3, 3] = self.scale * turn @ pose[:3, 3] + self.offset
        return result


class Teleoperator:
    """A servo whose targets come from devices.

        operator = mk.motion.Teleoperator(servo, {"head": gaze, "left": left_hand, "right": right_hand}, calibration)
        operator.post(time, {"head": T, "left": T, "right": T})  # from the thread of the devices, as often as they
        measure q = operator.step()                                      # from the control loop, once a tick of the
        servo

    The newest pose of each device wins: what is older than the last one by its own time is dropped, and so is what was
    replaced before the loop came to it. A device that falls silent keeps its last target; None in place of a pose
    releases the objective. A pose that is NaN or no rotation counts as missing, and `servo.held` says so. Targets out
    of reach give the closest posture, to which the servo moves within its limits, so nothing jolts.

    devices: the objective that follows each device: a Pose takes all of it, a Position or an Orientation its part.
    calibration: from the space of the devices to that of the body; none unless given.
    """

    def __init__(self, servo: Servo, devices: Mapping[str, Objective], calibration: Calibration | None = None) -> None:
        self.servo = instance(servo, Servo, ProblemError, "a servo. Give mk.Servo(problem).")
        self.devices: dict[str, Objective] = mapping(devices, ProblemError, "Teleoperator: devices", '{"left": pose}')
        for name, objective in self.devices.items():
            if not isinstance(objective, (Pose, Position, Orientation)) or objective not in servo.problem.objectives:
                raise ProblemError(
                    f"Teleoperator: device {shown(name)} moves {shown(objective)}. Give a Pose, Position or Orientation "
                    "of the servo's problem."
                )
        if calibration is not None:
            instance(
                calibration,
                Calibration,
                ProblemError,
                "a calibration. Give mk.motion.Calibration.of(measured, wanted).",
            )
            for name in self.devices:
                known(name, calibration.turns, "device", "the calibration")
        self.calibration = calibration
        self._lock = threading.Lock()
        self._times: dict[str, float] = {}  # of the newest pose of each device
        self._fresh: dict[str, Any] = {}  # poses that no step has taken yet

    def post(self, time: float, poses: Mapping[str, Any]) -> None:
        """What devices measured at a time [s] on a clock of their own; safe to call from any thread."""
        moment = real_number(time, ProblemError, "Teleoperator: time")
        if not math.isfinite(moment):
            raise ProblemError(f"Teleoperator: time is {moment}. Give seconds.")
        given = mapping(poses, ProblemError, "Teleoperator: poses", EXAMPLE)
        for name, pose in given.items():
            known(name, self.devices, "device", "this teleoperator")
            given[name] = None if pose is None else _matrix(pose, name)
        with self._lock:
            for name, pose in given.items():
                if moment >= self._times.get(name, -math.inf):
                    self._times[name], self._fresh[name] = moment, pose

    def step(self) -> Array:
        """One tick of the servo towards the newest poses."""
        with self._lock:
            fresh, self._fresh = self._fresh, {}
        return self.servo.step({self.devices[name]: self._target(name, pose) for name, pose in fresh.items()})

    def replay(self, stream: Iterable[Sample]) -> Array:
        """Follow a recorded stream from its first to its last sample, as fast as can be; a joint vector for each tick.

        Each sample is posted in the first tick that is not before it.
        """
        rows: list[Array] = []
        begin = None
        for sample in several(stream, ProblemError, "Teleoperator: a stream", "mk.motion.read_stream(path)"):
            if not isinstance(sample, Sample) or not math.isfinite(
                real_number(sample.time, ProblemError, "replay: time")
            ):
                raise ProblemError(f"Teleoperator: {shown(sample)} is not a sample. Give mk.motion.read_stream(path).")
            begin = sample.time if begin is None else begin
            while len(rows) < math.floor((sample.time - begin) * self.servo.rate + 1e-9):
                rows.append(self.step())
            self.post(sample.time, sample.poses)
        if begin is not None:
            rows.append(self.step())
        return np.array(rows).reshape(-1, self.servo.problem.body.dof)

    def __repr__(self) -> str:
        return f"<Teleoperator of {self.servo.problem.body.name}: {', '.join(self.devices)}>"

    def _target(self, name: str, pose: Any) -> Any:
        if pose is None:
            return None
        moved = pose if self.calibration is None else self.calibration._apply(name, pose)
        objective = self.devices[name]
        if isinstance(objective, Pose):
            return moved
        return moved[:3, 3] if isinstance(objective, Position) else moved[:3, :3]


def _matrix(pose: Any, name: str) -> Array:
    """A 4x4 array; one with bad numbers is for the servo to hold."""
    try:
        array = np.array(pose, dtype=np.float64)
    except (TypeError, ValueError):
        array = np.empty(0)
    if array.shape == (4, 4):
        return array
    try:
        return as_transform(pose, name=f"the pose of {name!r}")
    except GeometryError as error:
        raise ProblemError(f"Teleoperator: {error}") from error


def _poses(given: Mapping[str, TransformLike], what: str) -> dict[str, Array]:
    poses = mapping(given, ProblemError, what, EXAMPLE)
    try:
        return {str(name): as_transform(pose, name=f"pose of {name!r}") for name, pose in poses.items()}
    except GeometryError as error:
        raise ProblemError(f"{what}: {error}") from error
