"""What kernels call has no machine code, is the same however it came about, and is found on disk by the next process."""

import gc
import time

import numba
import numpy as np
import pytest

from memetik.kernels.compiler import jit
from memetik.kernels.compiler.function_pointers import address
from memetik.kernels.compiler.part import PartLibrary
from tests.conftest import COMPILED

pytestmark = pytest.mark.only_if(COMPILED, "compiled kernels")


def _square(x):
    return x * x


def fresh(function, decorate=jit.jit):
    """A kernel that nobody has called."""
    return decorate(function)


def caller_of(kernel):
    """A kernel that calls another."""

    def plus_one(x):
        return kernel(x) + 1.0

    return numba.njit(plus_one)


def test_a_kernel_that_only_kernels_call_has_no_machine_code():
    kernel = fresh(_square)
    assert caller_of(kernel)(3.0) == 10.0
    assert kernel.overloads == {}
    (part,) = kernel.part.overloads.values()
    assert isinstance(part.library, PartLibrary)
    assert part.library.get_pointer_to_function(part.fndesc.llvm_func_name) == 0


def test_a_kernel_that_only_python_calls_has_no_part():
    kernel = fresh(_square)
    assert kernel(3.0) == 9.0
    assert "part" not in vars(kernel)


def test_a_kernel_may_be_called_from_both_sides_in_either_order():
    one, other = fresh(_square), fresh(_square)
    assert (one(3.0), caller_of(one)(3.0)) == (9.0, 10.0)
    assert (caller_of(other)(3.0), other(3.0)) == (10.0, 9.0)


def test_a_part_comes_back_from_disk():
    kernel, again = fresh(_square), fresh(_square)
    caller_of(kernel)(3.0)
    assert caller_of(again)(3.0) == 10.0
    assert sum(again.part.stats.cache_hits.values()) == 1


def test_the_address_of_a_kernel_is_that_of_its_machine_code():
    kernel = fresh(_square, jit.jit_part)
    caller_of(kernel)(3.0)
    assert address(kernel, numba.float64(numba.float64)) != 0


def test_garbage_is_collected_again_after_a_compilation():
    kernel = fresh(_square)
    kernel(2.0)
    deadline = time.monotonic() + 60.0
    while not gc.isenabled() and time.monotonic() < deadline:  # a thread of another test may be compiling
        time.sleep(0.01)
    assert gc.isenabled()


def _at(x, k):
    return x[k]


def test_a_constant_is_an_integer_like_any_other():
    """Numba alone would compile it for 0, for 1 and for k."""
    kernel = fresh(_at)

    @numba.njit
    def total(x, k):
        return kernel(x, 0) + kernel(x, 1) + kernel(x, k)

    assert total(np.array([1.0, 2.0, 4.0]), 2) == 7.0
    assert len(kernel.part.overloads) == 1
