"""Legs: the joints that move a foot, and postures of them that put the foot where it belongs, frame after frame."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from memetik.body import Body, Frame
from memetik.errors import ProblemError
from memetik.kernels.feet.soles import SPOT_NUMBERS
from memetik.kernels.feet.stand import StandingLeg, stand_leg
from memetik.objectives import Displacement, Orientation, Pose, Position
from memetik.problem import Problem
from memetik.problem.columns import target_columns
from memetik.problem.scratch import scratch_pool
from memetik.types import Array

POSITION, ROTATION = 1e-5, 1e-5  # m and rad, tolerances of a foot of a gait
# Weights of where a foot is, how it is turned, and how near its leg is to the clip. With a third of NEAR, a foreleg of a wolf is
# strained to its limits for the last degree, and its largest step is 1.7 times that of the clip; soles are off by 0.5 degrees
# of 6.4 in the mean (tests/stress/feet.py).
PLACE, TURN, NEAR = 1e6, 1.0, 0.03
REACHED = 1e-4  # m; a foot that is farther from its place, or deeper in the ground, is not there
KEPT = 32  # legs that are kept for the next clip


class Leg(NamedTuple):
    """The joints that move a foot, and where it has to be."""

    columns: NDArray[np.int64]  # of the leg's joints in the joint vector
    problem: Problem  # place and turn of the foot in the frame of the base, near the clip
    places: NDArray[np.int64]  # of both targets in the data of the problem


class Standing(NamedTuple):
    """The frames in which a foot stands."""

    bases: Array  # (n, 4, 4), poses of the link that carries the leg
    goals: Array  # (n, 4, 4), where the foot belongs
    clip: Array  # (n, joints), the leg
    follows: NDArray[np.uint8]  # (n,), 1 if it stands in the frame before, too
    last: Array  # (2, joints), the leg before the first of them, as it was placed and as the clip has it


def stand(leg: Leg, rows: Standing, points: Array, surface: Array, above: float) -> tuple[Array, Array, Array]:
    """Return the joints of a leg (n, joints), how far its foot misses its goal [m], and how deep its sole is in a surface [m].

    points: of the sole (k, 3) in the frame of the foot [m]; with none the surface does not count.
    surface: the numbers of a Surface; rays start `above` [m] each point.
    """
    count, pool = len(rows.clip), scratch_pool(leg.problem.compiled)
    standing = StandingLeg(
        leg.places, rows.bases, rows.goals, rows.clip, rows.follows, rows.last, np.empty_like(rows.clip),
        np.empty(count), np.empty(count), points, np.empty((len(points), SPOT_NUMBERS)), np.eye(4), np.empty((2, 4, 4)),
    )  # fmt: skip
    scratch = pool.lease()
    stand_leg(scratch.table, standing, surface, above, rows.clip[0].copy(), scratch.outcome)
    pool.give_back(scratch)
    return standing.q, standing.missed, standing.deep


def leg_bases(body: Body, feet: Sequence[Frame]) -> list[str]:
    """For each foot the link that carries its leg: the last on the way to it that carries another foot, too."""
    held_by = {joint.child: joint.parent for joint in body.joints.values()}
    ways = []
    for foot in feet:
        way = [foot.link]
        while way[-1] in held_by:
            way.append(held_by[way[-1]])
        ways.append(way)
    moving = {joint.child for joint in body.joints.values() if joint.dof}
    bases = []
    for k, way in enumerate(ways):
        others = {link for i, other in enumerate(ways) if i != k for link in other}
        carried = next((link for link in way[1:] if link in others), None)
        if carried is None:  # a single foot: all but a base that floats
            first = next((joint for joint in body.joints.values() if joint.dof), None)
            carried = first.child if first is not None and first.kind == "floating" else body.root
        if not any(link in moving for link in way[: way.index(carried)]):
            raise ProblemError(f"foot {feet[k]} cannot move on {carried!r}. Give feet on legs of their own.")
        bases.append(carried)
    return bases


def leg_problem(body: Body, frame: Frame, base: str) -> tuple[NDArray[np.int64], Problem]:
    """The columns of a leg's joints, and the problem of the pose of its foot in the frame of its base."""
    leg = body.chain(base, frame.link)
    pose = Pose(frame, leg.forward(leg.home, frame), position_tolerance=POSITION, orientation_tolerance=ROTATION)
    return np.array([body.index(name) for name in leg.joint_names]), Problem(leg, [pose])


def leg_of(body: Body, frame: Frame, base: str) -> Leg:
    """Return the leg that moves a frame, from the link that carries it."""
    return _leg(body, frame.link, frame.link_from_frame.tobytes(), base)


@lru_cache(maxsize=KEPT)
def _leg(body: Body, link: str, offset: bytes, base: str) -> Leg:
    """A leg has often more joints than its foot needs, or too few: the clip decides the rest, so that nothing jumps.

    It is kept for the next clip: to compile its problem takes as long as fifty frames.
    """
    frame = Frame(link, np.frombuffer(offset).reshape(4, 4))
    leg = body.chain(base, link)
    place = Position(frame, (0.0, 0.0, 0.0), tolerance=None, weight=PLACE)
    turn = Orientation(frame, np.eye(3), tolerance=None, weight=TURN)
    problem = Problem(leg, [place, turn, Displacement(weight=NEAR)])
    both = target_columns(problem, {place: np.zeros((1, 3)), turn: np.eye(3)[None]}, "FootPlacer")
    return Leg(np.array([body.index(name) for name in leg.joint_names]), problem, both.places)
