"""Faults one after the other, not sampled: each write of a job on files fails in turn, and a signal comes at each line.

    python -m tests.stress.faults            # all of it
    python -m tests.stress.faults signals    # Ctrl-C at each line of the package that solves, tracks, batches ... run through,
                                             # and at each call of a function of other packages
    python -m tests.stress.faults writes     # each operation on files of a job fails: the disk is full, or broken

After a signal the call must have raised KeyboardInterrupt, the handler of before must stand again, and the next solve must
give the same bits. After a failed write the job must have raised an error of the package, and the same job started again must
leave the same answers and nothing else.
"""

from __future__ import annotations

import contextlib
import errno
import gc
import io
import linecache
import os
import signal
import sys
import tempfile
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

import memetik as mk
from memetik import sharing
from memetik.batch import lock
from memetik.errors import MemetikError

PACKAGE = str(Path(mk.__file__).parent)
BUDGET = mk.Budget(evaluations=60)
FAULTS = (errno.ENOSPC, errno.EIO)
# Python itself ignores what is raised in some of these, and does not release a lock whose `__exit__` has not begun.
UNGUARDED = ("_remove", "__del__", "__enter__", "__exit__", "on_disposal")

# ---- A signal at each line -----------------------------------------------------------------------------------


def calls() -> dict[str, tuple[Callable[[], Any], Callable[[], bytes]]]:
    """What is interrupted, by name, and what must give the same bits afterwards as before."""
    body, rng = mk.load("panda"), np.random.default_rng(0)
    there = body.forward(body.home + 0.1)["panda_hand"]
    path = np.stack([mk.translation(0.0, 0.0, 0.01 * k) @ there for k in range(4)])
    motion = np.stack([body.sample(rng) for _ in range(5)])
    pose = mk.Pose("panda_hand", there)
    single, several = mk.Problem(body, pose), mk.Problem(body, [pose, mk.Displacement()])
    wish = mk.objective(reads=["panda_hand"])(lambda hand: 0.1 + float(str(hand.position[0])[:5]))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        python = mk.Problem(body, [wish])
    distance = mk.Distance(["panda_hand"], [(0.5, 0.1, 0.4, 0.1)])
    changed = mk.Problem(body, [pose, distance])
    step = mk.bind(single, pose, budget=BUDGET)
    world = mk.World({"ball": mk.Shape("sphere", (0.05,), mk.translation(2, 0, 0))})
    apart = mk.Problem(body, [pose, mk.Distance(["panda_hand"], world)])

    def bits(problem: mk.Problem) -> Callable[[], bytes]:
        return lambda: mk.solve(problem, body.home, budget=BUDGET).q.tobytes()

    def change() -> None:
        distance.obstacles = [(0.5, 0.1, 0.4, 0.1)] * (3 - len(distance.obstacles))
        pose.weight = 2.0
        pose.weight = 1.0
        mk.solve(changed, body.home, budget=BUDGET)

    def unchanged() -> bytes:
        distance.obstacles = [(0.5, 0.1, 0.4, 0.1)]
        pose.weight = 1.0
        return bits(changed)()

    def retarget() -> None:
        pose.target = path[1]
        pose.target = there

    def restored() -> bytes:
        pose.target = there
        return bits(several)() + bits(single)()

    def move() -> None:
        world.move("ball", mk.translation(2, 1, 0))
        world.add("other", mk.Shape("sphere", (0.02,)), mk.translation(0.3, 0, 0.9))
        world.remove("other")

    def moved() -> bytes:
        if "other" in list(world):
            world.remove("other")
        world.move("ball", mk.translation(2, 1, 0))
        return bits(apart)()

    def first() -> None:
        mk.solve(mk.Problem(body, [pose, mk.SelfDistance(body)]), body.home, budget=BUDGET)

    def scratch() -> None:
        several.compiled.ready.clear()
        mk.solve(several, body.home, budget=BUDGET)

    return {
        "first solve": (first, bits(several)),
        "scratch": (scratch, bits(several)),
        "servo": (lambda: mk.Servo(apart, rate=100).step(), bits(apart)),
        "solve": (lambda: mk.solve(several, body.home, budget=BUDGET), bits(several)),
        "solve one pose": (lambda: mk.solve(single, body.home, budget=BUDGET), bits(single)),
        "solve in Python": (lambda: mk.solve(python, body.home, budget=BUDGET), bits(python)),
        "bind": (lambda: step(there, body.home), lambda: step(there, body.home).tobytes()),
        "batch": (
            lambda: mk.solve_batch(several, {pose: path}, threads=1, budget=BUDGET),
            lambda: mk.solve_batch(several, {pose: path}, threads=1, budget=BUDGET).q.tobytes() + bits(several)(),
        ),
        "track": (
            lambda: mk.track(several, {pose: path}),
            lambda: mk.track(several, {pose: path}).q.tobytes() + bits(several)(),
        ),
        "check_motion": (
            lambda: mk.motion.check_motion(body, motion),
            lambda: repr(mk.motion.check_motion(body, motion)).encode(),
        ),
        "construct": (lambda: mk.Problem(body, [pose, mk.Displacement()]), bits(several)),
        "assign": (change, unchanged),
        "retarget": (retarget, restored),
        "world": (move, moved),
    }


def count_lines(work: Callable[[], Any]) -> int:
    """How many lines of the package, and functions of other packages, a call runs through."""
    return _traced(work, 0)


def interrupt(work: Callable[[], Any], k: int) -> str:
    """What was wrong after Ctrl-C at the k-th line of a call; empty for nothing."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        _traced(work, k)
        return "the interrupt was lost"
    except KeyboardInterrupt:
        pass
    except BaseException as error:
        return f"{type(error).__name__}: {error}"
    finally:
        sys.settrace(None)
        after = signal.signal(signal.SIGINT, before)
    if after is not signal.default_int_handler:
        return f"{after} handles signals afterwards"
    if not gc.isenabled():
        return "garbage is not collected afterwards"
    return "" if _is_free(sharing.LOCK) else "a lock is held afterwards"


def _traced(work: Callable[[], Any], k: int) -> int:
    """Call it, press Ctrl-C at its k-th line in the package or the next that can be interrupted; the lines before, or all.

    What other packages call in Python counts as a line: NumPy ignores what is raised in some functions that it calls.

    Python tells of the line of a `with` once more where it leaves the block, and what is raised there leaves the lock taken. No
    signal comes there.
    """
    lines, pressed = 0, False

    def each(frame: Any, happening: str, _: Any) -> Any:
        nonlocal lines, pressed
        if happening in ("call", "line") and not pressed:
            lines += 1
            line = linecache.getline(frame.f_code.co_filename, frame.f_lineno).strip()
            if 0 < k <= lines and not line.startswith("with "):
                pressed = True
                sys.settrace(None)
                signal.raise_signal(signal.SIGINT)
        return each

    def begin(frame: Any, happening: str, argument: Any) -> Any:
        if frame.f_code.co_filename.startswith(PACKAGE):
            return each(frame, happening, argument)
        if (
            frame.f_lasti <= 0 and frame.f_code.co_name not in UNGUARDED
        ):  # a generator that is closed seems to be called
            each(frame, happening, argument)
        return None

    sys.settrace(begin)
    try:
        work()
    finally:
        sys.settrace(None)
    if k and not pressed:
        raise KeyboardInterrupt  # the call had fewer lines this time
    return lines


def _is_free(lock: Any) -> bool:
    """Whether another thread gets a lock."""
    found: list[bool] = []

    def take() -> None:
        found.append(lock.acquire(timeout=1.0))
        if found[0]:
            lock.release()

    thread = threading.Thread(target=take)
    thread.start()
    thread.join()
    return found[0]


def signals(name: str, every: int = 1, first: int = 1) -> tuple[int, list[str]]:
    """How many lines of a call were interrupted, and what was wrong after which."""
    work, answer = calls()[name]
    work()
    expected, total = answer(), count_lines(work)
    wrong = []
    for k in range(first, total + 1, every):
        fault = interrupt(work, k)
        if not fault and answer() != expected:
            fault = "the next answer is another one"
        if fault:
            wrong.append(f"{name}, line {k} of {total}: {fault}")
    return len(range(first, total + 1, every)), wrong


# ---- Each operation on files ---------------------------------------------------------------------------------


class Disk:
    """Stands between Python and the files below a folder, and lets the k-th operation that changes them fail."""

    def __init__(self, folder: Path, k: int, number: int) -> None:
        self.folder, self.k, self.number, self.done = str(folder), k, number, 0

    def change(self, path: object) -> None:
        """Count an operation."""
        if not isinstance(path, int) and not os.fspath(path).startswith(self.folder):  # type: ignore[call-overload]
            return
        self.done += 1
        if self.done == self.k:
            raise OSError(self.number, os.strerror(self.number), str(path))

    @contextlib.contextmanager
    def between(self) -> Iterator[None]:
        """In this block, operations are counted."""
        names = ("mkdir", "unlink", "replace", "rename", "utime", "fsync")
        usual = {name: getattr(os, name) for name in names}
        open_ = io.open

        def guarded(name: str) -> Callable[..., Any]:
            def call(path: Any, *arguments: Any, **named: Any) -> Any:
                self.change(path)
                return usual[name](path, *arguments, **named)

            return call

        def opened(path: Any, mode: str = "r", *arguments: Any, **named: Any) -> Any:
            if isinstance(path, int) or not set(mode) & set("wxa+"):
                return open_(path, mode, *arguments, **named)
            self.change(path)
            file = open_(path, mode, *arguments, **named)
            return _File(file, self, path) if os.fspath(path).startswith(self.folder) else file

        for name in names:
            setattr(os, name, guarded(name))
        io.open = opened  # type: ignore[assignment]
        try:
            yield
        finally:
            io.open = open_
            for name, function in usual.items():
                setattr(os, name, function)


class _File:
    """A file whose writes may fail after the first half."""

    def __init__(self, file: Any, disk: Disk, path: Any) -> None:
        self._file, self._disk, self._path = file, disk, path

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)

    def __enter__(self) -> _File:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def write(self, data: Any) -> Any:
        try:
            self._disk.change(self._path)
        except OSError:
            self._file.write(data[: len(data) // 2])
            raise
        return self._file.write(data)


def job(folder: Path) -> Callable[[], Any]:
    """A job of some shards, one row of which is rejected; `folder` has the targets and gets the answers."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    columns = {"x": [0.3, 0.4, 0.5, np.nan, 0.6, 0.2], "y": [0.1] * 6, "z": [0.0] * 6}
    pq.write_table(pa.table(columns), folder / "targets.parquet")
    problem = mk.Problem(mk.build.planar_chain([0.5, 0.3]), mk.Position("tip", np.zeros(3)))
    options: dict[str, Any] = {"rows_per_shard": 2, "threads": 1, "progress": False}
    return lambda: mk.batch.solve_files(problem, folder / "targets.parquet", folder / "out", **options)


def contents(folder: Path) -> dict[str, bytes]:
    """All files below a folder."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()
    }


def writes(every: int = 1) -> tuple[int, list[str]]:
    """How many operations on files failed, and what was wrong after which."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place).resolve()
        run = job(folder)
        counter = Disk(folder / "out", 0, 0)
        with counter.between():
            run()
        expected, wrong, done = contents(folder / "out"), [], 0
        for number in FAULTS:
            for k in range(1, counter.done + 1, every):
                _remove(folder / "out")
                done += 1
                name = f"operation {k} of {counter.done}, {errno.errorcode[number]}"
                disk = Disk(folder / "out", k, number)
                try:
                    with disk.between(), warnings.catch_warnings(record=True) as told:
                        warnings.simplefilter("always")
                        run()
                    found = contents(folder / "out")
                    if any("cannot be removed" in str(each.message) for each in told):
                        found.pop(lock.NAME)
                    if found != expected:
                        wrong.append(f"{name}: no error, and other files")
                except MemetikError as error:
                    if os.strerror(number) not in str(error):
                        wrong.append(f"{name}: the message does not say why: {error}")
                except BaseException as error:
                    wrong.append(f"{name}: {type(error).__name__}: {error}")
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    try:
                        run()
                    except BaseException as error:
                        wrong.append(f"{name}: the next run: {type(error).__name__}: {error}")
                if contents(folder / "out") != expected:
                    wrong.append(f"{name}: other files after the next run: {sorted(contents(folder / 'out'))}")
        return done, wrong


def _remove(folder: Path) -> None:
    for path in sorted(folder.rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() else path.unlink()
    folder.rmdir()


def main() -> None:
    wanted, failed = sys.argv[1:] or ["signals", "writes"], False
    works: dict[str, Callable[[], tuple[int, list[str]]]] = {}
    if "signals" in wanted:
        works |= {name: lambda name=name: signals(name) for name in calls()}  # type: ignore[misc]
    if "writes" in wanted:
        works["writes"] = writes
    for name, work in works.items():
        begin = time.perf_counter()
        done, wrong = work()
        failed |= bool(wrong)
        print(f"{name:16} {done} faults, {len(wrong)} wrong, {time.perf_counter() - begin:.0f} s", flush=True)
        for each in wrong[:10]:
            print("    ", each, flush=True)
    sys.exit(failed)


if __name__ == "__main__":
    main()
