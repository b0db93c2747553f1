"""Quick flags are equal where Numba's are, and have their hash."""

import itertools

import pytest
from numba.core.compiler import Flags

from memetik.kernels.compiler.flags import KernelFlags

pytestmark = pytest.mark.quick


def some_flags():
    """Unset, set to the default, set to something else."""
    for nrt, error_model in itertools.product((None, False, True), (None, "python", "numpy")):
        flags = Flags()
        if nrt is not None:
            flags.nrt = nrt
        if error_model is not None:
            flags.error_model = error_model
        yield flags


def test_they_are_equal_where_those_of_numba_are():
    for one, other in itertools.product(some_flags(), repeat=2):
        same = one == other
        assert (KernelFlags(one) == KernelFlags(other)) is same
        assert (KernelFlags(one) == other) is same
        assert (one == KernelFlags(other)) is same
        assert not same or hash(KernelFlags(one)) == hash(other)


def test_they_are_copied_as_what_they_are():
    flags = KernelFlags(next(some_flags()))
    assert type(flags.copy()) is KernelFlags and flags.copy() == flags


def test_they_are_equal_to_nothing_else():
    assert KernelFlags() != "flags"
