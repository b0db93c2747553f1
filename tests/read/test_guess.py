"""Units that are told by the size of a figure."""

import pytest

from memetik.read.guess import guess_unit


@pytest.mark.quick
@pytest.mark.parametrize(
    ("size", "unit"), [(1.7, 1.0), (7.0, None), (38.0, 0.01), (170.0, 0.01), (1700.0, 0.001), (1e-3, None)]
)
def test_units_are_told_by_the_size_of_a_figure(size, unit):
    """A figure of 38 units is a puppet in centimetres rather than a giant in metres."""
    assert guess_unit(["hips", "head"], size) == unit
