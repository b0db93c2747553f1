"""Settings and scratch of the methods of sweeps."""

from typing import NamedTuple

from memetik.kernels.runtime.record import Array, flags, floats, integers, item, reader, records

# How far a search has come (restart.py).
PROGRESS = item(
    softness=float,  # how hard guides pull now
    guides=float,  # and at first; 0 if there are none
    only_guides=int,  # 1 if nothing else is wanted
    restarts=int,  # 1 if it may begin again elsewhere
    last=float,  # squared error when it was last compared
    sweeps=int,  # since then
    nudged=int,  # 1 once the start was nudged
    settling=int,  # 1 while the best posture is improved
)


class Sweeps(NamedTuple):
    """What all methods of sweeps have."""

    restarts: bool  # begin again at random postures
    longest: float  # step of coordinate descent [rad or m]
    progress: Array = records(PROGRESS, 1)
    deepest: Array = integers("variables")  # the last node that each variable drives
    above: Array = integers("nodes")  # the node before it that the same variable drives, -1: none
    moved: Array = floats("frames", 7)  # frames after a step on trial
    weights: Array = floats("variables")  # the share of its best change that each variable takes; 0: it rests


class Descent(NamedTuple):
    """Cyclic coordinate descent."""

    sweeps: Sweeps
    to_root: bool  # from the tips to the root, not the other way


class Moments(NamedTuple):
    """Points r on their way to places d as each node sees them (moments.py)."""

    weight: Array = floats("nodes")  # W = Σ w
    shape: Array = floats("nodes", 3)  # m = Σ w r
    places: Array = floats("nodes", 3)  # n = Σ w d
    products: Array = floats("nodes", 3, 3)  # K = Σ w r d^T


class Reaching(NamedTuple):
    """Forward and backward reaching; while links are asked for (fabrik_forward.py), their rows are weighted sums."""

    sweeps: Sweeps
    moments: Moments
    ahead: float  # how much the point after the next counts
    swept: Array = floats("nodes", 7)  # the pose of each link; before, the rotations and points that it is asked for
    attached: Array = floats("nodes", 3)  # where on the link these points are
    weight: Array = floats("nodes")  # of all who ask
    branches: Array = integers("nodes")  # how many of them are branches
    bound: Array = flags("nodes")  # 1 for a link with a target of its own
    load: Array = floats("nodes")  # weight of all objectives beyond it


read_descent, read_reaching = reader(Descent), reader(Reaching)
