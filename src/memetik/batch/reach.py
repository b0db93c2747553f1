"""Reachability: which share of all orientations a tip can take, as a grid over its workspace.

`reachability` finds it, by trying the same orientations all over the workspace.
"""

from __future__ import annotations

import io
import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memetik.batch.solution import BatchSolution, Tell
from memetik.batch.solve import require_report, solve_batch, threads_of
from memetik.body import Body, Frame
from memetik.errors import FormatError, MemetikError, ProblemError, shown
from memetik.files import arrays_in, path_of, write_whole
from memetik.geometry import rotation_matrix
from memetik.geometry.checks import real_number, whole_number
from memetik.objectives import Objective, Pose, Position
from memetik.problem import Problem
from memetik.problem.seed import checked_seed
from memetik.progress import Report, teller
from memetik.rich import Rich
from memetik.solution.reach import reach
from memetik.solvers import Budget
from memetik.solvers.budget import checked_budget
from memetik.types import Array

ENOUGH = Budget(evaluations=1_000)  # of 3,814 poses all over the panda's workspace that 5,000 find, these find 3,813
MOST_VOXELS = 4_000_000
MOST_ORIENTATIONS = 100_000
MOST_BYTES = 2**28  # of a saved one, unpacked
AT_A_TIME = 200_000  # poses in memory at once
FAR = 1e3  # lengths of the chain: so far away, the nearest posture is the outermost in that direction
FLAT = 1e-3  # voxels; a workspace that is thinner has no extent in that direction
TRIES = 8  # starts for each side of the workspace
_FORMAT = 1
_Settings = dict[str, Any]  # of solve_batch
_EXPECTED = {
    "corner": "it must be three finite numbers [m]",
    "position": "it must be an array of bool with three dimensions",
    "fraction": "it must be an array of numbers from 0 to 1, of the shape of position",
}


@dataclass(frozen=True, eq=False)
class Reachability(Rich):
    """A grid of voxels; what is known of each is measured at its centre."""

    body: str
    tip: str
    voxel: float  # m, the edge of a voxel
    corner: Array  # (3,) m, in the world: the corner of the grid where x, y and z are least
    position: NDArray[np.bool_]  # (nx, ny, nz) whether the tip gets there at all
    fraction: Array  # (nx, ny, nz) share of the orientations that it can take there
    orientations: int  # how many were tried

    def __post_init__(self) -> None:
        for name in ("body", "tip"):
            if not isinstance(getattr(self, name), str):
                raise ProblemError(f"reachability: {name} is {shown(getattr(self, name))}, not a name.")
        object.__setattr__(self, "voxel", _positive(self.voxel, "voxel", "[m]"))
        whole_number(self.orientations, ProblemError, "reachability: orientations", least=1)
        _require(self.corner, "corner", "f", lambda array: array.shape == (3,) and np.isfinite(array).all())
        _require(self.position, "position", "b", lambda array: array.ndim == 3)
        _require(self.fraction, "fraction", "f", lambda array: array.shape == self.position.shape)
        _require(self.fraction, "fraction", "f", lambda array: ((array >= 0.0) & (array <= 1.0)).all())

    def centers(self, dimension: int) -> Array:
        """The centres of the voxels along x (0), y (1) or z (2) [m]."""
        dimension = whole_number(dimension, ProblemError, "reachability: dimension", least=0, most=2)
        return np.asarray(self.corner[dimension] + self.voxel * (np.arange(self.fraction.shape[dimension]) + 0.5))

    @property
    def volume(self) -> float:
        """What the tip can reach [m³]."""
        return float(self.position.sum()) * self.voxel * self.voxel * self.voxel

    @property
    def mean(self) -> float:
        """The share of orientations, averaged over what can be reached."""
        return float(self.fraction[self.position].mean()) if self.position.any() else 0.0

    def __repr__(self) -> str:
        reached = f"{int(self.position.sum()):,} voxels of {self.voxel:g} m, {self.volume:.3g} m³"
        return f"<Reachability: {self.tip} of {self.body}, {reached}>"

    def __str__(self) -> str:
        best = float(self.fraction.max(initial=0.0))
        return (
            f"{self.tip} of {self.body} reaches {int(self.position.sum()):,} voxels of {self.voxel:g} m, "
            f"{self.volume:.3g} m³ in all. Of {self.orientations} orientations it can take {100.0 * self.mean:.1f} % there on "
            f"average, {100.0 * best:.1f} % at best."
        )

    def save(self, path: str | Path) -> Path:
        """Write a NumPy .npz file, which `load_reachability` reads."""
        target, file = path_of(path, ProblemError, "reachability: path"), io.BytesIO()
        about = {"format": _FORMAT, "body": self.body, "tip": self.tip, "orientations": int(self.orientations)}
        arrays: dict[str, Any] = {name: getattr(self, name) for name in ("voxel", "corner", "position", "fraction")}
        np.savez_compressed(file, about=np.array(json.dumps(about)), **arrays)
        write_whole(target, file.getvalue())
        return target


def load_reachability(path: str | Path) -> Reachability:
    """Read what Reachability.save wrote."""
    place = path_of(path, ProblemError, "load_reachability: path")
    try:
        saved = arrays_in(place, MOST_BYTES)
        about = json.loads(str(saved["about"]))
        return Reachability(
            about["body"], about["tip"], float(saved["voxel"]), saved["corner"], saved["position"],
            saved["fraction"], about["orientations"],
        )  # fmt: skip
    except OSError as error:
        raise FormatError(f"{path}: this is no saved reachability: {error.strerror}.") from error
    except Exception as error:  # zipfile, zlib, numpy and json fail in ways of their own where a file is damaged
        ours = isinstance(error, MemetikError)
        reason = str(error).rstrip(".") if ours else "it is damaged, or a file of another kind"
        raise FormatError(f"{path}: this is no saved reachability: {reason}. Compute and save it again.") from error


def _positive(value: object, name: str, unit: str) -> float:
    """A finite number above zero, or an error that names it."""
    number = real_number(value, ProblemError, f"reachability: {name}")
    if not 0.0 < number < math.inf:  # NaN is not either
        raise ProblemError(f"reachability: {name} is {number}; it must be a finite number above 0 {unit}.")
    return number


def _require(value: Any, name: str, kind: str, holds: Callable[[Any], Any]) -> None:
    """Raise unless a field is an array of a kind of numbers for which something holds."""
    is_array = isinstance(value, np.ndarray)
    if not is_array or value.dtype.kind != kind or not holds(value):
        found = f"an array of {value.dtype} with shape {value.shape}" if is_array else shown(value)
        raise ProblemError(f"reachability: {name} is {found}; {_EXPECTED[name]}.")


# ---- How it is found --------------------------------------------------------------------------------------


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
    voxel = _positive(voxel, "voxel", "[m]")
    near = _positive(position_tolerance, "position_tolerance", "[m]")
    turned = _positive(orientation_tolerance, "orientation_tolerance", "[rad]")
    orientations = whole_number(
        orientations, ProblemError, "reachability: orientations", least=1, most=MOST_ORIENTATIONS
    )
    settings: _Settings = {
        "budget": checked_budget(budget, "reachability"),
        "seed": checked_seed(seed, "reachability"),
        "threads": threads_of(threads, "reachability"),
    }
    given = (also,) if isinstance(also, Objective) else also
    if not isinstance(given, (list, tuple)) or not all(isinstance(each, Objective) for each in given):
        raise ProblemError(
            f"reachability: also is {shown(also)}. Give a list of objectives, such as [mk.SelfDistance(body)]."
        )
    place = Position(tip, np.zeros(3), tolerance=near)
    pose = Pose(tip, np.eye(4), position_tolerance=near, orientation_tolerance=turned)
    corner, shape = _grid(*_box(Problem(body, place, lock=lock, limits=limits), place, settings["threads"]), voxel)
    points = corner + voxel * (np.stack(np.unravel_index(np.arange(math.prod(shape)), shape), axis=1) + 0.5)
    with teller(progress, len(points), "positions") as tell:
        problem = Problem(body, [place, *given], lock=lock, limits=limits)
        reached, postures = _positions(problem, points, tell, settings)
    fraction = np.zeros(len(points))
    with teller(progress, int(reached.sum()) * orientations, "orientations") as tell:
        problem, turns = Problem(body, [pose, *given], lock=lock, limits=limits), even_rotations(orientations)
        fraction[reached] = _shares(problem, points[reached], turns, postures[reached], tell, settings)
    name = tip if isinstance(tip, str) else tip.link
    return Reachability(body.name, name, voxel, corner, reached.reshape(shape), fraction.reshape(shape), orientations)


def _box(problem: Problem, place: Position, threads: int | None) -> tuple[Array, Array]:
    """The least and greatest x, y and z that the tip gets to [m]: where it goes for targets far away along them."""
    body = problem.body
    frame = body.frame(place.frame)
    ball = reach(problem, frame, body.home)
    if ball is None or not math.isfinite(ball.length):
        raise ProblemError(
            f"reachability: nothing limits how far {frame.link!r} can go. Lock the joints that take it there, or give "
            "them limits."
        )
    far = np.repeat(FAR * ball.length * np.vstack([-np.eye(3), np.eye(3)]), TRIES, axis=0)
    rng = np.random.default_rng(0)
    starts = np.array([body.sample(rng) for _ in far])
    batch = solve_batch(problem, {place: far}, starts, threads=threads, progress=False)
    found = np.array([(body.forward(q)[frame.link] @ frame.link_from_frame)[:3, 3] for q in batch.q])
    return found.min(axis=0), found.max(axis=0)


def _positions(problem: Problem, points: Array, tell: Tell, settings: _Settings) -> tuple[NDArray[np.bool_], Array]:
    """Which points the tip gets to, and a posture for each."""
    reached, postures = np.zeros(len(points), dtype=np.bool_), np.empty((len(points), problem.body.dof))
    for part in _parts(len(points), AT_A_TIME):
        batch = _solve(problem, points[part], problem.body.home, part.start, tell, settings)
        reached[part], postures[part] = batch.success, batch.q
    return reached, postures


def _shares(problem: Problem, points: Array, turns: Array, postures: Array, tell: Tell, settings: _Settings) -> Array:
    """Which share of the rotations the tip can take at each point, tried from a posture that takes it there."""
    shares, count = np.empty(len(points)), len(turns)
    for part in _parts(len(points), max(AT_A_TIME // count, 1)):
        targets = np.tile(np.eye(4), (part.stop - part.start, count, 1, 1))
        targets[:, :, :3, :3] = turns
        targets[:, :, :3, 3] = points[part, None]
        starts = np.repeat(postures[part], count, axis=0)
        batch = _solve(problem, targets.reshape(-1, 4, 4), starts, part.start * count, tell, settings)
        shares[part] = batch.success.reshape(-1, count).mean(axis=1)
    return shares


def _solve(
    problem: Problem, targets: Array, starts: Array, before: int, tell: Tell, settings: _Settings
) -> BatchSolution:
    """Solve for targets of the first objective; `tell` hears of them and of all `before`."""
    asked = {problem.objectives[0]: targets}
    return solve_batch(problem, asked, starts, progress=lambda done, _: tell(before + done), **settings)


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


def _parts(count: int, size: int) -> Iterator[slice]:
    return (slice(begin, min(begin + size, count)) for begin in range(0, count, size))
