"""Let the tests of all packages share what those of the library have."""

from tests.conftest import pytest_configure, rng, small_populations

__all__ = ["pytest_configure", "rng", "small_populations"]
