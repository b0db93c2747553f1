"""What is legal but likely a mistake, said once in a warning: millimetres, degrees, a frame that stands still.

The rules are wide, so that nothing that may be meant is doubted. All but the one for starts are asked when a problem is
built and not when it is retargeted.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from memetik.body import Body, Frame
from memetik.errors import warn
from memetik.kernels.body.records import TURN
from memetik.kernels.terms.records import POINT
from memetik.objectives import Custom, JointValue, Objective
from memetik.objectives.framed import Framed
from memetik.problem.compile import Compiled
from memetik.types import Array

# A target this many times as far from the root as the frame can ever be is doubted; metres typed as millimetres are
# about a thousand times too far, and what is farther still is meant to be out of reach.
FAR, TOO_FAR = 120.0, 10_000.0
LONGEST = 1e150  # rad and m; squares of what is larger overflow
NEAR = 20.0  # m; no target that is nearer is doubted, however small the body

_RADIANS = "Angles are in radians: 90 degrees are math.radians(90)."


def warn_of_problem(
    body: Body,
    objectives: Sequence[Objective],
    compiled: Compiled,
    limits: Mapping[str, tuple[float, float]],
    locked: Mapping[str, float],
) -> None:
    """Warn of what a problem was hardly meant to say."""
    for objective, owner in zip(objectives, compiled.owners, strict=True):
        _doubt_frames(body, objective, locked)
        _doubt_millimetres(objective, compiled, owner)
        if isinstance(objective, JointValue):
            _doubt_degrees(body, objective.joint, [objective.target], f"{objective!r}: the target")
    for joint, ends in limits.items():
        _doubt_degrees(body, joint, ends, "limits: an end")
    _doubt_loops(body, objectives, compiled)


def warn_of_start(body: Body, start: Array) -> None:
    """Warn if values of a start look like degrees."""
    far = [name for k, name in enumerate(body.joint_names) if abs(start[k]) > _most(body, k)]
    if far:
        value = start[body.index(far[0])]
        warn(f"the start: joint {far[0]!r} is at {value:g} rad, far outside its limits. {_RADIANS}")


def degrees_hint(body: Body, k: int, value: float) -> str:
    """A sentence for an error about the value of a joint, empty unless it looks like degrees."""
    return f" {_RADIANS}" if math.isfinite(value) and abs(value) > _most(body, k) else ""


def usual_size(body: Body) -> float:
    """A start whose vector is shorter than this is not doubted; none within the limits is longer."""
    ends = np.maximum(np.abs(body.lower), np.abs(body.upper))
    slides = ~body.variables.turns
    if np.isinf(ends[slides]).any():
        return LONGEST
    return math.sqrt(1.0 + float(np.sum(np.where(np.isfinite(ends), np.maximum(ends, math.tau), math.tau) ** 2)))


def _doubt_frames(body: Body, objective: Objective, locked: Mapping[str, float]) -> None:
    """A frame that stands still, in an objective that is moved by something else."""
    if isinstance(objective, Custom):
        frames: tuple[str | Frame, ...] = objective.frames() if objective.joints(body) else ()
    elif isinstance(objective, Framed) and objective.relative_to is not None:
        frames = (objective.frame,)
    else:
        return  # without a frame that moves it is an error
    if frames and not any(_moves(body, frame, locked) for frame in frames):
        named = ", ".join(str(frame) for frame in frames)
        warn(
            f"{objective!r}: no free joint moves {named}. Name a link that moves; if it is the other one, "
            "exchange frame and relative_to."
        )


def _doubt_loops(body: Body, objectives: Sequence[Objective], compiled: Compiled) -> None:
    """Loops of the body that joints of the problem move and that nothing keeps closed."""
    tied = [{body.frame(frame).link for frame in objective.frames()} for objective in objectives] if body.loops else []
    active = set(compiled.active.tolist())
    gaping = [
        loop.name
        for loop in body.loops
        if not any({loop.frame.link, loop.other.link} <= links for links in tied)
        and active & set(body.flatten([loop.frame, loop.other])[0].nodes["variable"].tolist())
    ]
    if gaping:
        warn(
            f"nothing keeps {len(gaping)} loops of body {body.name!r} closed, such as {gaping[0]!r}. Add the objectives of "
            "mk.objectives.close_loops(body)."
        )


def _moves(body: Body, frame: str | Frame, locked: Mapping[str, float]) -> bool:
    nodes = body.flatten([frame])[0].nodes
    return any(body.joint_names[variable] not in locked for variable in nodes["variable"])


def _doubt_millimetres(objective: Objective, compiled: Compiled, owner: slice) -> None:
    """A point in the world that is hundreds of times as far as the chain is long."""
    for term in compiled.terms[owner]:
        if term["goal"] != POINT or term["other"] >= 0:
            continue
        mask = compiled.data[term["numbers"] : term["numbers"] + 3]
        point = compiled.data[term["target"] + 4 : term["target"] + 7]
        distance = float(np.linalg.norm(point - _root_place(compiled)))
        far = distance / float(term["reach"])
        if mask.all() and distance > NEAR and FAR < far < TOO_FAR and not _slides_freely(compiled, int(term["frame"])):
            x, y, z = point
            warn(
                f"{objective!r}: the target ({x:g}, {y:g}, {z:g}) is {far:.0f} times as far as the chain is long, which "
                f"is {term['reach']:.3g} m. Lengths are in metres: divide millimetres by 1000."
            )


def _root_place(compiled: Compiled) -> Array:
    """Where the root stands in the world [m]."""
    if not compiled.mounts.size:
        return np.zeros(3)
    at = int(compiled.mounts[0]["root"])
    return compiled.data[at + 4 : at + 7]


def _slides_freely(compiled: Compiled, frame: int) -> bool:
    """Whether a slide without limits moves a frame."""
    node = compiled.frames[frame]["node"]
    while node >= 0:
        motion = compiled.nodes[node]
        if (
            motion["motion"] != TURN
            and np.isinf(compiled.variables[motion["variable"]][["lower", "upper"]].tolist()).any()
        ):
            return True
        node = motion["parent"]
    return False


def _doubt_degrees(body: Body, joint: str, values: Iterable[float], what: str) -> None:
    most = _most(body, body.index(joint))
    far = [value for value in values if math.isfinite(value) and abs(value) > most]
    if far:
        warn(f"{what} of joint {joint!r} is {far[0]:g} rad, far outside its limits. {_RADIANS}")


def _most(body: Body, k: int) -> float:
    """The largest size of a value that is not doubted: a turn beyond the limits; any for slides and endless joints."""
    if not body.variables.turns[k]:
        return math.inf
    return math.tau + float(body.upper[k] - body.lower[k])
