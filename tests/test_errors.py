"""What errors say of packages that do not come with the core."""

import pytest

import memetik as mk

pytestmark = pytest.mark.quick


def test_a_package_that_is_not_there_is_asked_for():
    error = mk.errors.MissingExtraError("no-such-package", "company", "bench")
    assert str(error) == (
        "company needs the package 'no-such-package', which is not installed. Install it with: pip install \"memetik[bench]\""
    )


def test_a_package_that_is_there_and_broken_is_not_called_missing():
    """As one that was built for another version of NumPy."""
    try:
        raise ImportError("numpy.core.multiarray failed to import")
    except ImportError:
        error = mk.errors.MissingExtraError("numba", "company")
    assert str(error) == (
        "company needs the package 'numba', which is installed but cannot be imported (numpy.core.multiarray failed to import). "
        "Mend it with: pip install numba --upgrade"
    )
