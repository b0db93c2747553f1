"""The flat form of objectives: one TERM for each thing that is measured, its numbers in a common data array.

An objective packs into one or more terms (a pose is a position and an orientation). Terms read frames and variables and
give residuals, zero when satisfied. `scale` turns a residual [m, rad] into what the search minimises.

Each kind of term is declared once, in the file of its kernels, by a TermKind: all that the rest of the library asks about it.
"""

from typing import Any, NamedTuple

import numpy as np

from memetik.kernels.runtime.record import item

TERM = item(
    residual=int,  # addresses of the kernels that compute it (compiler/function_pointers.py)
    jacobian=int,
    kind=np.int32,
    frame=np.int32,  # row in the frames, -1 for none
    other=np.int32,  # row of the frame that the target rides on, -1: the world
    row=np.int32,  # first residual
    rows=np.int32,  # how many residuals; 0 for springs, which act on single variables
    target=np.int32,  # where the numbers that say what is wanted start in the data array
    numbers=np.int32,  # where its other numbers start
    count=np.int32,  # how many items follow, where the kind has a list
    soft=np.int32,  # 1: guides, never blocks
    goal=np.int32,  # of the kind, see TermKind
    loss=np.int32,
    paired=np.int32,
    scale=float,  # square root of the weight over the unit of the residual
    tolerance=float,  # error [m or rad] up to which the term is satisfied
    reach=float,  # length of the chain to the frame [m], for the thesis's loss
    weight=float,  # of the objective, for the thesis's loss
)
FROM_KIND = ("residual", "jacobian", "goal", "loss", "paired")  # fields that the kind decides

# What a term wants of its frame, for methods that go by geometry and not by residuals alone. The data of POINT and ROTATION are
# those of pose.py, the data of DIRECTION those of aim.py.
NO_GOAL, POINT, ROTATION, DIRECTION = 0, 1, 2, 3
# What a term loses (problem/losses.py): the length of its residual, that as a position does, or a hyperbola up to contact,
# where the first of its numbers is a margin that the residual counts and the error does not; that hyperbola shifted to be zero
# from the margin on (CONTACT), or as the thesis has it.
LENGTH, POSITION_LOSS, CONTACT, HYPERBOLA = 0, 1, 2, 3

# `other` of the springs of a Displacement: they rest where the solve starts, or at a posture of their own.
FOLLOWS_START, AT_REFERENCE = -2, -3

UNITS = ("m", "rad", "")  # empty: another, or that of a joint


class TermKind(NamedTuple):
    """What is to be known about a kind of term.

    number: in the field `kind` of its terms; files of jobs and of learned weights hold it, so it stays.
    unit: of its residual and error.
    rows: how many residuals it has, None if that differs, 0 for springs, which have no kernels.
    part: its name where an objective has several terms.
    goal, loss: see above.
    paired: it has one loss with the term after it, the mean of both.
    calls_python: its kernels may call a user's function (custom.py).
    """

    number: int
    name: str
    unit: str
    rows: int | None
    residual: Any
    jacobian: Any
    part: str = ""
    goal: int = NO_GOAL
    loss: int = LENGTH
    paired: bool = False
    calls_python: bool = False


KINDS: dict[int, TermKind] = {}  # every kind that has been declared, by its number


def declare(kind: TermKind) -> TermKind:
    """Put a kind on the list, if nothing about it is missing or taken."""
    if kind.number in KINDS or kind.name in (known.name for known in KINDS.values()):
        raise ValueError(f"number {kind.number} or name {kind.name!r} of a kind of term is taken")
    if not kind.name or kind.unit not in UNITS:
        raise ValueError(f"kind {kind.number} of terms needs a name, and a unit of {UNITS}")
    if (kind.rows == 0) != (kind.residual is None) or (kind.residual is None) != (kind.jacobian is None):
        raise ValueError(f"kind {kind.name!r} of terms needs a residual and a Jacobian, unless it has no rows")
    KINDS[kind.number] = kind
    return kind


def kind_of(term: np.void) -> TermKind:
    """The kind of a term."""
    return KINDS[int(term["kind"])]
