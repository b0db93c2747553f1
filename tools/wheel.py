"""A wheel with compiled kernels, for machines of the kind of this one and this version of Python.

    uv run --extra dev python tools/wheel.py               # some minutes; the wheel is in dist

One process compiles all that `memetik warm --all` does, for a portable level of processors, into an empty cache. A second one
does the same from that cache: what it loads is what a user's process will load, and goes into the wheel. It must not compile
anything itself, or users would. Kernels fit only the versions of Numba and llvmlite they were compiled with: build with the
newest, which is what a fresh installation gets.
"""

from __future__ import annotations

import argparse
import os
import platform
import subprocess
import sys
import tempfile
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path
from typing import Any

from hatchling.builders.wheel import WheelBuilder

from memetik.kernels.compiler.processor import level

ROOT = Path(__file__).parents[1]
INSIDE = "memetik/kernels/prebuilt"

COMPILE = "import sys; from memetik.cli import main; sys.exit(main(['warm', '--all']))"
GATHER = """
import sys
from pathlib import Path
from numba.core import event
from memetik import warm
from memetik.kernels.compiler.prebuilt import write_prebuilt

compiled = set()
class Compilations(event.Listener):
    def on_start(self, happening):
        function = happening.data["dispatcher"].py_func
        compiled.add(f"{function.__module__}.{function.__qualname__}")
    def on_end(self, happening):
        pass

event.register("numba:compile", Compilations())
warmed = warm.warm(warm.everything())
ours = sorted(name for name in compiled if name.startswith("memetik.kernels.") and "<locals>" not in name)
if ours or warmed.without:
    sys.exit(f"compiled once more, although it is in the cache: {ours}; left out: {warmed.without}")
print(write_prebuilt(Path(sys.argv[1])), "kernels")
"""


def build_kernels(folder: Path, work: Path) -> None:
    """Fill a folder with the machine code of all kernels that processes call."""
    wanted = level()
    if wanted is None:
        sys.exit(f"no level of processors is known for {platform.machine()}")
    environment = {
        **os.environ,
        "PYTHONPATH": str(ROOT / "src"),
        "MEMETIK_PREBUILT": "0",
        "NUMBA_CPU_NAME": wanted.name,
        "NUMBA_CPU_FEATURES": wanted.numba_features,
        "NUMBA_CACHE_DIR": str(work),
        "NUMBA_DISABLE_INTEL_SVML": "1",  # a library that users may not have
        "NUMBA_DISABLE_JIT": "0",
    }
    for code, *arguments in ((COMPILE,), (GATHER, str(folder))):
        subprocess.run([sys.executable, "-c", code, *arguments], env=environment, cwd=ROOT, check=True)


class KernelWheelBuilder(WheelBuilder):
    """The wheel of the project, with a folder of kernels."""

    kernels: Path

    def get_default_build_data(self) -> dict[str, Any]:
        """As for a wheel of pure Python, but for the kernels and the machines they run on."""
        return {
            **super().get_default_build_data(),
            "pure_python": False,
            "tag": self.get_best_matching_tag(),
            "force_include": {str(self.kernels): INSIDE},
        }

    def get_best_matching_tag(self) -> str:
        """Machine code binds to no version of the C library: it takes functions by their names, as those of 2012 had them."""
        kind = "musllinux_1_1_" if "musl" in EXTENSION_SUFFIXES[0] else "manylinux_2_17_"
        return super().get_best_matching_tag().replace("-linux_", f"-{kind}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=ROOT / "dist", help="folder for the wheel (default: dist)")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as work:
        builder = KernelWheelBuilder(str(ROOT))
        builder.kernels = Path(work, "prebuilt")
        build_kernels(builder.kernels, Path(work, "cache"))
        size = sum(path.stat().st_size for path in builder.kernels.iterdir())
        for wheel in map(Path, builder.build(directory=str(options.out.resolve()), versions=["standard"])):
            print(f"{wheel}: {wheel.stat().st_size / 1e6:.1f} MB, {size / 1e6:.1f} MB of kernels when installed")


if __name__ == "__main__":
    main()
