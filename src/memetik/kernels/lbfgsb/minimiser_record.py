"""The state of L-BFGS-B, for n variables and a memory of m pairs."""

from typing import NamedTuple

from memetik.kernels.math.line_search import LINE_SEARCH
from memetik.kernels.runtime.record import Array, floats, item, reader, records

# When to end, and how far it has come.
PROGRESS = item(
    most_iterations=int,
    most_evaluations=int,
    gradient_tolerance=float,  # end when no component of the projected gradient is larger
    gain_tolerance=float,  # end when an iteration gains at most this times max(|f before|, |f after|, 1)
    iterations=int,
    evaluations=int,
    trials=int,  # of this line search
    step=float,  # of the trial
    least=float,  # the least value seen
)

# Pairs in memory, the slot of the next, which has the oldest once all are full, and theta of the model.
CURVATURE = item(count=int, next=int, theta=float)


class Line(NamedTuple):
    """Where the search is, and the bounds."""

    x: Array = floats("variables")  # where to evaluate
    gradient: Array = floats("variables")  # at x, written by the caller
    lower: Array = floats("variables")  # perhaps infinite
    upper: Array = floats("variables")
    progress: Array = records(PROGRESS, 1)
    search: Array = records(LINE_SEARCH, 1)
    best: Array = floats("variables")  # the best x seen
    origin: Array = floats("variables")  # where the line search started
    before: Array = floats("variables")  # gradient there
    direction: Array = floats("variables")  # along which it searches
    target: Array = floats("variables")  # Cauchy point, then the minimum of the model: origin + direction
    times: Array = floats("variables")  # when a variable meets its bound, zero for one that is held there


class Model(NamedTuple):
    """What is known of the curvature, and scratch to use it."""

    known: Array = records(CURVATURE, 1)
    pairs: Array = floats("2m", "variables")  # W transposed
    older: Array = floats("m", "m")  # L
    newer: Array = floats("m", "m")  # R transposed
    steps: Array = floats("m", "m")  # S^T S
    changes: Array = floats("m", "m")  # Y^T Y
    middle: Array = floats("m", "m")  # for products with the middle matrix
    system: Array = floats("2m", "2m + 1")  # K of the subspace and the right side
    first: Array = floats("2m")  # W^T d where the path starts
    path: Array = floats("2m")  # M W^T d along it
    moved: Array = floats("2m")  # M W^T (Cauchy point - x)
    corner: Array = floats("2m")
    product: Array = floats("2m")


class Minimiser(NamedTuple):
    """All of it."""

    line: Line
    model: Model
    minimum: int  # address of find_minimum (minimum.py)


read_minimiser = reader(Minimiser)
