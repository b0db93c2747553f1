"""Ways in which files of a cache get damaged, and kernels that are run again and again after that.

python -m tests.kernels.compiler.damage 1000        # so many damages, in this process, in a folder of its own
"""

import random
import sys
import tempfile
from pathlib import Path

from numba.core import config

from memetik.kernels.compiler.jit import jit

MARKS = (b"memetik1", b"\x80\x05")


def damage(files, draw):
    """Damage one of these files, of which there are two at least."""
    file, other = draw.sample(files, 2)
    content = file.read_bytes()
    match draw.choice(("cut", "flip", "garbage", "empty", "delete", "swap", "copy", "folder")):
        case "cut":
            file.write_bytes(content[: draw.randrange(len(content))])
        case "flip":
            at = draw.randrange(len(content))
            file.write_bytes(content[:at] + bytes([content[at] ^ 1 << draw.randrange(8)]) + content[at + 1 :])
        case "garbage":
            file.write_bytes(draw.choice((b"", *MARKS)) + draw.randbytes(draw.randrange(1, 4096)))
        case "empty":
            file.write_bytes(b"")
        case "delete":
            file.unlink()
        case "swap":
            file.write_bytes(other.read_bytes())
            other.write_bytes(content)
        case "copy":
            other.write_bytes(content)
        case "folder":
            file.unlink()
            file.mkdir()


def double(x):
    return 2.0 * x + 1.0


def triple(x):  # its bytecode is that of the other one
    return 3.0 * x + 1.0


def run_kernels():
    """Compile or load both, as a new process would, and check what they return."""
    first, second = jit(double), jit(triple)
    assert (first(5.0), second(5.0), first(7), second(7)) == (11.0, 16.0, 15.0, 22.0)
    return first, second


def endure(folder, times, seed=0):
    """Damage the cache in a folder so many times and run the kernels after each."""
    config.CACHE_DIR = str(folder)
    draw = random.Random(seed)
    run_kernels()
    for _ in range(times):
        damage(sorted(path for path in Path(folder).rglob("*.nb?") if path.is_file()), draw)
        run_kernels()
        for path in Path(folder).rglob("*.nb?"):
            if path.is_dir():
                path.rmdir()
        run_kernels()
    loaded = [sum(kernel.stats.cache_hits.values()) for kernel in run_kernels()]
    assert loaded == [2, 2], loaded  # what was damaged has been replaced


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        endure(folder, *map(int, sys.argv[1:]))
    print("all answers were right")
