"""What the flagship keeps for a problem, the scratch of its solves, and the signatures of what it calls by address."""

from typing import NamedTuple

from numba.core import types

from memetik.kernels.closed_form.arm_record import Geometry, Loop
from memetik.kernels.compiler.function_pointers import caller
from memetik.kernels.compiler.lanes import LANES
from memetik.kernels.problem.function_pointers import PROBLEM, RUN, TABLE, VECTOR, WORKSPACE
from memetik.kernels.problem.problem_record import SolveArrays
from memetik.kernels.runtime.record import Array, counters, flags, floats, integers, item, numba_type, reader, records
from memetik.kernels.terms.records import TERM


class Population(NamedTuple):
    """Postures to start from, drawn once for a problem."""

    genes: Array = floats("population", "variables")
    frame_poses: Array = floats("frames", 7, "population")  # of each posture (population_poses.py)
    limb_poses: Array = floats("frames", 7, "population")  # the same, seen from where the limb of the frame begins


class SearchScratch(NamedTuple):
    """Scratch of the search besides the workspace."""

    score: Array = floats("population")  # how far each posture of the population looks from the targets
    used: Array = flags("population")  # 1 for a posture that was exploited
    failed: Array = flags("terms")  # 1 for a term to be satisfied by other variables
    chosen: Array = flags("variables")  # 1 for a variable to be replaced
    limb_score: Array = floats("population")  # how far the limbs of each posture look from their targets
    resumed: Array = flags(1)  # 1 to go on where the last search ended: begin with a posture that was not exploited yet


# The addresses of kernels that are compiled when they are needed, 0 before. All scratch of a problem has the same array of one.
ADDRESSES = item(
    search=int,  # the search of any problem (stages.py), where a closed form comes first
    next_start=int,  # where the next attempt starts (search.py) ...
    next_pose_start=int,  # ... and that of a single pose (pose_search.py)
    attempt_bare=int,  # the local search without guides (descent.py)
    attempt_calmly=int,  # the one in which guides make way for the rest (guide_descent.py)
    restart=int,  # the stage that looks for the lowest cost where nothing can be missed (restarts.py)
    refine=int,  # from the best posture to a minimum (refine.py)
    settle_levels=int,  # the same by priorities (priorities.py)
    minimise_rank=int,  # one priority (levels.py)
)


class Callees(NamedTuple):
    """The addresses of what the search calls."""

    attempt: int  # the local search that fits the problem
    next_start: int  # where the next attempt starts (search.py), 0 as long as it is not compiled


class RelaxScratch(NamedTuple):
    """Scratch of relaxation."""

    terms: Array = records(TERM, "terms")  # with those that yield
    outcome: Array = floats("outcome")  # what was found before
    data: Array = floats("numbers")
    q: Array = floats("dof")


class LevelScratch(NamedTuple):
    """What levels of priorities need (levels.py)."""

    ranks: Array = integers("terms")  # of each term, from 0, the highest priority
    scale: Array = floats("terms")  # of each term in its own rank, whose heaviest has weight one
    unit_scale: Array = floats("terms")  # the same without weights
    modes: Array = integers("terms")  # what became of each term: FREE, WITHIN or HELD
    bound: Array = floats("terms")  # up to where the error of each may go
    held: Array = floats("residuals")  # where residuals shall stay
    residual: Array = floats("residuals")  # of the posture that a step starts from
    depth: Array = floats(
        "residuals"
    )  # of pairs that are close, negative before contact, with the scale of the residuals
    ahead: Array = floats("residuals")  # of those that do not touch where a step starts
    jacobian: Array = floats("variables", "residuals")  # of their depths
    cost: Array = floats("ranks")  # squared error of each rank at the posture at hand
    least: Array = floats("ranks")  # the least known
    answer: Array = floats("variables")  # the best posture so far
    found: Array = floats("variables")  # the answer of the stages before
    start: Array = floats("variables")  # of the whole solve
    addresses: Array = records(ADDRESSES, 1)


class Stages(NamedTuple):
    """The addresses of the stages of a solve (stages.py)."""

    search: int
    refine: int  # to a minimum; to the lowest one found where nothing can be missed (restarts.py)
    relax: int  # 0 where no tolerance is wide enough to yield
    priorities: int  # 0 where all objectives have the same


class Shares(NamedTuple):
    """The evaluations that may be spent when the search ends, before relaxation, before priorities count, and in all."""

    search: int
    first: int
    relaxed: int
    most: int
    seconds: float  # the share of the time that the search may take


class MemeticArrays(NamedTuple):
    """All that the stages of a solve read and write."""

    solve: SolveArrays
    population: Population
    scratch: SearchScratch
    relax: RelaxScratch
    levels: LevelScratch
    attempt: int  # address of the local search that fits the problem
    only_guides: int  # 1 if nothing can be missed
    displacement_only: (
        int  # 1 if all guides want small changes, of all variables alike, and something else can be missed
    )
    has_levels: int  # 1 if there are several priorities
    attempt_softly: int  # address of the one for terms that guide, for relaxation
    closed_form: int  # address of the attempt in closed form (closed_form_attempt.py), 0 for none
    arm: Geometry  # of shape NO_FORM where there is no closed form
    loop: Loop
    addresses: Array = records(ADDRESSES, 1)
    pose: Array = records(TERM, "pose")  # position and orientation, if a closed form may answer; else empty
    loose_tolerances: Array = flags("terms")  # 1 for a tolerance that is wide enough to use
    contact_free: Array = integers(
        "contact_free"
    )  # the table of the problem without its contacts (contacts/contact_search.py), empty if none


class LaneScratch(NamedTuple):
    """What each lane keeps, where a row is solved in every one (lane_search.py)."""

    x: Array = floats("variables", LANES)  # the posture at hand
    best: Array = floats("variables", LANES)  # the best posture of all attempts
    step: Array = floats("variables", LANES)
    columns: Array = floats("variables", 6, LANES)  # derivative of the six errors by each variable
    poses: Array = floats("nodes", 7, LANES)
    target: Array = floats(7, LANES)
    least: Array = floats(LANES)  # the error of the best posture
    last: Array = floats(LANES)  # the error before the last step
    failures: Array = floats(LANES)  # steps in a row that gained too little
    taken: Array = floats(LANES)  # steps of this attempt
    evaluations: Array = floats(LANES)  # of the row so far
    score: Array = floats(LANES, "population")  # how far each posture of the population looks from the target
    state: Array = counters(LANES, 1)  # of the random numbers
    row: Array = integers(LANES)
    begin: Array = floats(LANES)  # when the row began, on the clock of `now`


memetic_arrays, lane_scratch = reader(MemeticArrays), reader(LaneScratch)


# ---- What is called by address, by signature -----------------------------------------------------------------

_LEVELS = numba_type(LevelScratch)

# (problem, population, scratch, exploited, resumed, run, work): where the next attempt starts (search.py)
NEXT_START = types.int64(
    PROBLEM, numba_type(Population), numba_type(SearchScratch), types.int64, types.boolean, RUN, WORKSPACE
)  # fmt: skip
# (table, target, run): the same for one pose (pose_search.py)
NEXT_POSE_START = types.void(TABLE, types.UniTuple(types.float64, 7), RUN)
# (problem, softness, run, work): from the best posture to a minimum (refine.py)
REFINE = types.void(PROBLEM, types.float64, RUN, WORKSPACE)
# (problem, levels, x, last, run, work): the same by priorities (priorities.py)
SETTLE_LEVELS = types.void(PROBLEM, _LEVELS, VECTOR, VECTOR, RUN, WORKSPACE)
# (problem, levels, rank, steepness, stall, run, work): one priority (levels.py), its error and whether it is satisfied
MINIMISE_RANK = types.Tuple((types.float64, types.boolean))(
    PROBLEM, _LEVELS, types.int64, types.float64, types.float64, RUN, WORKSPACE
)

call_next_start, call_next_pose_start = caller(NEXT_START), caller(NEXT_POSE_START)
call_refine, call_settle_levels, call_minimise_rank = caller(REFINE), caller(SETTLE_LEVELS), caller(MINIMISE_RANK)
