"""Kernels from disk or not at all."""

import threading

import pytest

from memetik.kernels.compiler.jit import jit
from memetik.kernels.compiler.only_load import NotCompiledError, only_load
from tests.conftest import COMPILED

pytestmark = pytest.mark.only_if(COMPILED, "compiled kernels")


def _half(x):
    return 0.5 * x


def test_what_is_not_on_disk_is_an_error(tmp_path, monkeypatch):
    monkeypatch.setattr("numba.config.CACHE_DIR", str(tmp_path))
    first, second = jit(_half), jit(_half)
    with pytest.raises(NotCompiledError, match="_half is not compiled yet"), only_load():
        first(3.0)
    assert first(3.0) == 1.5
    with only_load():
        assert (first(3.0), second(3.0)) == (1.5, 1.5)
    assert sum(second.stats.cache_hits.values()) == 1


def test_it_is_for_one_thread(tmp_path, monkeypatch):
    monkeypatch.setattr("numba.config.CACHE_DIR", str(tmp_path))
    kernel, answers = jit(_half), []
    with only_load():
        other = threading.Thread(target=lambda: answers.append(kernel(3.0)))
        other.start()
        other.join()
    assert answers == [1.5]
