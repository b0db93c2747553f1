"""Text tables: what is to the left, what to the right, and what stands for nothing."""

import pytest

from memetik.tables import aligned, terminal_width, text_table

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


def test_words_are_folded_where_the_terminal_is_narrow():
    rows = [("name", "n", "what it is"), ("ur5", "6", "an arm with six revolute joints"), ("nao", "26", "a humanoid")]
    assert aligned(rows, right=[1], ruled=False, width=30) == [
        "name   n  what it is",
        "ur5    6  an arm with six",
        "          revolute joints",
        "nao   26  a humanoid",
    ]
    assert aligned(rows, right=[1], width=200) == aligned(rows, right=[1])


def test_numbers_go_on_below():
    rows = [["joint", *(str(k) for k in range(6))], ["elbow", *(f"{k}.25" for k in range(6))]]
    lines = aligned(rows, right=range(1, 7), ruled=False, width=24)
    assert lines == [
        "joint     0     1     2",
        "elbow  0.25  1.25  2.25",
        "",
        "joint     3     4     5",
        "elbow  3.25  4.25  5.25",
    ]


@pytest.mark.parametrize("width", [1, 10, 25, 40, 80])
def test_no_cell_is_lost(width):
    rows = [["aa", "bbb", "c"], ["1", "two words and more of them", "3"], ["4", "5", "many words in the last column"]]
    words = "\n".join(aligned(rows, ruled=False, width=width)).split()
    assert {word for row in rows for cell in row for word in cell.split()} <= set(words)


def test_the_width_is_that_of_a_terminal_or_none(monkeypatch):
    monkeypatch.setenv("COLUMNS", "63")
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    assert terminal_width() == 63
    monkeypatch.setattr("sys.stdout.isatty", lambda: False, raising=False)
    assert terminal_width() is None
