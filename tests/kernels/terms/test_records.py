"""Every kind of term says all about itself, once."""

import numpy as np
import pytest

import memetik.objectives  # noqa: F401 - declares the kinds
from memetik.kernels.terms.records import FROM_KIND, KINDS, NO_GOAL, TERM, UNITS, TermKind, declare, kind_of
from memetik.problem import Problem
from tests.naive.bodies import dressed
from tests.objectives.test_jacobians import EXAMPLES, NAMES, every_kind

pytestmark = pytest.mark.quick


def residual(term, data, world, x, out):
    pass


def test_kinds_keep_their_numbers():
    """Files of jobs and of learned weights hold them."""
    assert {kind.name: number for number, kind in KINDS.items()}.items() >= {
        "position": 0, "orientation": 1, "aim": 2, "springs": 3, "distance": 4, "range": 5, "plane": 6, "projection": 12,
        "projection turn": 13, "balance": 14, "custom": 15,
    }.items()  # fmt: skip


def test_a_kind_without_a_unit_is_no_kind():
    with pytest.raises(TypeError, match="unit"):
        TermKind(99, "new", rows=1, residual=residual, jacobian=residual)


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"number": 0}, "taken"),
        ({"name": "aim"}, "taken"),
        ({"name": ""}, "name"),
        ({"unit": "mm"}, "unit"),
        ({"jacobian": None}, "Jacobian"),
        ({"rows": 0}, "rows"),
    ],
)
def test_what_is_missing_or_taken_is_said(change, complaint):
    kind = TermKind(99, "new", "m", 1, residual, residual)._replace(**change)
    before = dict(KINDS)
    with pytest.raises(ValueError, match=complaint):
        declare(kind)
    assert before == KINDS


@pytest.mark.parametrize("name", sorted(EXAMPLES))
def test_terms_are_filled_from_their_kind(name, rng):
    body, tip, other = every_kind(rng)
    body = dressed(body, rng)
    for example in EXAMPLES[name]:
        problem = Problem(body, example(NAMES, body, tip, other, rng))
        for term in problem.compiled.terms:
            kind = kind_of(term)
            assert (term["goal"], term["loss"], term["paired"]) == (kind.goal, kind.loss, kind.paired)
            assert term["rows"] == kind.rows if kind.rows is not None else term["rows"] > 0
            assert kind.unit in UNITS and (kind.goal == NO_GOAL or term["frame"] >= 0)
        paired = problem.compiled.terms["paired"]
        assert not paired[-1] and (paired.size == 1 or kind_of(problem.compiled.terms[0]).part)


def test_the_layout_suits_graphics_cards():
    """Every field stands at a multiple of its size."""
    for name in TERM.names:
        kind, offset = TERM.fields[name][:2]
        assert offset % kind.itemsize == 0
    assert set(FROM_KIND) < set(TERM.names) and np.zeros(2, dtype=TERM).strides[0] % 8 == 0
