"""What an adapter to another solver looks like; memetik itself is measured through one."""

from __future__ import annotations

from typing import NamedTuple, Protocol

from memetik.types import Array


class Task(NamedTuple):
    """What every solver is asked for: the tolerances of a pose, and the time it may take."""

    position: float  # m
    orientation: float  # rad
    seconds: float


class Peer(Protocol):
    """A solver that is built for one arm. `solve` is what gets timed, so it does nothing but call the solver."""

    name: str
    whole_turns: bool  # angles come without regard to limits; the caller adds whole turns

    def solve(self, target: Array, start: Array) -> Array | None:
        """A joint vector, several as rows, or None for no solution; target is 4x4, base_from_tip."""


class Slow:
    """A peer that takes so long that a contest hands it one query in `share` only, with a wider interval to show for it."""

    share = 20
