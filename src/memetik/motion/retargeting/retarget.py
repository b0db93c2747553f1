"""Retargeting: the motion of a skeleton on another body, with feet that stand where the source's do."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import NamedTuple, overload

import numpy as np
from numpy.typing import ArrayLike

from memetik.body import Body, Poses
from memetik.errors import ProblemError, shown
from memetik.geometry import invert, to_quaternion
from memetik.geometry.checks import flag, instance, real_array, real_number, several
from memetik.kernels.compiler.compile_time import split_time
from memetik.motion.clips.motion import Motion
from memetik.motion.guided import follow
from memetik.motion.retargeting.feet import Contact, Foot, find_contact, foot_of, planted, sunken, turned_with_knee
from memetik.motion.retargeting.figure import SIDES
from memetik.motion.retargeting.plan import BoneMatch, RetargetPlan, make_plan
from memetik.motion.retargeting.report import RetargetReport, measured
from memetik.motion.retargeting.targets import Targets, make_targets
from memetik.motion.track import track
from memetik.objectives import Displacement, Objective, Orientation, Position, SelfDistance
from memetik.parallel import in_parts
from memetik.problem import Problem
from memetik.problem.columns import target_columns
from memetik.problem.term_list import POSITION_GAIN, reach_of
from memetik.types import Array

PLANTED = (
    100.0,
    5.0,
)  # weights of feet that are held: position [1/m] and rotation [1/rad]; an ankle may not get a foot flat
PASSES = 3  # how often a motion is solved at most, with feet lifted by what their soles were under the floor
DEEP = 0.0005  # m; soles that are deeper under the floor are lifted
CALM = 0.006  # s/rad; how much the speed of a joint counts, so that what nothing else decides stays calm
CANDIDATES = 200  # frames that calibration looks at
KEPT = 8  # bodies and problems that are kept for the next clip
SHIFT = 0.15  # s; the body follows what its feet are moved by within this time


class Retargeted(Motion):
    """The motion of another body, and how it came about."""

    def __init__(
        self, body: Body, times: Array, q: Array, *, name: str, plan: RetargetPlan, targets: Targets,
        feet: Mapping[str, Foot], standing: Mapping[str, Contact], floor: float, seconds: float,
    ) -> None:  # fmt: skip
        super().__init__(body, times, q, name=name)
        self.plan = plan  # what led it
        self.targets = targets  # where the plan wanted the links, in every frame
        self.standing = dict(standing)  # when each foot stands
        self._feet, self._floor = dict(feet), floor
        self.report = self.measure(q, seconds)  # how well it went

    def measure(self, q: ArrayLike, seconds: float = 0.0) -> RetargetReport:
        """The same figures for other joint vectors (frames, dof), as after an edit; `seconds` is what these took."""
        rows = self.with_q(q).q
        return measured(
            self.body, self.plan, self.targets, self.times, rows, self._feet, self.standing, self._floor, seconds
        )


def retarget_plan(
    skeleton: Body | Motion, body: Body, *, posture: ArrayLike | None = None, bones: Mapping[str, str] | None = None,
    links: Mapping[str, str] | None = None,
) -> RetargetPlan:  # fmt: skip
    """Which bone leads which link, found by names and structure; scales and rotations from one posture of the skeleton.

    skeleton: a body, or a motion of one, which is better: of its frames the one that stands most upright is calibrated with,
        whatever the skeleton's own rest pose is.
    posture: calibrate with this joint vector of the skeleton [rad and m], in which it stands upright.
    bones, links: parts whose names do not tell: {"left_hand": "Bone.017"}; parts are those of the VRM humanoid, as
        `print(plan)` lists them.

    The plan prints as a table; `edit`, `weighted`, `without`, `save` change and keep it.
    """
    if isinstance(skeleton, Motion):
        step = max(1, len(skeleton) // CANDIDATES)
        figure, postures = skeleton.body, np.vstack((skeleton.body.home, skeleton.q[::step]))
    else:
        figure = instance(skeleton, Body, ProblemError, "a skeleton. Give a body or a motion.")
        postures = figure.home[None]
    if posture is not None:
        postures = np.atleast_2d(real_array(posture, ProblemError, "posture is a joint vector of the skeleton"))
        if postures.shape[1:] != (figure.dof,):
            raise ProblemError(
                f"posture has {postures.shape[-1]} numbers; skeleton {figure.name!r} has {figure.dof} joint values."
            )
    return make_plan(
        figure, floating(instance(body, Body, ProblemError, "a body. Give mk.load(...).")), postures, bones, links
    )


@overload
def retarget(
    motion: Motion, body: Body, *, plan: RetargetPlan | None = None, contacts: str | None = "auto", floor: float = 0.0,
    self_collision: bool = False,
) -> Retargeted: ...  # fmt: skip


@overload
def retarget(
    motion: Iterable[Motion], body: Body, *, plan: RetargetPlan | None = None, contacts: str | None = "auto",
    floor: float = 0.0, self_collision: bool = False,
) -> list[Retargeted]: ...  # fmt: skip


def retarget(
    motion: Motion | Iterable[Motion], body: Body, *, plan: RetargetPlan | None = None, contacts: str | None = "auto",
    floor: float = 0.0, self_collision: bool = False,
) -> Retargeted | list[Retargeted]:  # fmt: skip
    """The motion on another body: a figure of any proportions, a robot or a character.

    motion: of a skeleton, z up, in metres (`mk.read_motion`); several of the same skeleton are shared out over all cores.
    body: its base is freed if it is fixed.
    plan: from `mk.retarget_plan` unless given.
    contacts: "auto" finds when feet stand and holds them there, flat on the floor or on their toes, with a clearance in
        between; None leaves feet where the plan puts them.
    floor: its height [m].
    self_collision: links keep apart (mk.SelfDistance); several times slower.

    Every frame is the least-squares balance of the plan's targets and of the joints' speeds, within the joint limits. It is
    the same for every heading, and through rolls: the base has no singular posture.

    ```python
    import memetik as mk

    kyle = mk.load("kyle", base="floating")
    clip = mk.Motion(kyle, [0.0, 0.5], [kyle.home, kyle.vector({"base.x": 0.3})])
    found = mk.retarget(clip, mk.load("g1"))
    print(found.report)
    ```
    """
    onto = floating(instance(body, Body, ProblemError, "a body. Give mk.load(...)."))
    ground = real_number(floor, ProblemError, "retarget: floor")
    if contacts is not None and not (isinstance(contacts, str) and contacts == "auto"):
        raise ProblemError(f'retarget: contacts is {shown(contacts)}. Give "auto" or None.')
    apart = flag(self_collision, ProblemError, "retarget: self_collision")
    if plan is not None:
        instance(plan, RetargetPlan, ProblemError, "a plan. Give mk.retarget_plan(...), or None.")

    def one(clip: Motion) -> Retargeted:
        return _retargeted(clip, onto, plan or retarget_plan(clip, onto), contacts is not None, ground, apart)

    if isinstance(motion, Motion):
        return one(motion)
    given = several(motion, ProblemError, "retarget: motion", "[clip]")
    clips = [instance(each, Motion, ProblemError, "a motion. Give mk.read_motion(...).") for each in given]
    done = in_parts(lambda part: [one(clip) for clip in clips[part]], len(clips), 1)
    return [clip for part in done for clip in part]


@lru_cache(maxsize=KEPT)
def floating(body: Body) -> Body:
    """The body itself if its base floats, or with such a base."""
    first = next((joint for joint in body.joints.values() if joint.dof), None)
    return body if first is not None and first.kind == "floating" else body.with_base("floating")


def _retargeted(
    motion: Motion, body: Body, plan: RetargetPlan, hold: bool, floor: float, self_collision: bool
) -> Retargeted:
    began = time.perf_counter()
    feet = _feet(body, plan) if hold else {}
    height = float(np.mean([foot.height for foot in feet.values()])) if feet else None
    poses = motion.forward()
    targets = make_targets(plan, motion.body, poses, floor, height)
    contacts = {part: _contact(motion, poses, plan, part) for part in feet}
    if feet:
        targets = _stand(targets, feet, contacts, motion.times, floor)
    rate = motion.rate or 30.0
    task = _task(body, plan.matches, frozenset(feet), CALM * rate, self_collision)
    compiling, before = 0.0, None
    for _ in range(PASSES):
        q, waited = _solved(task.problem, task.rows(targets), _first(body, plan, targets), rate, before)
        compiling += waited
        deeper = {part: sunken(foot, motion.times, body.forward(q, foot.link), floor) for part, foot in feet.items()}
        if all(each.max() <= DEEP for each in deeper.values()):
            break
        for part, depth in deeper.items():
            targets.points[part][:, 2] += depth
        before = q
    seconds = time.perf_counter() - began - compiling
    return Retargeted(
        body, motion.times, q, name=motion.name, plan=plan, targets=targets, feet=feet, standing=contacts, floor=floor,
        seconds=seconds,
    )  # fmt: skip


def _solved(
    problem: Problem, rows: Mapping[Objective, Array], start: Array, rate: float, before: Array | None
) -> tuple[Array, float]:
    """Joint vectors for all frames, and the seconds that compiling took; `before` is what the last pass found.

    Where all objectives guide, the first frame is solved for from the start, and all others are followed from there.
    """
    if not problem.compiled.only_guides:
        path = track(problem, rows, start=start, rate=rate)
        return path.q, path.compile_seconds
    first = track(problem, {objective: targets[:1] for objective, targets in rows.items()}, start=start, rate=rate)
    began = time.perf_counter()
    q = follow(problem, target_columns(problem, rows, "retarget"), first.q[0], before)
    return q, first.compile_seconds + split_time(began)[1]


def _feet(body: Body, plan: RetargetPlan) -> dict[str, Foot]:
    lines = {match.part: match for match in plan.matches}
    poses = body.forward(body.home)
    return {
        part: foot_of(body, lines[part], lines.get(f"{side}_lower_leg"), poses[lines[part].link][:3, :3])
        for side in SIDES
        if (part := f"{side}_foot") in lines
    }


def _contact(motion: Motion, poses: Poses, plan: RetargetPlan, part: str) -> Contact:
    """When the foot of the source that leads this one stands."""
    bone = plan[part].bone
    toe = next((joint.child for joint in motion.body.joints.values() if joint.parent == bone), None)
    root = plan.matches[0].bone
    leg = float(np.linalg.norm(poses[root][:, :3, 3] - poses[bone][:, :3, 3], axis=1).max())
    return find_contact(motion.times, poses[bone][:, :3, 3], None if toe is None else poses[toe][:, :3, 3], leg)


def _stand(
    targets: Targets, feet: Mapping[str, Foot], contacts: Mapping[str, Contact], times: Array, floor: float
) -> Targets:
    """Targets with feet that stand; the rest of the body is moved by what both feet are moved by on average, smoothly."""
    points, rotations = dict(targets.points), dict(targets.rotations)
    moved = np.zeros((len(times), 3))
    for part, foot in feet.items():
        hip, knee = (points.get(part.replace("foot", each)) for each in ("upper_leg", "lower_leg"))
        if foot.two_axes and hip is not None and knee is not None:
            rotations[part] = turned_with_knee(foot, hip, knee, points[part], rotations[part])
        points[part], rotations[part] = planted(foot, times, points[part], rotations[part], contacts[part], floor)
        moved += (points[part] - targets.points[part]) / len(feet)
    width = 2 * round(SHIFT / float(np.median(np.diff(times)))) if len(times) > 1 else 0
    kernel = np.hanning(2 * width + 3)[1:-1]
    kernel /= kernel.sum()
    padded = np.pad(moved, ((width, width), (0, 0)), mode="edge")
    shift = np.stack([np.convolve(column, kernel, mode="valid") for column in padded.T], axis=1)
    return Targets({part: at if part in feet else at + shift for part, at in points.items()}, rotations)


class _Task(NamedTuple):
    """A problem with a guide for each target."""

    problem: Problem
    positions: dict[str, Position]  # by part
    orientations: dict[str, Orientation]

    def rows(self, targets: Targets) -> dict[Objective, Array]:
        """The targets of each guide in all frames."""
        return {
            **{objective: targets.points[part] for part, objective in self.positions.items()},
            **{objective: targets.rotations[part] for part, objective in self.orientations.items()},
        }


@lru_cache(maxsize=KEPT)
def _task(body: Body, matches: tuple[BoneMatch, ...], held: frozenset[str], calm: float, self_collision: bool) -> _Task:
    """The problem of a plan with feet that are `held`. A weight w [1/m or 1/rad] makes a residual count as w times its size.

    It is kept for the next clip: to compile one takes as long as a hundred frames.
    """
    positions, orientations = {}, {}
    for match in matches:
        position, rotation = PLANTED if match.part in held else (match.position, match.rotation)
        if position > 0.0:
            frame = body.frame(match.link, offset=match.point)
            weight = (position * reach_of(body, frame) / POSITION_GAIN) ** 2  # as residuals in metres are scaled
            name = f"position of {match.part}"
            positions[match.part] = Position(frame, (0.0, 0.0, 0.0), tolerance=None, weight=weight, name=name)
        if rotation > 0.0:
            name = f"rotation of {match.part}"
            orientations[match.part] = Orientation(match.link, np.eye(3), tolerance=None, weight=rotation**2, name=name)
    others: list[Objective] = [Displacement(weight=calm**2)]
    if self_collision:
        others.append(SelfDistance(body))
    return _Task(Problem(body, [*positions.values(), *orientations.values(), *others]), positions, orientations)


def _first(body: Body, plan: RetargetPlan, targets: Targets) -> Array:
    """Where to begin: the body's home posture, its hips where the first frame has them."""
    root = plan.matches[0]
    hips = np.eye(4)
    hips[:3, :3] = targets.rotations[root.part][0]
    hips[:3, 3] = targets.points[root.part][0] - hips[:3, :3] @ np.array(root.point)
    home = body.forward(body.home)
    base = next(joint for joint in body.joints.values() if joint.dof)
    world_from_base = hips @ invert(home[root.link]) @ home[base.child]
    qpos = body.to_qpos(body.home)
    qpos[:3], qpos[3:7] = world_from_base[:3, 3], to_quaternion(world_from_base[:3, :3])
    return body.from_qpos(qpos)
