"""Compilation in a thread of its own, while the main thread waits and can be interrupted.

Python runs signal handlers in its main thread, between any two of its instructions. What a handler raises must not leave Numba
or llvmlite: their registries would stay half filled, or a lock taken forever. And LLVM works for seconds without asking Python.
So the main thread has another thread compile, and any signal may end its waiting. A compilation that nobody waits for any longer
ends with the pass of Numba's compiler that it is in; the next one waits for that, since both need Numba's lock.
"""

import threading
from collections.abc import Callable
from typing import Any

from numba.core import event
from numba.core.compiler_lock import global_compiler_lock

from memetik.kernels.compiler.compile_time import compile_times


class AbandonedError(BaseException):
    """Nobody waits for this compilation any longer."""


class _Work:
    """A call in another thread, and what became of it."""

    def __init__(self, function: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
        self.function, self.arguments = function, arguments
        self.ended = threading.Lock()
        self.ended.acquire()
        self.abandoned = False
        self.result: Any = None
        self.error: BaseException | None = None

    def run(self) -> None:
        _here.work = self
        try:
            self.result = self.function(*self.arguments)
        except BaseException as error:
            self.error = error
        finally:
            self.ended.release()


class _Thread(threading.local):
    work: _Work | None = None


class _Abandon(event.Listener):
    """Numba tells when a pass of its compiler ends; a compilation may end there as it does with an error."""

    def on_start(self, happening: Any) -> None:
        pass

    def on_end(self, happening: Any) -> None:
        raise_if_abandoned()


_here = _Thread()
event.register("numba:run_pass", _Abandon())


def interruptible(function: Callable[..., Any], *arguments: Any) -> Any:
    """Return what a function that compiles returns. In the main thread, what a signal handler raises is raised at once."""
    if threading.current_thread() is not threading.main_thread() or global_compiler_lock.is_locked():
        return function(*arguments)
    work = _Work(function, arguments)
    with compile_times.waiting():
        try:
            _start(threading.Thread(target=work.run, name="memetik compiler"))
            work.ended.acquire()
        except BaseException:
            work.abandoned = True
            raise
    if work.error is None:
        return work.result
    try:
        raise work.error
    finally:
        work.error = None  # which knows this frame


def _start(thread: threading.Thread) -> None:
    """Start a thread. Python may answer an exception of a signal handler meanwhile with one about its own lock."""
    try:
        thread.start()
    except RuntimeError as error:
        if error.__context__ is None:  # there cannot be another thread
            raise
        raise error.__context__ from None


def attempt(function: Callable[..., Any], *arguments: Any) -> tuple[Any, Exception | None]:
    """Return what a function that compiles returns, and the error that it raised. What a signal handler raises is raised."""
    return interruptible(_attempt, function, arguments)  # type: ignore[no-any-return]


def _attempt(function: Callable[..., Any], arguments: tuple[Any, ...]) -> tuple[Any, Exception | None]:
    try:
        return function(*arguments), None
    except Exception as error:  # whatever the passes of the compiler ran into
        return None, error


def raise_if_abandoned() -> None:
    """End a compilation that nobody waits for any longer."""
    if _here.work is not None and _here.work.abandoned:
        raise AbandonedError
