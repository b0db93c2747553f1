"""Fewer passes of Numba, the same code."""

import contextlib
import re

import pytest
from numba.core import types
from numba.core.codegen import CPUCodeLibrary
from numba.core.compiler import DefaultPassBuilder

from memetik.kernels.compiler import part, passes
from memetik.kernels.compiler.jit import jit, jit_allocating
from memetik.kernels.math.linear import substitute
from tests.conftest import COMPILED

pytestmark = pytest.mark.only_if(COMPILED, "compiled kernels")
SIGNATURE = types.float64[:, ::1], types.int64, types.float64[::1]


def code_of(function, monkeypatch):
    """What Numba hands to LLVM for a function, without the names of things, and the flags of each operation in order."""
    texts = []
    add = CPUCodeLibrary.add_ir_module
    with monkeypatch.context() as patch:
        patch.setattr(CPUCodeLibrary, "add_ir_module", lambda self, code: (texts.append(str(code)), add(self, code)))
        kernel = jit(function)
        kernel._cache = type("NoCache", (), {"load_overload": lambda *_: None, "save_overload": lambda *_: None})()
        kernel.compile(SIGNATURE)
    texts = [re.sub(r'c"[^"]*"|\[\d+ x i8\]', "text", text) for text in texts if "substitute" in text]
    text = re.sub(r"[%@]\"[^\"]*\"|[%@][\w.$]+", "name", re.sub(r"\$\d+", "", "".join(texts)))
    return re.sub(
        r"\b(?:(?:contract|reassoc|nsz|arcp) ?)+", lambda match: " ".join(sorted(match[0].split())) + " ", text
    )


def test_without_the_passes_that_are_left_out_the_code_is_the_same(monkeypatch):
    brief = code_of(substitute.py_func, monkeypatch)
    monkeypatch.setattr(part, "passes", lambda state: DefaultPassBuilder.define_nopython_pipeline(state))
    monkeypatch.setattr(part, "brief_passes", contextlib.nullcontext)
    assert code_of(substitute.py_func, monkeypatch) == brief
    assert "fmul" in brief


def test_what_users_write_may_contain_anything():
    @jit_allocating
    def squares(count):
        return sum([k * k for k in range(count)])

    assert squares(4) == 14


def test_kernels_have_fewer_passes():
    taken = []
    compiler = part.KernelCompiler
    kept = compiler.define_pipelines

    def note(self):
        pipelines = kept(self)
        taken.append([each for each, _ in pipelines[0].passes])
        return pipelines

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(compiler, "define_pipelines", note)
        kernel = jit(substitute.py_func)
        kernel._cache = type("NoCache", (), {"load_overload": lambda *_: None, "save_overload": lambda *_: None})()
        kernel.compile(SIGNATURE)
    assert not passes._NEEDLESS.intersection(taken[-1])
