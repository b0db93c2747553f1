"""Recording: the joint motion and the targets over time, and its export."""

from __future__ import annotations

import csv
import io
import json
import time
from collections.abc import Sequence
from typing import Any

from memetik.scenes import KINDS, Scene
from memetik.types import Array

MOST_FRAMES = 100_000  # an hour of dragging is less


class Recording:
    """Frames since it began: time [s], joint vector, and what gizmos moved of every objective."""

    def __init__(self, joint_names: Sequence[str]) -> None:
        self.joint_names = tuple(joint_names)
        self._begin = time.perf_counter()
        self.times: list[float] = []
        self.postures: list[Array] = []
        self.targets: list[dict[str, dict[str, Any]]] = []

    def __len__(self) -> int:
        return len(self.times)

    def add(self, q: Array, scene: Scene) -> None:
        """One frame, now."""
        if len(self) >= MOST_FRAMES:
            return
        self.times.append(time.perf_counter() - self._begin)
        self.postures.append(q.copy())
        wishes = [wish for wish in scene.wishes if wish.enabled]
        self.targets.append({w.name: {name: w.values[name] for name in KINDS[w.kind].moved} for w in wishes})

    def to_csv(self) -> str:
        """A row a frame: the time [s], then the joints [rad or m] in the order of the body."""
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(["time", *self.joint_names])
        for seconds, q in zip(self.times, self.postures, strict=True):
            writer.writerow([f"{seconds:.4f}", *(f"{value:.9g}" for value in q.tolist())])
        return out.getvalue()

    def to_json(self) -> str:
        """Times, joints and the targets of every objective."""
        plain = {
            "joint_names": self.joint_names,
            "times": [round(seconds, 4) for seconds in self.times],
            "q": [q.tolist() for q in self.postures],
            "targets": [{name: values for name, values in frame.items() if values} for frame in self.targets],
        }
        return json.dumps(plain, allow_nan=False)
