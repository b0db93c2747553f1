"""What the flagship keeps for a problem: its population, the addresses of its kernels, and scratch for its calls."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memetik.kernels.compiler.array_table import table_of
from memetik.kernels.compiler.function_pointers import ATTEMPT, STAGE, address
from memetik.kernels.memetic.descent import attempt, attempt_softly
from memetik.kernels.memetic.population_poses import place_population
from memetik.kernels.memetic.pose_descent import attempt_pose
from memetik.kernels.memetic.pose_search import room_for_pose, solve_pose_at
from memetik.kernels.memetic.stages import refine_stage, relax_stage, search_stage
from memetik.kernels.terms.records import TERM
from memetik.objectives.objective import Array
from memetik.problem.compile import Compiled
from memetik.problem.scratch import Pool, Scratch

# How many postures the population of a problem has, and the seed that draws it: the same in every solve.
POPULATION, POPULATION_SEED = 256, 20170601


class MemeticPlan(Pool["MemeticScratch"]):
    """Made once for a compiled problem and shared by all threads."""

    def __init__(self, compiled: Compiled) -> None:
        super().__init__(lambda: MemeticScratch(self, compiled.data))
        c = self.compiled = compiled
        rng = np.random.default_rng(POPULATION_SEED)
        self.population: Array = rng.uniform(c.bounds[2], c.bounds[3], (POPULATION, c.active.size))
        self.frame_poses = np.empty((c.frames.size, 7, POPULATION))  # poses of the population's frames
        place_population(c.nodes, c.frames, self.population, np.empty((c.nodes.size, 7)), self.frame_poses)

    @property
    def local_search(self) -> Any:
        """The kernel of the local search that fits the problem."""
        if self.compiled.one_pose:
            return attempt_pose
        return attempt_softly if self.compiled.terms["soft"].any() else attempt

    @cached_property
    def attempt(self) -> int:
        """The address of the local search."""
        return address(self.local_search, ATTEMPT)

    @cached_property
    def attempts(self) -> NDArray[np.int64]:
        """The addresses of the local searches that the stages of a solve call (kernels/memetic/stages.py)."""
        yields = self.compiled.roomy is not None
        first = 0 if self.compiled.one_pose else self.attempt
        return np.array([first, address(attempt_softly, ATTEMPT) if yields else 0], dtype=np.int64)

    @cached_property
    def first_stage(self) -> int:
        """The address of the search."""
        return address(solve_pose_at if self.compiled.one_pose else search_stage, STAGE)

    @cached_property
    def other_stages(self) -> NDArray[np.int64]:
        """The addresses of the stages that follow a search that missed, 0 for none; compiled when first asked for."""
        yields = 0 if self.compiled.roomy is None else address(relax_stage, STAGE)
        return np.array([address(refine_stage, STAGE), yields], dtype=np.int64)


class MemeticScratch(Scratch):
    """Scratch for the stages of a solve, and the tables by which kernels find it.

    source: where each solve takes its targets from; a thread of a batch has an array of its own.
    """

    def __init__(self, plan: MemeticPlan, source: Array) -> None:
        c = plan.compiled
        super().__init__(c, POPULATION)
        self.plan, self.source = plan, source
        self.room = np.zeros(room_for_pose(c.nodes.size, c.active.size, len(plan.population)) if c.one_pose else 0)

    @cached_property
    def pose_table(self) -> Any:
        """All that pose_search.py reads and writes, as a table (kernels/compiler/array_table.py)."""
        c, plan = self.compiled, self.plan
        return table_of((
            c.nodes, c.frames, c.terms, self.source, c.bounds, c.active, c.limits, plan.population, plan.frame_poses,
            self.clock, self.state, self.room, self.data,
        ))  # fmt: skip

    @cached_property
    def _stage_arrays(self) -> Any:
        """All that the stages read and write, in the order of stages.unpack."""
        c, plan = self.compiled, self.plan
        yields = c.roomy is not None
        roomy = c.roomy.view(np.uint8) if c.roomy is not None else np.zeros(0, dtype=np.uint8)
        eased = np.zeros(c.terms.size if yields else 0, dtype=TERM)
        spare = np.zeros(self.outcome.size + self.data.size + c.limits.shape[1] if yields else 0)
        return (
            *self.record, c.affects, plan.population, plan.frame_poses, *self.arrays[:4], plan.attempts, roomy, eased, spare,
            self.source,
        )  # fmt: skip

    @cached_property
    def table(self) -> Any:
        """The same as a table; the arrays in it must stay where they are."""
        return table_of(self._stage_arrays)

    @property
    def first_table(self) -> Any:
        """The table of the first stage."""
        return self.pose_table if self.compiled.one_pose else self.table


def memetic_plan(c: Compiled) -> MemeticPlan:
    """The plan of a compiled problem, made at the first need."""
    plan: MemeticPlan | None = c.plans.get(MemeticPlan)
    return plan or c.plans.setdefault(MemeticPlan, MemeticPlan(c))
