"""Seeds: what a kernel takes for one, checked before it gets there."""

from __future__ import annotations

import operator
from typing import SupportsIndex

from memetik.errors import ProblemError, shown

LARGEST_SEED = 2**63 - 1  # kernels take 64 bits, one of them for the sign


def checked_seed(seed: SupportsIndex, who: str = "") -> int:
    """The seed as an int, if it is a whole number from 0 to 2**63 - 1; `who` asks, for the message."""
    if seed.__class__ is int and 0 <= seed <= LARGEST_SEED:
        return seed
    try:
        number = operator.index(seed)
    except TypeError:
        number = -1
    if isinstance(seed, bool) or not 0 <= number <= LARGEST_SEED:
        where = who and f"{who}: "
        raise ProblemError(
            f"{where}seed is {shown(seed)}; write a whole number from 0 to 2**63 - 1, for example seed=1."
        )
    return number
