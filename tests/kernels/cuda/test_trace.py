"""Kernels run with symbols give the same numbers as with numbers."""

import math

import numpy as np
import pytest

from memetik.kernels.compiler.jit import jit
from memetik.kernels.cuda.trace import Numbers, Symbol, Trace, UntraceableError, c_code, plain, text_of
from memetik.kernels.math.linear import factorise, substitute
from memetik.kernels.math.pose import compose
from memetik.kernels.math.rotation import rotation_vector
from memetik.kernels.math.sincos import sincos_lanes
from memetik.kernels.terms.aim import bend

pytestmark = pytest.mark.quick


def run(trace, result, **numbers):
    """What was traced, line by line, in Python."""
    known = {**numbers, "INFINITE": math.inf}
    functions = {
        "neg": lambda a: -a, "select": lambda q, a, b: a if q else b, "sqrt": math.sqrt, "atan2": math.atan2,
        "fabs": abs, "fmin": min, "fmax": max, "sin": math.sin, "isfinite": math.isfinite,
        "bit": lambda a, k: int(a) >> int(k) & 1,
    }  # fmt: skip
    for name, operation, operands in trace.lines:
        values = [eval(text, {}, known) for text in operands]
        if operation == "cos_of":
            sine = next(line for line in trace.lines if line[0] == operands[0])
            known[name] = math.cos(eval(sine[2][0], {}, known))
        elif operation == "/":
            known[name] = values[0] / values[1] if values[1] else math.nan
        elif operation in functions:
            known[name] = functions[operation](*values)
        else:
            known[name] = eval(f"a {operation} b", {}, {"a": values[0], "b": values[1]})
    return [eval(text_of(value), {}, known) for value in result]


def symbols(trace, letter, count):
    return tuple(trace.symbol(f"{letter}{k}") for k in range(count))


def named(letter, values):
    return {f"{letter}{k}": float(value) for k, value in enumerate(values)}


def test_sums_and_products_are_those_of_the_kernel(rng):
    trace = Trace()
    made = trace(compose)(symbols(trace, "a", 7), symbols(trace, "b", 7))
    a, b = rng.normal(size=7), rng.normal(size=7)
    expected = plain(compose)(tuple(a), tuple(b))
    np.testing.assert_allclose(run(trace, made, **named("a", a), **named("b", b)), expected, atol=1e-13)


def test_choices_and_bits_are_traced_without_running_both_ways(rng):
    trace = Trace()
    made = trace(sincos_lanes)(trace.symbol("a"))
    assert {"select", "bit"} <= {operation for _, operation, _ in trace.lines}
    for angle in rng.uniform(-10.0, 10.0, 20):
        expected = math.sin(angle), math.cos(angle)
        np.testing.assert_allclose(run(trace, made, a=float(angle)), expected, atol=1e-14)


def test_what_is_multiplied_by_zero_is_left_out():
    trace, plain = Trace(), (1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    a = symbols(trace, "a", 7)
    assert trace(compose)(a, plain) == a and trace.lines == []


def test_the_same_sum_is_taken_once():
    trace = Trace()
    a, b = trace.symbol("a"), trace.symbol("b")
    assert (a + b) is (a + b)
    assert c_code(trace) == "  const double v0 = a + b;"


@pytest.mark.parametrize("seed", range(20))
def test_questions_are_answered_when_the_code_runs(seed):
    rng = np.random.default_rng(seed)
    t, r = rng.normal(size=7), rng.normal(size=7)
    t[:4] /= np.linalg.norm(t[:4])
    r[:4] = t[:4] * rng.choice((-1.0, 1.0)) if seed % 4 == 0 else r[:4] / np.linalg.norm(r[:4])
    trace = Trace()
    made = trace(rotation_vector)(symbols(trace, "t", 7), symbols(trace, "r", 7))
    expected = plain(rotation_vector)(tuple(t), tuple(r))
    np.testing.assert_allclose(run(trace, made, **named("t", t), **named("r", r)), expected, atol=1e-15)


@pytest.mark.parametrize("wanted", [(0, 0, 1), (0, 0, -1), (1, 0, 0), (0.6, 0.0, 0.8), (0, 1e-5, 1)])
@pytest.mark.parametrize("free", [0.0, 0.3])
def test_every_path_through_a_kernel_is_there(wanted, free):
    trace = Trace()
    made = trace(bend)(*symbols(trace, "a", 3), *symbols(trace, "d", 3), free)
    expected = plain(bend)(0.0, 0.0, 1.0, *map(float, wanted), free)
    assert run(trace, made, **named("a", (0, 0, 1)), **named("d", wanted)) == pytest.approx(expected, abs=1e-12)


def test_a_sparse_system_stays_sparse(rng):
    """Two blocks that have nothing in common: half as many products as with all entries."""
    full, sparse = Trace(), Trace()
    for trace, apart in ((full, False), (sparse, True)):
        names = [
            [0.0 if apart and (i < 3) != (j < 3) else trace.symbol(f"a{6 * i + j}") for j in range(6)] for i in range(6)
        ]
        system, right = Numbers(trace, names), Numbers(trace, symbols(trace, "b", 6))
        trace(factorise)(system, 6)
        trace(substitute)(system, 6, right)
    assert len(sparse.lines) < 0.5 * len(full.lines)
    a = rng.normal(size=(6, 6))
    a = a @ a.T + np.eye(6)
    a[:3, 3:] = a[3:, :3] = 0.0
    b = rng.normal(size=6)
    found = run(sparse, right.values, **named("a", a.ravel()), **named("b", b))
    np.testing.assert_allclose(found, np.linalg.solve(a, b))


@jit
def stores_by_sign(x, out):
    if x > 0.0:
        out[0] = x


@jit
def asks_often(x):
    for k in range(100):
        if x > float(k):
            return k
    return 100


def test_what_cannot_be_traced_is_refused():
    trace = Trace()
    x = trace.symbol("x")
    with pytest.raises(UntraceableError, match="stores_by_sign writes"):
        trace(stores_by_sign)(x, Numbers(trace, [0.0]))
    with pytest.raises(UntraceableError, match="asks_often asks too many"):
        trace(asks_often)(x)
    with pytest.raises(UntraceableError, match="outside"):
        bool(x > 0.0)


def test_numbers_that_c_has_no_digits_for():
    assert text_of(-math.inf) == "-INFINITE" and text_of(math.nan) == "NOT_A_NUMBER" and text_of(-0.1) == "(-0.1)"
    assert isinstance(np.float64(2.0) * Trace().symbol("x"), Symbol)
