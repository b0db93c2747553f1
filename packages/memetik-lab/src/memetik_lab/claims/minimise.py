"""mk.solvers.minimise on the functions people test optimisers with, beside SciPy's differential evolution at equal
evaluations."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numba
import numpy as np

import memetik as mk
from memetik.types import Array
from memetik_lab.harness import Report, Row, UnavailableError, progress

ENOUGH = 1e-6  # above the least value


class Test(NamedTuple):
    """A function whose least value is zero, and its bounds."""

    function: Callable[[Array], float]
    lower: float
    upper: float


@numba.njit
def rosenbrock(x):  # type: ignore[no-untyped-def]
    """A bent valley."""
    total = 0.0
    for k in range(x.size - 1):
        total += 100.0 * (x[k + 1] - x[k] ** 2) ** 2 + (1.0 - x[k]) ** 2
    return total


@numba.njit
def rastrigin(x):  # type: ignore[no-untyped-def]
    """A bowl with a grid of dents."""
    total = 10.0 * x.size
    for k in range(x.size):
        total += x[k] ** 2 - 10.0 * math.cos(2.0 * math.pi * x[k])
    return total


@numba.njit
def ackley(x):  # type: ignore[no-untyped-def]
    """A plain with ripples and one deep hole."""
    squares, waves = 0.0, 0.0
    for k in range(x.size):
        squares += x[k] ** 2
        waves += math.cos(2.0 * math.pi * x[k])
    return -20.0 * math.exp(-0.2 * math.sqrt(squares / x.size)) - math.exp(waves / x.size) + 20.0 + math.e


@numba.njit
def schwefel(x):  # type: ignore[no-untyped-def]
    """Its second best minima are far from the best."""
    total = 418.98288727243379 * x.size
    for k in range(x.size):
        total -= x[k] * math.sin(math.sqrt(abs(x[k])))
    return total


@numba.njit
def griewank(x):  # type: ignore[no-untyped-def]
    """A wide bowl with ripples across all variables."""
    total, product = 1.0, 1.0
    for k in range(x.size):
        total += x[k] ** 2 / 4000.0
        product *= math.cos(x[k] / math.sqrt(k + 1.0))
    return total - product


@numba.njit
def levy(x):  # type: ignore[no-untyped-def]
    """Waves that grow outwards."""
    w = 1.0 + (x[0] - 1.0) / 4.0
    total = math.sin(math.pi * w) ** 2
    for k in range(x.size - 1):
        w = 1.0 + (x[k] - 1.0) / 4.0
        total += (w - 1.0) ** 2 * (1.0 + 10.0 * math.sin(math.pi * w + 1.0) ** 2)
    w = 1.0 + (x[x.size - 1] - 1.0) / 4.0
    return total + (w - 1.0) ** 2 * (1.0 + math.sin(2.0 * math.pi * w) ** 2)


@numba.njit
def styblinski_tang(x):  # type: ignore[no-untyped-def]
    """Two minima in every variable."""
    total = 39.166165703771419 * x.size
    for k in range(x.size):
        total += 0.5 * (x[k] ** 4 - 16.0 * x[k] ** 2 + 5.0 * x[k])
    return total


@numba.njit
def zakharov(x):  # type: ignore[no-untyped-def]
    """A plate that bends in one direction."""
    squares, bend = 0.0, 0.0
    for k in range(x.size):
        squares += x[k] ** 2
        bend += 0.5 * (k + 1.0) * x[k]
    return squares + bend**2 + bend**4


TESTS = (
    Test(rosenbrock, -5.0, 10.0),
    Test(rastrigin, -5.12, 5.12),
    Test(ackley, -32.768, 32.768),
    Test(schwefel, -500.0, 500.0),
    Test(griewank, -600.0, 600.0),
    Test(levy, -10.0, 10.0),
    Test(styblinski_tang, -5.0, 5.0),
    Test(zakharov, -5.0, 10.0),
)


def run(
    folder: Path, *, quick: bool = False, runs: int | None = None, dimensions: tuple[int, ...] | None = None
) -> Report:
    """Measure, print and save."""
    try:
        from scipy.optimize import differential_evolution
    except ImportError:
        raise UnavailableError("minimise compares with SciPy. Install it with: pip install scipy") from None
    runs = runs or (5 if quick else 20)
    dimensions = dimensions or ((2, 5) if quick else (2, 5, 10, 30))
    report = Report(
        "minimise",
        f"{runs} runs from other seeds for each function; solved: within {ENOUGH:g} of the least value, which is zero. "
        "SciPy's differential_evolution with its defaults runs until it ends by itself; the others may spend as many evaluations "
        "as it took on average, and end where the function is solved. Time per evaluation: processor time of the whole call "
        "over its evaluations, compiling left out; scipy / de: how many times as long a call of SciPy's takes. All call the same "
        "function compiled by Numba.",
    )
    for test, n in progress(
        [(test, n) for n in dimensions for test in TESTS], len(TESTS) * len(dimensions), "minimise"
    ):
        report.rows.append(_measure(test, n, runs, differential_evolution))
    worse = [f"{row['function']} in {row['n']}" for row in report.rows if row["de [%]"] < row["scipy [%]"]]
    report.remarks.append(f"Solved less often than by SciPy: {', '.join(worse) or 'none'}.")
    return report.publish(folder)


def _measure(test: Test, n: int, runs: int, peer: Any) -> Row:
    lower, upper = np.full(n, test.lower), np.full(n, test.upper)
    spent, solved, began = 0, 0, time.thread_time()
    for seed in range(runs):
        found = peer(test.function, list(zip(lower, upper, strict=True)), seed=seed)
        spent, solved = spent + found.nfev, solved + (found.fun <= ENOUGH)
    scipy_seconds = time.thread_time() - began
    row: Row = {
        "function": test.function.__name__, "n": n, "evaluations": spent // runs, "scipy [%]": 100.0 * solved / runs,
        "scipy [us]": 1e6 * scipy_seconds / spent,
    }  # fmt: skip
    budget = mk.Budget(evaluations=spent // runs)
    for method in ("de", "bioik"):
        mk.solvers.minimise(
            test.function, lower, upper, method=method, target_value=ENOUGH, budget=mk.Budget(evaluations=100)
        )  # compiles
        began = time.thread_time()
        every = [
            mk.solvers.minimise(
                test.function, lower, upper, method=method, target_value=ENOUGH, budget=budget, seed=seed
            )
            for seed in range(runs)
        ]
        seconds = time.thread_time() - began
        row[f"{method} [%]"] = 100.0 * sum(each.success for each in every) / runs
        row[f"{method} spent"] = sum(each.evaluations for each in every) // runs
        row[f"{method} [us]"] = 1e6 * seconds / sum(each.evaluations for each in every)
        row[f"scipy / {method}"] = scipy_seconds / seconds
    return row
