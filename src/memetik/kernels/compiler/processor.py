"""The processor that prebuilt kernels are for: a level that nearly all machines of a kind have, and not only the one at hand.

LLVM names levels and features. x86-64-v3 is what Intel has built since Haswell (2013) and AMD since Excavator (2015); its fused
multiplication and its vectors of four are what kernels gain by.
"""

import platform
from typing import NamedTuple

from llvmlite import binding  # type: ignore[import-untyped]
from numba.core import config


class Level(NamedTuple):
    """A processor as NUMBA_CPU_NAME takes it, and what it has beyond the least of its kind."""

    name: str
    features: tuple[str, ...] = ()

    @property
    def numba_features(self) -> str:
        """The same as NUMBA_CPU_FEATURES takes it."""
        return ",".join(f"+{feature}" for feature in self.features)


_V3 = Level(
    "x86-64-v3",
    (
        "sse3", "ssse3", "sse4.1", "sse4.2", "popcnt", "cx16", "sahf", "crc32",
        "avx", "avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe", "xsave",
    ),
)  # fmt: skip
_ARM = Level("generic")  # of ARMv8, which has fused multiplication and vectors of two

_LEVELS = {"x86_64": _V3, "amd64": _V3, "aarch64": _ARM, "arm64": _ARM}


def level() -> Level | None:
    """The level for machines of this kind; None where none is known."""
    return _LEVELS.get(platform.machine().lower())


def lacking(wanted: Level) -> list[str]:
    """The features of a level that this machine does not have, or that its system does not let programs use."""
    here = binding.get_host_cpu_features()
    return [feature for feature in wanted.features if not here.get(feature, False)]


def asked_for() -> tuple[str | None, str | None]:
    """The processor and the features that NUMBA_CPU_NAME and NUMBA_CPU_FEATURES ask code for; None for those of this machine."""
    return getattr(config, "CPU_NAME", None), getattr(config, "CPU_FEATURES", None)
