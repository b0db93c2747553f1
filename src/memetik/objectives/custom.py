"""Objectives that users write: `@objective(...)` on a function, and FunctionalRelation between joints."""

from __future__ import annotations

import ctypes
import inspect
import math
import threading
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from memetik import signals
from memetik.body import Body, Frame
from memetik.errors import MemetikWarning, ProblemError, shown
from memetik.geometry import to_quaternion
from memetik.geometry.checks import text
from memetik.kernels.compiler.interruptible import attempt
from memetik.kernels.runtime.cancel import cancel_runs_of_this_thread
from memetik.kernels.terms.callback import CALLBACK
from memetik.kernels.terms.custom import (
    CUSTOM,
    CUSTOM_FRAMES,
    JOINT_OFFSET,
    JOINT_RATIO,
    JOINT_VARIABLE,
    READ_JOINT,
    frame_view,
)
from memetik.objectives.attributes import fixed
from memetik.objectives.machine_code import Call, MachineCode, machine_code
from memetik.objectives.objective import FrameLike, Packer, Single, checked_name

_NUMBER = ctypes.sizeof(ctypes.c_double)
_POSE = 7 * ctypes.c_double
# As plain Python: Numba crashes where an interrupt keeps it from making a named tuple.
_view = getattr(frame_view, "py_func", frame_view)


def objective(
    *, reads: Sequence[FrameLike] = (), joints: Sequence[str] = (), tolerance: float | None = 1e-3, weight: float = 1.0,
    name: str | None = None, priority: int = 0,
) -> Callable[[Callable[..., Any]], Custom]:  # fmt: skip
    """Turn a function into an objective, ready for a Problem:

    ```python
    import memetik as mk

    hand = mk.load("panda").frame("panda_hand")

    @mk.objective(reads=[hand], tolerance=1e-3)
    def above_table(hand):
        return max(0.0, 0.75 - hand.position[2])
    ```

    e = function(frames..., joint values...), |e| <= tolerance, in the function's own unit.

    The function gets one argument for each frame in `reads`, then one for each joint in `joints`. A frame has
    `.position` [m], `.quaternion` (w, x, y, z) and the unit vectors `.axis_x`, `.axis_y`, `.axis_z`, all tuples in
    world coordinates. A joint is its value [rad or m]; mimic and locked joints may be read too. The function returns a
    residual, zero when satisfied, or a tuple or one-dimensional array of them, always of the same length. The search
    follows their slope: return how far off a posture is (max(0, violation) for an inequality), not only whether it is.

    Numba compiles the function. It then sees global and closed-over variables as they are at that moment, and functions
    that it calls must be decorated with @numba.njit; 1 / 0 is infinite and sqrt(-1) is NaN, without an exception. What
    Numba cannot compile runs as plain Python, some microseconds a call, and a MemetikWarning says why. NaN means "not
    defined here" and never counts as satisfied. An exception ends the solve, which raises a ProblemError.

    tolerance: in the unit of what the function returns, metres or radians or one of its own; None makes it a guide.
    """

    def decorate(function: Callable[..., Any]) -> Custom:
        return Custom(
            function, reads=reads, joints=joints, tolerance=tolerance, weight=weight, name=name, priority=priority
        )

    return decorate


class Custom(Single):
    """Whatever a function says: e = function(frames..., joint values...), |e| <= tolerance [the function's own unit].

    `mk.objective` says what the function gets and returns.
    """

    _stays = ("_problems", "_in_python", "_faults", "_kernels")

    def __init__(
        self, function: Callable[..., Any], *, reads: Sequence[FrameLike] = (), joints: Sequence[str] = (),
        tolerance: float | None = 1e-3, weight: float = 1.0, name: str | None = None, priority: int = 0,
    ) -> None:  # fmt: skip
        super().__init__(
            weight=weight, tolerance=tolerance, name=checked_name(name) or _name_of(function), priority=priority
        )
        self.function = function
        self._frames = _several(reads, (str, Frame), self.name, "reads", "frames")
        self._joints = _several(joints, (str,), self.name, "joints", "joint names")
        self._require_arguments(function, len(self._frames) + len(self._joints))
        self._connect()

    @fixed
    def function(self, value: Callable[..., Any]) -> Callable[..., Any]:
        """What says how far off a posture is."""
        return value

    def _connect(self) -> None:
        """Make what holds for this process only."""
        self._in_python = CALLBACK(self._answer)
        self._faults: dict[int, BaseException] = {}  # what the function raised, by the thread that called it
        self._kernels: dict[int | None, tuple[MachineCode, list[float]] | None] = {}  # of each form of result

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        self._connect()

    def frames(self) -> tuple[FrameLike, ...]:
        return self._frames

    def joints(self, body: Body) -> tuple[str, ...]:
        drives = body.variables.drives
        followed = (body.joint_names[drives[name][0].variable] for name in self._joints if name in drives)
        return (*(name for name in self._joints if name in body.joint_names), *followed)

    def pack(self, packer: Packer) -> None:
        rows = [packer.frame(frame) for frame in self._frames]
        drives = [packer.drive(name) for name in self._joints]
        home = self._arguments_at_home(packer.body, drives)
        values, form = self._try(home)
        compiled, captured = self._compile(form, home)
        in_python = ctypes.cast(self._in_python, ctypes.c_void_p).value or 0
        place = packer.numbers([*divmod(compiled, 2**32), *divmod(in_python, 2**32), len(drives), *rows])
        variables = []
        for source, ratio, offset in drives:
            if source is None:
                packer.numbers([-1.0])
            else:
                variables.append(packer.variable(source))
            packer.numbers([ratio, offset])
        packer.numbers(captured)
        packer.add(
            CUSTOM, tolerance=self.tolerance, rows=len(values), data=place, count=len(rows), more_frames=rows,
            variables=variables,
        )  # fmt: skip

    def raise_fault(self) -> None:
        """Raise what the function raised since it was last asked, as a ProblemError that tells where it came from."""
        fault = self._faults.pop(threading.get_ident(), None)
        if isinstance(fault, Exception) and not signals.by_handler(fault):
            raise ProblemError(
                f"{self.name}: the function raised {type(fault).__name__} during the solve: {fault}. Let it return a "
                "number for every posture, NaN where it is not defined."
            ) from fault
        if fault is not None:  # the user pressed Ctrl-C
            raise fault

    def forget_fault(self) -> None:
        self._faults.pop(threading.get_ident(), None)

    # Compilation

    def _compile(self, form: int | None, arguments: Sequence[Any]) -> tuple[int, list[float]]:
        """Where the kernel for a form of result (see residual_function) is, and the captured numbers that it reads; -1 if
        Numba cannot compile it."""
        if form not in self._kernels:
            function, wrap = self._source()
            call = Call(function, arguments, len(self._frames), len(self._joints), form, wrap)
            self._kernels[form], error = attempt(machine_code, call)
            if error is not None:
                self._warn(error)
        kernel = self._kernels[form]
        return (-1, []) if kernel is None else (kernel[0].address, kernel[1])

    def _source(self) -> tuple[Callable[..., Any], Callable[[Any, bool], Callable[..., Any]] | None]:
        """What the user wrote, and what makes the whole function of it once it is compiled."""
        return self.function, None

    def _warn(self, error: Exception) -> None:
        lines = [line.strip() for line in str(error).splitlines() if line.strip()]
        why = " ".join([line for line in lines if not line.startswith("Failed in nopython")][:2])
        warnings.warn(
            f"{self.name}: Numba cannot compile the function, so it runs as plain Python, which is slower: {why}",
            MemetikWarning,
            stacklevel=2,
        )

    # The function as plain Python

    def _arguments_at_home(self, body: Body, drives: Sequence[tuple[str | None, float, float]]) -> list[Any]:
        poses = body.forward(body.home)
        arguments: list[Any] = []
        for frame in map(body.frame, self._frames):
            T = poses[frame.link] @ frame.link_from_frame
            arguments.append(_view(*to_quaternion(T[:3, :3]).tolist(), *T[:3, 3].tolist()))
        for source, ratio, offset in drives:
            arguments.append(offset + (0.0 if source is None else ratio * float(body.home[body.index(source)])))
        return arguments

    def _try(self, arguments: Sequence[Any]) -> tuple[list[float], int | None]:
        """Residuals at home, and the form they come in: 0 a number, n a tuple, None an array."""
        try:
            value = self.function(*arguments)
        except Exception as error:
            raise ProblemError(
                f"{self.name}: the function raised {type(error).__name__} at the body's home posture: {error}"
            ) from error
        try:
            values = _floats(value)
        except (TypeError, ValueError):
            values = []
        if not values:
            raise ProblemError(
                f"{self.name}: the function returned {shown(value)}. Return a number, or a tuple or one-dimensional array "
                "of numbers."
            )
        return values, 0 if np.ndim(value) == 0 else len(values) if isinstance(value, tuple) else None

    @signals.entry
    def _answer(self, data: int, world: int, x: int, out: int, rows: int) -> None:
        """The function at the inputs that stand at these addresses; kernels call it through ctypes."""
        residuals, place = (rows * ctypes.c_double).from_address(out), signals.place
        around = place.may_raise  # where the function of another objective solves a problem
        if threading.get_ident() not in self._faults:
            try:
                place.may_raise = True
                signals.deliver()
                values = _floats(self.function(*self._arguments_at(data, world, x)))
                if len(values) != rows:
                    raise ProblemError(f"it returned {len(values)} residuals, but {rows} at the home posture")
                place.may_raise = around
                residuals[:] = [*values]
                return
            except BaseException as fault:  # nothing may pass through the kernels: raise_fault does it afterwards
                place.may_raise = False
                self._faults[threading.get_ident()] = fault
                cancel_runs_of_this_thread()
        place.may_raise = around
        residuals[:] = [math.nan] * rows

    def _arguments_at(self, data: int, world: int, x: int) -> list[Any]:
        first = CUSTOM_FRAMES + len(self._frames)
        numbers = ((first + READ_JOINT * len(self._joints)) * ctypes.c_double).from_address(data)
        size = ctypes.sizeof(_POSE)
        arguments = [_view(*_POSE.from_address(world + size * int(row))) for row in numbers[CUSTOM_FRAMES:first]]
        for at in range(first, len(numbers), READ_JOINT):
            k, value = int(numbers[at + JOINT_VARIABLE]), numbers[at + JOINT_OFFSET]
            if k >= 0:
                value += numbers[at + JOINT_RATIO] * ctypes.c_double.from_address(x + k * _NUMBER).value
            arguments.append(value)
        return arguments

    def _require_arguments(self, function: Callable[..., Any], count: int) -> None:
        if not callable(function):
            raise ProblemError(f"{self.name}: {shown(function)} is not a function.")
        if count == 0:
            raise ProblemError(f"{self.name}: it reads nothing. Name frames in `reads` or joints in `joints`.")
        try:
            inspect.signature(function).bind(*range(count))
        except (TypeError, ValueError) as error:
            raise ProblemError(
                f"{self.name}: the function must take {count} arguments, the frames of `reads` and then the values of "
                f"`joints`: {error}."
            ) from error


class FunctionalRelation(Custom):
    """A joint follows others: |x_i - h(x_j, ...)| <= tolerance [rad or m], eq. 4.10 of the thesis.

    joint: x_i; function: h, any function of the values of the joints in `sources`, in that order (see mk.objective).
    """

    def __init__(
        self, joint: str, function: Callable[..., float], *, sources: Sequence[str], tolerance: float | None = 1e-3,
        weight: float = 1.0, name: str | None = None, priority: int = 0,
    ) -> None:  # fmt: skip
        name = checked_name(name) or type(self).__name__
        sources = _several(sources, (str,), name, "sources", "joint names")
        self.joint, self.sources, self.relation = joint, sources, function
        super().__init__(
            self._difference, joints=(joint, *sources), tolerance=tolerance, weight=weight, name=name, priority=priority
        )
        self._require_arguments(function, len(sources))

    @fixed
    def joint(self, value: str) -> str:
        """The joint that follows others."""
        return text(value, ProblemError, f"{type(self).__name__}: joint")

    @fixed
    def sources(self, value: tuple[str, ...]) -> tuple[str, ...]:
        """The joints that it follows."""
        return value

    @fixed
    def relation(self, value: Callable[..., float]) -> Callable[..., float]:
        """The function of their values."""
        return value

    def _difference(self, value: float, *others: float) -> float:
        return value - self.relation(*others)

    def _source(self) -> tuple[Callable[..., Any], Callable[[Any, bool], Callable[..., Any]] | None]:
        return self.relation, _difference_to


def _difference_to(relation: Any, with_captured: bool) -> Any:
    """The difference of a joint from a compiled relation, which may take its first value together with captured numbers."""
    if with_captured:
        return lambda first, *others: first[0] - relation((others[0], first[1]), *others[1:])
    return lambda value, *others: value - relation(*others)


def _name_of(function: object) -> str | None:
    name = getattr(function, "__name__", None)
    return name if isinstance(name, str) else None


def _floats(value: Any) -> list[float]:
    """The residuals that a function returned."""
    if np.ndim(value) > 1:
        raise ValueError("more than one dimension")
    return [float(value)] if np.ndim(value) == 0 else [float(residual) for residual in value]


def _several(given: Any, kinds: tuple[type, ...], name: str, keyword: str, what: str) -> tuple[Any, ...]:
    """A list of frames or names; one alone is taken for a list of one."""
    items = (given,) if isinstance(given, kinds) else tuple(given) if isinstance(given, Sequence) else (given,)
    for item in items:
        if not isinstance(item, kinds):
            raise ProblemError(f"{name}: {keyword} must list {what}, not {shown(item)}.")
    return items
