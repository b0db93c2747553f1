"""SVG text: short numbers, safe attributes, one definition for equal things."""

import pytest

from memetik.write.svg import Definitions, document, element, number, points, text


@pytest.mark.parametrize(
    ("value", "written"),
    [(1.0, "1"), (0.5, "0.5"), (-0.001, "0"), (12.345, "12.35"), (-3.10, "-3.1"), (100, "100"), (0.0, "0")],
)
def test_numbers_are_short(value, written):
    assert number(value) == written


def test_elements_and_their_attributes():
    assert element("circle", cx=1.0, stroke_width=0.5, fill="#fff") == '<circle cx="1" stroke-width="0.5" fill="#fff"/>'
    assert element("g", "<a/>") == "<g><a/></g>"
    assert "&lt;b&gt; &amp;" in text("<b> &", x=1) and "&lt;" in element("g", "x", title="<")
    assert points([(1, 2.5), (3, 4)]) == "1,2.5 3,4"


def test_equal_definitions_are_kept_once_and_named_by_their_content():
    first, second = Definitions(), Definitions()
    red = first.gradient("linearGradient", [(0.0, "#f00", 1.0)], x1=0)
    assert first.gradient("linearGradient", [(0.0, "#f00", 1.0)], x1=0) == red
    assert first.gradient("linearGradient", [(0.0, "#f00", 0.5)], x1=0) != red
    assert second.gradient("linearGradient", [(0.0, "#f00", 1.0)], x1=0) == red  # in another picture as well
    assert str(first).count("<linearGradient") == 2 and str(Definitions()) == ""


def test_a_document_says_what_it_shows():
    assert "<title>a &lt; b</title>" in document((10, 20), "a < b", Definitions(), ["<g/>"])
