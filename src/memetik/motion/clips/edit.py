"""Editing: objectives that hold over spans of a clip, with ease-in and ease-out; each frame is solved near the clip.

After 5.10 and 4.7.2 of the thesis. For each frame

    seed   = blend(last solution, clip, weight)
    result = the solution from this seed, which the objectives of the frame's spans and what is held demand
    output = blend(result, clip, blend)

where blends are of postures, balls by slerp. A span's strength s goes from 0 to 1 and back. Objectives about a point, a
rotation or a pose are eased by their targets, from where the clip has the frame (s = 0) to what is wanted (s = 1), so
that feet which are held stay where they are meanwhile; all others by a blend of postures.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from memetik.body import Body, Frame
from memetik.errors import ProblemError, warn
from memetik.geometry.checks import instance, mapping, real_array, real_number, several, text, three_finite
from memetik.motion.clips.motion import Motion
from memetik.motion.clips.stiffness import stiffness as stiffness_of
from memetik.motion.clips.turns import blended, matrices, quaternions_of_matrices, slerp
from memetik.objectives import Direction, Displacement, LookAt, Objective, Orientation, Pose, Position
from memetik.objectives.framed import Framed
from memetik.problem import Problem
from memetik.solvers import Budget, solve
from memetik.types import Array

CALM = 0.01  # weight of staying near the seed
EVALUATIONS = 2000  # for a frame


@dataclass(frozen=True, eq=False)
class Span:
    """An objective that holds from one time of a clip to another.

    objective: what is wanted: mk.Position, mk.Pose, mk.LookAt or any other.
    start, end: when [s]; from the beginning to the end of the clip unless given.
    ease: how long it takes to come into force after `start`, and to fade before `end` [s]; 0 where the span begins or
        ends with the clip. Its strength is 3 s² - 2 s³ meanwhile.
    offset: of a Position or Pose: the target is where the clip has the frame, moved by this [m].
    path: targets of each frame of the clip, as mk.track takes them.
    """

    objective: Objective
    start: float | None = None
    end: float | None = None
    ease: float = 0.2
    offset: ArrayLike | None = None
    path: ArrayLike | None = field(default=None, repr=False)  # it is long

    def __post_init__(self) -> None:
        instance(self.objective, Objective, ProblemError, "an objective. Give mk.Position(...) and the like.")
        for value, what in ((self.start, "start"), (self.end, "end"), (self.ease, "ease")):
            if value is None and what != "ease":
                continue
            seconds = real_number(value, ProblemError, f"Span: {what}")
            if not math.isfinite(seconds):
                raise ProblemError(f"Span: {what} is {value}. Give seconds.")
            object.__setattr__(self, what, seconds)
        if self.ease < 0.0 or (self.start is not None and self.end is not None and self.start >= self.end):
            raise ProblemError(
                f"Span: from {self.start} to {self.end} s with {self.ease} s of ease. Give times in order."
            )
        if self.offset is not None and self.path is not None:
            raise ProblemError("Span: give an offset or a path, not both.")
        if self.offset is not None:
            if not isinstance(self.objective, (Position, Pose)):
                raise ProblemError(f"Span: {self.objective!r} has no point that an offset could move.")
            object.__setattr__(self, "offset", three_finite(self.offset, ProblemError, "Span: offset"))

    def strength(self, times: ArrayLike) -> Array:
        """How much it is in force at these times, from 0 to 1; from the first to the last of them unless it has ends."""
        moments = real_array(times, ProblemError, "Span: times")
        found = np.ones(len(moments))
        for end, sign in ((self.start, 1.0), (self.end, -1.0)):
            if end is not None:
                inside = sign * (moments - end)
                share = np.clip(inside / self.ease, 0.0, 1.0) if self.ease > 0.0 else (inside >= 0.0).astype(float)
                found = np.minimum(found, share * share * (3.0 - 2.0 * share))
        return found


def edit(
    motion: Motion, spans: Span | Iterable[Span], *, hold: Iterable[str | Frame] = (), joints: Iterable[str] | None = None,
    weight: float = 0.5, blend: float = 0.0, stiffness: Mapping[str, float] | None = None, seed: int = 0,
) -> Motion:  # fmt: skip
    """A clip changed by objectives that hold over spans of it; frames outside all spans stay as they are.

    hold: links or frames that keep the pose they have in the clip, such as the feet, while a span is in force.
    joints: the joints (or variables of joints) that may move; all that objectives and what is held need, unless given. The
        others have the values of the clip.
    weight: how far the seed of each frame is drawn from the last solution (0) to the clip (1).
    blend: how far the result is drawn back to the clip, a share: 0 the solution, 1 the clip.
    stiffness: how reluctantly single joints (or variables of joints) leave the clip, in place of what the structure of the body
        says: the square root of the inertia that a joint moves, and three times that for joints that carry more limbs than the
        edited one. A hand is reached for with its arm, then with the spine, then with all else.

    A warning says how many frames miss a tolerance, if any do.
    """
    clip = instance(motion, Motion, ProblemError, "a motion. Give mk.read_motion(...).")
    given = (
        (spans,)
        if isinstance(spans, Span)
        else several(spans, ProblemError, "edit: spans", "[mk.motion.Span(objective)]")
    )
    for span in given:
        instance(span, Span, ProblemError, "a span. Give mk.motion.Span(objective, start, end).")
    if not given:
        raise ProblemError("edit: there are no spans, so there is nothing to change. Give mk.motion.Span(objective).")
    shares = [
        real_number(value, ProblemError, f"edit: {what}") for value, what in ((weight, "weight"), (blend, "blend"))
    ]
    if not all(0.0 <= share <= 1.0 for share in shares):
        raise ProblemError(f"edit: weight is {weight} and blend {blend}. Give shares from 0 to 1.")
    held = [clip.body.frame(frame) for frame in _frames(hold)]
    weights = _stiffness(clip.body, given, stiffness)
    editor = _Editor(clip, given, held, _locked(clip, joints), weights, seed)
    q, missed = clip.q.copy(), 0
    last = clip.q[0]
    for k in range(len(clip)):
        if not editor.active(k):
            last = clip.q[k]
            continue
        start = blended(clip.body, last[None], clip.q[k : k + 1], shares[0])[0]
        last, success = editor.solve(k, start)
        missed += not success
        back = 1.0 - (1.0 - shares[1]) * editor.faded[k]
        q[k] = blended(clip.body, last[None], clip.q[k : k + 1], back)[0]
    if missed:
        warn(f"edit: {missed} of {len(clip)} frames miss a tolerance; they are as near as could be found.")
    return clip.with_q(q)


class _Editor:
    """The targets of all spans in all frames, and the problem of each frame."""

    def __init__(
        self, clip: Motion, spans: tuple[Span, ...], hold: list[Frame], locked: tuple[str, ...],
        weights: dict[str, float], seed: int,
    ) -> None:  # fmt: skip
        self.clip, self.spans, self.locked, self.seed = clip, spans, locked, seed
        self.near = Displacement(weight=CALM, stiffness=weights)
        self.strengths = np.array([span.strength(clip.times) for span in spans])
        self.faded = np.ones(len(clip))  # how much of a posture counts, of what cannot be eased by its target
        self.paths: list[Any] = []
        for span, strength in zip(spans, self.strengths, strict=True):
            path = _eased(clip, span, strength)
            self.paths.append(path)
            if path is None:
                self.faded = np.where(strength > 0.0, np.minimum(self.faded, strength), self.faded)
        self.held = [Pose(frame, np.eye(4), name=f"hold {frame}") for frame in hold]
        self.poses = [clip.poses(frame) for frame in hold]
        self.problems: dict[tuple[int, ...], Problem] = {}

    def active(self, k: int) -> bool:
        """Whether any span is in force in a frame."""
        return bool((self.strengths[:, k] > 0.0).any())

    def solve(self, k: int, start: Array) -> tuple[Array, bool]:
        """The posture of a frame, and whether it keeps every tolerance."""
        chosen = tuple(np.flatnonzero(self.strengths[:, k] > 0.0).tolist())
        for i in chosen:
            path: Any = self.paths[i]
            if path is not None:
                objective: Any = self.spans[i].objective
                objective.target = path[k]
        for pose, poses in zip(self.held, self.poses, strict=True):
            pose.target = poses[k]
        problem = self.problems.get(chosen)
        if problem is None:
            objectives = [self.spans[i].objective for i in chosen]
            lock = {name: float(self.clip.q[k, self.clip.body.index(name)]) for name in self.locked}
            problem = Problem(self.clip.body, [*objectives, *self.held, self.near], lock=lock)
            if not self.locked:  # locked joints have other values in every frame
                self.problems[chosen] = problem
        start = start.copy()
        for name in self.locked:
            column = self.clip.body.index(name)
            start[column] = self.clip.q[k, column]
        solution = solve(problem, start, seed=self.seed, budget=Budget(evaluations=EVALUATIONS))
        return solution.q, solution.success


def _frames(hold: object) -> tuple[Any, ...]:
    return (hold,) if isinstance(hold, (str, Frame)) else several(hold, ProblemError, "edit: hold", "['left_foot']")


def _stiffness(body: Body, spans: tuple[Span, ...], given: Mapping[str, float] | None) -> dict[str, float]:
    """The weight of every variable: from the structure of the body, and those that are given."""
    weights = stiffness_of(body, {body.frame(s.objective.frame).link for s in spans if isinstance(s.objective, Framed)})
    for name, value in mapping(given, ProblemError, "edit: stiffness", "{'spine_1': 5.0}").items():
        weights.update(dict.fromkeys(_variables(body, name), value))
    return weights


def _variables(body: Body, name: object) -> tuple[str, ...]:
    """The variables of a joint, or the one of this name."""
    if text(name, ProblemError, "edit: the name of a joint") in body.joints:
        return body.joints[str(name)].variables
    return (body.joint_names[body.index(str(name))],)


def _locked(clip: Motion, joints: Iterable[str] | None) -> tuple[str, ...]:
    """The variables that keep the values of the clip."""
    if joints is None:
        return ()
    names = several(joints, ProblemError, "edit: joints", "['spine_1']")
    free = {variable for name in names for variable in _variables(clip.body, name)}
    return tuple(name for name in clip.body.joint_names if name not in free)


def _eased(clip: Motion, span: Span, strength: Array) -> Array | None:
    """The targets of a span in all frames, eased from those of the clip; None for one that has no such target."""
    objective: Any = span.objective
    if not isinstance(objective, (Position, Pose, Orientation, LookAt, Direction)) or objective.relative_to is not None:
        if span.offset is not None or span.path is not None:
            raise ProblemError(f"Span: {objective!r} takes no offset and no path.")
        return None
    own = clip.poses(objective.frame)
    offset = None if span.offset is None else np.asarray(span.offset, dtype=float)
    count, s = len(clip), strength[:, None]
    if span.path is not None:
        rows = real_array(span.path, ProblemError, "Span: path")
        if rows.shape != (count, *np.shape(objective.target)):
            raise ProblemError(
                f"Span: path has shape {rows.shape}; it must be {(count, *np.shape(objective.target))}, a target for each "
                "frame."
            )
    else:
        rows = np.repeat(np.asarray(objective.target)[None], count, axis=0)
    if isinstance(objective, (LookAt, Direction)):
        return _eased_aim(objective, own, rows, strength)
    if isinstance(objective, Position):
        wanted = own[:, :3, 3] + offset if offset is not None else rows
        return np.asarray(own[:, :3, 3] + s * (wanted - own[:, :3, 3]))
    turns = own[:, :3, :3] if offset is not None else rows[:, :3, :3]
    mixed = slerp(quaternions_of_matrices(own[:, :3, :3]), quaternions_of_matrices(turns), strength)
    if isinstance(objective, Orientation):
        return matrices(mixed)
    result = own.copy()
    wanted = own[:, :3, 3] + offset if offset is not None else rows[:, :3, 3]
    result[:, :3, :3], result[:, :3, 3] = matrices(mixed), own[:, :3, 3] + s * (wanted - own[:, :3, 3])
    return result


def _eased_aim(objective: Any, own: Array, rows: Array, strength: Array) -> Array:
    """Points to look at, or directions: the axis turns from where it points in the clip to the target."""
    points = isinstance(objective, LookAt)
    axes = own[:, :3, :3] @ objective.axis
    ways = rows - own[:, :3, 3] if points else rows
    lengths = np.linalg.norm(ways, axis=1, keepdims=True)
    goals = ways / np.maximum(lengths, 1e-12)
    cosine = np.clip((axes * goals).sum(axis=1), -1.0, 1.0)
    angle = np.arccos(cosine)
    sine = np.sin(angle)
    straight = sine < 1e-9
    safe = np.where(straight, 1.0, sine)
    one = np.where(straight, 1.0 - strength, np.sin((1.0 - strength) * angle) / safe)
    other = np.where(straight, strength, np.sin(strength * angle) / safe)
    mixed = one[:, None] * axes + other[:, None] * goals
    eased = own[:, :3, 3] + lengths * mixed if points else mixed
    return np.where(strength[:, None] == 1.0, rows, eased)
