"""Text tables: what is to the left, what to the right, and what stands for nothing."""

import pytest

from memetik.tables import aligned, text_table

pytestmark = pytest.mark.quick


def test_columns_are_as_wide_as_their_widest_cell():
    rows = [("joint", "value", ""), ("a", "1.5", "at limit"), ("elbow", "-10.25", "")]
    assert aligned(rows, right=[1]) == [
        "joint   value",
        "-----  ------  --------",
        "a         1.5  at limit",
        "elbow  -10.25",
    ]
    assert aligned(rows[:1], ruled=False) == ["joint  value"]


def test_numbers_stand_to_the_right_with_four_digits():
    rows = [{"name": "first", "count": 10, "share": 1 / 3}, {"name": "b", "count": 2, "share": None}]
    assert text_table(rows).splitlines() == [
        "name   count   share",
        "first     10  0.3333",
        "b          2       -",
    ]
    assert text_table([]) == "(no rows)"
