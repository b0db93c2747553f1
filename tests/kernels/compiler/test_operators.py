"""Operators are typed once in kernels: as Numba types them, and only there."""

import operator

import pytest
from numba.core import types
from numba.core.registry import cpu_target
from numba.core.types.functions import BaseFunction

from memetik.kernels.compiler import operators
from memetik.kernels.compiler.operators import known_operators
from tests.conftest import COMPILED

pytestmark = pytest.mark.only_if(COMPILED, "compiled kernels")

VECTOR = types.float64[::1]
CASES = [
    (operator.add, (types.int64, types.float64)),
    (operator.mul, (types.int32, types.int64)),
    (operator.lt, (types.float64, types.literal(2))),
    (operator.pow, (types.float64, types.literal(2))),
    (operator.neg, (types.boolean,)),
    (operator.getitem, (VECTOR, types.int64)),
]


@pytest.fixture
def asked(monkeypatch):
    """How often Numba is asked, with nothing known yet."""
    times = []
    ask = operators._ask
    monkeypatch.setattr(operators, "_known", {})
    monkeypatch.setattr(operators, "_ask", lambda *task: times.append(task) or ask(*task))
    return times


def sign(function, kinds):
    context = cpu_target.typing_context
    context.refresh()
    return context.resolve_function_type(function, kinds, {})


@pytest.mark.parametrize(("function", "kinds"), CASES, ids=lambda case: getattr(case, "__name__", None))
def test_what_is_known_is_what_numba_says(asked, function, kinds):
    expected = sign(function, kinds)
    assert not asked
    with known_operators():
        assert sign(function, kinds) == expected
        assert len(asked) == 1
        assert sign(function, kinds) == expected
        assert len(asked) == 1


def test_others_are_typed_by_numba(asked):
    pair = types.UniTuple(types.float64, 2)
    with known_operators():
        assert sign(operator.add, (pair, pair)) == sign(operator.add, (pair, pair))
    assert len(asked) == 2


def test_numba_is_left_as_it_was():
    before = BaseFunction.get_call_type
    with pytest.raises(ZeroDivisionError), known_operators():
        assert BaseFunction.get_call_type is not before
        raise ZeroDivisionError
    assert BaseFunction.get_call_type is before
