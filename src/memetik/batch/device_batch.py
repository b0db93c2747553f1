"""A batch whose targets or starts are on the device already: nothing goes to the processor and back but the number of misses."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from memetik.batch.cuda import require_no_functions
from memetik.batch.device import require_cuda, start
from memetik.batch.device_arrays import DeviceArray, Given, given_array, is_on_device
from memetik.batch.launcher import TABLE, Launcher
from memetik.batch.launchers import Contacts, General, launcher_for
from memetik.batch.solution import BatchSolution
from memetik.batch.transfer import CardMemory
from memetik.errors import ProblemError, shown
from memetik.kernels.compiler.compile_time import split_time
from memetik.kernels.cuda.launch_record import CODES, SIMULATED, START, Incoming, Marks
from memetik.kernels.problem.budget import ATTEMPTS, EVALUATIONS, MOVED, OUTCOME, TIMED_OUT
from memetik.kernels.runtime.record import words
from memetik.kernels.terms.targets import POSE_TARGET, ROTATION_TARGET
from memetik.objectives import Objective
from memetik.objectives.objective import Target
from memetik.objectives.pose_target import COMPLAINTS
from memetik.problem import Problem
from memetik.types import Array

NO_COMPLAINT = np.iinfo(np.int64).max
THREADS = 128  # in a block
STARTS = "starts"


def any_on_device(targets: Any, starts: Any) -> bool:
    """Whether any of the arrays is on a device."""
    many = targets.values() if isinstance(targets, Mapping) else ()
    return is_on_device(starts) or any(map(is_on_device, many))


@dataclass(frozen=True, eq=False, repr=False)
class DeviceBatchSolution(BatchSolution):
    """The answers to a batch whose targets or starts were on a graphics card, as arrays that stay there (DeviceArray).

    `q` (count, dof), `status` (count,), `numbers` (count, k) and `starts` (count or 1, dof) are as in BatchSolution, and so are
    `success`, `errors`, `evaluations`, `attempts`, `timed_out` and `start_moved`, the last four as float64. `.numpy()` copies
    all of it: a BatchSolution, whose rows are Solutions.
    """

    _success: Any = None
    _rows: Any = None  # (count, columns) the numbers of all targets, on the device
    _columns: tuple[tuple[Target, slice], ...] = ()

    @property
    def success(self) -> Any:
        """(count,) bool on the device: whether every objective with a tolerance is within it."""
        return self._success

    @property
    def evaluations(self) -> Any:
        """(count,) float64 on the device: how often the search placed the body."""
        return self._on_device.column(EVALUATIONS)

    @property
    def attempts(self) -> Any:
        """(count,) float64 on the device: from how many postures the search set out."""
        return self._on_device.column(ATTEMPTS)

    @property
    def timed_out(self) -> Any:
        """(count,) float64 on the device: 0, because there is no clock there."""
        return self._on_device.column(TIMED_OUT)

    @property
    def start_moved(self) -> Any:
        """(count,) float64 on the device: 1 where the start was outside the limits and was moved into them."""
        return self._on_device.column(MOVED)

    @property
    def errors(self) -> dict[Objective, Any]:
        """The error of every objective in its own unit (m, rad), on the device: (count,), or (count, 2) for a pose."""
        found: dict[Objective, Any] = {}
        for objective, owner in zip(self.problem.objectives, self.problem.compiled.owners, strict=True):
            first, end = OUTCOME + owner.start, OUTCOME + owner.stop
            if end > first:
                whole = np.ndim(objective.error(np.zeros(end - first)))
                found[objective] = self._on_device.column(first, end) if whole else self._on_device.column(first)
        return found

    @property
    def _on_device(self) -> DeviceArray:
        numbers: Any = self.numbers
        assert isinstance(numbers, DeviceArray)
        return numbers

    def numpy(self) -> BatchSolution:
        """All of it in the memory of the processor."""
        on_device: tuple[Any, ...] = self.q, self.status, self.numbers, self.starts, self._rows
        q, status, numbers, starts, rows = (array.numpy() for array in on_device)
        targets = tuple((target, rows[:, owned]) for target, owned in self._columns)
        starts = np.broadcast_to(starts, (len(self), starts.shape[1]))
        return BatchSolution(
            self.problem, q, status, numbers, self.row_seconds, self.seconds, self.device, targets, starts, self.method,
            self.compile_seconds,
        )  # fmt: skip

    def __getitem__(self, rows: Any) -> Any:
        raise ProblemError(f"rows {shown(rows)} of a batch on a graphics card: copy it first, batch.numpy()[rows].")

    def __iter__(self) -> Iterator[Any]:
        raise ProblemError("the rows of a batch on a graphics card: copy it first, `for row in batch.numpy():`.")

    def __str__(self) -> str:
        return str(self.numpy())

    def __repr__(self) -> str:
        return f"<DeviceBatchSolution of {len(self)}>"


def solve_on_device(
    problem: Problem, targets: Mapping[Objective, Any], starts: Any, seed: int, most: int
) -> DeviceBatchSolution:
    """Solve a batch of which all arrays are on the device, but for one start for all."""
    cuda = require_cuda()
    require_no_functions(problem)
    begin = time.perf_counter()
    incoming = _Incoming(cuda, problem, targets, starts)
    c, count, places = problem.compiled, incoming.count, incoming.places
    launcher: Launcher = launcher_for(c, places)(cuda, c, count, places, seed)
    launcher.open({}, {}, {})
    fields = {**launcher.answer_fields(incoming.count), "success": ((incoming.count,), np.bool_)}
    answers, scratch = CardMemory(cuda, fields), CardMemory(cuda, launcher.scratch_fields())
    incoming.convert(launcher)
    device = {**incoming.memory.device, **answers.device, **scratch.device}
    launcher.run(device, most)
    incoming.require_good()
    seconds = launcher.seconds
    if isinstance(launcher, Contacts) and launcher.rest.missed and launcher.rest.left > 0:
        pusher = General(cuda, c, count, places, seed)
        pusher.open({}, {}, {})
        pusher.take_over(device, launcher.rest)
        pusher.close()
        seconds += pusher.seconds
    incoming.mark(answers)
    launcher.kept.give_back(incoming.block)
    launcher.close()
    found: dict[str, Any] = {name: _array(cuda, answers, name, kind) for name, kind in fields.items()}
    rows, vectors = (_array(cuda, incoming.memory, name, incoming.fields[name]) for name in ("targets", "starts"))
    on_device: Any = vectors
    took, compiling = split_time(begin)
    return DeviceBatchSolution(
        problem, found["q"], found["statuses"], found["outcomes"], np.broadcast_to(seconds / count, (count,)), took,
        "a graphics card", (),
        on_device, "memetic", compiling, _success=found["success"], _rows=rows, _columns=incoming.columns,
    )  # fmt: skip


def _array(cuda: Any, memory: CardMemory, name: str, kind: Any) -> DeviceArray:
    """A field of some memory on the device, as an array for others."""
    place, device = memory.device[name], 0 if SIMULATED else int(cuda.get_current_device().id)
    return DeviceArray(memory, place.ctypes.data if SIMULATED else place.address, kind[0], kind[1], device)


class _Incoming:
    """The arrays of a batch: checked, and written as rows by kernels."""

    def __init__(self, cuda: Any, problem: Problem, targets: Mapping[Objective, Any], starts: Any) -> None:
        self.cuda, self.problem = cuda, problem
        device = 0 if SIMULATED else int(cuda.get_current_device().id)
        places: list[int] = []
        columns: list[tuple[Target, slice]] = []
        self.parts: list[
            tuple[str, Given, dict[str, Any], Array]
        ] = []  # of whom, an array, and what its kernel is told
        for objective, many in targets.items():
            if not isinstance(objective, Objective) or objective not in problem.objectives:
                known = ", ".join(map(repr, problem.objectives))
                raise ProblemError(f"batch: {shown(objective)} is not an objective of this problem, which has {known}.")
            _require_on_device(many, f"targets of {objective!r}")
            kind, target, first = objective.target_kind()
            given = given_array(many, f"batch: targets of {objective!r}", device)
            _require_shape(given, kind, f"batch: targets of {objective!r}")
            at, size = target.place(problem.compiled.data), target.numbers.size
            told = {"kind": kind, "columns": given.shape[1], "column": len(places), "first": first}
            self.parts.append((objective.name, given, told, target.numbers.copy()))
            columns.append((target, slice(len(places), len(places) + size)))
            places.extend(range(at, at + size))
        self.places, self.columns = np.array(places, dtype=np.int64), tuple(columns)
        self._take_starts(starts, device)
        lengths = {given.shape[0] for _, given, _, _ in self.parts}
        if len(lengths) > 1:
            raise ProblemError(f"batch: targets and starts need the same number of rows; got {sorted(lengths)}.")
        self.count = lengths.pop()
        if not self.count:
            raise ProblemError("batch: the arrays on the card have no rows.")
        vectors, c = 1 if self.start is not None else self.count, problem.compiled
        self.target: Array | None = None
        if c.one_pose and not places:  # the same for all rows
            at = int(c.terms[0]["target"])
            self.target = c.data[at : at + 7][None]
        self.fields = {
            "targets": ((self.count, len(places)) if self.target is None else (1, 7), np.float64),
            "starts": ((vectors, problem.body.dof), np.float64),
        }  # fmt: skip
        self.memory = CardMemory(cuda, self.fields)

    def _take_starts(self, starts: Any, device: int) -> None:
        """One joint vector for each row on the device, or one for all from anywhere."""
        problem, dof = self.problem, self.problem.body.dof
        self.start: Array | None = None
        if not is_on_device(starts):
            if starts is not None and np.ndim(starts) != 1:
                _require_on_device(starts, "starts")
            self.start = problem.start(starts)
            return
        given = given_array(starts, "batch: starts", device)
        if len(given.shape) != 2 or given.shape[1] != dof:
            raise ProblemError(
                f"batch: starts on the card have shape {given.shape}, but body {problem.body.name!r} has {dof} free joints: "
                f"give (rows, {dof})."
            )
        held = np.full(dof, np.nan)
        for joint, value in problem.lock.items():
            held[problem.body.index(joint)] = value
        self.parts.append((STARTS, given, {"kind": START, "columns": dof, "column": 0, "first": 0}, held))

    def convert(self, launcher: Launcher) -> None:
        """Have kernels write all rows, once whoever computes the arrays is done."""
        from memetik.kernels.cuda.inputs import write_rows

        many, widest = len(self.parts), max((base.size for *_, base in self.parts), default=1)
        self.stream = launcher.stream
        block = self.block = launcher.kept.take({
            "tables": ((many + 1, TABLE), np.int64), "bases": ((many, widest), np.float64),
            "complaints": ((many, 1), np.int64),
        })  # fmt: skip
        block.host["complaints"][:] = NO_COMPLAINT
        self.records: list[Any] = []
        for k, (_, given, told, base) in enumerate(self.parts):
            block.host["bases"][k, : base.size] = base
            row, stride, last = (*given.strides, 0)[:3]
            self._add(Incoming(
                rows=self.count, address=given.address, single=int(given.single), row_stride=row, stride=stride,
                last_stride=last, base=_entry(block.device["bases"], k, base.size),
                numbers=self.memory.device["starts" if told["kind"] == START else "targets"],
                complaint=_entry(block.device["complaints"], k, 1), **told,
            ))  # fmt: skip
        for other in {given.stream for _, given, _, _ in self.parts if given.stream is not None} | {0}:
            self._wait_for(other)
        if self.start is not None:
            launcher.send_array(self.start[None], self.memory.device["starts"])
        if self.target is not None:
            launcher.send_array(self.target, self.memory.device["targets"])
        block.send("tables", None, self.stream)
        for k in range(many):
            start(self.cuda, write_rows, -(-self.count // THREADS), THREADS, self.stream, 0, self._given(k))
        block.fetch("complaints", None, self.stream)

    def _wait_for(self, stream: int) -> None:
        """Our stream waits for another one; 0 and 1 are the default stream, where DLPack has arrays wait for their owners."""
        if not SIMULATED:
            event = self.block.events[0]
            event.record(0 if stream <= 1 else self.cuda.external_stream(stream))
            event.wait(self.stream)

    def _add(self, record: Any) -> None:
        """One more table."""
        if not SIMULATED:
            numbers = np.fromiter(words(record), dtype=np.int64)
            self.block.host["tables"][len(self.records), : len(numbers)] = numbers
        self.records.append(record)

    def _given(self, k: int) -> Any:
        """What a kernel is given: the address of a table."""
        return self.records[k] if SIMULATED else self.block.device["tables"].address + 8 * TABLE * k

    def require_good(self) -> None:
        """Raise if a row is none; to be asked when the stream is done."""
        for (name, *_), complaint in zip(self.parts, self.block.host["complaints"][:, 0].tolist(), strict=True):
            if complaint != NO_COMPLAINT:
                row, code = divmod(complaint, CODES)
                what = "the start has an entry that is NaN or infinite" if name == STARTS else COMPLAINTS[code]
                raise ProblemError(f"batch: {name}: row {row}: {what}.")

    def mark(self, answers: CardMemory) -> None:
        """Write which rows are reached, and wait for it."""
        from memetik.kernels.cuda.inputs import mark_reached

        success = answers.device["success"]
        self._add(Marks(answers.device["statuses"], success.view(np.uint8) if SIMULATED else success.like(np.uint8)))
        self.block.send("tables", "bases", self.stream)
        start(self.cuda, mark_reached, -(-self.count // THREADS), THREADS, self.stream, 0, self._given(len(self.parts)))
        self.stream.synchronize()


def _entry(array: Any, k: int, size: int) -> Any:
    """The first numbers of a row of a matrix on the device."""
    return array[k, :size] if SIMULATED else array.rows(k, k + 1).flat(size)


def _require_on_device(value: Any, what: str) -> None:
    if not is_on_device(value):
        raise ProblemError(
            f"batch: {what} are not on the card, but others are. Put all of them there, or none; one start for all rows may be "
            "anywhere."
        )


def _require_shape(given: Given, kind: int, what: str) -> None:
    shapes: tuple[tuple[int, ...], ...] = ((3,),)
    if kind == POSE_TARGET:
        shapes = ((4, 4), (7,))
    elif kind == ROTATION_TARGET:
        shapes = ((3, 3),)
    if given.shape[1:] not in shapes:
        wanted = " or ".join(" x ".join(map(str, ("rows", *shape))) for shape in shapes)
        more = "; rows x 7 are x, y, z and a quaternion w, x, y, z" if kind == POSE_TARGET else ""
        raise ProblemError(f"{what} have shape {given.shape}: give an array of {wanted}{more}.")
