"""Servos that keep off obstacles: memetik, mink with its collision limit, pink with its barrier, on the same shapes."""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple
from xml.etree import ElementTree

import numpy as np

import memetik as mk
from memetik.types import Array
from memetik_lab.claims.servo_peers import DAMPING, SOLVER
from memetik_lab.coal_judge import coal_shape
from memetik_lab.contact_judge import pinocchio_model, urdf_of

SELF_CLEARANCE = 0.002  # m: between links, some of which are never a centimetre apart
# mink: all pairs within this distance beyond the clearance are constraints, further than any shape moves in a tick.
DETECTION = 0.02  # m
# pink: gain [1/s]; at 20, as in its examples, robots yield 15 mm late to an obstacle at 0.3 m/s.
# Its term for a safe displacement has 1 there, which keeps hands millimetres off targets that are free of everything.
BARRIER_GAIN = 100.0
SAFE_GAIN = 1e-3
CLOSEST = 20
MUJOCO = (
    '<mujoco><compiler fusestatic="false" boundmass="0.01" boundinertia="0.01" discardvisual="true" '
    'balanceinertia="true"/></mujoco>'
)


class Robot(NamedTuple):
    """A robot among obstacles as every servo gets it."""

    body: mk.Body
    tips: tuple[str, ...]  # links whose poses are targets
    pairs: tuple[tuple[str, str], ...]  # of links that have to stay apart
    start: Array
    obstacles: Mapping[str, mk.Shape]  # by name, where they are at first
    clearance: float  # from obstacles [m]
    velocity: Array  # limits
    acceleration: Array  # limits, infinite where there is none
    rotation: bool = True  # whether tips shall turn as their targets do


class Servo:
    """What all have in common."""

    def __init__(self, robot: Robot, tick: float) -> None:
        self.robot, self.tick = robot, tick

    def step(self, targets: Sequence[Array], moved: Mapping[str, Array]) -> Array:
        """One tick towards a pose for each tip, after some obstacles have moved to new poses; the joint vector of the body."""
        raise NotImplementedError


class Memetik(Servo):
    """memetik's own; evaluations alone end the search of a tick, so that results are the same everywhere."""

    def __init__(self, robot: Robot, tick: float) -> None:
        super().__init__(robot, tick)
        poses = robot.body.forward(robot.start)
        self._hands: list[mk.Objective]
        if robot.rotation:
            self._hands = [mk.Pose(tip, poses[tip]) for tip in robot.tips]
        else:
            self._hands = [mk.Position(tip, poses[tip][:3, 3]) for tip in robot.tips]
        self._world = mk.World(robot.obstacles, capacity=max(8, len(robot.obstacles)))
        away = mk.Distance(robot.body, self._world, clearance=robot.clearance)
        apart = mk.SelfDistance(robot.body, ignore="always", clearance=SELF_CLEARANCE)
        self.servo = mk.Servo(
            mk.Problem(robot.body, [*self._hands, away, apart]), start=robot.start, rate=1.0 / tick,
            velocity=robot.velocity, acceleration=robot.acceleration, budget=mk.Budget(evaluations=50),
        )  # fmt: skip

    def step(self, targets: Sequence[Array], moved: Mapping[str, Array]) -> Array:
        if moved:
            self._world.move(moved)
        wanted = targets if self.robot.rotation else [target[:3, 3] for target in targets]
        return self.servo.step(dict(zip(self._hands, wanted, strict=True)))


class Mink(Servo):
    """mink 1.x: FrameTask, limits on configuration, velocity and collisions."""

    def __init__(self, robot: Robot, tick: float) -> None:
        super().__init__(robot, tick)
        import mink
        import mujoco

        self._mink = mink
        spec = mujoco.MjSpec.from_string(_mujoco_urdf(robot.body))
        for name, shape in robot.obstacles.items():
            made = spec.worldbody.add_body(name=f"obstacle {name}", mocap=True)
            _place(made, shape.link_from_shape)
            made.add_geom(**_geom(shape, mujoco))
        model = self._model = spec.compile()
        self._now = mink.Configuration(model)
        self._index = np.array([int(model.joint(name).qposadr[0]) for name in robot.body.joint_names])
        q = np.zeros(model.nq)
        q[self._index] = robot.start
        self._now.update(q)
        self._tasks = [
            mink.FrameTask(tip, "body", 1.0, float(robot.rotation), lm_damping=DAMPING) for tip in robot.tips
        ]
        geoms = {name: _geoms(model, name, robot.body.root) for name in robot.body.links}
        self._mocap = {name: int(model.body(f"obstacle {name}").mocapid[0]) for name in robot.obstacles}
        obstacles = [g for name in robot.obstacles for g in _geoms(model, f"obstacle {name}", "")]
        moving = [g for name in geoms if model.body_weldid[_body(model, name, robot.body.root)] for g in geoms[name]]
        velocities = {
            name: np.array([v]) for name, v in zip(robot.body.joint_names, robot.velocity.tolist(), strict=True)
        }
        self._limits = [mink.ConfigurationLimit(model), mink.VelocityLimit(model, velocities)]
        for pairs, clearance in (
            ([(moving, obstacles)], robot.clearance),
            ([(geoms[a], geoms[b]) for a, b in robot.pairs], SELF_CLEARANCE),
        ):
            self._limits.append(
                mink.CollisionAvoidanceLimit(
                    model, pairs, minimum_distance_from_collisions=clearance,
                    collision_detection_distance=clearance + DETECTION,
                )
            )  # fmt: skip

    def step(self, targets: Sequence[Array], moved: Mapping[str, Array]) -> Array:
        mink, now = self._mink, self._now
        for name, pose in moved.items():
            k, se3 = self._mocap[name], mink.SE3.from_matrix(pose)
            now.data.mocap_pos[k], now.data.mocap_quat[k] = pose[:3, 3], se3.wxyz_xyz[:4]
        if moved:
            now.update()
        for task, target in zip(self._tasks, targets, strict=True):
            task.set_target(mink.SE3.from_matrix(target))
        try:
            velocity = mink.solve_ik(now, self._tasks, self.tick, SOLVER, limits=self._limits)
        except mink.NoSolutionFound:
            velocity = np.zeros(self._model.nv)  # its limits contradict each other; the robot waits
        now.integrate_inplace(velocity, self.tick)
        return np.array(now.q[self._index])


class Pink(Servo):
    """pink: FrameTask, limits on configuration, velocity and, where finite, acceleration, and one barrier for all pairs."""

    def __init__(self, robot: Robot, tick: float) -> None:
        super().__init__(robot, tick)
        import pink
        import pinocchio as pin

        self._pink, self._pin = pink, pin
        model = self._model = pinocchio_model(robot.body)
        self._solids = pin.GeometryModel()
        rows: dict[str, list[int]] = {}
        fixed: dict[str, bool] = {}
        for link in robot.body.links.values():
            frame = model.frames[model.getFrameId(link.name, pin.FrameType.BODY)]
            fixed[link.name] = int(frame.parentJoint) == 0
            for shape in link.shapes:
                place = np.array(frame.placement.homogeneous) @ shape.link_from_shape
                rows.setdefault(link.name, []).append(self._add(link.name, int(frame.parentJoint), place, shape))
        self._obstacles = {name: self._add(name, 0, s.link_from_shape, s) for name, s in robot.obstacles.items()}
        met = [(a, b) for one, two in robot.pairs for a in rows.get(one, ()) for b in rows.get(two, ())]
        met += [(a, b) for name, row in rows.items() if not fixed[name] for a in row for b in self._obstacles.values()]
        for a, b in met:
            self._solids.addCollisionPair(pin.CollisionPair(a, b))
        joints = [model.joints[model.getJointId(name)] for name in robot.body.joint_names]
        self._index = np.array([joint.idx_q for joint in joints])
        order = np.array([joint.idx_v for joint in joints])
        fastest, hardest = np.empty(model.nv), np.empty(model.nv)
        fastest[order], hardest[order] = robot.velocity, robot.acceleration
        q = pin.neutral(model)
        q[self._index] = robot.start
        self._now = pink.Configuration(
            model, model.createData(), q, collision_model=self._solids, collision_data=self._solids.createData()
        )
        self._tasks = [pink.tasks.FrameTask(tip, 1.0, float(robot.rotation), lm_damping=DAMPING) for tip in robot.tips]
        self._limits = [pink.limits.ConfigurationLimit(model), pink.limits.VelocityLimit(model, fastest)]
        self._acceleration = None
        if np.isfinite(hardest).all():
            self._acceleration = pink.limits.AccelerationLimit(model, hardest)
            self._limits.append(self._acceleration)
        standing = {*self._obstacles.values()}
        self._barrier = _barrier(np.array([robot.clearance if b in standing else SELF_CLEARANCE for _, b in met]))

    def _add(self, name: str, joint: int, place: Array, shape: mk.Shape) -> int:
        made = self._pin.GeometryObject(
            f"{name} {self._solids.ngeoms}", joint, self._pose(place), coal_shape(shape)
        )  # fmt: skip
        return int(self._solids.addGeometryObject(made))

    def _pose(self, pose: Array) -> Any:
        return self._pin.SE3(np.ascontiguousarray(pose[:3, :3]), pose[:3, 3])

    def step(self, targets: Sequence[Array], moved: Mapping[str, Array]) -> Array:
        pink = self._pink
        for name, pose in moved.items():
            self._now.collision_model.geometryObjects[self._obstacles[name]].placement = self._pose(pose)
        if moved:
            self._now.update(self._now.q)
            self._barrier._Barrier__q_cache = None  # it keeps distances while the joints rest, obstacles or not
        for task, target in zip(self._tasks, targets, strict=True):
            task.set_target(self._pose(target))
        try:
            velocity = pink.solve_ik(
                self._now, self._tasks, self.tick, SOLVER, limits=self._limits, barriers=[self._barrier], safety_break=False
            )  # fmt: skip
        except pink.exceptions.NoSolutionFound:
            velocity = np.zeros(self._model.nv)
        if self._acceleration is not None:
            self._acceleration.set_last_integration(velocity, self.tick)
        self._now.integrate_inplace(velocity, self.tick)
        return np.array(self._now.q[self._index])


def _barrier(clearance: Array) -> Any:
    """pink's barrier, which has one distance for all pairs, with one for each."""
    from pink.barriers import SelfCollisionBarrier

    class PairwiseBarrier(SelfCollisionBarrier):  # type: ignore[misc]
        def compute_barrier(self, configuration: Any) -> Array:
            distances = np.array([each.min_distance for each in configuration.collision_data.distanceResults])
            closest = np.argpartition(-distances, -self.dim)[-self.dim :]  # as its Jacobian has them
            found: Array = (distances - clearance)[closest]
            return found

    return PairwiseBarrier(min(CLOSEST, len(clearance)), gain=BARRIER_GAIN, safe_displacement_gain=SAFE_GAIN)


KINDS: dict[str, type[Servo]] = {"memetik": Memetik, "mink": Mink, "pink": Pink}


def installed(names: Sequence[str]) -> list[str]:
    """Those of the named peers that are installed."""
    return [name for name in names if importlib.util.find_spec(name) is not None]


# ---- The model for MuJoCo ------------------------------------------------------------------------------------------


def _mujoco_urdf(body: mk.Body) -> str:
    """The URDF of a body with MuJoCo's settings."""
    robot = ElementTree.fromstring(urdf_of(body))
    robot.append(ElementTree.fromstring(MUJOCO))
    return ElementTree.tostring(robot, encoding="unicode")


def _body(model: Any, name: str, root: str) -> int:
    return 0 if name == root else int(model.body(name).id)


def _geoms(model: Any, name: str, root: str) -> list[int]:
    k = _body(model, name, root)
    return (
        list(range(model.body_geomadr[k], model.body_geomadr[k] + model.body_geomnum[k]))
        if model.body_geomnum[k]
        else []
    )


def _place(body: Any, pose: Array) -> None:
    import mink

    body.pos, body.quat = pose[:3, 3], mink.SE3.from_matrix(pose).wxyz_xyz[:4]


def _geom(shape: mk.Shape, mujoco: Any) -> dict[str, Any]:
    kinds, size = mujoco.mjtGeom, list(shape.size)
    match shape.kind:
        case "box":
            return {"type": kinds.mjGEOM_BOX, "size": [0.5 * each for each in size]}
        case "sphere":
            return {"type": kinds.mjGEOM_SPHERE, "size": [size[0], 0.0, 0.0]}
        case "capsule":
            return {"type": kinds.mjGEOM_CAPSULE, "size": [size[0], 0.5 * size[1], 0.0]}
        case _:
            return {"type": kinds.mjGEOM_CYLINDER, "size": [size[0], 0.5 * size[1], 0.0]}
