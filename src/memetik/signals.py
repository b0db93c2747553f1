"""Signals while a kernel calls a function that runs as plain Python, and while Numba compiles.

Python runs signal handlers between two of its instructions, wherever they are. What a handler raises must not leave the function
that a kernel has called, where it would be lost, nor code that is about to tell LLVM who owns what, where the process would crash
later. So during both all handlers are called by another one, which sees by the frame where Python is: in a place that may raise,
it calls the handler at once, elsewhere it keeps the signal for the next such place. None is lost, and a handler that raises
nothing changes nothing. LLVM itself cannot be interrupted, so while it compiles a large kernel an answer takes as long as that.
"""

from __future__ import annotations

import _thread
import signal
import sys
import threading
import time
from collections.abc import Callable
from types import CodeType, FrameType
from typing import Any

from numba.core import event

Handler = Callable[[int, FrameType | None], Any]

AGAIN = 0.02  # s until a place that may raise is looked for again
_AGAIN = getattr(signal, "SIGURG", None)
_NUMBERS = sorted(signal.valid_signals())
_handlers: dict[int, Handler] = {}  # that were there before
_kept: list[int] = []  # signals that wait for their handler
_raised: list[BaseException] = []  # by handlers, inside functions that kernels called
_entries: set[CodeType] = set()  # the functions that kernels call
_holders: set[str] = set()  # why handlers are replaced
_RUN, _COMPILER = "run", "compiler"

# Modules that an exception of a handler must not leave, with all that they call, and others where only their own code must not.
_NEVER = (
    "llvmlite.binding.",
    "numba.core.codegen",
    "numba.core.caching",
    "numba.core.runtime.",
    "memetik.kernels.compiler.cache",
)
_NOT_ITSELF = (
    "memetik.kernels.compiler.part", "memetik.kernels.compiler.jit", "memetik.objectives.engine", "memetik.signals",
    "numba.core.event", "numba.core.compiler_lock",
)  # fmt: skip
# Python ignores what these raise: finalizers, and what weak references call, of Python's own modules and of Numba.
_SWALLOWED, _FINALIZERS = ("weakref", "_weakrefset"), ("__del__", "on_disposal")


class _Place(threading.local):
    """Whether the function that a kernel has called may raise now."""

    def __init__(self) -> None:
        self.may_raise = False


place = _Place()


def entry(function: Callable[..., Any]) -> Callable[..., Any]:
    """Mark a function that kernels call. What it calls may raise while it has set `place.may_raise`; it itself may not."""
    _entries.add(function.__code__)
    return function


def hold(holder: str = _RUN) -> None:
    """A kernel that calls Python begins in this thread. Handlers run in the main thread only."""
    if threading.current_thread() is not threading.main_thread():
        return
    if _entered(sys._getframe()) is None:
        _raised.clear()
    _holders.add(holder)
    if holder == _COMPILER and _AGAIN is not None and signal.getsignal(_AGAIN) is signal.SIG_DFL:
        signal.signal(_AGAIN, _handle_kept)
    for number in _NUMBERS:
        handler = signal.getsignal(number)
        if callable(handler) and handler not in (_handle, _handle_kept):
            _handlers[number] = handler
            signal.signal(number, _handle)


def release(holder: str = _RUN) -> None:
    """It has ended: call the handlers of signals that were kept."""
    if threading.current_thread() is not threading.main_thread():
        return
    if _entered(sys._getframe()) is None:
        _holders.discard(holder)
        if _COMPILER not in _holders and _AGAIN is not None and signal.getsignal(_AGAIN) is _handle_kept:
            signal.signal(_AGAIN, signal.SIG_DFL)
        for number, handler in tuple(_handlers.items()) if not _holders else ():
            if signal.getsignal(number) is _handle:
                signal.signal(number, handler)
    deliver()


def deliver() -> None:
    """Call the handlers of signals that were kept. In the main thread, where they may raise."""
    while _kept and threading.current_thread() is threading.main_thread():
        number = _kept.pop(0)
        _call(number, sys._getframe())


def by_handler(error: BaseException) -> bool:
    """Whether a signal handler raised it."""
    return any(error is each for each in _raised)


def _handle(number: int, frame: FrameType | None) -> None:
    if _may_raise(frame):
        _call(number, frame)
    else:
        _kept.append(number)
        if _COMPILER in _holders:
            _ask_again()


def _ask_again() -> None:
    """Interrupt Python once more in a moment, perhaps where it may raise. If all is over by then, the signal is ignored."""
    thread = threading.main_thread().ident
    if _AGAIN is not None and thread is not None and signal.getsignal(_AGAIN) is _handle_kept:
        _thread.start_new_thread(_interrupt_later, (thread, _AGAIN))


def _interrupt_later(thread: int, number: int) -> None:
    time.sleep(AGAIN)
    signal.pthread_kill(thread, number)


def _handle_kept(number: int, frame: FrameType | None) -> None:
    if _kept and _may_raise(frame):
        deliver()
    elif _kept:
        _ask_again()


def _may_raise(frame: FrameType | None, *, at_pass: bool = False) -> bool:
    """Whether Python is where an exception does no harm, as it is between two passes of the compiler."""
    inside = _entered(frame)
    if inside is not None and (inside is frame or not place.may_raise):
        return False
    if frame is not None and _COMPILER in _holders and not at_pass and _module(frame).startswith(_NOT_ITSELF):
        return False
    while frame is not inside and frame is not None:
        module = _module(frame)
        if module.startswith(_NEVER) or module in _SWALLOWED or frame.f_code.co_name in _FINALIZERS:
            return False
        frame = frame.f_back
    return True


def _module(frame: FrameType) -> str:
    return str(frame.f_globals.get("__name__", ""))


class _Compilation(event.Listener):
    """Numba tells when it takes its lock, to compile or to load machine code, and when a pass of its compiler has ended."""

    depth = 0

    def on_start(self, happening: Any) -> None:
        if happening.kind == "numba:compiler_lock" and threading.current_thread() is threading.main_thread():
            self.depth += 1
            if self.depth == 1:
                hold(_COMPILER)

    def on_end(self, happening: Any) -> None:
        if threading.current_thread() is not threading.main_thread():
            return
        if happening.kind == "numba:compiler_lock":
            self.depth -= 1
            if self.depth <= 0:
                self.depth = 0
                release(_COMPILER)
        elif _kept and _may_raise(sys._getframe(), at_pass=True):
            deliver()


def hold_while_compiling() -> None:
    """From now on, keep signals while Numba compiles in the main thread, until they can do no harm."""
    listener = _Compilation()
    event.register("numba:compiler_lock", listener)
    event.register("numba:run_pass", listener)


def _call(number: int, frame: FrameType | None) -> None:
    try:
        _handlers[number](number, frame)
    except BaseException as error:
        if _entered(frame) is not None:
            _raised.append(error)
            place.may_raise = False  # until what was raised has arrived
        raise


def _entered(frame: FrameType | None) -> FrameType | None:
    """The function around a frame that a kernel called last."""
    while frame is not None and frame.f_code not in _entries:
        frame = frame.f_back
    return frame
