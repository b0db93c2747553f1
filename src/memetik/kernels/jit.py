"""The one way kernels are compiled: Numba with a disk cache, and without it where no cache can be written."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numba

F = TypeVar("F", bound=Callable[..., Any])


def jit(function: F) -> F:
    """Compile `function` at its first call and keep the machine code on disk for the next process.

    Numba raises at decoration when neither the package folder nor the user's cache folder can be written
    (a read-only container, say). The kernel then still works, it is only compiled anew in each process.
    """
    try:
        return numba.njit(cache=True, error_model="numpy")(function)  # type: ignore[no-any-return]
    except RuntimeError:
        return numba.njit(error_model="numpy")(function)  # type: ignore[no-any-return]
