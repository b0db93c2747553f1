"""Arrays that nobody may write into: a body never changes, so neither may the numbers it hands out."""

from __future__ import annotations

from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

T = TypeVar("T", bound=np.generic)


def frozen(array: NDArray[T]) -> NDArray[T]:
    """The same array, closed to writing."""
    array.setflags(write=False)
    return array
