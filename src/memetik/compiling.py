"""The compiler of kernels, as those see it who wait for it: what is on disk already, and how far it is."""

from __future__ import annotations

from memetik.kernels.compiler.only_load import NotCompiledError, only_load
from memetik.kernels.compiler.second_compiler import SWITCH as SECOND_COMPILER
from memetik.kernels.compiler.second_compiler import standing

__all__ = ["SECOND_COMPILER", "NotCompiledError", "only_load", "standing"]
