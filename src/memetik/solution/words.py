"""Numbers and lists as people say them."""

from __future__ import annotations

import math
from collections.abc import Sequence


def amount(value: float, unit: str) -> str:
    """A length in m or mm, an angle in degrees, anything else in its own unit; three digits."""
    if not math.isfinite(value):
        return "an amount that is not finite"
    if unit == "m":
        return f"{digits(value)} m" if value >= 1.0 or value < 1e-7 else f"{digits(1e3 * value)} mm"
    if unit == "rad":
        return f"{digits(math.degrees(value))} degrees"
    return f"{digits(value)} {unit}".rstrip()


def digits(value: float) -> str:
    """Three significant digits, without an exponent where that is short."""
    if 100.0 <= value < 1e6:
        return f"{value:.0f}"
    return f"{value:.3g}"


def duration(seconds: float) -> str:
    """In us, ms or s, whichever leaves few digits."""
    if seconds < 1e-3:
        return f"{digits(1e6 * seconds)} us"
    return f"{digits(1e3 * seconds)} ms" if seconds < 1.0 else f"{digits(seconds)} s"


def count(number: int, what: str) -> str:
    """'1 attempt', '2 attempts'."""
    return f"{number} {what}{'' if number == 1 else 's'}"


def listed(names: Sequence[str]) -> str:
    """'a', 'a and b', 'a, b and c'."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
