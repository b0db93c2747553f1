"""Targets over time: a track for a list of them, and a servo for a stream."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

import memetik as mk
from memetik.errors import known, shown
from memetik.scenes import fields
from memetik.types import Array
from memetik_serve import plain
from memetik_serve.core import Core
from memetik_serve.store import footprint, reached

TRACK = ("targets", "rate", "velocity", "acceleration")
SERVO = ("rate", "velocity", "acceleration", "response", "push")
FASTEST = 1000.0  # ticks a second

# The fields with targets by kind, as in a scene; those of a pose are put together.
_POINTS = {"Position": "target", "LookAt": "target", "Direction": "target", "Cone": "target"}


def track(core: Core, given: Mapping[str, Any], most: int, timeout: float) -> dict[str, Any]:
    """A posture for each of many targets, each from the one before.

    given: a request, and "targets": {objective: {field: rows}}, "rate" [1/s], "velocity" and "acceleration" [rad/s, rad/s2].
    """
    request = plain.request(given, TRACK)
    problem, objectives, start = core.problem(request)
    rows = given.get("targets")
    if not isinstance(rows, Mapping) or not rows:
        raise mk.errors.FormatError(f"targets is {shown(rows)}; write {{objective: {{field: [[...], ...]}}}}.")
    kinds = {wish.name: wish for wish in request.objectives if wish.enabled}
    targets = {}
    for name, change in rows.items():
        objective = objectives[known(name, objectives, "objective")]
        targets[objective] = _rows(kinds[name].kind, kinds[name].values, change, f"targets of {name!r}", most)
    steps = len(next(iter(targets.values())))
    seconds = min(request.timeout or timeout, timeout) / max(steps, 1)
    found = mk.track(
        problem, targets, start, rate=plain.between(given, "rate", 1e-3, 1e5, 100.0), seed=request.seed,
        method=request.method or core.method, budget=mk.Budget(seconds=seconds), velocity=_limit(given, "velocity"),
        acceleration=_limit(given, "acceleration"),
    )  # fmt: skip
    return {
        "success": found.success,
        "joint_names": list(core.body.joint_names),
        "q": found.q.tolist(),
        "times": found.times.tolist(),
        "reached": found.reached.tolist(),
        "jumped": found.jumped.tolist(),
        "seconds": found.seconds,
    }


class Stream:
    """A servo for one client: targets come when they come, postures at a steady rate.

    given: a request, and "rate" [1/s], "velocity", "acceleration", "response" [s] as in mk.Servo.
    client: what the stream holds is pinned in the store of the core for it, until `close`.
    """

    def __init__(self, core: Core, given: Mapping[str, Any], client: str = "") -> None:
        self.request = plain.request(given, SERVO)
        self.rate = plain.between(given, "rate", 1.0, FASTEST, 100.0)
        self.push = fields.flag(given.get("push", False), "push")
        problem, self._objectives, start = core.problem(self.request)
        self._values = {wish.name: (wish.kind, dict(wish.values)) for wish in self.request.objectives if wish.enabled}
        self._names = core.body.joint_names
        self.servo = mk.Servo(
            problem, start, rate=self.rate, velocity=_limit(given, "velocity"), acceleration=_limit(given, "acceleration"),
            response=plain.between(given, "response", 0.0, 10.0, 0.01),
        )  # fmt: skip
        self._store = core.store
        self._store.pin(self, client, footprint((problem, self.servo), reached(core.body, core.world)))

    def close(self) -> None:
        """Give back what it holds."""
        self._store.drop(self)

    def take(self, given: Mapping[str, Any]) -> int:
        """Take new targets: {"targets": {objective: {field: value} or null}, "ticks": n}; how many ticks are asked for."""
        message = fields.keys(given, "a message to a servo", ("targets", "ticks"))
        targets: dict[mk.Objective, Any] = {}
        for name, change in fields.keys(message.get("targets", {}), "targets", list(self._objectives)).items():
            kind, values = self._values[name]
            objective = self._objectives[name]
            if change is None:
                targets[objective] = None
                continue
            if not isinstance(change, Mapping):
                raise mk.errors.FormatError(
                    f"targets of {name!r} is {shown(change)}; write {{field: value}}, or null to release it."
                )
            merged = {**values, **change}
            targets[objective] = _rows(kind, merged, {}, f"targets of {name!r}", 1)[0]
            self._values[name] = (kind, merged)
        if targets:
            self.servo.step(targets)
            return int(plain.between(message, "ticks", 1, 1000, 1, whole=True)) - 1
        return int(plain.between(message, "ticks", 1, 1000, 1, whole=True))

    def tick(self) -> None:
        """Go on by one tick."""
        self.servo.step()

    def state(self) -> dict[str, Any]:
        """Where the joints are."""
        servo = self.servo
        q = servo.q
        held = [name for name, objective in self._objectives.items() if objective in servo.held]
        return {
            "q": dict(zip(self._names, q.tolist(), strict=True)),
            "reached": servo.success,
            "goal_reached": servo.goal_status == mk.Status.REACHED,
            **({"held": held} if held else {}),
        }


def _rows(kind: str, values: Mapping[str, Any], change: Any, where: str, most: int) -> Array:
    """Targets as an objective takes them, a row for each step; what does not change stays as in the request."""
    change = fields.keys(change, where, ("position", "wxyz") if kind == "Pose" else ("target",))
    if kind == "Pose":
        position = _listed(
            change.get("position"), values.get("position", [0.0, 0.0, 0.0]), 3, f"{where}, position", most
        )
        wxyz = _listed(change.get("wxyz"), values.get("wxyz", [1.0, 0.0, 0.0, 0.0]), 4, f"{where}, wxyz", most)
        if 1 < len(position) != len(wxyz) > 1:
            raise mk.errors.FormatError(
                f"{where}: position has {len(position)} rows and wxyz {len(wxyz)}. Give as many of both."
            )
        count = max(len(position), len(wxyz))
        poses = np.tile(np.eye(4), (count, 1, 1))
        poses[:, :3, 3] = position
        poses[:, :3, :3] = _rotations(wxyz, where)
        return poses
    if kind == "Orientation":
        return _rotations(
            _listed(change.get("target"), values.get("target", [1.0, 0.0, 0.0, 0.0]), 4, where, most), where
        )
    if kind not in _POINTS:
        raise mk.errors.FormatError(
            f"{where}: {kind} cannot follow a path here. {', '.join(['Pose', 'Orientation', *_POINTS])} can."
        )
    return _listed(change.get("target"), values.get("target", [0.0, 0.0, 0.0]), 3, f"{where}, target", most)


def _listed(rows: Any, usual: Any, width: int, where: str, most: int) -> Array:
    if rows is None:
        return np.array([fields.numbers(usual, where, width)])
    if not isinstance(rows, list) or not 1 <= len(rows) <= most:
        raise mk.errors.FormatError(f"{where} is {shown(rows)}; write a list of 1 to {most} rows of {width} numbers.")
    return np.array([fields.numbers(row, f"{where}, row {k + 1}", width) for k, row in enumerate(rows)])


def _rotations(wxyz: Array, where: str) -> Array:
    return np.array([mk.geometry.rotation_matrix(np.array(fields.quaternion(row.tolist(), where))) for row in wxyz])


def _limit(given: Mapping[str, Any], key: str) -> float | None:
    return None if given.get(key) is None else plain.between(given, key, 1e-6, fields.LARGEST, 1.0)
