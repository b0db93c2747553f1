"""pink and mink as servos: one quadratic program a tick, with all the limits that each of them knows."""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple
from xml.etree import ElementTree

import numpy as np

from memetik.types import Array

SOLVER = "daqp"  # what mink installs; among the fastest for problems of this size
DAMPING = 1.0  # Levenberg-Marquardt damping of their own examples with arms
SLIDES = '<mujoco><compiler fusestatic="false" boundmass="0.01" boundinertia="0.01" discardvisual="true"/></mujoco>'


class Tip(NamedTuple):
    """A link that is to follow poses; without `position` only its orientation counts."""

    link: str
    position: bool = True


class Model(NamedTuple):
    """A robot as both take it."""

    urdf: str
    slides: bool  # whether the root moves along x, y and z
    velocity: Mapping[str, float]  # by joint [rad/s or m/s]
    acceleration: Mapping[str, float]
    start: Mapping[str, float]  # joint values; zero, or the limit nearest to it, for the rest


class PeerServo:
    """What both have in common."""

    name: str
    limits: str  # which it keeps, for the protocol

    def step(self, targets: Sequence[Array]) -> Array:
        """One tick towards a pose for each tip; the joint vector in the peer's own order."""
        raise NotImplementedError

    def index(self, joint: str) -> int:
        """Where a joint stands in that vector."""
        raise NotImplementedError


class Pink(PeerServo):
    """pink with its limits on configuration, velocity and acceleration."""

    name, limits = "pink", "position, velocity, acceleration"

    def __init__(self, model: Model, tips: Sequence[Tip], tick: float) -> None:
        import pink
        import pinocchio as pin

        self._pink, self._pin, self._tick = pink, pin, tick
        root = (pin.JointModelTranslation(),) if model.slides else ()
        robot = self._model = pin.buildModelFromXML(model.urdf, *root)
        names = [name for name in robot.names if name not in ("universe", "root_joint")]
        fastest, hardest = np.full(robot.nv, 1.0), np.full(robot.nv, 5.0)
        q = pin.neutral(robot)
        for name in names:
            joint = robot.joints[robot.getJointId(name)]
            fastest[joint.idx_v], hardest[joint.idx_v] = model.velocity[name], model.acceleration[name]
            q[joint.idx_q] = model.start.get(name, q[joint.idx_q])
        if model.slides:
            robot.lowerPositionLimit[:3], robot.upperPositionLimit[:3] = -1.0, 1.0
        q = np.clip(q, robot.lowerPositionLimit, robot.upperPositionLimit)
        self._now = pink.Configuration(robot, robot.createData(), q)
        self._tasks = [pink.tasks.FrameTask(tip.link, float(tip.position), 1.0, lm_damping=DAMPING) for tip in tips]
        self._acceleration = pink.limits.AccelerationLimit(robot, hardest)
        self._limits = [
            pink.limits.ConfigurationLimit(robot), pink.limits.VelocityLimit(robot, fastest), self._acceleration,
        ]  # fmt: skip

    def index(self, joint: str) -> int:
        return int(self._model.joints[self._model.getJointId(joint)].idx_q)

    def step(self, targets: Sequence[Array]) -> Array:
        for task, target in zip(self._tasks, targets, strict=True):
            task.set_target(self._pin.SE3(target[:3, :3], target[:3, 3]))
        try:
            velocity = self._pink.solve_ik(
                self._now, self._tasks, self._tick, SOLVER, limits=self._limits, safety_break=False
            )  # fmt: skip
        except self._pink.exceptions.NoSolutionFound:
            velocity = np.zeros(self._model.nv)  # its limits contradict each other; the robot waits
        self._acceleration.set_last_integration(velocity, self._tick)
        self._now.integrate_inplace(velocity, self._tick)
        return np.asarray(self._now.q).copy()


class Mink(PeerServo):
    """mink with its limits on configuration and velocity; it has none on acceleration."""

    name, limits = "mink", "position, velocity"

    def __init__(self, model: Model, tips: Sequence[Tip], tick: float) -> None:
        import mink
        import mujoco

        self._mink, self._tick = mink, tick
        urdf = model.urdf.replace("</robot>", (_slides(model.urdf) if model.slides else "") + SLIDES + "</robot>")
        robot = self._model = mujoco.MjModel.from_xml_string(urdf)
        self._now = mink.Configuration(robot)
        q = np.zeros(robot.nq)
        for name, value in model.start.items():
            q[self.index(name)] = value
        ranged = robot.jnt_limited.astype(bool)
        q[ranged] = np.clip(q[ranged], *robot.jnt_range[ranged].T)
        self._now.update(q)
        self._tasks = [mink.FrameTask(tip.link, "body", float(tip.position), 1.0, lm_damping=DAMPING) for tip in tips]
        velocities = {name: np.array([value]) for name, value in model.velocity.items()}
        self._limits = [mink.ConfigurationLimit(robot), mink.VelocityLimit(robot, velocities)]

    def index(self, joint: str) -> int:
        return int(self._model.joint(joint).qposadr[0])

    def step(self, targets: Sequence[Array]) -> Array:
        for task, target in zip(self._tasks, targets, strict=True):
            task.set_target(self._mink.SE3.from_matrix(target))
        try:
            velocity = self._mink.solve_ik(self._now, self._tasks, self._tick, SOLVER, limits=self._limits)
        except self._mink.NoSolutionFound:
            velocity = np.zeros(self._model.nv)
        self._now.integrate_inplace(velocity, self._tick)
        return np.asarray(self._now.q).copy()


def _slides(urdf: str) -> str:
    """Three joints above the root of a URDF, along x, y and z."""
    robot = ElementTree.fromstring(urdf)
    children = {joint.find("child").get("link") for joint in robot.findall("joint")}  # type: ignore[union-attr]
    root = next(link.get("name") for link in robot.findall("link") if link.get("name") not in children)
    chain = ["ground", "ground_x", "ground_y", root]
    links = "".join(f'<link name="{name}"/>' for name in chain[:3])
    joints = "".join(
        f'<joint name="slide_{axis}" type="prismatic"><parent link="{parent}"/><child link="{child}"/>'
        f'<axis xyz="{" ".join(str(int(axis == other)) for other in "xyz")}"/>'
        '<limit lower="-1" upper="1" effort="1" velocity="1"/></joint>'
        for axis, parent, child in zip("xyz", chain, chain[1:], strict=False)
    )
    return links + joints


def peer_servos(model: Model, tips: Sequence[Tip], tick: float, names: Sequence[str]) -> list[PeerServo]:
    """Those of the named ones that are installed."""
    made: list[PeerServo] = []
    kinds: dict[str, Any] = {"pink": Pink, "mink": Mink}
    for name in names:
        if importlib.util.find_spec(name) is not None:
            made.append(kinds[name](model, tips, tick))
    return made
