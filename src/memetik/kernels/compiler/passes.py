"""Numba's passes over a kernel: those that kernels need.

Numba makes ready for all that Python has. No kernel of the package contains closures, comprehensions, `with`, `raise`,
`literal_unroll`, generators or arithmetic on whole arrays, so nothing is looked for that rewrites them, and how long a variable
lives is worked out once, at the end. Numba writes the same code without, sooner.
"""

import contextlib
from collections.abc import Iterator
from typing import Any

from numba.core.base import BaseContext
from numba.core.compiler import DefaultPassBuilder
from numba.core.compiler_machinery import PassManager
from numba.core.postproc import PostProcessor
from numba.core.transforms import canonicalize_cfg

PACKAGE = "memetik.kernels."

# By name, since not every version of Numba has all of them.
_NEEDLESS = {
    "WithLifting", "InlineClosureLikes", "RewriteDynamicRaises", "MakeFunctionToJitFunction", "InlineInlinables",
    "FindLiterallyCalls", "LiteralUnroll", "LiteralPropagationSubPipelinePass", "InlineOverloads", "DumpParforDiagnostics",
}  # fmt: skip

_run = PostProcessor.run
_size_of = BaseContext.get_abi_sizeof
_sizes: dict[tuple[int, str], int] = {}  # of types of LLVM, by the machine and by type [bytes]


def passes(state: Any) -> Any:
    """The passes over a function: all of Numba's, or fewer for a kernel of the package."""
    whole = DefaultPassBuilder.define_nopython_pipeline(state)
    if not state.func_id.modname.startswith(PACKAGE):  # what users write
        return whole
    needless = _NEEDLESS if state.flags.nrt else _NEEDLESS | {"NopythonRewrites"}
    kept = PassManager("kernel")
    kept.passes = [(each, why) for each, why in whole.passes if each.__name__ not in needless]
    kept.finalize()
    return kept


def _run_briefly(self: Any, emit_dels: bool = False, extend_lifetimes: bool = False) -> None:
    """As Numba's, which is asked after every pass how long variables live, and needs it after the last."""
    function = self.func_ir
    if emit_dels or function.is_generator or not function.func_id.modname.startswith(PACKAGE):
        _run(self, emit_dels, extend_lifetimes)
        return
    function.blocks = canonicalize_cfg(function.blocks)
    function.generator_info = None


def _known_size(self: Any, kind: Any) -> int:
    """As Numba's, which has LLVM parse a program to learn the size of a type."""
    key = id(self.target_data), str(kind)
    if key not in _sizes:
        _sizes[key] = _size_of(self, kind)
    return _sizes[key]


@contextlib.contextmanager
def brief_passes() -> Iterator[None]:
    """In this block, kernels are compiled so. Only for who has Numba's lock for compilation, so that nobody else compiles."""
    before = PostProcessor.run, BaseContext.get_abi_sizeof
    PostProcessor.run, BaseContext.get_abi_sizeof = _run_briefly, _known_size  # type: ignore[method-assign]
    try:
        yield
    finally:
        PostProcessor.run, BaseContext.get_abi_sizeof = before  # type: ignore[method-assign]
