"""What closed forms are given: the arm as it stands with all joints at zero, and room to work in."""

from typing import NamedTuple

from memetik.kernels.problem.problem_record import VARIABLE
from memetik.kernels.runtime.record import Array, floats, integers, records

# Shapes of arms, each with its own closed form.
NO_FORM = -1  # none that is known
TWO_LINKS = 0  # two parallel axes, and the position of the tip
SHOULDER_AND_ELBOW = 1  # four or five axes: the first two meet, and all others do
MEETING = 2  # six axes, of which three in a row meet in a point
PARALLEL = 3  # six axes, of which three in a row are parallel

MOST = 8  # candidates for one value of the held joint
ROWS = 4 * MOST  # with those that are found next to them


class Geometry(NamedTuple):
    """An arm of turning joints, as it is meant to be. Shared by all threads, and never written."""

    shape: int
    first: int  # of the three axes in a row, counted without the held joint
    held: int  # the joint that is held, one value after the other, -1 for none
    size: float  # [m] how far the arm reaches, about
    off: float  # how far the body is from the arm as meant [rad, or m for each m of its size]: rounding in its file; 0 for none
    axes: Array = floats("variables", 3)  # unit vectors
    points: Array = floats("variables", 3)  # a point on each axis [m]; where axes meet, it is that of all of them
    tip: Array = floats(7)  # the pose of the tip
    values: Array = floats("values")  # to hold the held joint at, ascending, besides that of the start
    free: Array = records(VARIABLE, "variables")  # the variables without limits


class Loop(NamedTuple):
    """Six axes and the target close a loop, which may begin at any of the axes (loop.py)."""

    axes: Array = floats(6, 3)
    points: Array = floats(6, 3)
    joints: Array = integers(6)  # which joint of the arm each one is
    start: Array = floats(6)  # the angles that are taken where the target leaves them open
    touches: Array = floats(1)  # how nearly two roots of an equation must be one to count as it (trigonometric.py)
    roots: Array = floats(4)  # of a quadratic (trigonometric.py)
    pairs: Array = floats(4, 2)  # angles of two joints
    turns: Array = floats(4, 3)  # angles of the first three joints
    rest: Array = floats("variables")  # the posture to stay near, the start unless a Displacement has a reference
    weight: Array = floats("variables")  # of the squared change of each variable from there
    posture: Array = floats("variables")  # the same posture, with the held joint at its value
    bounds: Array = floats(4)  # squared distance that each of the pairs or turns takes at least
    found: Array = floats("variables")  # the nearest candidate
    rows: Array = floats(ROWS, "variables")  # candidates for one value of the held joint
