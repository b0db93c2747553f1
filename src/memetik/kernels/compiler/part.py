"""Parts: kernels as other kernels see them, code of LLVM that is copied into whoever calls it and never becomes machine code.

Numba makes a library of machine code of every function, with a way in from Python that holds a second copy of the function,
whether anybody outside calls it or not. Of the hundred kernels in a search ten are called from outside. Of the others only
the code that LLVM has optimised is needed; it is kept on disk, because the next search is made of many of the same parts.
"""

from typing import Any

import llvmlite.binding as llvm  # type: ignore[import-untyped]
from numba.core.caching import CompileResultCacheImpl
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler, compile_result
from numba.core.runtime.nrt import rtsys

from memetik.kernels.compiler.cache import CacheFiles, KernelCache
from memetik.kernels.compiler.flags import KernelFlags
from memetik.kernels.compiler.operators import known_operators
from memetik.kernels.compiler.passes import brief_passes, passes


class KernelCompiler(Compiler):
    """Numba's compiler, with flags that are compared quickly, and operators that are typed once."""

    def __init__(
        self, typing: Any, target: Any, library: Any, arguments: Any, returns: Any, flags: Any, variables: Any
    ) -> None:
        super().__init__(typing, target, library, arguments, returns, KernelFlags(flags), variables)

    def compile_extra(self, function: Any) -> Any:
        """For Numba, the way in."""
        with known_operators(), brief_passes():
            return super().compile_extra(function)

    def define_pipelines(self) -> list[Any]:
        """For Numba, its passes over the function."""
        return [passes(self.state)]


class PartLibrary(JITCodeLibrary):
    """The code of one part, with the parts that it calls copied into it.

    It is optimised as a library of Numba's is: what is left out at this level is done again at each level above, and
    which products are fused in the end depends on it.
    """

    def add_linking_library(self, library: Any) -> None:
        """Copy the functions of another library, at need; those of Numba's runtime come with the machine code."""
        if library is not rtsys.library:
            super().add_linking_library(library)

    def finalize(self) -> None:
        """Copy what is called, and optimise."""
        self._raise_if_finalized()
        for library in dict.fromkeys(self._linking_libraries):
            self._reload_init.update(library._reload_init)
            self._final_module.link_in(library._get_module_for_linking(), preserve=True)
        self._optimize()
        self._final_module.verify()
        self._end()

    def _optimize(self) -> None:
        self._optimize_final_module()

    def _end(self) -> None:
        self._finalize_dynamic_globals()
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:
        """There is no machine code: nowhere."""
        self._ensure_finalized()
        return 0

    @property
    def codegen(self) -> Any:
        """Where Numba tells machine code its environment, of which there is none."""
        return _Nowhere()

    def save(self) -> tuple[str, bytes]:
        """What `load` makes a library of."""
        self._ensure_finalized()
        return self.name, self._final_module.as_bitcode()

    @classmethod
    def load(cls, codegen: Any, saved: tuple[str, bytes]) -> "PartLibrary":
        """A library from disk, optimised already."""
        name, bitcode = saved
        library = cls(codegen, name)
        library._final_module = llvm.parse_bitcode(bitcode)
        library._end()
        return library


class GlueLibrary(PartLibrary):
    """The same, left as it is: what it is copied into is optimised as a whole."""

    def _optimize(self) -> None:
        pass


class PartCompiler(KernelCompiler):
    """The same, into a library for parts."""

    library: type[PartLibrary] = PartLibrary

    def __init__(
        self, typing: Any, target: Any, _: Any, arguments: Any, returns: Any, flags: Any, variables: Any
    ) -> None:
        library = self.library(target.codegen(), "part")
        flags.no_cpython_wrapper = True
        super().__init__(typing, target, library, arguments, returns, flags, variables)


class GlueCompiler(PartCompiler):
    """As for parts, of kernels that mostly call others."""

    library = GlueLibrary


class _Nowhere:
    def set_env(self, name: str, environment: Any) -> None:
        """Numba's name for it."""


class PartCache(KernelCache):
    """The parts of one kernel on disk, beside its machine code."""

    machine_code = False

    def __init__(self, function: Any) -> None:
        super().__init__(function)
        self._impl = _PartCacheImpl(function)
        self._cache_file = CacheFiles(
            self._cache_path, f"{self._impl.filename_base}.part", self._cache_file._source_stamp
        )


class _PartCacheImpl(CompileResultCacheImpl):
    """How a part becomes something to pickle, and comes back."""

    def reduce(self, part: Any) -> tuple[Any, ...]:
        part.fndesc.typemap = part.fndesc.calltypes = None  # large, and of no use any more
        return part.library.save(), part.fndesc, part.environment, part.signature, part._find_referenced_environments()

    def rebuild(self, target: Any, payload: tuple[Any, ...]) -> Any:
        library, function, environment, signature, environments = payload
        library = PartLibrary.load(target.codegen(), library)
        return compile_result(
            typing_context=target.typing_context,
            target_context=target,
            library=library,
            environment=environment,
            entry_point=target.get_executable(library, function, environment),
            fndesc=function,
            type_annotation="",
            signature=signature,
            objectmode=False,
            lifted=(),
            reload_init=(),
            referenced_envs=environments,
        )
