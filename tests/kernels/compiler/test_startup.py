"""Starting up is part of the user's experience: a quick import, and no need of a place to write to."""

import os
import pickle
import shutil
import subprocess
import sys
from pathlib import Path

import numba
import numpy as np
import pytest

import memetik
from memetik.kernels.compiler import jit
from tests.conftest import COMPILED

PACKAGE = Path(memetik.__file__).parent

# CPU time, because waiting for other processes is not the import's fault. Numba loads the package coverage
# where it finds it, which takes as long as numpy; users do not have it.
TIMED = """
import sys, time
sys.modules["coverage"] = None
start = time.process_time()
import numpy
halfway = time.process_time()
import memetik
print(time.process_time() - halfway, halfway - start)
"""

WORK = """
import numba
import memetik
from memetik.kernels.body.forward import forward
assert memetik.__file__.startswith({folder!r}), memetik.__file__
try:
    numba.njit(cache=True)(forward.py_func)
except RuntimeError as error:
    print("no cache:", error)
arm = memetik.Body("arm", [memetik.build.Link("a"), memetik.build.Link("b")], [memetik.build.Joint("j", "prismatic", "a", "b")])
print("z =", arm.forward([0.25])["b"][2, 3])
"""

SOLVE = """
import memetik
arm = memetik.Body("arm", [memetik.build.Link("a"), memetik.build.Link("b")], [memetik.build.Joint("j", "prismatic", "a", "b")])
print(arm.forward([0.25])["b"][2, 3])
"""


def python(code, **environment):
    env = {**os.environ, **environment}
    env.pop("PYTHONDONTWRITEBYTECODE", None)
    done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.timed
def test_import_takes_less_than_that_of_numpy(tmp_path):
    """As for an installed package: bytecode at hand, best of several runs."""
    bytecode = {"PYTHONPYCACHEPREFIX": str(tmp_path)}
    python("import memetik", **bytecode)
    ours, theirs = np.min([np.fromstring(python(TIMED, **bytecode), sep=" ") for _ in range(6)], axis=0)
    assert ours < theirs, (ours, theirs)


def test_works_where_nothing_can_be_written(tmp_path):
    """A copy of the package in which every cache folder is a plain file: not even root can write there."""
    folder, file = tmp_path / "site", tmp_path / "file"
    file.touch()
    skipped = shutil.ignore_patterns("__pycache__", "*.urdf", "*.srdf")
    shutil.copytree(PACKAGE, folder / "memetik", ignore=skipped)
    for source in (folder / "memetik").rglob("*.py"):
        (source.parent / "__pycache__").touch()
    nowhere = str(file / "below")
    output = python(
        WORK.format(folder=str(folder)),
        PYTHONPATH=str(folder),
        PYTHONPYCACHEPREFIX=str(tmp_path / "bytecode"),
        HOME=nowhere,
        XDG_CACHE_HOME=nowhere,
        NUMBA_CACHE_DIR=nowhere,
        NUMBA_DISABLE_JIT="0",
    )
    assert "no cache: cannot cache function 'forward'" in output
    assert "z = 0.25" in output


@pytest.mark.quick
@pytest.mark.parametrize("decorate", [jit.jit, jit.jit_fast, jit.jit_free])
def test_a_kernel_is_compiled_without_cache_if_need_be(decorate, monkeypatch):
    def no_folder(function):
        raise RuntimeError("cannot cache function: no locator available")

    monkeypatch.setattr(jit, "KernelCache", no_folder)
    kernel = decorate(_twice)
    assert kernel(2.0) == 4.0
    if COMPILED:
        assert kernel._cache.cache_path is None


def _twice(x):
    return 2.0 * x


@pytest.mark.only_if(COMPILED, "compiled kernels; plain ones can be called from anywhere")
def test_a_part_that_python_calls_complains_instead_of_crashing():
    with pytest.raises(TypeError, match="_inside is for kernels to call"):
        _inside(2.0)
    assert _outside(2.0) == 5.0
    with pytest.raises(TypeError, match="_inside is for kernels to call"):
        _inside(2.0)  # nor when it has been compiled


@jit.jit_part
def _inside(x):
    return 2.0 * x


@jit.jit
def _outside(x):
    return _inside(x) + 1.0


def test_what_an_older_version_left_is_compiled_anew(tmp_path):
    """Its index names a class that is no more."""
    folder = tmp_path / "cache"
    python(SOLVE, NUMBA_CACHE_DIR=str(folder))
    indices = list(folder.rglob("*.nbi"))
    for index in indices:
        index.write_bytes(pickle.dumps(numba.__version__) + b"cmemetik.kernels.body.forward\nNoMore\n.")
    assert indices
    assert python(SOLVE, NUMBA_CACHE_DIR=str(folder)) == "0.25\n"
