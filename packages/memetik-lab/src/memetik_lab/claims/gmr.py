"""GMR (General Motion Retargeting): itself where it is installed, and its scheme of two stages on mink.

Its tables of weights and scales are those that it has for BVH files and the G1. Its rotation offsets belong to one
skeleton; here they are the plan's, so that both solve for the same targets. GMR itself is given data of a person that its own
scales and offsets turn into these targets.
"""

from __future__ import annotations

import importlib.util
from dataclasses import replace
from typing import Any

import numpy as np

import memetik as mk
from memetik import bodies
from memetik.types import Array

# Weights of position and rotation in the first and in the second stage, and how positions relative to the hips are scaled.
TABLES: dict[str, tuple[tuple[float, float], tuple[float, float], float]] = {
    "hips": ((0.0, 10.0), (100.0, 5.0), 0.9),
    "upper_leg": ((0.0, 10.0), (10.0, 5.0), 0.9),
    "lower_leg": ((0.0, 10.0), (10.0, 5.0), 0.9),
    "foot": ((50.0, 10.0), (50.0, 10.0), 0.9),
    "chest": ((0.0, 100.0), (0.0, 10.0), 0.9),
    "upper_arm": ((0.0, 100.0), (5.0, 100.0), 0.75),
    "lower_arm": ((0.0, 10.0), (10.0, 5.0), 0.75),
    "hand": ((0.0, 10.0), (10.0, 5.0), 0.75),
}
TALL = 1.8  # m, the person that the scales are for
STEPS, GAIN = 11, 1e-3  # at most so many programs a stage, and none after the error shrank by less
DAMPING, TASK_DAMPING, SOLVER = 0.5, 1.0, "daqp"


def available() -> bool:
    """Whether mink and MuJoCo are installed."""
    return all(importlib.util.find_spec(name) is not None for name in ("mink", "mujoco"))


def installed() -> bool:
    """Whether GMR itself can be run, too: the package `general_motion_retargeting` of github.com/YanjieZe/GMR."""
    return available() and importlib.util.find_spec("general_motion_retargeting") is not None


def plan_of(plan: mk.motion.RetargetPlan, stage: int, height: float) -> mk.motion.RetargetPlan:
    """A plan with the targets and weights of one of the two stages, for a person of this height [m]."""
    matches = []
    for match in plan.matches:
        kind = match.part if match.part in TABLES else match.part.partition("_")[2]
        if kind in TABLES:
            first, second, share = TABLES[kind]
            position, rotation = second if stage else first
            root = None if match.part == "hips" else "hips"
            scale = share * height / TALL
            matches.append(
                replace(
                    match, point=(0.0, 0.0, 0.0), parent=root, scale=scale, anchor=(0.0, 0.0, 0.0), position=position,
                    rotation=rotation,
                )
            )  # fmt: skip
    return replace(plan, matches=tuple(matches))


class Gmr:
    """Frame after frame, from the posture of the last one; the first begins at zeros."""

    def __init__(self, name: str, stages: tuple[mk.motion.RetargetPlan, mk.motion.RetargetPlan]) -> None:
        import mink
        import mujoco

        self._mink = mink
        spec = mujoco.MjSpec.from_file(str(bodies.path(name)))
        spec.compiler.fusestatic = False
        spec.body(mk.load(name).root).add_freejoint()
        self._configuration = mink.Configuration(spec.compile())
        self._stages: list[dict[str, Any]] = [
            {
                match.part: mink.FrameTask(
                    match.link,
                    "body",
                    position_cost=match.position,
                    orientation_cost=match.rotation,
                    lm_damping=TASK_DAMPING,
                )
                for match in stage.matches
            }
            for stage in stages
        ]

    def solve(self, points: dict[str, Array], rotations: dict[str, Array]) -> Array:
        """The qpos for one frame of targets."""
        step = self._configuration.model.opt.timestep
        for stage in self._stages:
            for part, task in stage.items():
                turn = self._mink.SO3.from_matrix(rotations[part])
                task.set_target(self._mink.SE3.from_rotation_and_translation(turn, points[part]))
        for stage in self._stages:
            tasks = list(stage.values())
            before = self._error(tasks)
            for _ in range(STEPS):
                velocity = self._mink.solve_ik(self._configuration, tasks, step, SOLVER, DAMPING)
                self._configuration.integrate_inplace(velocity, step)
                after = self._error(tasks)
                if before - after <= GAIN:
                    break
                before = after
        return np.array(self._configuration.data.qpos)

    def _error(self, tasks: list[Any]) -> float:
        return float(np.linalg.norm(np.concatenate([task.compute_error(self._configuration) for task in tasks])))


# How GMR calls the parts of a person in BVH files; sides are put before all but the first two.
BONES = {
    "hips": "Hips", "chest": "Spine2", "upper_leg": "UpLeg", "lower_leg": "Leg", "foot": "FootMod", "upper_arm": "Arm",
    "lower_arm": "ForeArm", "hand": "Hand",
}  # fmt: skip


class Original:
    """GMR itself, with its own model of the G1 and its own loop; scaling and turning its input is part of that loop."""

    def __init__(self, height: float) -> None:
        module = importlib.import_module("general_motion_retargeting.motion_retarget")
        self._gmr = module.GeneralMotionRetargeting("bvh", "unitree_g1", actual_human_height=height)

    def person(self, points: dict[str, Array], rotations: dict[str, Array]) -> dict[str, Any]:
        """What it has to be given to solve for the targets of a frame: (position, quaternion) of each bone."""
        scales, root = self._gmr.human_scale_table, points["hips"]
        given = {}
        for part, point in points.items():
            side, _, kind = part.partition("_")
            bone = side.capitalize() + BONES[kind] if kind in BONES else BONES[part]
            away = (point - root) / scales[bone]
            offset = self._gmr.rot_offsets1[bone].as_matrix()
            turn = mk.geometry.to_quaternion(rotations[part] @ offset.T)
            given[bone] = (root / scales["Hips"] + away, turn)
        return given

    def solve(self, person: dict[str, Any]) -> Array:
        """The qpos for one frame."""
        return np.array(self._gmr.retarget(person))
