"""Signals while a kernel calls a function that runs as plain Python.

Python runs signal handlers between two of its instructions, wherever they are. What a handler raises must not leave the function
that a kernel has called, where it would be lost. So meanwhile all handlers are called by another one, which sees by the frame
where Python is: in a place that may raise, it calls the handler at once, elsewhere it keeps the signal for the next such place.
None is lost, and a handler that raises nothing changes nothing.
"""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Callable
from types import CodeType, FrameType
from typing import Any

Handler = Callable[[int, FrameType | None], Any]

_NUMBERS = sorted(signal.valid_signals())
_handlers: dict[int, Handler] = {}  # that were there before
_kept: list[int] = []  # signals that wait for their handler
_raised: list[BaseException] = []  # by handlers, inside functions that kernels called
_entries: set[CodeType] = set()  # the functions that kernels call

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


def hold() -> None:
    """A kernel that calls Python begins in this thread. Handlers run in the main thread only."""
    if threading.current_thread() is not threading.main_thread():
        return
    if _entered(sys._getframe()) is None:
        _raised.clear()
    try:
        _replace_handlers()
    except BaseException:  # raised by one of them
        _restore_handlers()
        raise


def release() -> None:
    """It has ended: call the handlers of signals that were kept."""
    if threading.current_thread() is not threading.main_thread():
        return
    if _entered(sys._getframe()) is None:
        _restore_handlers()
    deliver()


def deliver() -> None:
    """Call the handlers of signals that were kept. In the main thread, where they may raise."""
    while _kept and threading.current_thread() is threading.main_thread():
        number = _kept.pop(0)
        _call(number, sys._getframe())


def _replace_handlers() -> None:
    for number in _NUMBERS:
        handler = signal.getsignal(number)
        if callable(handler) and handler is not _handle:
            _handlers[number] = handler
            signal.signal(number, _handle)


def _restore_handlers() -> None:
    for number, handler in tuple(_handlers.items()):
        if signal.getsignal(number) is _handle:
            signal.signal(number, handler)


def by_handler(error: BaseException) -> bool:
    """Whether a signal handler raised it."""
    return any(error is each for each in _raised)


def _handle(number: int, frame: FrameType | None) -> None:
    if _may_raise(frame):
        _call(number, frame)
    else:
        _kept.append(number)


def _may_raise(frame: FrameType | None) -> bool:
    """Whether Python is where an exception does no harm."""
    inside = _entered(frame)
    if inside is not None and (inside is frame or not place.may_raise):
        return False
    while frame is not inside and frame is not None:
        if frame.f_globals.get("__name__") in _SWALLOWED or frame.f_code.co_name in _FINALIZERS:
            return False
        frame = frame.f_back
    return True


def _call(number: int, frame: FrameType | None) -> None:
    outside, held = _entered(frame) is None, signal.getsignal(number) is _handle
    if outside:
        _restore_handlers()  # if it raises, nobody may come to `release`
    try:
        _handlers[number](number, frame)
    except BaseException as error:
        if not outside:
            _raised.append(error)
            place.may_raise = False  # until what was raised has arrived
        raise
    if outside and held:
        _replace_handlers()


def _entered(frame: FrameType | None) -> FrameType | None:
    """The function around a frame that a kernel called last."""
    while frame is not None and frame.f_code not in _entries:
        frame = frame.f_back
    return frame
