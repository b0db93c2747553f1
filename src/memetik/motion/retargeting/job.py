"""A clip on its way to another body: what it aims at, the problem that its frames are solved by, and what comes of it."""

from __future__ import annotations

import time
from collections.abc import Mapping
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from memetik.body import Body, LinkPoses
from memetik.body.joint import Joint
from memetik.geometry import invert, rotation_matrix
from memetik.kernels.compiler.compile_time import split_time
from memetik.motion.clips.motion import Motion
from memetik.motion.clips.turns import balls_of, quaternions, quaternions_of_matrices, steady_turns
from memetik.motion.guided import follow
from memetik.motion.retargeting.calibrate import facing
from memetik.motion.retargeting.copied import copied
from memetik.motion.retargeting.feet import (
    Contact,
    Foot,
    find_contact,
    foot_of,
    planted,
    sunken,
    toes_of,
    turned_with_knee,
)
from memetik.motion.retargeting.plan import BoneMatch, RetargetPlan
from memetik.motion.retargeting.report import RetargetReport, Source, measured
from memetik.motion.retargeting.stretch import stretched
from memetik.motion.retargeting.structure import Tree
from memetik.motion.retargeting.targets import Targets, make_targets
from memetik.motion.track import track
from memetik.objectives import Displacement, Objective, Orientation, Position, SelfDistance
from memetik.problem import Problem
from memetik.problem.columns import target_columns
from memetik.problem.term_list import POSITION_GAIN, reach_of
from memetik.sharing import cached_property
from memetik.types import Array

# Weights of feet that are held: position [1/m] and rotation [1/rad]; an ankle may not get a foot flat.
PLANTED = (100.0, 5.0)
PASSES = 3  # how often a motion is solved at most, with feet lifted by what their soles were under the floor
DEEP = 0.0005  # m; soles that are deeper under the floor are lifted
CALM = 0.006  # s/rad; how much the speed of a joint counts, so that what nothing else decides stays calm
KEPT = 8  # problems that are kept for the next clip
SHIFT = 0.15  # s; the body follows what its feet are moved by within this time


class Aim(NamedTuple):
    """What a clip aims at: all that its targets are made of, which are several times as large as its frames."""

    motion: Motion
    plan: RetargetPlan
    feet: dict[str, Foot]
    standing: dict[str, Contact]
    floor: float
    lifts: dict[str, Array]  # how far up each foot was moved, because its sole was under the floor [m]

    limits: str | None  # how limits of velocity and acceleration are kept: "keep", "stretch" or not at all
    body: Body

    def source(self) -> LinkPoses:
        """The poses of the skeleton's links in all frames; of a body whose base is fixed, as they are seen from the hips."""
        poses = self.motion.forward()
        return poses if _base(self.body, self.plan) else _seen_from_hips(poses, self.plan, self.body)

    def targets(self, poses: LinkPoses) -> tuple[Targets, float]:
        """The targets of all frames, from the poses of the skeleton's links, and how far up the skeleton is lifted [m]."""
        height = float(np.mean([foot.height for foot in self.feet.values()])) if self.feet else None
        targets, lift = make_targets(self.plan, self.motion.body, poses, self.floor, height)
        if self.feet:
            targets = _stand(targets, self.feet, self.standing, self.motion.times, self.floor)
        for part, up in self.lifts.items():
            targets.points[part][:, 2] += up
        return targets, lift


class Retargeted(Motion):
    """The motion of another body, and how it came about."""

    def __init__(self, body: Body, times: Array, q: Array, aim: Aim, report: RetargetReport) -> None:
        super().__init__(body, times, q, name=aim.motion.name)
        self.plan = aim.plan  # what led it
        self.standing = dict(aim.standing)  # when each foot stands
        self.report = report  # how well it went
        self._aim = aim

    @cached_property
    def targets(self) -> Targets:
        """Where the plan wanted the links, in every frame; computed when it is first asked for."""
        return self._aim.targets(self._aim.source())[0]

    def measure(self, q: ArrayLike, seconds: float = 0.0) -> RetargetReport:
        """The same figures for other joint vectors (frames, dof), as after an edit; `seconds` is what these took."""
        rows, aim = self.with_q(q).q, self._aim
        poses = aim.source()
        targets, lift = aim.targets(poses)
        source = Source(poses, aim.plan.matches[0].scale, lift)
        return measured(
            self.body, self.plan, source, targets, self.times, rows, aim.feet, self.standing, aim.floor, seconds
        )


class Job:
    """A clip on its way: passes over its frames, with feet lifted in between, until no sole is under the floor."""

    def __init__(
        self, motion: Motion, body: Body, plan: RetargetPlan, hold: bool, floor: float, self_collision: bool,
        limits: str | None,
    ) -> None:  # fmt: skip
        self._began, self._compiling = time.perf_counter(), 0.0
        feet = _feet(body, plan) if hold and _base(body, plan) else {}
        aim = Aim(motion, plan, feet, {}, floor, {}, limits, body)
        self.poses = aim.source()
        aim.standing.update({part: _contact(motion, self.poses, plan, part) for part in feet})
        self.body, self.aim = body, aim
        self.targets, self.lift = aim.targets(self.poses)
        self.rate = motion.rate or 30.0
        toes = tuple((part, tuple(foot.toe.tolist())) for part, foot in feet.items())
        self.task = _task(body, plan.matches, toes, CALM * self.rate, self_collision)
        self.before: Array | None = None  # what the last pass found
        self.steps = None if limits != "keep" else np.diff(motion.times, prepend=motion.times[0])
        self._passes = 0

    def solved(self) -> Retargeted:
        """All passes, on this thread."""
        over = False
        while not over:
            over = self.take(self._solve())
        return self.result()

    def _solve(self) -> Array:
        """A pass: where all objectives guide, the first frame is solved for, and all others are followed from there."""
        problem, rows = self.task.problem, self.rows()
        if not problem.compiled.only_guides:
            path = track(problem, rows, start=_first(self.body, self.aim.plan, self.targets), rate=self.rate)
            self._compiling += path.compile_seconds
            return path.q
        first = self.first()
        began = time.perf_counter()
        q = follow(problem, target_columns(problem, rows, "retarget"), first, self.before, self.rest(), self.steps)
        self._compiling += split_time(began)[1]
        return q

    def rows(self) -> dict[Objective, Array]:
        """The targets of each guide in all frames."""
        return self.task.rows(self.targets, self.aim.feet)

    def rest(self) -> Array | None:
        """Joint vectors (frames, dof) that frames begin at and are drawn to: of bodies that copy the skeleton's rotations."""
        return copied(self.body, self.aim.plan, self.targets)

    def first(self) -> Array:
        """The first frame, searched for; of a body that copies rotations, the copy."""
        rest = self.rest()
        if rest is not None:
            return np.asarray(np.clip(rest[0], self.body.lower, self.body.upper))
        rows = {objective: targets[:1] for objective, targets in self.rows().items()}
        start = _first(self.body, self.aim.plan, self.targets)
        found = track(self.task.problem, rows, start=start, rate=self.rate)
        self._compiling += found.compile_seconds
        return np.asarray(found.q[0])

    def near(self, first: Array) -> Array:
        """A posture for each frame (frames, dof) from which it can be followed: what the last pass found, or home, with the
        hips where they belong and the angles of the base going on from those of the first frame."""
        if self.before is not None:
            return self.before
        q = _at_hips(self.body, self.aim.plan, self.targets, slice(None))
        base = _base(self.body, self.aim.plan)
        for ball in balls_of(self.body):
            if base is not None and ball.joint == base.name:
                q[:, ball.columns] = steady_turns(ball.order, quaternions(ball, q), first[ball.columns])
        return q

    def take(self, q: Array) -> bool:
        """What a pass found. Returns whether it was the last one."""
        aim, self._passes, self.before = self.aim, self._passes + 1, q
        poses = self.body.forward(q) if aim.feet else {}
        deeper = {part: sunken(foot, aim.motion.times, poses, aim.floor) for part, foot in aim.feet.items()}
        if all(each.max() <= DEEP for each in deeper.values()):
            return True
        if self._passes == PASSES:
            self.before = self._raised(q, np.max(list(deeper.values()), axis=0))
            return True
        for part, depth in deeper.items():
            self.targets.points[part][:, 2] += depth
            aim.lifts[part] = aim.lifts.get(part, 0.0) + depth
        return False

    def _raised(self, q: Array, depth: Array) -> Array:
        """The joint vectors with the whole body higher by `depth` (frames,) [m]: where limits keep feet from being lifted."""
        base = _base(self.body, self.aim.plan)
        if base is None:
            return q
        columns = [self.body.index(name) for name in base.variables[:3]]
        raised = q.copy()
        raised[:, columns] += depth[:, None] * (base.origin[:3, :3].T @ (0.0, 0.0, 1.0))
        return np.asarray(np.clip(raised, self.body.lower, self.body.upper))

    def result(self, seconds: float | None = None) -> Retargeted:
        """The motion after the last pass; `seconds` is what it took, unless that is the time since it began."""
        aim, q = self.aim, self.before
        assert q is not None
        times = aim.motion.times if aim.limits != "stretch" else stretched(self.body, aim.motion.times, q)
        taken = time.perf_counter() - self._began - self._compiling if seconds is None else seconds
        source = Source(self.poses, aim.plan.matches[0].scale, self.lift)
        report = measured(self.body, aim.plan, source, self.targets, times, q, aim.feet, aim.standing, aim.floor, taken)
        return Retargeted(self.body, times, q, aim, report)


def _base(body: Body, plan: RetargetPlan) -> Joint | None:
    return Tree(body).base(plan.matches[0].link)


def _seen_from_hips(poses: LinkPoses, plan: RetargetPlan, body: Body) -> LinkPoses:
    """The poses of the skeleton moved so that its hips stay where those of the body are at home."""
    hips = plan.matches[0]
    home = body.forward(body.home)[hips.link]
    fixed = np.eye(4)
    fixed[:3, :3] = home[:3, :3] @ rotation_matrix(hips.turn).T
    at = home[:3, 3] + home[:3, :3] @ np.array(hips.point)
    fixed[:3, 3] = at / max(hips.scale, 1e-9) - fixed[:3, :3] @ np.array(hips.joint)
    change = fixed @ np.linalg.inv(poses[hips.bone])
    return LinkPoses(
        {bone: k for k, bone in enumerate(poses)}, change[:, None] @ np.stack(list(poses.values()), axis=1)
    )


@lru_cache(maxsize=4 * KEPT)
def _foot(body: Body, match: BoneMatch, shin: BoneMatch | None, leg: float, faces: tuple[float, ...]) -> Foot:
    return foot_of(body, match, shin, leg, np.reshape(faces, (3, 3)))


def _feet(body: Body, plan: RetargetPlan) -> dict[str, Foot]:
    lines = {match.part: match for match in plan.matches}
    home = body.forward(body.home)
    at = {
        part: home[match.link][:3, :3] @ np.array(match.point) + home[match.link][:3, 3]
        for part, match in lines.items()
    }
    pairs = [{f"{side}_{part}" for side in ("left", "right")} for part in ("upper_leg", "upper_arm")]
    faces = tuple((facing(at) if any(pair <= set(at) for pair in pairs) else np.eye(3)).ravel().tolist())
    found = {}
    for part in plan.feet:
        if part not in lines:
            continue
        side, _, kind = part.partition("_")
        limb = ("upper_arm", "lower_arm") if kind == "hand" else ("upper_leg", "lower_leg")
        way = [at[name] for name in (*(f"{side}_{each}" for each in limb), part) if name in at]
        leg = sum(float(np.linalg.norm(b - a)) for a, b in pairwise(way))
        found[part] = _foot(body, lines[part], lines.get(f"{side}_{limb[1]}"), leg, faces)
    return found


def _contact(motion: Motion, poses: LinkPoses, plan: RetargetPlan, part: str) -> Contact:
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
        limb = ("upper_arm", "lower_arm") if part.endswith("hand") else ("upper_leg", "lower_leg")
        hip, knee = (points.get(f"{part.partition('_')[0]}_{each}") for each in limb)
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
    lines: dict[str, BoneMatch]

    def rows(self, targets: Targets, feet: Mapping[str, Foot]) -> dict[Objective, Array]:
        """The targets of each guide in all frames; feet that are held are led by their toes."""
        points = {**targets.points, **{part: toes_of(targets, part, foot) for part, foot in feet.items()}}
        return {
            **{objective: points[part] for part, objective in self.positions.items()},
            **{objective: targets.rotation_of(self.lines[part]) for part, objective in self.orientations.items()},
        }


@lru_cache(maxsize=KEPT)
def _task(
    body: Body, matches: tuple[BoneMatch, ...], toes: tuple[tuple[str, tuple[float, ...]], ...], calm: float,
    self_collision: bool,
) -> _Task:  # fmt: skip
    """The problem of a plan with feet that are held. A weight w [1/m or 1/rad] makes a residual count as w times its size.

    They are held by their `toes`, as points of their links [m]: an ankle that cannot turn a foot as it should be turned then
    moves the heel. Held by the ankle, all of the sole would slide.

    It is kept for the next clip: to compile one takes as long as a hundred frames.
    """
    positions, orientations, held = {}, {}, dict(toes)
    for match in matches:
        position, rotation = (match.position, match.rotation)
        if match.part in held:
            position, rotation = PLANTED[0], PLANTED[1] if match.rotation > 0.0 else 0.0
        if position > 0.0:
            frame = body.frame(match.link, offset=held.get(match.part, match.point))
            weight = (position * reach_of(body, frame) / POSITION_GAIN) ** 2  # as residuals in metres are scaled
            name = f"position of {match.part}"
            positions[match.part] = Position(frame, (0.0, 0.0, 0.0), tolerance=None, weight=weight, name=name)
        if rotation > 0.0:
            name = f"rotation of {match.part}"
            parent = next((each.link for each in matches if match.relative and each.part == match.parent), None)
            orientations[match.part] = Orientation(
                match.link, np.eye(3), tolerance=None, weight=rotation**2, relative_to=parent, name=name
            )
    others: list[Objective] = [Displacement(weight=calm**2)]
    if self_collision:
        others.append(SelfDistance(body))
    problem = Problem(body, [*positions.values(), *orientations.values(), *others])
    return _Task(problem, positions, orientations, {match.part: match for match in matches})


def _first(body: Body, plan: RetargetPlan, targets: Targets) -> Array:
    """Where to begin: the body's home posture, its hips where the first frame has them."""
    return np.asarray(_at_hips(body, plan, targets, slice(1))[0])


def _at_hips(body: Body, plan: RetargetPlan, targets: Targets, frames: slice) -> Array:
    """The body's home posture, its hips where some frames have them: a row for each."""
    if _base(body, plan) is None:
        return np.tile(body.home, (len(targets.points[plan.matches[0].part][frames]), 1))
    root = plan.matches[0]
    turned, at = targets.rotations[root.part][frames], targets.points[root.part][frames]
    home = body.forward(body.home)
    base = next(joint for joint in body.joints.values() if joint.dof)
    hips_from_base = invert(home[root.link]) @ home[base.child]
    qpos = np.tile(body.to_qpos(body.home), (len(at), 1))
    qpos[:, :3] = at + turned @ (hips_from_base[:3, 3] - np.array(root.point))
    qpos[:, 3:7] = quaternions_of_matrices(turned @ hips_from_base[:3, :3])
    return body.from_qpos(qpos)
