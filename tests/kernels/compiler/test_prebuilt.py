"""Prebuilt kernels: used where they fit, and otherwise as if they were not there."""

import errno
import json
import os
import random
import shutil

import numba
import pytest
from numba.core import config, event

from memetik.kernels.compiler import cache, jit, prebuilt
from memetik.kernels.compiler.cache import TROUBLE, hash_of_sources, is_whole
from memetik.kernels.compiler.prebuilt import MANIFEST, find_prebuilt, here, write_prebuilt
from memetik.kernels.compiler.processor import Level, lacking, level
from tests.conftest import COMPILED
from tests.kernels.compiler.damage import damage, run_kernels

known_level = pytest.mark.only_if(level() is not None, "a kind of machine that kernels are prebuilt for")
compiled = pytest.mark.only_if(COMPILED and level() is not None, "compiled kernels, on a kind of machine with a level")

# ---- The key ------------------------------------------------------------------------------------------------


def manifest(folder, key):
    (folder / MANIFEST).write_text(key if isinstance(key, str) else json.dumps(key))
    return find_prebuilt(folder)


@pytest.mark.quick
@known_level
def test_what_was_built_here_fits_here(tmp_path):
    assert manifest(tmp_path, here()).why_not == ""


@pytest.mark.quick
@known_level
@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("python", "built for python other"),
        ("numpy", "built for numpy other"),
        ("numba", "built for numba other"),
        ("llvmlite", "built for llvmlite other"),
        ("processor", "for the processor 'other'"),
        ("kernels", "source of the kernels has changed"),
    ],
)
def test_each_part_of_the_key_counts(name, says, tmp_path):
    assert set(here()) == {"python", "numpy", "numba", "llvmlite", "processor", "kernels"}
    assert says in manifest(tmp_path, {**here(), name: "other"}).why_not
    assert manifest(tmp_path, {key: value for key, value in here().items() if key != name}).why_not


@pytest.mark.quick
@pytest.mark.parametrize("text", ["", "{", "[]", '"text"', '{"numba": 1}', "null", "{}"])
def test_a_strange_manifest(text, tmp_path):
    assert manifest(tmp_path, text).why_not


@pytest.mark.quick
def test_no_folder_and_a_manifest_that_is_a_folder(tmp_path):
    assert "without any" in find_prebuilt(tmp_path / "none").why_not
    (tmp_path / MANIFEST).mkdir()
    assert "cannot be read" in find_prebuilt(tmp_path).why_not


@pytest.mark.quick
@known_level
def test_what_the_environment_asks(tmp_path, monkeypatch):
    monkeypatch.setenv("MEMETIK_PREBUILT", "0")
    assert "MEMETIK_PREBUILT=0" in manifest(tmp_path, here()).why_not
    monkeypatch.delenv("MEMETIK_PREBUILT")
    monkeypatch.setattr(config, "CPU_NAME", "another")
    assert "NUMBA_CPU_NAME" in manifest(tmp_path, here()).why_not
    monkeypatch.setattr(config, "CPU_NAME", level().name)
    assert manifest(tmp_path, here()).why_not == ""


@pytest.mark.quick
def test_another_folder_by_the_environment(tmp_path, monkeypatch):
    monkeypatch.setenv("MEMETIK_PREBUILT", str(tmp_path))
    assert prebuilt.prebuilt.__wrapped__().folder == tmp_path
    monkeypatch.setenv("MEMETIK_PREBUILT", "1")
    assert prebuilt.prebuilt.__wrapped__().folder == prebuilt.FOLDER


@pytest.mark.quick
@known_level
def test_a_processor_below_the_level(tmp_path, monkeypatch):
    monkeypatch.setattr(prebuilt, "lacking", lambda wanted: ["avx2", "fma"])
    assert "lacks avx2, fma" in manifest(tmp_path, here()).why_not


@pytest.mark.quick
def test_levels():
    wanted = Level("imagined", ("no-such-feature",))
    assert lacking(wanted) == ["no-such-feature"]
    assert lacking(Level("least")) == []
    assert wanted.numba_features == "+no-such-feature"


@pytest.mark.quick
def test_the_hash_is_of_names_and_contents_not_of_times(tmp_path):
    folder, copy = tmp_path / "a", tmp_path / "b"
    folder.joinpath("inner").mkdir(parents=True)
    (folder / "one.py").write_text("x = 1\n")
    (folder / "inner" / "two.py").write_text("y = 2\n")
    shutil.copytree(folder, copy)
    (copy / "__pycache__").mkdir()
    (copy / "__pycache__" / "one.pyc").write_bytes(b"?")
    os.utime(copy / "one.py", (0, 0))
    assert hash_of_sources(copy) == hash_of_sources(folder)
    (copy / "one.py").write_text("x = 2\n")  # of the same size
    assert hash_of_sources(copy) != hash_of_sources(folder)
    shutil.move(folder / "one.py", folder / "three.py")
    assert hash_of_sources(copy) != hash_of_sources(folder)


# ---- Machine code -------------------------------------------------------------------------------------------


@pytest.fixture
def built(tmp_path, monkeypatch):
    """Prebuilt kernels, which `jit` uses from now on, and an empty cache."""
    monkeypatch.setattr(config, "CPU_NAME", level().name)  # the code that this process compiles runs here, too
    monkeypatch.setattr(config, "CPU_FEATURES", level().numba_features)
    monkeypatch.setattr(config, "CACHE_DIR", str(tmp_path / "first"))
    loaded = []
    monkeypatch.setattr(cache, "LOADED", loaded)
    monkeypatch.setattr(prebuilt, "LOADED", loaded)
    run_kernels()  # compiled
    run_kernels()  # loaded
    folder = tmp_path / "prebuilt"
    assert write_prebuilt(folder) == 4  # two kernels for two signatures
    monkeypatch.setattr(config, "CACHE_DIR", str(tmp_path / "second"))
    monkeypatch.setattr(jit, "prebuilt", lambda: find_prebuilt(folder))
    return folder


@pytest.fixture
def compilations():
    with event.install_recorder("numba:compile") as recorder:
        yield lambda: [happening for _, happening in recorder.buffer if happening.is_start]


@pytest.fixture
def troubles():
    with event.install_recorder(TROUBLE) as recorder:
        yield lambda: [happening.data for _, happening in recorder.buffer]


@compiled
def test_nothing_is_compiled_or_written(built, compilations, troubles):
    before = {path: path.stat().st_mtime_ns for path in built.iterdir()}
    run_kernels()
    assert compilations() == [] and troubles() == []
    assert not list((built.parent / "second").rglob("*.nb?"))
    assert {path: path.stat().st_mtime_ns for path in built.iterdir()} == before
    assert all(is_whole(path.name, path.read_bytes()) for path in built.glob("*.nb?"))


@compiled
def test_functions_that_call_kernels_compile_the_parts_they_copy(built, compilations):
    """Prebuilt is machine code, and a function that calls a kernel copies the part of it (part.py)."""
    first, second = run_kernels()

    @numba.njit
    def both(x):
        return first(x) * second(x)

    assert both(5.0) == 11.0 * 16.0
    assert [happening.data["dispatcher"].py_func.__name__ for happening in compilations()] == [
        "both",
        "double",
        "triple",
    ]


@compiled
def test_no_cache_folder_is_needed(built, compilations, monkeypatch):
    def no_folder(function):
        raise RuntimeError("cannot cache function: no locator available")

    monkeypatch.setattr(jit, "KernelCache", no_folder)
    run_kernels()
    assert compilations() == []


@compiled
@pytest.mark.parametrize("name", ["numba", "kernels"])
def test_what_does_not_fit_is_compiled_in_silence(name, built, compilations, troubles):
    key = json.loads((built / MANIFEST).read_text())
    (built / MANIFEST).write_text(json.dumps({**key, name: "other"}))
    run_kernels()
    assert len(compilations()) == 4 and troubles() == []
    run_kernels()
    assert len(compilations()) == 4  # the cache has them now


@compiled
def test_files_of_another_build_are_passed_over(built, compilations, troubles, monkeypatch):
    """Whole, under the same names, but not what the manifest says."""
    monkeypatch.setattr(prebuilt, "source_stamp", lambda: "another")
    (built / MANIFEST).write_text(json.dumps(here()))
    assert find_prebuilt(built).why_not == ""
    run_kernels()
    assert len(compilations()) == 4 and troubles() == []


@compiled
def test_damaged_files_are_passed_over(built, troubles):
    """Whatever becomes of them, answers are right and nothing is raised."""
    whole = {path: path.read_bytes() for path in built.iterdir()}
    draw = random.Random(3)
    for _ in range(60):
        damage(sorted(whole), draw)
        run_kernels()
        for path, content in whole.items():
            if path.is_dir():
                path.rmdir()
            path.write_bytes(content)
    assert {what for what, _, _ in troubles()} == {"read"}


@compiled
def test_a_damaged_file_is_told_and_the_others_serve(built, compilations, troubles):
    data = sorted(built.glob("*double*.nbc"))[0]
    data.write_bytes(data.read_bytes()[:-1])
    run_kernels()
    assert len(compilations()) == 1
    ((what, path, why),) = troubles()
    assert (what, path, why) == ("read", data, "the file is damaged")


@compiled
def test_files_that_may_not_be_read(built, compilations, monkeypatch):
    def refused(path):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))

    with monkeypatch.context() as patch:
        patch.setattr(cache.Path, "read_bytes", lambda path: refused(path))
        run_kernels()  # not even the manifest
    assert len(compilations()) == 4


@compiled
def test_only_code_for_the_level_is_prebuilt(tmp_path, monkeypatch):
    monkeypatch.setattr(config, "CPU_NAME", None)
    with pytest.raises(RuntimeError, match="prebuilt kernels are for"):
        write_prebuilt(tmp_path / "native")
    assert not (tmp_path / "native").exists()
