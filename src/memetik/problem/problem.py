"""Problem: a body, what is wanted of it, and what is held fast."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from memetik import signals
from memetik.body import Body
from memetik.errors import ProblemError, shown, suggest
from memetik.geometry import TransformLike, transform
from memetik.geometry.checks import real_array, real_number, several
from memetik.geometry.rotation import quaternion_of_matrix
from memetik.geometry.transform import frozen_transform
from memetik.kernels.runtime.cancel import end_run, raise_caught
from memetik.objectives import Objective
from memetik.objectives.attributes import ReadOnlyDict, attribute, fixed, frozen_copy, refuse, refuse_the_rest
from memetik.objectives.objective import Target
from memetik.problem.compile import Compiled, compile_problem
from memetik.problem.input_warnings import degrees_hint, usual_size, warn_of_problem, warn_of_start
from memetik.problem.scratch import forget_scratch
from memetik.rich import Rich
from memetik.sharing import LOCK
from memetik.types import Array

_ARRAY, _FLOAT = np.ndarray, np.dtype(np.float64)
WEIGHTS = ("given", "balanced")


class _Joints(NamedTuple):
    """What holds joints, replaced as a whole so that no thread sees half of a change."""

    lower: Array  # the limits in force [rad or m]
    upper: Array
    lock: Mapping[str, float]
    held: tuple[tuple[int, float], ...]  # the locks by number of joint


class _CompiledAtNeed:
    """Problem.compiled, until it is in the problem's __dict__."""

    if TYPE_CHECKING:

        def __get__(self, problem: Problem, kind: type[Problem]) -> Compiled: ...

    else:

        def __get__(self, problem, kind):
            return self if problem is None else problem._compile()


class Problem(Rich):
    """A body, objectives, joints that are locked at a value, limits narrower than the body's, and where its root stands.

    Compiled once; assigning a new target to an objective changes it in place. All other attributes of the problem and of its
    objectives can be assigned as well, and count from the next solve on, which compiles the problem again; what cannot change
    raises. Everything that can be wrong is said here, before anything is solved.

    root: world_from_root, the pose of the body's root link in the world in which targets are given; the world's own pose
    unless given. `problem.root = T` moves it in place, as a target is.

    weighting: "given" takes the weights of the objectives as they are: an error of a fifth of the reach pulls as hard as one of a
    radian. "balanced" measures errors by their tolerances instead, so that where not all can be had
    sum_i w_i (error_i / tolerance_i)^2 is least, and nobody has to find weights: what must be exact is held, what may be
    rough gives way. The geometric mean of all gains is one, so that guides keep their say; none is above a thousand times or
    below a thousandth, and a tolerance below 1e-9 counts as 1e-9.
    """

    def __init__(
        self,
        body: Body,
        objectives: Objective | Iterable[Objective],
        *,
        lock: Mapping[str, float] | None = None,
        limits: Mapping[str, tuple[float, float]] | None = None,
        root: TransformLike | None = None,
        weighting: str = "given",
    ) -> None:
        self.body = body
        self.objectives = objectives
        self._version = 0  # of all that is compiled: how often it has changed
        self._joints = _Joints(body.lower, body.upper, ReadOnlyDict(), ())
        self.weighting = weighting
        self.limits = {} if limits is None else limits
        self.lock = {} if lock is None else lock
        self._root = None if root is None else _new_root(root)
        self._fallible = [o for o in self.objectives if type(o).raise_fault is not Objective.raise_fault]
        self._shape = (body.dof,)
        self._look_beyond(usual_size(body))
        with LOCK:  # before it is compiled, so that no change is missed
            for objective in self.objectives:
                objective._problems.add(self)
        compiled = self.compiled  # now, so that mistakes are said now
        warn_of_problem(body, self.objectives, compiled, limits or {}, self.lock)

    compiled = _CompiledAtNeed()
    usual_size: float

    def __setattr__(self, name: str, value: object) -> None:
        """Refuse what nobody would notice: results, methods and misspelt names."""
        if name.startswith("_") or hasattr(type(getattr(type(self), name, None)), "__set__"):
            object.__setattr__(self, name, value)
        elif name in ("compiled", "usual_size") or hasattr(type(self), name):
            refuse(self, name)
        elif type(self) is not Problem:  # users' classes may keep what they want
            object.__setattr__(self, name, value)
        else:
            settable = [key for key, known in vars(Problem).items() if isinstance(known, property) and key[0] != "_"]
            raise ProblemError(f"Problem has no attribute {name!r} that could be assigned. {suggest(name, settable)}")

    def _compile(self) -> Compiled:
        """Compile the problem as it is now. It is kept in `compiled` unless something has changed meanwhile."""
        with LOCK:
            version, joints, root, weights = self._version, self._joints, self._root, self.weighting
        made = compile_problem(
            self.body, self.objectives, joints.lower, joints.upper, joints.lock, root, weights == "balanced"
        )
        with LOCK:
            made.bind_targets()
            if self._version == version:
                self.__dict__["compiled"] = made
        return made

    @fixed
    def body(self, value: Body) -> Body:
        """The body that takes the posture."""
        if not isinstance(value, Body):
            raise ProblemError(f"a problem needs a body, not {shown(value)}. Give mk.load(...) and the like.")
        return value

    @fixed
    def objectives(self, value: Objective | Iterable[Objective]) -> tuple[Objective, ...]:
        """What is wanted of it."""
        return _several(value)

    @attribute
    def weighting(self, value: str) -> str:
        """Whether weights count as they are "given", or errors are measured by their tolerances, "balanced"."""
        if not isinstance(value, str) or value not in WEIGHTS:
            raise ProblemError(
                f"weighting is {shown(value)}. Give 'given', or 'balanced' to measure errors by tolerances."
            )
        return value

    @property
    def lower(self) -> Array:
        """The lower limits in force, of body.joint_names [rad or m]; assign an array of as many to change them."""
        return self._joints.lower

    @lower.setter
    def lower(self, value: ArrayLike) -> None:
        self._limit(lower=np.maximum(_ends(self.body, value, "lower"), self.body.lower))

    @property
    def upper(self) -> Array:
        """The upper limits in force, of body.joint_names [rad or m]; assign an array of as many to change them."""
        return self._joints.upper

    @upper.setter
    def upper(self, value: ArrayLike) -> None:
        self._limit(upper=np.minimum(_ends(self.body, value, "upper"), self.body.upper))

    @property
    def limits(self) -> Mapping[str, tuple[float, float]]:
        """The limits in force, by joint [rad or m]; assign {joint: (lower, upper)}, and others have those of the body."""
        ends = zip(self.lower.tolist(), self.upper.tolist(), strict=True)
        return ReadOnlyDict(zip(self.body.joint_names, ends, strict=True))

    @limits.setter
    def limits(self, value: Mapping[str, tuple[float, float]]) -> None:
        lower, upper = _narrow(self.body, value)
        self._limit(lower=lower, upper=upper)

    @property
    def lock(self) -> Mapping[str, float]:
        """The joints that are held, with their values [rad or m]; assign others to change them."""
        return self._joints.lock

    @lock.setter
    def lock(self, value: Mapping[str, float]) -> None:
        self._limit(lock=_locked(value))

    def _limit(self, **changed: Any) -> None:
        """Replace limits or locks, if they fit those that stay."""
        with LOCK:
            joints, body = self._joints._replace(**changed), self.body
            for k in np.flatnonzero(~(joints.lower <= joints.upper)).tolist():
                raise ProblemError(
                    f"limits of joint {body.joint_names[k]!r}: {joints.lower[k]:g} is above {joints.upper[k]:g}. Assign both at "
                    "once, problem.limits = {joint: (lower, upper)}."
                )
            for joint, value in joints.lock.items():
                k = body.index(joint)
                if not (math.isfinite(value) and joints.lower[k] <= value <= joints.upper[k]):
                    raise ProblemError(
                        f"joint {joint!r} is locked at {value:g}, outside its limits {joints.lower[k]:g} to "
                        f"{joints.upper[k]:g}.{degrees_hint(body, k, value)}"
                    )
            held = tuple((body.index(joint), value) for joint, value in joints.lock.items())
            self._joints = _Joints(
                frozen_copy(joints.lower), frozen_copy(joints.upper), ReadOnlyDict(joints.lock), held
            )
            self._changed()

    @property
    def root(self) -> Array | None:
        """world_from_root as a 4x4 array; None where the root stands in the origin of the world.

        Assign a pose to move the root: nothing is compiled again if the problem was given one before (the identity will do),
        and a solve that runs in another thread keeps the one it began with.
        """
        root = self._root
        return None if root is None else frozen_copy(transform(root.numbers[4:], root.numbers[:4]))

    @root.setter
    def root(self, pose: TransformLike | None) -> None:
        root = self._root
        if pose is not None and root is not None:
            root.assign(0, _seven(pose))
        else:
            self._root = None if pose is None else _new_root(pose)
            self._changed()

    def recompile(self) -> None:
        """Forget the compiled arrays; the next solve builds them again. Assignments of all but targets do this by themselves."""
        with LOCK:
            self._version += 1
            self.__dict__.pop("compiled", None)

    _changed = recompile  # as attributes call it

    def start(self, q: ArrayLike | None) -> Array:
        """A fresh joint vector to solve from: `q` or the body's home, with locked joints at their values."""
        if q is None:
            q = self.body.home
        if type(q) is not _ARRAY or q.dtype is not _FLOAT:  # most are, and are quick to take
            q = real_array(q, ProblemError, "the start is not a joint vector")
        vector = q.copy()
        if vector.shape != self._shape:
            raise ProblemError(
                f"the start has shape {vector.shape}, but body {self.body.name!r} has {self.body.dof} free joints. Give "
                "one number for each of body.joint_names."
            )
        if not math.hypot(*vector.tolist()) < self.usual_size:  # the quickest look at all entries of a short vector
            self._look_at(vector)
        for k, value in self._joints.held:
            vector[k] = value
        return vector

    def _look_at(self, vector: Array) -> None:
        """Raise or warn if a large start is no posture; one that may be meant is not looked at again."""
        square = float(vector.dot(vector))
        if not math.isfinite(square):
            raise ProblemError("the start has an entry that is NaN or infinite.")
        warn_of_start(self.body, vector)
        self._look_beyond(max(self.usual_size, math.sqrt(2.0 * square)))

    def _look_beyond(self, size: float) -> None:
        """Let starts that are shorter than this not be looked at."""
        object.__setattr__(self, "usual_size", size)

    @property
    def has_functions(self) -> bool:
        """Whether users' functions are among its objectives."""
        return bool(self._fallible)

    def raise_faults(self, clock: NDArray[np.int64]) -> None:
        """Raise what an objective or a signal handler raised in a run with this clock; every solver ends with it."""
        try:
            if self._fallible:
                end_run(clock)
                signals.release()
            raise_caught(clock)
            for objective in self._fallible:
                objective.raise_fault()
        except BaseException:
            for objective in self._fallible:
                objective.forget_fault()
            raise

    def free(self) -> None:
        """Free the memory of what is compiled and of what methods keep for it, while no call uses the problem.

        It leads back to the problem, and would be in use until garbage is collected. The next solve makes it again.
        """
        with LOCK:
            compiled = self.__dict__.get("compiled")
            self.recompile()
        if compiled is not None:
            forget_scratch(compiled)

    def __reduce__(self) -> tuple[Any, ...]:
        """To another process goes what it was made of; it is compiled again there."""
        return _made_of, (self.body, self.objectives, self.lock, self.limits, self.root, self.weighting)

    def __repr__(self) -> str:
        return f"<Problem: {self.body.name}, {len(self.objectives)} objectives, {len(self.compiled.active)} joints to solve>"


refuse_the_rest(Problem)


def require_problem(problem: object, who: str) -> None:
    """Raise unless it is a Problem; `who` asks, for the message."""
    if not isinstance(problem, Problem):
        raise ProblemError(f"{who}: {shown(problem)} is not a problem. Give mk.Problem(body, objectives).")


def _made_of(
    body: Body,
    objectives: tuple[Objective, ...],
    lock: Mapping[str, float],
    limits: Mapping[str, tuple[float, float]],
    root: Array | None,
    weighting: str = "given",
) -> Problem:
    return Problem(body, objectives, lock=lock, limits=limits, root=root, weighting=weighting)


def _new_root(pose: TransformLike) -> Target:
    root = Target(7)
    root.assign(0, _seven(pose))
    return root


def _seven(pose: TransformLike) -> Array:
    """Quaternion and position of the root."""
    world_from_root = frozen_transform(pose, ProblemError, "bad root of a problem", name="root")
    return np.concatenate([quaternion_of_matrix(world_from_root), world_from_root[:3, 3]])


def _several(objectives: Objective | Iterable[Objective]) -> tuple[Objective, ...]:
    """The objectives, if all are some and none is there twice."""
    if isinstance(objectives, Objective):
        return (objectives,)
    wanted = several(objectives, ProblemError, "what is wanted", "[mk.Position(frame, target)]")
    if not wanted:
        raise ProblemError("a problem needs at least one objective, for example mk.Position(frame, target).")
    for objective in wanted:
        if not isinstance(objective, Objective):
            raise ProblemError(
                f"{shown(objective)} is not an objective. Give mk.Position(...), mk.Pose(...) and the like."
            )
    if len(set(map(id, wanted))) < len(wanted):
        raise ProblemError("the same objective stands in the problem twice. Raise its weight instead.")
    return wanted


def _ends(body: Body, value: ArrayLike, what: str) -> Array:
    """Limits of all joints, if they are."""
    ends = real_array(value, ProblemError, f"{what} limits are not numbers")
    if ends.shape != (body.dof,) or np.isnan(ends).any():
        raise ProblemError(f"{what} limits are {shown(value)}. Give one number for each of body.joint_names.")
    return ends


def _locked(lock: Mapping[str, float]) -> dict[str, float]:
    """Values by joint. A list of names would leave open which values are meant, home or start."""
    if not isinstance(lock, Mapping):
        raise ProblemError(
            f"lock is {shown(lock)}; it gives a value to each joint that is held. Write lock={{joint: value}}, for example "
            f"lock={{name: start[body.index(name)] for name in names}} to hold joints where a start has them."
        )
    return {joint: real_number(value, ProblemError, f"lock of joint {joint!r}") for joint, value in lock.items()}


def _narrow(body: Body, limits: Mapping[str, tuple[float, float]]) -> tuple[Array, Array]:
    if not isinstance(limits, Mapping):
        raise ProblemError(f"limits are {shown(limits)}. Write limits={{joint: (lower, upper)}}.")
    lower, upper = body.lower.copy(), body.upper.copy()
    for joint, pair in limits.items():
        k = body.index(joint)
        ends = real_array(pair, ProblemError, f"limits of joint {joint!r} are not two numbers")
        if ends.shape != (2,):
            raise ProblemError(f"limits of joint {joint!r} are {shown(pair)}. Give two numbers, (lower, upper).")
        low, high = ends.tolist()
        if not low <= high:
            raise ProblemError(f"limits of joint {joint!r}: {low} is above {high}, or one is not a number.")
        lower[k], upper[k] = max(lower[k], low), min(upper[k], high)
        if lower[k] > upper[k]:
            raise ProblemError(
                f"limits of joint {joint!r}: {low:g} to {high:g} lies outside the body's {body.lower[k]:g} to {body.upper[k]:g}."
            )
    return lower, upper
