"""Calls by address, with the compiler and without."""

import os
import subprocess
import sys
from typing import NamedTuple

import numpy as np
import pytest
from numba.core import types

from memetik.kernels.compiler.function_pointers import address, caller, lasting_address
from memetik.kernels.compiler.jit import jit
from memetik.kernels.problem.function_pointers import ATTEMPT
from memetik.kernels.runtime.record import Array, floats, numba_type
from memetik.kernels.search.descent import attempt
from memetik.kernels.terms.aim import aim_residual
from memetik.kernels.terms.function_pointers import JACOBIAN, RESIDUAL, call_residual
from memetik.kernels.terms.pose import position_jacobian, position_residual
from memetik.objectives import Direction, Position
from memetik.problem import Problem
from memetik.solvers.memetic_plan import memetic_plan
from tests.conftest import COMPILED
from tests.kernels.flat import Flat
from tests.naive.bodies import serial_arm

pytestmark = pytest.mark.quick

SOLVE = """
import numpy as np
from memetik.build import planar_chain
from memetik.kernels.compiler.jit import COMPILED
from memetik.objectives import Displacement, Orientation, Position
from memetik.problem import Problem
from memetik.solvers import Budget
from memetik.solvers import Memetic

body = planar_chain(3)
tip = list(body.links)[-1]
T = body.forward([0.3, 0.5, -0.4])[tip]
problem = Problem(body, [Position(tip, T[:3, 3]), Orientation(tip, T[:3, :3]), Displacement()])
solution = Memetic(seed=3).solve(problem, [0.1, 0.2, 0.3], Budget(evaluations=300))
print(COMPILED, solution.status.name, solution.evaluations, *solution.q)
"""


@jit
def shift_by_one(term, data, world, x, out):
    out[term.row] = x[0] + 1.0


@jit
def shift_by_two(term, data, world, x, out):
    out[term.row] = x[0] + 2.0


@jit
def answers(term, data, world, x, out):
    return x[0]


@jit
def by_address(place, term, data, world, x, out):
    call_residual(place, term, data, world, x, out)


@pytest.fixture
def flat():
    arm = serial_arm(2)
    return Flat(Problem(arm, [Direction("link1", (1, 0, 0)), Position("link2", (1, 0, 0))]))


def test_a_kernel_has_one_address():
    assert address(shift_by_one, RESIDUAL) == address(shift_by_one, RESIDUAL)
    assert address(shift_by_one, RESIDUAL) != address(shift_by_two, RESIDUAL)
    assert len({address(k, RESIDUAL) for k in (shift_by_one, shift_by_two, position_residual, aim_residual)}) == 4


def test_the_kernel_behind_the_address_is_called(flat):
    x, out = np.array([0.5, 9.0]), np.zeros(6)
    for kernel, expected in ((shift_by_one, 1.5), (shift_by_two, 2.5)):
        by_address(address(kernel, RESIDUAL), flat.terms[1], flat.data, flat.work.world, x, out)
        assert out.tolist() == [0.0, 0.0, 0.0, expected, 0.0, 0.0]


def test_terms_carry_the_addresses_of_their_kernels(flat):
    assert flat.terms["residual"].tolist() == [address(aim_residual, RESIDUAL), address(position_residual, RESIDUAL)]
    assert flat.terms["jacobian"][1] == address(position_jacobian, JACOBIAN)


def test_a_wrong_result_is_refused():
    """A kernel that returns something else than its callers expect would corrupt their memory."""
    if COMPILED:
        with pytest.raises(TypeError, match="answers returns float64"):
            address(answers, RESIDUAL)
    else:
        assert address(answers, RESIDUAL) >= 0


def test_the_attempt_of_a_problem_is_an_address(flat):
    assert memetic_plan(flat.compiled).attempt == address(attempt, ATTEMPT)


def test_plain_python_finds_the_same_solution():
    """The whole way once compiled and once without the compiler: the same path, to rounding."""
    told = {}
    for disabled in ("0", "1"):
        env = {**os.environ, "NUMBA_DISABLE_JIT": disabled}
        done = subprocess.run([sys.executable, "-c", SOLVE], env=env, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        told[disabled] = done.stdout.split()
    (compiled, status, evaluations, *q), (plain, *same) = told["0"], told["1"]
    assert (compiled, plain) == ("True", "False")
    assert [status, evaluations] == same[:2] and status == "REACHED"
    assert np.array(q, dtype=float) == pytest.approx(np.array(same[2:], dtype=float), abs=1e-9)


def test_addresses_of_kernels_that_stay_are_remembered():
    first = lasting_address(attempt, ATTEMPT)
    assert first == address(attempt, ATTEMPT) == lasting_address(attempt, ATTEMPT)


@jit
def sum_of(pair, more):
    return pair.a[0] + pair.b + more


class Pair(NamedTuple):
    b: float
    a: Array = floats("n")


SUM = types.float64(numba_type(Pair), types.float64)
call_sum = caller(SUM)


@jit
def sum_by_address(place, pair):
    return call_sum(place, pair, 1)  # a whole number becomes what the signature says


def test_records_and_results_go_through_a_call():
    assert sum_by_address(address(sum_of, SUM), Pair(0.5, np.array([3.0]))) == 4.5
