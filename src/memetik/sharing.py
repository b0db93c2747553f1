"""What threads share, and processes that are forked while threads are at work."""

from __future__ import annotations

import functools
import os
import threading
from typing import TYPE_CHECKING, Any, TypeVar

from llvmlite.binding import ffi  # type: ignore[import-untyped]
from numba.core.compiler_lock import global_compiler_lock

T = TypeVar("T")

# Guards what objectives, problems and worlds know of each other. It is held for microseconds, never while anything is compiled.
# There is one for all, so that no two can be taken in different orders.
LOCK = threading.RLock()

# A forked process has no other thread that could release a lock or complete a change, so a fork waits for these, in the order in
# which threads take them: this one, that of Numba's compiler and that of LLVM.
_LOCKS: tuple[Any, ...] = (LOCK, global_compiler_lock, ffi.lib._lock)


def _hold() -> None:
    for lock in _LOCKS:
        lock.__enter__()


def _release() -> None:
    for lock in reversed(_LOCKS):
        lock.__exit__(None, None, None)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_hold, after_in_parent=_release, after_in_child=_release)


class cached_property(functools.cached_property[T]):  # noqa: N801 - named as what it replaces
    """As functools.cached_property is since Python 3.12: threads that ask at the same time may each compute the value.

    Before, one lock for all objects of a class was held meanwhile, and a process that was forked then waited for it forever.
    """

    if not TYPE_CHECKING:  # its types are those of functools

        def __get__(self, instance: Any, owner: type | None = None) -> Any:
            if instance is None:
                return self
            known = instance.__dict__
            if self.attrname not in known:
                known[self.attrname] = self.func(instance)
            return known[self.attrname]
