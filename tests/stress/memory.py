"""Reads and writes of kernels outside of arrays, by valgrind:

    python -m tests.stress.memory            # compiles for a processor that valgrind knows, then runs the same calls under it
    python -m tests.stress.memory FOLDER     # keeps these kernels in a folder, for the next time

The calls are those of the stress test of faults: solves with and without functions in Python, bound steps, batches, tracks,
checks of motions, changes of problems and worlds. Machine code is watched as it runs, so it counts what compilers made of the
kernels, Numba's wrappers, ctypes and NumPy alike. Each array of a record gets memory of its own, which ends where it ends: in
use they lie side by side, and a kernel that left one would meet the next. First of all a kernel that leaves its array on
purpose has to be told.

Needs valgrind (apt-get install valgrind). Only addresses are looked at, not whether numbers were ever set.
"""

from __future__ import annotations

import math
import os
import shutil
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path
from typing import Any

# What valgrind 3.19 knows: vectors of 256 bits.
PROCESSOR = {"NUMBA_CPU_NAME": "haswell", "NUMBA_CPU_FEATURES": "+avx,+avx2,+bmi,+bmi2,+f16c,+fma,+lzcnt,+popcnt"}
FOUND = 99  # the exit status where there were errors
VALGRIND = (
    "valgrind", "--tool=memcheck", "-q", "--undef-value-errors=no", "--smc-check=all-non-file", f"--error-exitcode={FOUND}",
    "--num-callers=20",
)  # fmt: skip


# The dynamic linker compares names by words that end behind them.
KNOWN = """{
   linker
   Memcheck:Addr8
   fun:strncmp
   fun:is_dst
}
"""


def allocate(kind: Any, sizes: Any, /, **given: Any) -> Any:
    """As memetik.kernels.runtime.record.allocate, each array in memory of its own, without room behind it."""
    import numpy as np

    from memetik.kernels.runtime.record import ArrayField, fields

    values = {}
    for name, field in fields(kind).items():
        if name in given:
            values[name] = given[name]
        elif isinstance(field, ArrayField):
            shape = tuple(sizes[size] if isinstance(size, str) else size for size in field.shape)
            values[name] = np.zeros(math.prod(shape) * field.dtype.itemsize, np.uint8).view(field.dtype).reshape(shape)
        else:
            values[name] = allocate(field, sizes, **given)
    return kind(**values)


def run_calls() -> None:
    """Make each call once, in this process."""
    from memetik.kernels.runtime import record

    record.allocate = allocate  # before those who use it are imported
    from tests.stress.faults import calls

    warnings.simplefilter("ignore")
    for name, (work, answer) in calls().items():
        begin = time.perf_counter()
        work()
        answer()
        print(f"    {name:16} {time.perf_counter() - begin:.1f} s", flush=True)


def leave_an_array() -> None:
    """Write behind the end of an array in a kernel."""
    import numba
    import numpy as np

    @numba.njit
    def write(numbers: Any, at: int) -> None:
        numbers[at] = 1.0

    write(np.zeros(100), 100)


def child(what: str, folder: Path, *before: str) -> int:
    """Run a part of this file in another process; its exit status."""
    environment = os.environ | PROCESSOR
    environment |= {
        "NUMBA_CACHE_DIR": str(folder),
        "PYTHONMALLOC": "malloc",
        "MEMETIK_SECOND_COMPILER": "0",
        "MEMETIK_PREBUILT": "0",
    }
    return subprocess.run([*before, sys.executable, "-m", "tests.stress.memory", what], env=environment).returncode


def main() -> int:
    words = sys.argv[1:]
    if words[:1] in (["--calls"], ["--leave"]):
        run_calls() if words == ["--calls"] else leave_an_array()
        return 0
    if shutil.which("valgrind") is None:
        sys.exit("valgrind is missing: apt-get install valgrind")
    with tempfile.TemporaryDirectory() as place:
        folder, known = Path(words[0] if words else place).resolve(), Path(place, "known.supp")
        known.write_text(KNOWN)
        watched = (*VALGRIND, f"--suppressions={known}")
        print("A kernel that leaves its array:", flush=True)
        if child("--leave", folder, *watched) != FOUND:
            print("valgrind has not seen it, so what it says means nothing")
            return 1
        print("Compiled and called without valgrind:", flush=True)
        if child("--calls", folder):
            return 1
        print("Called under valgrind:", flush=True)
        found = child("--calls", folder, *watched)
    print("no access outside of arrays" if not found else f"exit status {found}: see above")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
