"""What all tests share: a profile for property tests, a seeded generator, and what becomes of tests that cannot run here."""

from __future__ import annotations

import os

import numpy as np
import pytest
from hypothesis import HealthCheck, settings

from tests import skips

# Without the compiler each example is a hundred times slower, so fewer have to do.
COMPILED = os.environ.get("NUMBA_DISABLE_JIT", "0") in ("", "0")

MARKERS = (
    "quick: the subset that also runs with the compiler switched off (NUMBA_DISABLE_JIT=1)",
    "timed: judges wall-clock time",
    "only_if(condition, what): deselected, not skipped, where the condition does not hold (tests/skips.py)",
)

settings.register_profile(
    "memetik",
    derandomize=True,
    deadline=None,  # the first example compiles
    max_examples=30 if COMPILED else 10,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("memetik")


def pytest_configure(config):
    """Skips are handled by skips.py, and warnings of memetik are errors.

    The filter stands here and not in the settings of the project, where it would import memetik before the
    measurement of coverage starts.
    """
    if not config.pluginmanager.has_plugin("memetik-skips"):
        config.pluginmanager.register(skips, "memetik-skips")
    for marker in MARKERS:
        config.addinivalue_line("markers", marker)
    config.addinivalue_line("filterwarnings", "error::memetik.errors.MemetikWarning")
    # Without the compiler numpy says that the integers of random.py overflow, which is what they are meant to do.
    config.addinivalue_line("filterwarnings", "ignore:overflow encountered in scalar:RuntimeWarning")


@pytest.fixture(scope="session", autouse=True)
def small_populations():
    """Without the compiler the population of each problem takes a tenth of a second, so a small one has to do."""
    with pytest.MonkeyPatch.context() as patch:
        if not COMPILED:
            patch.setattr("memetik.solvers.memetic_plan.POPULATION", 32)
        yield


@pytest.fixture
def rng():
    """A fresh generator with a fixed seed."""
    return np.random.default_rng(20240607)
