"""The searches that a graphics card knows, by the kind of problem."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from memetik.batch.device import start
from memetik.batch.device_problem import device_problem
from memetik.batch.launcher import CHUNK, Launcher
from memetik.batch.transfer import CardMemory
from memetik.kernels.cuda.launch_record import (
    LANES,
    SIMULATED,
    WORDS,
    BodiesLaunch,
    FormLaunch,
    Launch,
    Look,
    Results,
    Tasks,
    WarpLaunch,
    WarpScratch,
)
from memetik.kernels.problem.workspace import workspace_size
from memetik.kernels.runtime.record import fields
from memetik.kernels.search.descent import STEPS
from memetik.kernels.terms.distance import HULL_DISTANCE
from memetik.kernels.terms.records import CONTACT
from memetik.sharing import cached_property
from memetik.solvers.analytic import AnalyticPlan
from memetik.solvers.memetic_plan import MemeticPlan, memetic_plan

if TYPE_CHECKING:
    from memetik.kernels.cuda.straight_line_functions import StraightLineCode
    from memetik.problem.compile import Compiled

SHARED = 48 << 10  # bytes of shared memory that every device gives a block
ALONE = 4  # rows that are not worth more than a task each at first
FEW_ROWS = 1 << 15  # tasks that a device has room for at once


class Poses(Launcher):
    """Problems that are one full pose, one a thread."""

    later = 100  # one problem in two hundred needs more
    wider = 8
    threads = per_block = 128
    blocks = 2  # as many as the registers hold
    few_rows = FEW_ROWS  # with so few the device is idle but for the hardest

    @property
    def mapped(self) -> bool:  # type: ignore[override]
        """Where there is but one task a row."""
        return self.count <= ALONE and not SIMULATED

    @property
    def few(self) -> int:  # type: ignore[override]
        """One attempt where every row has many tasks, which makes for the same answer where one is enough."""
        return STEPS + 1 if self.spread > 1 else 100

    @property
    def spread(self) -> int:  # type: ignore[override]
        """As many tasks as the device has room for at once. One alone is on average as soon done without."""
        if self.count > self.few_rows or self.count <= ALONE:
            return 1
        return min(64, self.few_rows // self.count)

    def _kernel(self) -> Any:
        from memetik.kernels.cuda.pose import pose_kernel

        return pose_kernel(self.c.nodes.size, self.c.variables.size)


class Contacts(Poses):
    """One full pose and solids that keep apart: tasks solve the pose, and a second kernel looks what touches there.

    Most answers to the pose are free. For those that are not, more tasks are cheaper than to push anything out: each takes as
    long as the distances at one posture, and of the many answers that an arm has some are free. Rows of which none is are left.
    """

    later = 2 * (STEPS + 1)  # two attempts
    wider = 4
    mapped = False  # distances read many numbers

    def __init__(self, cuda: Any, c: Compiled, count: int, places: Any, seed: int) -> None:
        plan = memetic_plan(c)
        assert plan.contact_free is not None
        plan.contact_free.compiled.plans.setdefault(MemeticPlan, plan.contact_free)
        super().__init__(cuda, plan.contact_free.compiled, count, places, seed)
        self.judged, self._whole = c, device_problem(cuda, c, plan)
        self._contacts = (c.terms["loss"] == CONTACT) & (c.terms["soft"] == 0)

    def _more(self, found: Results, fresh: int) -> tuple[Any, ...]:
        contact_free = self._whole.once(
            "contact_free", lambda: np.where(self._contacts, -1, np.cumsum(~self._contacts) - 1)
        )
        return (Look(self._whole.problem_with(self.work.device["data"]), found, self._number, fresh, contact_free),)

    def _look(self) -> None:
        from memetik.kernels.cuda.contacts import look_kernel

        c = self.judged
        hulls, rest = bool((c.terms["kind"] == HULL_DISTANCE.number).any()), int((~self._contacts).sum())
        kernel = look_kernel(hulls, c.nodes.size, c.frames.size, c.variables.size, rest)
        start(self.kept.cuda, kernel, -(-self._number // self.threads), self.threads, self.stream, 0, self._table(2))


class ClosedForms(Launcher):
    """One full pose of an arm of six joints in closed form, one a thread; what has no solution within the limits is left."""

    few = spread = 1
    again = False
    threads = per_block = 128
    blocks = CHUNK  # one for each row

    @property
    def mapped(self) -> bool:  # type: ignore[override]
        """As for poses."""
        return self.count <= ALONE and not SIMULATED

    def _kernel(self) -> Any:
        from memetik.kernels.cuda.closed_form import closed_form_kernel

        return closed_form_kernel(self.c.nodes.size)

    def _given(self, launch: Launch, blocks: int) -> Any:
        return FormLaunch(launch, self.kept.once("arm", lambda: self.c.plans[AnalyticPlan].arm))


class General(Launcher):
    """Problems of any other kind, one for two warps."""

    spread = 1
    wider = 8
    threads, per_block, blocks = 2 * LANES, 1, 6

    @property
    def few(self) -> int:  # type: ignore[override]
        """Whole bodies recombine limbs over many attempts, which many short searches cannot do. But a batch of which all have
        a place on the device at once soon waits for its hardest row alone."""
        return 30 if self.count <= 16 * self.kept.multiprocessors else 200

    @property
    def later(self) -> int:  # type: ignore[override]
        """The same for those that are hard."""
        return self.few

    def _kernel(self) -> Any:
        from memetik.kernels.cuda.general import general_kernel
        from memetik.kernels.cuda.terms import kinds_of

        n, m = self.c.variables.size, self.c.residuals
        return general_kernel(kinds_of(self.c.terms, self.c.kernels), self.plan.local_search, m <= n, min(n, m) < LANES)

    @cached_property
    def _buffer(self) -> int:
        """Numbers that a warp works on."""
        c = self.c
        size: int = workspace_size(c.nodes.size, c.frames.size, c.variables.size, c.residuals)
        return size + int(c.data.size) + int(c.flat.limits.size) + c.outcome_size

    @cached_property
    def _fits(self) -> bool:
        return self._shared_with(self._buffer) <= SHARED

    def _shared_with(self, buffer: int) -> int:
        return 8 * (WORDS + 2 * int(self.c.terms.size) + int(self.c.variables.size) + buffer)

    def _shared(self) -> int:
        return self._shared_with(self._buffer if self._fits else 0)

    def _given(self, launch: Launch, blocks: int) -> Any:
        c = self.c
        lane = 7 * c.frames.size + max(c.residuals, 1)
        sizes = {**self.plan.sizes, "warps": blocks, "buffer": 1 if self._fits else self._buffer, "lane": lane}
        shapes = {
            name: (tuple(sizes.get(size, size) for size in field.shape), field.dtype)
            for name, field in fields(WarpScratch).items()
        }
        self.work.scratch = CardMemory(self.kept.cuda, shapes)  # as long as the tables speak of it
        return WarpLaunch(launch, WarpScratch(**self.work.scratch.device), self.kept.tree, int(self._fits))


class Bodies(General):
    """Whole bodies of which straight-line code can be made: in large batches one a thread at first, and those that are hard one a
    warp."""

    many = 1 << 15  # rows for which it is worth to compile code for one problem
    by_threads = 64, 64, 4  # threads in a block, its tasks, and blocks on a multiprocessor: what the registers hold
    by_warps = General.threads, General.per_block, General.blocks
    patience = 400  # evaluations of a thread; the whole device soon waits for one that takes more

    _first = False  # whether it is the first round, of many rows

    @property
    def few(self) -> int:  # type: ignore[override]
        """More than for a warp, of which a batch has fewer."""
        return self.patience if self.count >= self.many else super().few

    @property
    def later(self) -> int:  # type: ignore[override]
        """As for problems a warp each."""
        return super().few

    def _fill(
        self, device: dict[str, Any], tried: dict[str, Any], which: Any, missed: Any, tasks: Tasks, fresh: int
    ) -> None:
        self._first = bool(fresh) and self.count >= self.many
        self.threads, self.per_block, self.blocks = self.by_threads if self._first else self.by_warps
        super()._fill(device, tried, which, missed, tasks, fresh)

    def _kernel(self) -> Any:
        if not self._first:
            return super()._kernel()
        from memetik.kernels.cuda.bodies import Sizes, bodies_kernel

        c = self.c
        sizes = Sizes(
            int(c.nodes.size), int(c.frames.size), c.residuals, int(c.variables.size), int(c.flat.limits.size),
            int(c.data.size), c.outcome_size, int(c.terms.size), self.plan.sizes["population"], int(c.flat.blocks.size),
            not np.array_equal(c.nodes["parent"], np.arange(c.nodes.size) - 1),
        )  # fmt: skip
        return bodies_kernel(sizes, self._code)

    def _shared(self) -> int:
        if not self._first:
            return super()._shared()
        return 8 * (self.threads // LANES) * self._code.panel

    @property
    def _code(self) -> StraightLineCode:
        code = straight_plan(self.c).code
        assert code is not None
        return code

    def _given(self, launch: Launch, blocks: int) -> Any:
        if not self._first:
            return super()._given(launch, blocks)
        return BodiesLaunch(launch, self.kept.once("parameters", self._parameters))

    def _parameters(self) -> Any:
        terms, variables = self.c.terms, self.c.variables
        return np.concatenate((terms["scale"], terms["tolerance"], variables["lower"], variables["upper"]))


class StraightPlan:
    """The straight-line code of a problem, if it has one."""

    def __init__(self, c: Compiled) -> None:
        from memetik.kernels.cuda.straight_line import straight_line_code

        self.code = straight_line_code(c.flat, c.kernels, memetic_plan(c).sizes["population"])


def straight_plan(c: Compiled) -> StraightPlan:
    """The plan of a problem, made at the first need."""
    kept: StraightPlan | None = c.plans.get(StraightPlan)
    return kept or c.plans.setdefault(StraightPlan, StraightPlan(c))


def launcher_for(c: Compiled, places: NDArray[np.int64]) -> type[Launcher]:
    """What solves a problem on a device, of which the numbers at `places` differ from row to row."""
    if c.one_pose:
        return Poses
    if looks_last(c, places):
        return Contacts
    return Bodies if not SIMULATED and straight_plan(c).code else General


def looks_last(c: Compiled, places: NDArray[np.int64]) -> bool:
    """Whether contacts are looked at last: all else is one pose, whose target is all that differs from row to row."""
    contact_free = None if c.one_pose or c.mounts.size or c.balls.size else memetic_plan(c).contact_free
    if contact_free is None or not contact_free.compiled.one_pose:
        return False
    target = int(contact_free.compiled.terms[0]["target"])
    return np.array_equal(places, np.arange(target, target + 7))


def has_form_on_device(plan: AnalyticPlan) -> bool:
    """Whether a device knows the closed form of a problem."""
    return plan.has_closed_form and plan.compiled.mounts.size == 0
