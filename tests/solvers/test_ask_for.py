"""What methods ask for before their first solve is what they need: each kernel, for the types that it is called with."""

import pytest

import memetik as mk
from memetik.kernels.compiler import second_compiler
from memetik.kernels.problem.solve import SOLVE_BY, solve_by
from memetik.solvers import method
from memetik.warm import guided
from tests.conftest import COMPILED

pytestmark = pytest.mark.only_if(COMPILED, "compiled kernels")


@pytest.mark.parametrize(("name", "fewest"), [("memetic", 6), ("bioik", 11), ("dls", 7), ("lbfgsb", 6), ("hgsa", 7)])
def test_a_method_needs_what_it_asks_for(name, fewest, monkeypatch):
    asked = []
    for module in ("memetik.problem.compile", "memetik.solvers.memetic_plan", "memetik.solvers.method"):
        monkeypatch.setattr(f"{module}.compile_ahead", lambda roots, parts=(), later=(): asked.extend(roots))
    method.ask_for.cache_clear()
    try:
        mk.solve(guided()[0], method=name, budget=mk.Budget(evaluations=50))
    finally:
        method.ask_for.cache_clear()
    assert len(set(asked)) >= fewest
    for kernel, signature in asked:
        assert signature.args in kernel.overloads, kernel.py_func.__name__
        assert second_compiler._is_missing(kernel, signature.args) is False


def test_python_calls_solve_by_as_declared():
    mk.solve(guided()[0], method="dls", budget=mk.Budget(evaluations=50))
    assert list(solve_by.overloads) == [SOLVE_BY.args]
