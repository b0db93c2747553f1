"""Request and Reply: what every transport is about, as plain data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from memetik.scenes import Wish
from memetik.types import Array
from memetik_serve.codes import Code


@dataclass(frozen=True)
class Request:
    """A question to a Core.

    objectives: what is wanted, each as in a scene: a kind, a name of its own, and values. One whose tolerances are None is a
    guide, what bio_ik calls `secondary`: it pulls and never blocks.
    group: the named chain whose joints may move; all joints of the body if empty. Others stay where `state` has them.
    state: joint values [rad or m] to start from, by name; home for the rest.
    fixed_joints: joints that stay where `state` has them.
    approximate: whether the closest posture is a success where the objectives cannot be met.
    timeout: what the search may take [s]; the core's own limit if 0.
    attempts: how often to search, with another seed each time, until all is met.
    avoid_collisions: links keep apart from each other and from the obstacles of the core's world.
    method, seed: as in mk.solve; the core's own method if empty.
    """

    objectives: tuple[Wish, ...]
    group: str = ""
    state: Mapping[str, float] = field(default_factory=dict)
    fixed_joints: tuple[str, ...] = ()
    approximate: bool = False
    timeout: float = 0.0
    attempts: int = 1
    avoid_collisions: bool = False
    method: str = ""
    seed: int = 0


@dataclass(frozen=True)
class Missed:
    """One thing that is measured: an objective, or the position or orientation of a pose."""

    objective: str
    part: str  # empty for an objective that is measured as a whole
    error: float
    tolerance: float | tuple[float, ...] | None  # one for each axis where so asked, None for a guide
    unit: str  # "m", "rad", or empty for another
    verdict: str  # "ok", "missed" or "guide"


@dataclass(frozen=True)
class Reply:
    """The answer of a Core; where `code` is not an answer, only `message` counts.

    reached: whether every objective is within its tolerance, also where `approximate` made a success of the closest posture;
        False where no objective has one.
    q: the posture, in the order of the body's joint_names; None where there is none.
    fitness: the sum of squared weight * error of all objectives that are no guides, 0 at best.
    measured: the errors one by one, only of what was not reached.
    seconds, evaluations: what the search took, without compiling.
    """

    code: Code
    message: str = ""
    reached: bool = False
    q: Array | None = None
    fitness: float = 0.0
    measured: tuple[Missed, ...] = ()
    seconds: float = 0.0
    evaluations: int = 0
