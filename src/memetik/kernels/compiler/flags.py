"""Flags of a compilation that are compared quickly.

Numba looks up the implementation of every operation by the types of its operands and by the flags of the compilation, which it
compares field by field, all thirty of them: a tenth of the time that kernels take to compile. Few of the fields are ever set.
"""

from typing import Any

from numba.core.compiler import Flags


class KernelFlags(Flags):
    """As Numba's, equal if they say the same, and with the same hash."""

    def __eq__(self, other: Any) -> Any:
        if not isinstance(other, Flags):
            return NotImplemented
        mine, others = self._values, other._values
        if mine == others:
            return True
        return all(getattr(self, name) == getattr(other, name) for name in mine.keys() | others.keys())

    def __hash__(self) -> int:
        return _HASH


_HASH = hash(Flags())  # of the names of the fields alone
