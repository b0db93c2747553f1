"""Why a solution falls short, found by solving parts of its problem: the budget, one objective, or a conflict."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from memetik.errors import ProblemError
from memetik.objectives import Objective, Orientation, Pose, Position
from memetik.problem import Problem
from memetik.solution.measures import MISSED, cost, measures, title
from memetik.solution.reach import Beyond
from memetik.solution.report import limit_mark
from memetik.solution.words import amount, count, listed
from memetik.types import Array

if TYPE_CHECKING:
    from memetik.solution.solution import Solution

PART = 5_000  # evaluations for a part of the problem
WHOLE = 60_000  # evaluations for the whole of it, three times the usual budget
STEP = 1e-4  # rad or m beyond a limit, to see whether it would help
HELP = 0.1  # share of the cost that a radian or metre beyond a limit would have to take off

_UNLOCK = "{} can be reached if the locked joints are free."


class Inquiry:
    """Second looks at a solution's problem, from the posture where it ended."""

    def __init__(self, solution: Solution, look: Callable[[Problem, Array, int], Solution]) -> None:
        self.solution, self.problem, self._look = solution, solution.problem, look
        can_block = (row.objective for row in measures(solution) if row.tolerance is not None)
        self.hard = list(dict.fromkeys(can_block))  # each once, though a pose is measured twice

    def solve(
        self, objectives: Sequence[Objective], evaluations: int = PART, *, locked: bool = True
    ) -> Solution | None:
        """The same body, locks and limits with these objectives only; None if they ask for nothing."""
        whole = self.problem
        try:
            lock = whole.lock if locked else None
            part = Problem(whole.body, objectives, lock=lock, limits=whole.limits, root=whole.root)
        except ProblemError:  # a wish about the start alone, say, has nothing to move
            return None
        return self._look(part, self.solution.q, evaluations)

    def reaches(self, objectives: Sequence[Objective], *, locked: bool = True) -> bool:
        """Whether a posture is found that satisfies these objectives."""
        found = self.solve(objectives, locked=locked)
        return found is None or found.success


def causes(inquiry: Inquiry, missed: Sequence[Objective], beyond: dict[Objective, Beyond]) -> list[str]:
    """Sentences about the cause; `missed` are the objectives that can block and were not reached, `beyond` those of
    them whose target is proven out of reach."""
    if not beyond:
        found = inquiry.solve(inquiry.hard, WHOLE)
        if found is not None and found.success:
            return [_more_budget(inquiry.solution, found)]
        if len(inquiry.hard) == 1:
            return [_single(inquiry), *_halves(inquiry, inquiry.hard[0])]
    sentences, hopeless = [], list(beyond)
    for objective in missed:
        if objective in beyond:
            sentences += [_UNLOCK.format(title(objective))] if _reaches_unlocked(inquiry, objective) else []
            continue
        nearest = inquiry.solve([objective])
        if nearest is not None and not nearest.success:
            hopeless.append(objective)
            sentences += [_alone(inquiry, objective, nearest), *_halves(inquiry, objective)]
    if hopeless:
        return sentences + _others(inquiry, missed, hopeless)
    return _conflict(inquiry, inquiry.hard, missed)


def binding_limits(solution: Solution) -> list[str]:
    """The joints that stand at a limit and would come closer beyond it."""
    compiled, problem = solution.problem.compiled, solution.problem
    x = solution.q[compiled.active]
    here = cost(compiled, x)
    names = []
    for k, place in enumerate(compiled.active.tolist()):
        mark = limit_mark(problem, place, float(x[k]))
        if problem.lower[place] < problem.upper[place] and mark:
            there = x.copy()
            there[k] += STEP if "upper" in mark else -STEP
            if here - cost(compiled, there) > HELP * STEP * here:
                names.append(f"{problem.body.joint_names[place]} ({mark.removeprefix('at ')})")
    return names


def _more_budget(solution: Solution, found: Solution) -> str:
    spent = count(found.evaluations, "evaluation")
    if solution.method != found.method:
        return f"The method {found.method!r} reaches everything from here with {spent}."
    more = "time" if solution.timed_out else "evaluations"
    return f"Everything can be reached: a second look did so with {spent}. Allow more {more}, or try another start."


def _single(inquiry: Inquiry) -> str:
    if _reaches_unlocked(inquiry, inquiry.hard[0]):
        return _UNLOCK.format(title(inquiry.hard[0]))
    return f"No posture that reaches it was found in {WHOLE} more evaluations."


def _alone(inquiry: Inquiry, objective: Objective, nearest: Solution) -> str:
    """What can be said of an objective that is not reached even by itself."""
    if _reaches_unlocked(inquiry, objective):
        return _UNLOCK.format(title(objective))
    by = " and ".join(amount(row.error, row.unit) for row in measures(nearest) if row.verdict == MISSED)
    return f"{title(objective)} cannot be reached even alone: the nearest posture found misses it by {by}."


def _reaches_unlocked(inquiry: Inquiry, objective: Objective) -> bool:
    return bool(inquiry.problem.lock) and inquiry.reaches([objective], locked=False)


def _halves(inquiry: Inquiry, pose: Objective) -> list[str]:
    """Whether the position and the orientation of a pose can be had singly."""
    if not isinstance(pose, Pose) or pose.position_tolerance is None or pose.orientation_tolerance is None:
        return []
    if not (pose.mask[:3].any() and pose.mask[3:].any()):
        return []
    turn = pose.target[:3, :3]
    parts: dict[str, Objective] = {
        "position": Position(
            pose.frame, pose.target[:3, 3], tolerance=pose.tolerance, mask=pose.mask[:3].tolist(), mask_axes=turn,
            relative_to=pose.relative_to,
        ),
        "orientation": Orientation(
            pose.frame, turn, tolerance=pose.orientation_tolerance, mask=pose.mask[3:].tolist(),
            relative_to=pose.relative_to,
        ),
    }  # fmt: skip
    good = [name for name, part in parts.items() if inquiry.reaches([part])]
    if len(good) == 2:
        return ["Its position and its orientation can each be reached, but not both at once."]
    return [f"Only its {good[0]} can be reached."] if good else []


def _others(inquiry: Inquiry, missed: Sequence[Objective], hopeless: Sequence[Objective]) -> list[str]:
    """Whether the objectives that are not hopeless suffer from those that are."""
    others = [objective for objective in inquiry.hard if objective not in hopeless]
    if not any(objective in missed for objective in others):
        return []
    named = listed([title(objective) for objective in hopeless])
    if inquiry.reaches(others):
        return [f"All others can be reached together without {named}."]
    return _conflict(inquiry, others, missed) if len(others) > 1 else []


def _conflict(inquiry: Inquiry, objectives: Sequence[Objective], missed: Sequence[Objective]) -> list[str]:
    """Name as few objectives as cannot be reached together: leave out each in turn, and for good if the rest still
    fails. Say what gave way to what."""
    core = list(objectives)
    for objective in objectives:
        rest = [other for other in core if other is not objective]
        if len(rest) > 1 and not inquiry.reaches(rest):
            core = rest
    together = "both" if len(core) == 2 else f"all {len(core)}"
    conflict = (
        f"{listed([title(objective) for objective in core])} conflict: each can be reached alone, but no posture was "
        f"found that reaches {together}."
    )
    return [conflict, *_gave_way(inquiry, core, missed)]


def _gave_way(inquiry: Inquiry, core: Sequence[Objective], missed: Sequence[Objective]) -> list[str]:
    """What was missed for the sake of higher priorities, where the method keeps them."""
    if not inquiry.problem.compiled.has_levels or inquiry.solution.method != "memetic":
        return []
    lower = [objective for objective in core if objective in missed]
    sentences = []
    for level in sorted({objective.priority for objective in lower}):
        gave_way = [objective for objective in lower if objective.priority == level]
        higher = [objective for objective in core if objective.priority > level]
        if higher:
            sentences.append(f"{listed(_with_priority(gave_way))} gave way to {listed(_with_priority(higher))}.")
    return sentences


def _with_priority(objectives: Sequence[Objective]) -> list[str]:
    return [f"{title(objective)} (priority {objective.priority})" for objective in objectives]
