"""The parts of Numba that memetik uses and that have no promise of staying: where they live, and what they are used for.

`numba` and `numba.extending` are public. All else may move with a minor version; then the test of its name fails first, and says
what depends on it. pyproject.toml ends the range of versions below the next one that was not tried.
"""

import ast
import importlib
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[3] / "src" / "memetik"
PUBLIC = ("numba", "numba.extending")

INTERNALS = {
    "numba.core.base.BaseContext": "passes: the context that functions are lowered in",
    "numba.core.caching.CompileResultCacheImpl": "part: what is kept of a function that only kernels call",
    "numba.core.caching.FunctionCache": "cache: files of compiled kernels, with our own keys",
    "numba.core.caching.IndexDataCacheFile": "cache: the index of those files, read whole or not at all",
    "numba.core.caching._Cache": "prebuilt: the kernels that a wheel brings",
    "numba.core.cgutils": "intrinsics: structures, arrays and addresses in LLVM",
    "numba.core.codegen.JITCPUCodegen": "engine: an engine of its own for each of a user's objectives, which is freed with it",
    "numba.core.codegen.JITCodeLibrary": "part, engine: the machine code of one function",
    "numba.core.compiler.CompileResult": "prebuilt: a kernel as it comes from a wheel",
    "numba.core.compiler.Compiler": "part, engine: the pipeline of passes",
    "numba.core.compiler.CompilerBase": "captured, engine: a pipeline with passes of our own",
    "numba.core.compiler.DefaultPassBuilder": "passes, captured: the passes that every function goes through",
    "numba.core.compiler.Flags": "flags: how kernels are compiled",
    "numba.core.compiler.compile_result": "part: the result of a compilation",
    "numba.core.compiler_lock.global_compiler_lock": "one compilation at a time, kept over a fork, given back after an interrupt",
    "numba.core.compiler_machinery.FunctionPass": "captured: a pass over the code of a user's objective",
    "numba.core.compiler_machinery.PassManager": "passes: the order of passes",
    "numba.core.compiler_machinery.register_pass": "captured: a pass over the code of a user's objective",
    "numba.core.config": "processor: the processor that kernels are compiled for",
    "numba.core.datamodel.models": "lanes: vectors of four or eight numbers",
    "numba.core.dispatcher.Dispatcher": "alike: whether two functions of a user are the same",
    "numba.core.event": "when compilation begins and ends, for the line on the terminal and the times in solutions",
    "numba.core.ir": "captured: the variables that a user's objective takes from around it",
    "numba.core.ir_utils": "captured: the variables that a user's objective takes from around it",
    "numba.core.postproc.PostProcessor": "passes: after dead branches are cut",
    "numba.core.registry.CPUDispatcher": "jit, engine: a function that compiles itself when it is called",
    "numba.core.registry.CPUTarget": "engine: an engine of its own for each of a user's objectives",
    "numba.core.registry.cpu_target": "engine, prebuilt, second_process: what functions are compiled for",
    "numba.core.runtime.nrt.rtsys": "part: the run time that compiled code is linked with",
    "numba.core.serialize.dumps": "prebuilt: kernels as bytes",
    "numba.core.transforms.canonicalize_cfg": "passes: the order of blocks",
    "numba.core.types": "types of arguments, written out so that kernels compile before they are called",
    "numba.core.types.functions.BaseFunction": "operators: operators that know our own types",
    "numba.core.typing.templates.ConcreteTemplate": "lanes: the types of operations on vectors",
    "numba.core.typing.templates.infer_global": "lanes: the types of operations on vectors",
    "numba.core.typing.templates.signature": "lanes: the types of operations on vectors",
    "numba.core.untyped_passes.FixupArgs": "captured: where a pass of ours comes in",
    "numba.np.arrayobj.make_array": "atomics: the address of an element",
    "numba.np.arrayobj.populate_array": "arrays over memory that a kernel was given as an address",
}


def used():
    """The names of Numba that the source imports, each with the files that do, but for those of the package for CUDA."""
    found = {}
    for path in sorted(SOURCE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            names = []
            if isinstance(node, ast.ImportFrom) and node.module and node.module.partition(".")[0] == "numba":
                names = [f"{node.module}.{alias.name}" for alias in node.names if node.module not in PUBLIC]
            elif isinstance(node, ast.Import):
                names = [alias.name for alias in node.names if alias.name.startswith("numba.")]
            for name in names:
                if not name.startswith("numba.cuda"):
                    found.setdefault(name, []).append(str(path.relative_to(SOURCE)))
    return found


def test_every_use_of_internals_is_listed():
    assert set(used()) == set(INTERNALS)


@pytest.mark.parametrize("name", INTERNALS)
def test_an_internal_of_numba_is_where_it_was(name):
    module, _, last = name.rpartition(".")
    places = ", ".join(used().get(name, []))
    try:
        owner = importlib.import_module(module)
    except ImportError:
        pytest.fail(f"Numba has no module {module} any more. It was used for {INTERNALS[name]}, in {places}.")
    if not hasattr(owner, last):
        importlib.import_module(name)  # a module of its own
