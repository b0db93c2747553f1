"""Do without the compiler where somebody waits: what is not on disk yet is an error, and can be compiled elsewhere."""

import contextlib
import threading
from collections.abc import Iterator
from typing import Any


class NotCompiledError(Exception):
    """A kernel would have to be compiled."""


class _Thread(threading.local):
    only_loads = False


_thread = _Thread()


@contextlib.contextmanager
def only_load() -> Iterator[None]:
    """In this thread and this block, kernels come from disk, or NotCompiledError is raised."""
    before, _thread.only_loads = _thread.only_loads, True
    try:
        yield
    finally:
        _thread.only_loads = before


def require_on_disk(kernel: Any, arguments: tuple[Any, ...]) -> None:
    """To call before a kernel is compiled or loaded."""
    if not _thread.only_loads or arguments in kernel.overloads:
        return
    holds = getattr(kernel._cache, "holds", None)
    if holds is None or not holds(arguments, kernel.targetctx):
        raise NotCompiledError(f"{kernel.py_func.__name__} is not compiled yet")
