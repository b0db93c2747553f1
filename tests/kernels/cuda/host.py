"""Straight-line code compiled for the processor, by the C++ compiler of the machine."""

import ctypes
import shutil
import subprocess
from pathlib import Path

from memetik.kernels.cuda.straight_line_functions import SIGNATURES

COMPILER = shutil.which("c++") or shutil.which("g++")
_TYPES = {
    "in": ctypes.c_int64, "out": ctypes.c_int64, "int": ctypes.c_int32, "long": ctypes.c_int64,
    "long long": ctypes.c_int64, "double": ctypes.c_double,
}  # fmt: skip
# What CUDA has and C++ has not.
_PRELUDE = """
#include <cmath>
#include <cstring>
using std::isfinite;
#define __device__
#define __forceinline__ inline
static double __longlong_as_double(long long bits) { double number; std::memcpy(&number, &bits, 8); return number; }
"""


def on_processor(code, folder):
    """The functions of the code; pointers are addresses."""
    source, library = Path(folder) / "code.cpp", Path(folder) / "code.so"
    source.write_text(_PRELUDE + code.source)
    subprocess.run([COMPILER, "-O1", "-shared", "-fPIC", "-o", str(library), str(source)], check=True)
    loaded, functions = ctypes.CDLL(str(library)), {}
    for name, (returned, given) in SIGNATURES.items():
        function = getattr(loaded, f"{name}_{code.suffix}")
        function.restype, function.argtypes = _TYPES[returned], [_TYPES[kind] for kind in given.values()]
        functions[name] = function
    return functions
