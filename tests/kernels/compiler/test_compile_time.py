"""Time spent on compilation: all of it, once, and of the thread that asks."""

import threading
import time

import numba
import pytest
from numba.core import config
from numba.core.compiler_lock import global_compiler_lock

from memetik.kernels.compiler.compile_time import compile_times, split_time
from memetik.kernels.compiler.jit import jit
from tests.conftest import COMPILED

pytestmark = pytest.mark.skipif(not COMPILED, reason="nothing is compiled")


@pytest.fixture(autouse=True)
def _folder(tmp_path, monkeypatch):
    monkeypatch.setattr(config, "CACHE_DIR", str(tmp_path))


def square(x):
    return x * x


def fail(x):
    return x.nothing


def test_compiling_and_loading_are_counted_and_calls_are_not():
    for _ in range(2):  # from the compiler, then from disk
        kernel = jit(square)
        begin = time.perf_counter()
        assert kernel(3.0) == 9.0
        whole = time.perf_counter() - begin
        seconds, compiling = split_time(begin)
        assert 0.8 * whole < compiling < whole and 0.0 < seconds < 0.2 * whole + 1e-3
    begin = time.perf_counter()
    kernel(3.0)
    assert split_time(begin)[1] == 0.0


def test_looking_up_what_is_compiled_is_not_counted():
    kernel = jit(square)
    kernel(3.0)
    begin = time.perf_counter()
    kernel.compile((numba.float64,))
    assert split_time(begin)[1] == 0.0


def test_kernels_within_a_kernel_are_counted_once():
    inner = jit(square)

    @jit
    def outer(x):
        return inner(x) + inner(2.0 * x)

    begin = time.perf_counter()
    assert outer(1.0) == 5.0
    whole = time.perf_counter() - begin
    assert 0.8 * whole < compile_times.since(begin) <= whole


def test_what_does_not_compile_is_counted_and_leaves_the_count_sound():
    begin = time.perf_counter()
    with pytest.raises(numba.TypingError):
        jit(fail)(1.0)
    assert 0.0 < split_time(begin)[1] < time.perf_counter() - begin
    test_compiling_and_loading_are_counted_and_calls_are_not()


def test_threads_count_their_own_work_and_waits():
    found = {}
    taken, begin = threading.Event(), time.perf_counter()

    def compile_long():
        with global_compiler_lock:
            taken.set()
            time.sleep(0.1)
            compile_times.note()
        found["compiles"] = split_time(begin)

    def wait_for_it():
        taken.wait()
        with global_compiler_lock:
            pass
        found["waits"] = split_time(begin)

    def work():
        taken.wait()
        time.sleep(0.1)
        found["works"] = split_time(begin)

    threads = [threading.Thread(target=target) for target in (compile_long, wait_for_it, work)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found["compiles"][1] >= 0.1
    assert found["waits"][1] > 0.05
    assert found["works"][1] == 0.0 and found["works"][0] >= 0.1
