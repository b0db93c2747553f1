"""What closed forms are given: the arm as it stands with all joints at zero, and room to work in."""

from typing import NamedTuple

from memetik.kernels.closed_form.filter_candidates import Candidates
from memetik.kernels.compiler.record import Array, floats, integers, reader
from memetik.kernels.problem.record import SolveArrays

# Shapes of arms, each with its own closed form.
TWO_LINKS = 0  # two parallel axes, and the position of the tip
SHOULDER_AND_ELBOW = 1  # four or five axes: the first two meet, and all others do
MEETING = 2  # six axes, of which three in a row meet in a point
PARALLEL = 3  # six axes, of which three in a row are parallel

MOST = 8  # candidates for one value of the held joint


class Geometry(NamedTuple):
    """An arm of turning joints. Shared by all threads, and never written."""

    shape: int
    first: int  # of the three axes in a row, counted without the held joint
    held: int  # the joint that is held, one value after the other, -1 for none
    size: float  # [m] how far the arm reaches, about
    axes: Array = floats("variables", 3)  # unit vectors
    points: Array = floats("variables", 3)  # a point on each axis [m]; where axes meet, it is that of all of them
    tip: Array = floats(7)  # the pose of the tip
    values: Array = floats("values")  # to hold the held joint at, ascending, besides that of the start


class Loop(NamedTuple):
    """Six axes and the target close a loop, which may begin at any of the axes (loop.py)."""

    axes: Array = floats(6, 3)
    points: Array = floats(6, 3)
    joints: Array = integers(6)  # which joint of the arm each one is
    start: Array = floats(6)  # the angles that are taken where the target leaves them open
    roots: Array = floats(4)  # of a quadratic (trigonometric.py)
    pairs: Array = floats(4, 2)  # angles of two joints
    turns: Array = floats(4, 3)  # angles of the first three joints
    posture: Array = floats("variables")  # the start, with the held joint at its value
    rows: Array = floats(MOST, "variables")  # candidates for one value of the held joint


class AnalyticArrays(NamedTuple):
    """All of a solve in closed form."""

    solve: SolveArrays
    arm: Geometry
    loop: Loop
    candidates: Candidates


analytic_arrays = reader(AnalyticArrays)
