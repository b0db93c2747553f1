"""What the flagship keeps for a problem: its population, the addresses of its kernels, and scratch for its calls."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from memetik.kernels.closed_form.arm_record import MEETING, PARALLEL, Geometry
from memetik.kernels.compiler.function_pointers import lasting_address, way_in
from memetik.kernels.compiler.second_compiler import compile_ahead
from memetik.kernels.contacts.contact_search import ContactFree, Push, attempt_along, contact_stage, push_room
from memetik.kernels.contacts.slide import slide_stage
from memetik.kernels.contacts.sliding_step import Slide
from memetik.kernels.problem.function_pointers import ATTEMPT, STAGE
from memetik.kernels.problem.problem_record import Problem as FlatProblem
from memetik.kernels.runtime.record import allocate, table_of
from memetik.kernels.search.closed_form_attempt import (
    CLOSED_FORM_PARTS,
    attempt_closed_form,
    attempt_nearest,
    nearest_stage,
)
from memetik.kernels.search.descent import attempt, attempt_softly
from memetik.kernels.search.entry import SEARCH_FROM, SearchCall, search_from
from memetik.kernels.search.guide_descent import attempt_calmly, attempt_minimum
from memetik.kernels.search.levels import minimise_rank
from memetik.kernels.search.population_poses import place_population
from memetik.kernels.search.pose_descent import attempt_pose
from memetik.kernels.search.pose_search import POSE_PARTS, next_pose_start, solve_pose
from memetik.kernels.search.priorities import priority_stage, settle_levels
from memetik.kernels.search.refine import STEPS, refine
from memetik.kernels.search.restarts import restart_stage
from memetik.kernels.search.search import next_start
from memetik.kernels.search.search_record import (
    ADDRESSES,
    MINIMISE_RANK,
    NEXT_POSE_START,
    NEXT_START,
    REFINE,
    SETTLE_LEVELS,
    LaneScratch,
    MemeticArrays,
    Population,
    Shares,
    Stages,
)
from memetik.kernels.search.stages import SEARCH_PARTS, refine_stage, relax_stage, search_stage
from memetik.kernels.terms.records import CONTACT
from memetik.problem.compile import Compiled
from memetik.problem.contact_free import without_contacts
from memetik.problem.free_postures import set_free
from memetik.problem.scratch import Pool, Scratch
from memetik.problem.serial_arm import arm_of
from memetik.sharing import cached_property
from memetik.solvers.budget import Budget, refuse_generations
from memetik.solvers.closed_forms import closed_form, no_form
from memetik.types import Array

# How many postures the population of a problem has, and the seed that draws it: the same in every solve.
POPULATION, POPULATION_SEED = 256, 20170601


# The share of the time that the search may take where something may have to give way afterwards.
SEARCHING = 0.4

NEVER = object()  # no budget


class MemeticPlan(Pool["MemeticScratch"]):
    """Made once for a compiled problem and shared by all threads.

    keeps_off: the same problem with its contacts, if this is one without. Then the postures to start from are free.
    """

    def __init__(self, compiled: Compiled, searches: bool = True, keeps_off: Compiled | None = None) -> None:
        super().__init__(self.new_scratch, calls_python=compiled.calls_python)
        c = self.compiled = compiled
        self._keeps_off = keeps_off
        # For threads that solve many rows, with targets of their own.
        self.row_scratch = Pool(lambda: self.new_scratch(c.data.copy()), calls_python=False)
        self.arm = self._arm()
        self.sizes = {
            **c.sizes, "population": POPULATION, "values": self.arm.values.size, "ranks": int(c.ranks.max()) + 1,
            "pose": len(c.pose),
        }  # fmt: skip
        rng = np.random.default_rng(POPULATION_SEED)
        genes = rng.uniform(c.variables["sample_lower"], c.variables["sample_upper"], (POPULATION, c.variables.size))
        self.population = allocate(Population, self.sizes, genes=genes)
        self.addresses = np.zeros(1, dtype=ADDRESSES)  # of what is compiled when it is needed
        if searches:
            self._ask_for_search()
        if keeps_off is not None:
            set_free(keeps_off, genes, POPULATION_SEED)
        place_population(c.nodes, c.frames, self.population, np.empty((c.nodes.size, 7)))

    def _ask_for_search(self) -> None:
        """The machine code of a first solve will be needed."""
        compile_ahead([(search_from, SEARCH_FROM)])
        if not self.compiled.one_pose:
            roots, later = [(self.first_stage, STAGE), (self.local_search, ATTEMPT)], [(next_start, NEXT_START)]
            if self.has_closed_form:
                roots, later = [*roots, (attempt_nearest, STAGE)], [(search_stage, STAGE), *later]
            compile_ahead(roots, SEARCH_PARTS + CLOSED_FORM_PARTS * self.has_closed_form, later=later)
            return
        compile_ahead([(solve_pose, STAGE)], POSE_PARTS, later=[(next_pose_start, NEXT_POSE_START)])
        if self.has_closed_form:
            compile_ahead([(attempt_closed_form, STAGE)], CLOSED_FORM_PARTS)

    def new_scratch(self, source: Array | None = None) -> MemeticScratch:
        """Scratch for one call, perhaps with targets of its own."""
        return MemeticScratch(self, source)

    def _arm(self) -> Geometry:
        """The closed form that the search tries first: that of six joints.

        With one joint of seven held there is one as well, but where that joint is to stay is for the search to find.
        """
        c = self.compiled
        # A search that goes on where another one ended, as of a problem without its contacts, has the formulas behind it.
        may = len(c.pose) > 0 and (c.one_pose or self._keeps_off is None)
        arm = arm_of(c) if may and c.variables.size == 6 else None
        return (None if arm is None else closed_form(arm, c.variables, whole_pose=True)) or no_form(c.variables)

    @cached_property
    def closed_form(self) -> int:
        """The address of the attempt in closed form, 0 where there is none."""
        if not self.has_closed_form:
            return 0
        return lasting_address(attempt_closed_form if self.compiled.one_pose else attempt_nearest, STAGE)

    @property
    def has_closed_form(self) -> bool:
        """Whether the search tries a closed form first."""
        return self.arm.shape in (MEETING, PARALLEL) and self.arm.held < 0

    @property
    def local_search(self) -> Any:
        """The kernel of the local search that fits the problem."""
        if self.compiled.one_pose:
            return attempt_pose
        return attempt_softly if self.compiled.terms["soft"].any() else attempt

    @property
    def has_lanes(self) -> bool:
        """Whether many rows may be solved side by side in the lanes of registers, which know no closed form."""
        return self.compiled.one_pose and self.closed_form == 0

    @property
    def relaxes(self) -> bool:
        """Whether a tolerance is wide enough for the stage that lets it yield."""
        return self.compiled.loose_tolerances is not None

    @cached_property
    def attempt(self) -> int:
        """The address of the local search."""
        self.compiled.record  # noqa: B018 - those who verify what it finds call the terms
        return lasting_address(self.local_search, ATTEMPT)

    @cached_property
    def attempt_along(self) -> int:
        """The address of the local search of a track: one that runs along surfaces where there are contacts to keep."""
        terms = self.compiled.terms
        if ((terms["loss"] == CONTACT) & (terms["soft"] == 0)).any() and not terms["soft"].any():
            return lasting_address(attempt_along, ATTEMPT)
        return self.attempt

    @cached_property
    def attempt_minimum(self) -> int:
        """The address of the local search for distinct solutions: with guides, each is a minimum of these."""
        if not self.compiled.terms["soft"].any():
            return self.attempt
        return lasting_address(attempt_minimum, ATTEMPT)

    @property
    def restarts(self) -> bool:
        """Whether nothing can be missed and the lowest cost is looked for; with priorities these decide instead."""
        return self.compiled.only_guides and not self.compiled.has_levels

    @cached_property
    def slide(self) -> int:
        """The address of the search of a track that takes contacts for constraints, 0 where there are none to keep."""
        terms = self.compiled.terms
        if self.contact_free is None or terms["soft"].any() or (terms["rows"] == 0).any():
            return 0
        return lasting_address(slide_stage, STAGE)

    @cached_property
    def search(self) -> int:
        """The address of the search, the first stage; compiled when first asked for. It may be UNFINISHED before `complete`."""
        return lasting_address(self.first_stage, STAGE)

    @cached_property
    def search_from(self) -> Any:
        """The way from Python into the search; compiled when first asked for."""
        return way_in(search_from, SEARCH_FROM)

    def complete(self) -> None:
        """Compile what the search needs after its first attempt."""
        if self.compiled.one_pose:
            self.addresses["next_pose_start"] = lasting_address(next_pose_start, NEXT_POSE_START)
        else:
            self.addresses["next_start"] = lasting_address(next_start, NEXT_START)
            if self.has_closed_form:
                self.addresses["search"] = lasting_address(search_stage, STAGE)

    @property
    def first_stage(self) -> Any:
        """The kernel of the search that fits the problem."""
        if self.compiled.one_pose:
            return solve_pose
        if self.has_closed_form:
            return nearest_stage
        return search_stage if self.contact_free is None else contact_stage

    @cached_property
    def contact_free(self) -> MemeticPlan | None:
        """The plan of the problem without its contacts, where these are looked at last."""
        contact_free = without_contacts(self.compiled)
        return None if contact_free is None else MemeticPlan(contact_free, keeps_off=self.compiled)

    def complete_levels(self) -> None:
        """Compile what priorities need, where there are several."""
        if self.compiled.has_levels:
            self.addresses["minimise_rank"] = lasting_address(minimise_rank, MINIMISE_RANK)

    def complete_track(self) -> None:
        """Compile what a track needs besides the local search."""
        self.compiled.record  # noqa: B018 - what follows calls the terms
        wanted: list[tuple[str, Any, Any]] = [("refine", refine, REFINE)]
        if self.compiled.displacement_only:
            wanted.append(("attempt_bare", attempt, ATTEMPT))
        elif self.restarts:
            wanted.append(("restart", restart_stage, STAGE))
        elif self.compiled.terms["soft"].any() and not self.compiled.only_guides:
            wanted.append(("attempt_calmly", attempt_calmly, ATTEMPT))
        if self.compiled.has_levels:
            wanted += ("settle_levels", settle_levels, SETTLE_LEVELS), ("minimise_rank", minimise_rank, MINIMISE_RANK)
        compile_ahead([(kernel, signature) for _, kernel, signature in wanted])
        for name, kernel, signature in wanted:
            self.addresses[name] = lasting_address(kernel, signature)

    @cached_property
    def stages(self) -> Stages:
        """The addresses of the search and of the stages that may follow it; compiled when first asked for."""
        c = self.compiled
        c.record  # noqa: B018 - the stages that follow call the terms
        self.complete()
        self.complete_levels()
        relax = 0
        if self.relaxes:  # by the search for any problem, for a single pose as well
            self.addresses["next_start"] = lasting_address(next_start, NEXT_START)
            relax = lasting_address(relax_stage, STAGE)
        priorities = lasting_address(priority_stage, STAGE) if c.has_levels else 0
        second = restart_stage if self.restarts else refine_stage
        return Stages(self.search, lasting_address(second, STAGE), relax, priorities)


def shares(c: Compiled, most: int) -> Shares:
    """Keep back a quarter where tolerances are wide enough to yield, one for priorities where there are several, and what it
    takes to settle what was missed."""
    relaxed = most - most // 4 if c.has_levels else most
    first = relaxed if c.loose_tolerances is None else relaxed - most // 4
    return Shares(first - min(STEPS, first // 2), first, relaxed, most, SEARCHING if c.has_levels else 1.0)


class MemeticScratch(Scratch):
    """Scratch for the stages of a solve, and what the budget it was last used with means for them."""

    __slots__ = ("again", "budget", "call", "numbers", "search_from")  # what every solve looks up, and soonest there

    budget: Budget | None
    again: object  # the same, if a solve with it needs no look at anything but its start, else NEVER
    search_from: Any  # (call, q, outcome, seed, usual): the first stage, kernels/search/entry.py
    call: Any  # the table that it takes
    numbers: int  # that a solve reports
    shares: Shares
    seconds: float  # of the budget, 0 for no limit

    def __init__(self, plan: MemeticPlan, source: Array | None = None) -> None:
        self.plan, self.budget, self.again = plan, None, NEVER
        super().__init__(plan.compiled, source)

    def take_budget(self, budget: Budget) -> None:
        """Work out what the stages may spend; most solves have the budget of the one before."""
        refuse_generations(budget, "memetic")
        self.shares = shares(self.compiled, budget.evaluations)
        self.seconds = budget.seconds if budget.seconds < math.inf else 0.0
        self.spend(self.shares.search, self.shares.seconds * self.seconds)
        self.budget = budget

    def spend(self, most: int, seconds: float) -> None:
        """Let the search take so many evaluations and seconds (0 for no limit) from now on."""
        self._call.spending["most"], self._call.spending["seconds"] = most, seconds
        self.budget, self.again, self.search_from, self.call = None, NEVER, self.plan.search_from, self._call_table
        self.numbers = self.outcome.size

    @cached_property
    def _call(self) -> SearchCall:
        return allocate(SearchCall, {}, search=self.plan.search, table=self.table, keeps_gil=self.compiled.keeps_gil)

    @cached_property
    def _call_table(self) -> Any:
        return table_of(self._call)

    @property
    def problem(self) -> FlatProblem:
        return self.compiled.flat if self.compiled.one_pose else self.compiled.record

    @cached_property
    def table(self) -> Any:
        """All arrays of the stages."""
        return table_of(self.memetic)

    @cached_property
    def memetic(self) -> MemeticArrays:
        """All arrays of the stages, as a record."""
        c, plan = self.compiled, self.plan
        loose = c.loose_tolerances
        return allocate(
            MemeticArrays, plan.sizes, solve=self.arrays, population=plan.population, arm=plan.arm,
            closed_form=plan.closed_form, addresses=plan.addresses,
            ranks=c.ranks, scale=c.rank_scales, unit_scale=c.terms["scale"] / np.sqrt(c.weights),
            only_guides=int(c.only_guides), displacement_only=int(c.displacement_only), has_levels=int(c.has_levels),
            attempt=0 if c.one_pose else plan.attempt,
            attempt_softly=lasting_address(attempt_softly, ATTEMPT) if plan.relaxes else 0,
            pose=c.terms[list(c.pose)],
            loose_tolerances=np.zeros(c.terms.size, np.uint8) if loose is None else loose.view(np.uint8),
            contact_free=np.zeros(0, dtype=np.int64) if self.contact_free is None else table_of(self.contact_free),
        )  # fmt: skip

    @cached_property
    def contact_free(self) -> ContactFree | None:
        """The arrays of the problem without its contacts, which takes its targets from the whole problem."""
        plan = self.plan.contact_free
        if plan is None:
            return None
        plan.complete()
        own = plan.new_scratch(self.arrays.problem.data)  # as they were when the whole solve began
        own.arrays = own.arrays._replace(clock=self.clock)  # who cancels the whole cancels this
        room = push_room(self.compiled.data.size, self.compiled.terms.size, self.compiled.residuals)
        push = allocate(Push, {**self.plan.sizes, "push_numbers": room})
        guided = int(self.compiled.terms["soft"].any())
        slide = allocate(Slide, self.plan.sizes)
        return allocate(
            ContactFree, plan.sizes, memetic=own.memetic, push=push, slide=slide, guided=guided, search=plan.search
        )  # fmt: skip

    def forget_surfaces(self) -> None:
        """Let a track begin without what another one has met."""
        if self.contact_free is not None:
            self.contact_free.slide.count[:], self.contact_free.slide.left[:], self.contact_free.slide.stiff[:] = (
                0,
                0.0,
                1.0,
            )

    @cached_property
    def lane_table(self) -> Any:
        """The arrays of the lanes, where many rows of one pose are solved side by side."""
        self.lanes = allocate(LaneScratch, self.plan.sizes)
        return table_of(self.lanes)


def memetic_plan(c: Compiled, searches: bool = True) -> MemeticPlan:
    """The plan of a compiled problem, made at the first need; `searches` if a whole solve is likely to follow."""
    plan: MemeticPlan | None = c.plans.get(MemeticPlan)
    if plan is None:
        made = MemeticPlan(c, searches)
        made.free = c.ready
        plan = c.plans.setdefault(MemeticPlan, made)
    return plan
