"""reachability: try the same orientations all over the workspace of a tip."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memetik.batch.answers import Tell
from memetik.batch.checks import positive, require_report, threads_of
from memetik.batch.reachability import Reachability
from memetik.batch.solution import BatchSolution
from memetik.batch.solve import solve_batch
from memetik.body import Body, Frame
from memetik.errors import ProblemError, shown
from memetik.geometry import rotation_matrix
from memetik.geometry.checks import whole_number
from memetik.objectives import Objective, Pose, Position
from memetik.problem import Problem
from memetik.problem.seed import checked_seed
from memetik.progress import Report, teller
from memetik.solution.reach import reach
from memetik.solvers import Budget
from memetik.solvers.budget import checked_budget
from memetik.types import Array

ENOUGH = Budget(evaluations=1_000)  # of 3,814 poses all over the panda's workspace that 5,000 find, these find 3,813
MOST_VOXELS = 4_000_000
MOST_ORIENTATIONS = 100_000
AT_A_TIME = 200_000  # poses in memory at once
FAR = 1e3  # lengths of the chain: so far away, the nearest posture is the outermost in that direction
FLAT = 1e-3  # voxels; a workspace that is thinner has no extent in that direction
TRIES = 8  # starts for each side of the workspace


def reachability(
    body: Body,
    tip: str | Frame,
    *,
    voxel: float = 0.1,
    orientations: int = 32,
    position_tolerance: float = 1e-3,
    orientation_tolerance: float = 1e-2,
    lock: Mapping[str, float] | None = None,
    limits: Mapping[str, tuple[float, float]] | None = None,
    also: Sequence[Objective] = (),
    budget: Budget = ENOUGH,
    seed: int = 0,
    threads: int | None = None,
    progress: Report = None,
) -> Reachability:
    """Divide the workspace of a tip into voxels, and find which orientations it can take at the centre of each.

    voxel: the edge of a voxel [m].
    orientations: how many are tried, the same everywhere, spread evenly over all rotations.
    position_tolerance [m], orientation_tolerance [rad]: when a pose counts as reached.
    lock, limits: as in Problem. also: objectives that must hold as well, for example mk.SelfDistance(body).
    budget: for each pose. What is not found within it counts as out of reach, so the shares are lower bounds.
    threads, progress: as in solve_batch.
    """
    if not isinstance(body, Body):
        raise ProblemError(f"reachability: body is {shown(body)}. Give a Body, for example mk.load('panda').")
    if not isinstance(tip, (str, Frame)):
        raise ProblemError(f"reachability: tip is {shown(tip)}. Give the name of a link, or a Frame.")
    require_report(progress, "reachability")
    voxel = positive(voxel, "reachability: voxel", "[m]")
    position_tolerance = positive(position_tolerance, "reachability: position_tolerance", "[m]")
    orientation_tolerance = positive(orientation_tolerance, "reachability: orientation_tolerance", "[rad]")
    orientations = whole_number(
        orientations, ProblemError, "reachability: orientations", least=1, most=MOST_ORIENTATIONS
    )
    settings = {
        "budget": checked_budget(budget, "reachability"),
        "seed": checked_seed(seed, "reachability"),
        "threads": threads_of(threads, "reachability"),
    }
    also = _objectives(also)
    place = Position(tip, np.zeros(3), tolerance=position_tolerance)
    pose = Pose(tip, np.eye(4), position_tolerance=position_tolerance, orientation_tolerance=orientation_tolerance)
    survey = _Survey(body, {} if lock is None else lock, {} if limits is None else limits, settings)
    corner, shape = _grid(*survey.box(place), voxel)
    points = corner + voxel * (np.stack(np.unravel_index(np.arange(math.prod(shape)), shape), axis=1) + 0.5)
    with teller(progress, len(points), "positions") as tell:
        reached, postures = survey.positions([place, *also], points, tell)
    fraction = np.zeros(len(points))
    with teller(progress, int(reached.sum()) * orientations, "orientations") as tell:
        turns = even_rotations(orientations)
        fraction[reached] = survey.shares([pose, *also], points[reached], turns, postures[reached], tell)
    name = tip if isinstance(tip, str) else tip.link
    return Reachability(body.name, name, voxel, corner, reached.reshape(shape), fraction.reshape(shape), orientations)


@dataclass(frozen=True)
class _Survey:
    """Batches of questions about one body."""

    body: Body
    lock: Mapping[str, float]
    limits: Mapping[str, tuple[float, float]]
    settings: Mapping[str, Any]  # of solve_batch

    def box(self, place: Position) -> tuple[Array, Array]:
        """The least and greatest x, y and z that the tip gets to [m]: where it goes for targets far away along them."""
        problem = Problem(self.body, place, lock=self.lock, limits=self.limits)
        frame = self.body.frame(place.frame)
        ball = reach(problem, frame, self.body.home)
        if ball is None or not math.isfinite(ball.length):
            raise ProblemError(
                f"reachability: nothing limits how far {frame.link!r} can go. Lock the joints that take it there, or give "
                "them limits."
            )
        far = np.repeat(FAR * ball.length * np.vstack([-np.eye(3), np.eye(3)]), TRIES, axis=0)
        rng = np.random.default_rng(0)
        starts = np.array([self.body.sample(rng) for _ in far])
        batch = solve_batch(problem, {place: far}, starts, threads=self.settings["threads"], progress=False)
        found = np.array([(self.body.forward(q)[frame.link] @ frame.link_from_frame)[:3, 3] for q in batch.q])
        return found.min(axis=0), found.max(axis=0)

    def positions(self, objectives: Sequence[Objective], points: Array, tell: Tell) -> tuple[NDArray[np.bool_], Array]:
        """Which points the tip gets to, and a posture for each."""
        problem = Problem(self.body, objectives, lock=self.lock, limits=self.limits)
        reached, postures = np.zeros(len(points), dtype=np.bool_), np.empty((len(points), self.body.dof))
        for part in _parts(len(points), AT_A_TIME):
            batch = self._solve(problem, points[part], self.body.home, part.start, tell)
            reached[part], postures[part] = batch.success, batch.q
        return reached, postures

    def shares(
        self, objectives: Sequence[Objective], points: Array, turns: Array, postures: Array, tell: Tell
    ) -> Array:
        """Which share of the rotations the tip can take at each point, tried from a posture that takes it there."""
        problem = Problem(self.body, objectives, lock=self.lock, limits=self.limits)
        shares, count = np.empty(len(points)), len(turns)
        for part in _parts(len(points), max(AT_A_TIME // count, 1)):
            targets = np.tile(np.eye(4), (part.stop - part.start, count, 1, 1))
            targets[:, :, :3, :3] = turns
            targets[:, :, :3, 3] = points[part, None]
            starts = np.repeat(postures[part], count, axis=0)
            batch = self._solve(problem, targets.reshape(-1, 4, 4), starts, part.start * count, tell)
            shares[part] = batch.success.reshape(-1, count).mean(axis=1)
        return shares

    def _solve(self, problem: Problem, targets: Array, starts: Array, before: int, tell: Tell) -> BatchSolution:
        """Solve for targets of the first objective; `tell` hears of them and of all `before`."""
        asked = {problem.objectives[0]: targets}
        return solve_batch(problem, asked, starts, progress=lambda done, _: tell(before + done), **self.settings)


def even_rotations(count: int) -> Array:
    """(count, 3, 3) rotations, spread evenly: super-Fibonacci spirals (Alexa 2022), quaternions on two circles

        q_i = (r sin a, r cos a, R sin b, R cos b),  r² = (i + 1/2) / count = 1 - R²,  a, b = 2 pi (i + 1/2) / (phi, psi)

    with phi = sqrt(2) and psi the positive root of psi⁴ = psi + 4, which keep neighbours apart.
    """
    s = np.arange(count) + 0.5
    r, rest = np.sqrt(s / count), np.sqrt(1.0 - s / count)
    a, b = 2.0 * math.pi * s / math.sqrt(2.0), 2.0 * math.pi * s / 1.533751168755204288118041
    quaternions = np.column_stack([r * np.sin(a), r * np.cos(a), rest * np.sin(b), rest * np.cos(b)])
    return np.array([rotation_matrix(quaternion) for quaternion in quaternions])


def _grid(low: Array, high: Array, voxel: float) -> tuple[Array, tuple[int, int, int]]:
    """The corner and the size of a grid around the box: voxels that meet at the origin, one layer around what is flat."""
    flat = high - low < FLAT * voxel
    with np.errstate(over="ignore", invalid="ignore"):  # of voxels that are smaller by far than allowed
        first = np.where(flat, low / voxel - 0.5, np.floor(low / voxel))
        sizes = np.where(flat, 1.0, np.ceil(high / voxel) - first)
        number = sizes.prod()
    if not number <= MOST_VOXELS:
        nx, ny, nz = sizes
        raise ProblemError(
            f"reachability: {nx:.9g} x {ny:.9g} x {nz:.9g} voxels of {voxel:g} m are more than {MOST_VOXELS:,}. Give larger "
            "ones."
        )
    nx, ny, nz = sizes.astype(np.int64).tolist()
    return first * voxel, (nx, ny, nz)


def _objectives(also: object) -> Sequence[Objective]:
    given = (also,) if isinstance(also, Objective) else also
    if not isinstance(given, (list, tuple)) or not all(isinstance(each, Objective) for each in given):
        raise ProblemError(
            f"reachability: also is {shown(also)}. Give a list of objectives, such as [mk.SelfDistance(body)]."
        )
    return given


def _parts(count: int, size: int) -> Iterator[slice]:
    return (slice(begin, min(begin + size, count)) for begin in range(0, count, size))
