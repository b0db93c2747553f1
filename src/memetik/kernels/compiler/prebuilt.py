"""Kernels that were compiled when the package was built, for machines like this one.

The folder `prebuilt` of the kernels has a manifest, which says what its machine code was made from and for, and files as the
cache has them (cache.py). It is used where everything in the manifest holds here; a wheel brings it, a checkout has none. What it
lacks, and what is damaged in it, is compiled as if it were not there. Nothing is ever written to it by those who use it.

Machine code of the folder comes before that of the cache, so that all machines that use it compute the same bits.
MEMETIK_PREBUILT=0 leaves it aside, MEMETIK_PREBUILT=PATH takes another folder.
"""

import functools
import hashlib
import json
import os
import pickle
import zlib
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path
from typing import Any, NamedTuple

import llvmlite  # type: ignore[import-untyped]
import numba
import numpy as np
from llvmlite import binding
from numba.core.caching import _Cache
from numba.core.compiler import CompileResult
from numba.core.registry import cpu_target
from numba.core.serialize import dumps

from memetik.kernels.compiler.cache import LOADED, CacheFiles, KernelCache, source_stamp, tell
from memetik.kernels.compiler.compile_time import compile_times
from memetik.kernels.compiler.processor import asked_for, lacking, level

FOLDER = Path(__file__).parents[1] / "prebuilt"
MANIFEST = "manifest.json"
SWITCH = "MEMETIK_PREBUILT"

_ANNOTATION = 5  # where the annotated source stands behind the library, see CompileResult._reduce

Key = dict[str, str]  # what machine code depends on, by the names that `here` gives


class Prebuilt(NamedTuple):
    """A folder of prebuilt kernels: what they are for, and why they are not used, if they are not."""

    folder: Path
    key: Key
    why_not: str = ""

    def files_of(self, function: Any) -> CacheFiles:
        """Those of one kernel."""
        return CacheFiles(str(self.folder), _file_name(function), sorted(self.key.items()))


def here() -> Key:
    """What machine code that is built here depends on."""
    wanted = level()
    return {
        "python": EXTENSION_SUFFIXES[0],  # its version, its build and the system: .cpython-311-x86_64-linux-gnu.so
        "numpy": np.__version__.split(".")[0],
        "numba": numba.__version__,
        "llvmlite": llvmlite.__version__,
        "processor": "" if wanted is None else wanted.name,
        "kernels": source_stamp(),
    }


@functools.cache
def prebuilt() -> Prebuilt:
    """The kernels that came with this package, or that the environment names."""
    named = os.environ.get(SWITCH, "")
    return find_prebuilt(FOLDER if named in ("", "0", "1") else Path(named))


def find_prebuilt(folder: Path) -> Prebuilt:
    """The prebuilt kernels in a folder, if there are any."""
    try:
        key = json.loads((folder / MANIFEST).read_bytes())
    except FileNotFoundError:
        return Prebuilt(folder, {}, "this package came without any")
    except (OSError, ValueError) as error:
        return Prebuilt(folder, {}, f"their {MANIFEST} cannot be read ({error})")
    if not isinstance(key, dict) or not all(isinstance(value, str) for value in key.values()):
        return Prebuilt(folder, {}, f"their {MANIFEST} is damaged")
    return Prebuilt(folder, key, _why_not(key))


def write_prebuilt(folder: Path) -> int:
    """Copy what this process has loaded from its cache to an empty folder; how many kernels it was.

    That is what Python calls or takes the address of, and not the many kernels that are only copied into others. The process
    must have been told to compile for the level (NUMBA_CPU_NAME), and this is what the cache then gave it.
    """
    wanted = level()
    if wanted is None or asked_for() != (wanted.name, wanted.numba_features):
        raise RuntimeError(f"this process compiles for {asked_for()}, and prebuilt kernels are for {wanted}")
    target = Prebuilt(folder, here())
    folder.mkdir(parents=True)
    for cache, sig, key in LOADED:
        small = zlib.compress(dumps(_stripped(cache._cache_file.load(key))), level=9)
        target.files_of(cache._py_func).save(kernel_key(cache._py_func, sig), small)
    (folder / MANIFEST).write_text(json.dumps(target.key, indent=1) + "\n")
    return len(LOADED)


def _stripped(data: Any) -> Any:
    """What Numba keeps of a compiled kernel, without what only people read: annotated source, and names of values.

    The code that other kernels would be linked with is twice as large as the machine code, and half of it is names.
    """
    (library, form, (machine_code, bitcode)), *others = data
    others[_ANNOTATION] = ""
    module = binding.parse_bitcode(bitcode)
    passes = binding.create_new_module_pass_manager()
    passes.add_strip_symbols_pass()
    machine = cpu_target.target_context.codegen()._tm
    passes.run(module, binding.create_pass_builder(machine, binding.PipelineTuningOptions()))
    return (library, form, (machine_code, module.as_bitcode())), *others


def _why_not(key: Key) -> str:
    """What stands against the use of kernels that were built for this, in words; nothing if they can be used."""
    wanted = level()
    if os.environ.get(SWITCH, "1") == "0":
        return f"{SWITCH}=0 asks not to use them"
    if wanted is None or key.get("processor") != wanted.name:
        return f"they are for the processor {key.get('processor')!r}, another kind than this one"
    name, features = asked_for()
    if name not in (None, wanted.name) or features not in (None, wanted.numba_features):
        return f"NUMBA_CPU_NAME and NUMBA_CPU_FEATURES ask for code for {name!r} with {features!r}"
    missing = lacking(wanted)
    if missing:
        return f"they are for {wanted.name}, and this processor lacks {', '.join(missing)}"
    for part, value in here().items():
        if part == "kernels" and key.get(part) != value:
            return "the source of the kernels has changed since they were built"
        if key.get(part) != value:
            return f"they were built for {part} {key.get(part)}, and this is {value}"
    return ""


class PrebuiltFirst(_Cache):
    """The cache of one kernel that may be prebuilt; `own` is its cache on this machine, which gets what must be compiled."""

    def __init__(self, function: Any, own: Any, source: Prebuilt) -> None:
        self._function, self._own = function, own
        self._files = source.files_of(function)

    @property
    def cache_path(self) -> Any:
        return self._own.cache_path

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """The machine code for a signature: prebuilt, or compiled here before; None if there is none."""
        loaded = self._load(sig, target_context)
        return self._own.load_overload(sig, target_context) if loaded is None else loaded

    def holds(self, sig: Any, target_context: Any) -> bool:
        """Whether there seems to be machine code for a signature."""
        if self._files.holds(kernel_key(self._function, sig)):
            return True
        return isinstance(self._own, KernelCache) and self._own.holds(sig, target_context)

    def _load(self, sig: Any, target_context: Any) -> Any:
        small = self._files.load(kernel_key(self._function, sig))
        if small is None:
            return None
        try:
            target_context.refresh()
            loaded = CompileResult._rebuild(target_context, *pickle.loads(zlib.decompress(small)))
        except Exception as error:  # whatever linking strange code may raise
            tell("read", Path(self._files._index_path), error)
            return None
        compile_times.note()
        return loaded

    def save_overload(self, sig: Any, data: Any) -> None:
        self._own.save_overload(sig, data)

    def enable(self) -> None:
        self._own.enable()

    def disable(self) -> None:
        self._own.disable()

    def flush(self) -> None:
        self._own.flush()


def kernel_key(function: Any, sig: Any) -> tuple[Any, str, str]:
    """A signature of a kernel, with what tells kernels apart that one function makes: what they are closed over."""
    closed_over = tuple(cell.cell_contents for cell in function.__closure__ or ())
    return sig, _hash(function.__code__.co_code), _hash(dumps(closed_over))


def _hash(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _file_name(function: Any) -> str:
    """The same in every folder that the package is in."""
    name = f"{function.__module__}.{function.__qualname__}-{function.__code__.co_firstlineno}"
    return name.removeprefix("memetik.kernels.").replace("<", "").replace(">", "")
