"""What Distance and SelfDistance have in common: pairs of groups of solids that keep apart."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from memetik.body import Body
from memetik.collision.solids import has_fields
from memetik.errors import ProblemError, shown
from memetik.kernels.terms.distance import DISTANCE, FIELD_DISTANCE, HULL_DISTANCE
from memetik.kernels.terms.records import HYPERBOLA
from memetik.objectives.attributes import attribute
from memetik.objectives.broad_phase import Group, pair_lists
from memetik.objectives.objective import FrameLike, Packer, Single, checked_length

LOSSES = ("margin", "published")
NEVER = 1e300  # m: a tolerance that is not missed
EVERYWHERE = 100.0  # m: as far as the published loss counts; farther pairs lose as much as there, 0.01
# Pairs that can be too close at the same time and pull each on its own; random humanoids have up to that many.
ROWS = 32


class Apart(Single):
    """Pairs of groups of solids, how far apart they are to be, and what it costs if they are not."""

    def __init__(
        self,
        *,
        clearance: float,
        margin: float,
        tolerance: float | None,
        weight: float,
        name: str | None,
        priority: int,
        loss: str,
    ) -> None:
        super().__init__(weight=weight, tolerance=tolerance, name=name, priority=priority)
        self.loss = loss
        self.clearance = clearance
        self.margin = margin

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__({"loss": "margin", **state})  # those that were written to a file before had none

    @attribute
    def loss(self, value: str) -> str:
        """What the evolutionary methods lose, "margin" or "published"."""
        if not isinstance(value, str) or value not in LOSSES:
            raise ProblemError(f"{self.name}: loss is {shown(value)}; choose one of {', '.join(LOSSES)}.")
        return value

    @attribute
    def clearance(self, value: float) -> float:
        """How far apart is required [m]: what decides whether the objective is satisfied. 0 is contact."""
        return checked_length(value, self.name, "clearance")

    @attribute
    def margin(self, value: float) -> float:
        """How far beyond the clearance the search aims [m], so that rounding does not end short of it."""
        return checked_length(value, self.name, "margin")

    def _pack_pairs(
        self, packer: Packer, pairs: Sequence[tuple[Group, Group]], frames: Sequence[FrameLike], *, hulls: bool = False,
        fields: bool = False,
    ) -> None:  # fmt: skip
        """Add the term; `frames` are what carries the groups; `hulls` and `fields`: some of the solids in the world are."""
        if has_fields(packer.body, frames):
            packer.keep(packer.body)
            fields = True
        if pairs:
            moving = dict.fromkeys(each.frame for pair in pairs for each in pair if each.frame >= 0)
            lists = pair_lists(packer, pairs)
            hulls = hulls or _has_hulls(packer.body, frames)
            kind = FIELD_DISTANCE if fields else HULL_DISTANCE if hulls else DISTANCE
            numbers = [self.clearance, 0.0, -1.0, *(number for each in lists for number in each)]
            common: dict[str, Any] = {
                "count": len(lists), "reach": max(packer.reach(frame) for frame in frames), "more_frames": list(moving),
            }  # fmt: skip
            published = self.loss == "published"
            packer.add(
                kind, tolerance=self.tolerance, rows=min(len(pairs), ROWS), data=packer.numbers([self.margin, *numbers]),
                residual_only=published, **common,
            )  # fmt: skip
            if published:  # every pair counts, however far apart
                packer.add_loss(
                    kind, HYPERBOLA, tolerance=None if self.tolerance is None else NEVER, rows=len(pairs),
                    data=packer.numbers([EVERYWHERE, *numbers]), **common,
                )  # fmt: skip


def _has_hulls(body: Body, frames: Iterable[FrameLike]) -> bool:
    """Whether links by name have hulls among their shapes."""
    return any(shape.kind == "hull" for link in frames if isinstance(link, str) for shape in body.links[link].shapes)
