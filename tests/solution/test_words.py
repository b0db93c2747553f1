"""Numbers and lists as people say them."""

import math

import pytest

from memetik.solution.words import amount, count, duration, listed

pytestmark = pytest.mark.quick


@pytest.mark.parametrize(
    ("value", "unit", "said"),
    [
        (1.4167, "m", "1.42 m"),
        (0.0342, "m", "34.2 mm"),
        (0.6467, "m", "647 mm"),
        (1e-4, "m", "0.1 mm"),
        (0.0, "m", "0 m"),
        (123.4, "m", "123 m"),
        (math.pi / 2, "rad", "90 degrees"),
        (0.25, "", "0.25"),
        (0.25, "kg", "0.25 kg"),
        (math.nan, "m", "an amount that is not finite"),
    ],
)
def test_amounts(value, unit, said):
    assert amount(value, unit) == said


@pytest.mark.parametrize(("seconds", "said"), [(12.3e-6, "12.3 us"), (0.0456, "45.6 ms"), (24.71, "24.7 s")])
def test_durations(seconds, said):
    assert duration(seconds) == said


def test_counts_and_lists():
    assert (count(1, "attempt"), count(2, "attempt")) == ("1 attempt", "2 attempts")
    assert [listed(list(names)) for names in ("a", "ab", "abc")] == ["a", "a and b", "a, b and c"]
