"""What a device hands back: plain arrays, one row for each problem."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from memetik.types import Array

Tell = Callable[[int], None]  # is told how many rows are done


class Answers(NamedTuple):
    """The rows as they came out, whoever solved them."""

    q: Array  # (count, dof)
    status: NDArray[np.int8]  # as in Status
    numbers: (
        Array  # (count, k) what the search reports (kernels/problem/budget.py), the terms' errors, whether satisfied
    )
    seconds: Array  # (count,) what each row took
    device: str  # who solved them, in words
    method: str = "memetic"
