"""Pink with control barrier functions: the quadratic program of pink.py, in which close pairs of solids may not come closer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import pink
import pinocchio as pin
from pink.barriers import SelfCollisionBarrier
from pink.limits import ConfigurationLimit
from pink.tasks import FrameTask

import memetik as mk
from memetik.types import Array
from memetik_lab.coal_judge import coal_shape
from memetik_lab.peers.chain import TIP, SerialChain
from memetik_lab.peers.pink import SOLVER
from memetik_lab.peers.restarts import Stepped, norms
from memetik_lab.queries import Task

CLOSEST = 4  # pairs that the program knows of at a time


class Carried(NamedTuple):
    """A shape on the arm."""

    joint: int  # the turn that carries it, from 1; 0 for the base
    link: str
    joint_from_shape: Array  # 4x4
    shape: mk.Shape


class Adapter(Stepped):
    """Whole steps, and barriers between the shapes of the arm, and between these and obstacles."""

    name = "pink with barriers"

    def __init__(
        self, chain: SerialChain, task: Task, arm: Sequence[Carried], obstacles: Sequence[mk.Shape],
        pairs: Sequence[tuple[str, str]],
    ) -> None:  # fmt: skip
        super().__init__(chain, task)
        self._model = pin.buildModelFromXML(chain.urdf())
        self._data = self._model.createData()
        self._solids = pin.GeometryModel()
        rows: dict[str, list[int]] = {}
        for k, each in enumerate(arm):
            rows.setdefault(each.link, []).append(self._add(f"arm {k}", each.joint, each.joint_from_shape, each.shape))
        fixed = [self._add(f"obstacle {k}", 0, o.link_from_shape, o) for k, o in enumerate(obstacles)]
        met = [(a, b) for one, two in pairs for a in rows[one] for b in rows[two]]
        met += [(a, b) for each, row in rows.items() if each != arm[0].link for a in row for b in fixed]
        for a, b in met:
            self._solids.addCollisionPair(pin.CollisionPair(a, b))
        self._placed = self._solids.createData()
        self._task = FrameTask(TIP, position_cost=1.0, orientation_cost=1.0, lm_damping=1e-6)
        self._limits = [ConfigurationLimit(self._model, config_limit_gain=1.0)]
        self._barriers = [SelfCollisionBarrier(CLOSEST, gain=1.0, safe_displacement_gain=0.0, d_min=0.0)]

    def _add(self, name: str, joint: int, pose: Array, shape: mk.Shape) -> int:
        place = pin.SE3(np.ascontiguousarray(pose[:3, :3]), pose[:3, 3])
        return int(self._solids.addGeometryObject(pin.GeometryObject(name, joint, place, coal_shape(shape))))

    def aim(self, target: Array) -> None:
        self._task.set_target(pin.SE3(target[:3, :3], target[:3, 3]))

    def steps(self, q: Array) -> Iterator[tuple[Array, tuple[float, float]]]:
        now = pink.Configuration(
            self._model, self._data, q, copy_data=False, collision_model=self._solids, collision_data=self._placed
        )
        while True:
            yield now.q, norms(self._task.compute_error(now))
            try:
                velocity = pink.solve_ik(
                    now, [self._task], 1.0, SOLVER, limits=self._limits, barriers=self._barriers, safety_break=False
                )
            except (pink.exceptions.NoSolutionFound, pink.exceptions.PinkError):
                return
            now.integrate_inplace(velocity, 1.0)
