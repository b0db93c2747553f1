"""Machine code on disk: whatever becomes of the files, kernels give the right answers."""

import errno
import os
import pickle
import random
import stat
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from numba.core import config, event

from memetik.kernels.compiler import cache
from memetik.kernels.compiler.cache import TROUBLE, CacheFiles
from memetik.kernels.compiler.jit import jit
from tests.conftest import COMPILED
from tests.kernels.compiler.damage import damage, double, endure, run_kernels

ROOT = Path(__file__).parents[3]

pytestmark = pytest.mark.skipif(not COMPILED, reason="nothing is compiled")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty cache folder for the kernels of a test."""
    monkeypatch.setattr(config, "CACHE_DIR", str(tmp_path))
    return tmp_path


@pytest.fixture
def troubles():
    """What is told of the cache: read or written, where, why."""
    with event.install_recorder(TROUBLE) as recorder:
        yield Troubles(recorder)


class Troubles:
    def __init__(self, recorder):
        self._recorder = recorder

    def __iter__(self):
        return (happening.data for _, happening in self._recorder.buffer)


def python(code, folder):
    env = {**os.environ, "NUMBA_CACHE_DIR": str(folder), "NUMBA_DISABLE_JIT": "0", "MEMETIK_QUIET": "0"}
    command = [sys.executable, "-c", code]
    return subprocess.run(command, env=env, cwd=ROOT, capture_output=True, text=True, check=True)


# ---- Files that are read ------------------------------------------------------------------------------------


def test_damaged_files_are_absent_and_replaced(tmp_path):
    """Two kernels with two signatures each, a thousand damages: what comes back is what was saved, or nothing."""
    draw = random.Random(1)
    saved = {(base, key): [base, key, draw.randbytes(200)] for base in "ab" for key in (1, 2)}

    def files(base):
        return CacheFiles(str(tmp_path), base, "stamp")

    for (base, key), data in saved.items():
        files(base).save(key, data)
    for _ in range(1_000):
        damage(sorted(path for path in tmp_path.iterdir() if path.is_file()), draw)
        found = {(base, key): files(base).load(key) for base, key in saved}
        assert all(data in (None, saved[name]) for name, data in found.items())
        for path in tmp_path.iterdir():
            if path.is_dir():
                path.rmdir()
        for (base, key), data in found.items():
            if data is None:
                files(base).save(key, saved[base, key])
    assert all(files(base).load(key) == data for (base, key), data in saved.items())


POSIX = pytest.mark.only_if(os.name == "posix", "systems with owners and permissions")


@POSIX
@pytest.mark.parametrize("group", [False, True])
@pytest.mark.parametrize("whole_folder", [False, True])
def test_what_others_may_write_is_not_unpickled(tmp_path, troubles, monkeypatch, group, whole_folder):
    monkeypatch.setattr(cache, "_is_private_group", lambda user, group: False)
    folder = tmp_path / "kernels"
    folder.mkdir()
    CacheFiles(str(folder), "a", "stamp").save(1, "code")
    place = folder if whole_folder else next(folder.glob("*.nbc"))
    place.chmod(place.stat().st_mode | (stat.S_IWGRP if group else stat.S_IWOTH))
    files = CacheFiles(str(folder), "a", "stamp")
    assert files.load(1) is None
    (what, _, why), *_ = troubles
    assert what == "read" and f"other users may write to the {'folder' if whole_folder else 'file'}" in why
    assert "chmod go-w" in why
    if not whole_folder:
        files.save(1, "code")
        assert files.load(1) == "code", "it is replaced"


@POSIX
def test_a_private_group_may_write(tmp_path, monkeypatch):
    monkeypatch.setattr(cache, "_is_private_group", lambda user, group: True)
    CacheFiles(str(tmp_path), "a", "stamp").save(1, "code")
    for path in (tmp_path, *tmp_path.iterdir()):
        path.chmod(path.stat().st_mode | stat.S_IWGRP)
    assert CacheFiles(str(tmp_path), "a", "stamp").load(1) == "code"


@POSIX
def test_what_another_user_owns_is_not_unpickled(tmp_path, troubles, monkeypatch):
    CacheFiles(str(tmp_path), "a", "stamp").save(1, "code")
    before = tmp_path.stat()
    owned = os.stat_result((before.st_mode, 0, 0, 0, 4242, before.st_gid, 0, 0, 0, 0))
    assert cache.why_untrusted(owned) == "the folder belongs to another user (4242)"
    monkeypatch.setattr(cache, "_package_owner", lambda: 4242)
    assert cache.why_untrusted(owned) == "", "who owns the package runs code in this process anyway"
    assert not list(troubles) and CacheFiles(str(tmp_path), "a", "stamp").load(1) == "code"


@POSIX
def test_files_are_for_their_owner_whatever_the_umask(tmp_path):
    before = os.umask(0)
    try:
        CacheFiles(str(tmp_path), "a", "stamp").save(1, "code")
    finally:
        os.umask(before)
    assert all(path.stat().st_mode & 0o777 == 0o644 for path in tmp_path.iterdir())


def test_kernels_survive_damaged_files(tmp_path):
    code = f"import memetik.problem; from tests.kernels.compiler.damage import endure; endure({str(tmp_path)!r}, 20)"
    lines = python(code, tmp_path).stderr.splitlines()
    assert len(lines) <= 2  # one for what could not be read, one for what could not be written


SCALE = """
import sys
from memetik.kernels.compiler.jit import jit
def scale(x):
    return 1234.5 * x
scale.__code__ = scale.__code__.replace(co_filename={file!r})
print(jit(scale)(2.0))
"""


def test_altered_machine_code_is_not_run(tmp_path):
    code = SCALE.format(file=__file__)
    assert python(code, tmp_path).stdout == "2469.0\n"
    (data,) = tmp_path.rglob("*.nbc")
    content, right = data.read_bytes(), struct.pack("<d", 1234.5)
    assert right in content
    data.write_bytes(content.replace(right, struct.pack("<d", 4321.5)))
    again = python(code, tmp_path)
    assert again.stdout == "2469.0\n"
    assert data.read_bytes() == content  # replaced by the same


def test_a_damaged_file_is_told(folder, troubles):
    run_kernels()
    (index,) = folder.rglob("*double*.nbi")
    index.write_bytes(b"?")
    run_kernels()
    ((what, path, why),) = set(troubles)
    assert (what, path, why) == ("read", index, "the file is damaged")
    before = len(list(troubles))
    run_kernels()
    assert len(list(troubles)) == before


def test_what_other_versions_left_is_no_damage(folder, troubles):
    """Their source stamp, or that of Numba's own files, is another one: nothing is wrong with them."""
    run_kernels()
    (index,) = folder.rglob("*double*.nbi")
    old = CacheFiles(str(index.parent), index.stem, "another stamp")
    old.save("key", "data")
    run_kernels()
    index.write_bytes(b"\x80\x04\x8c\x060.60.0\x94.rest")
    run_kernels()
    assert list(troubles) == []


def test_an_index_that_names_what_is_no_more(tmp_path, troubles):
    files = CacheFiles(str(tmp_path), "f", "stamp")
    head = files._version, files._source_stamp
    files._write(files._index_name, pickle.dumps((*head, b"cmemetik.kernels.body.forward\nNoMore\n.")))
    assert files.load("key") is None
    ((what, path, why),) = troubles
    assert (what, path.name) == ("read", "f.nbi") and "NoMore" in why
    files.save("key", 1)
    assert files.load("key") == 1


def test_a_name_taken_by_two_processes(tmp_path):
    """Both read the empty index and write a signature each: one index stays, with the data of the other."""
    first, second = (CacheFiles(str(tmp_path), "f", "stamp") for _ in range(2))
    first.save("one", 1)
    index = Path(first._index_path).read_bytes()
    Path(first._index_path).unlink()
    second.save("two", 2)
    Path(first._index_path).write_bytes(index)
    assert first.load("one") is None
    first.save("one", 1)
    assert first.load("one") == 1


# ---- Files that are written ---------------------------------------------------------------------------------


def refuse(number):
    def refused(*_, **__):
        raise OSError(number, os.strerror(number))

    return refused


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EROFS, errno.EACCES, errno.EDQUOT, errno.EIO])
@pytest.mark.parametrize(
    "place", [(Path, "write_bytes"), (Path, "replace"), (tempfile, "TemporaryFile")], ids=lambda place: place[1]
)
def test_a_disk_that_takes_nothing(place, number, folder, troubles, monkeypatch):
    kernel = jit(double)  # the folder could be written when it was made
    with monkeypatch.context() as patch:
        patch.setattr(*place, refuse(number))
        assert kernel(5.0) == 11.0
    ((what, path, why),) = troubles
    assert (what, path.parent, why) == ("written", folder, os.strerror(number))
    assert list(folder.rglob("*.*")) == []  # no drafts
    run_kernels()
    assert list(folder.rglob("*double*.nbc"))


@pytest.mark.skipif(sys.platform == "win32", reason="there is no such limit")
def test_a_disk_that_is_full_half_way(tmp_path):
    """The system ends the write after 3,000 bytes, more than an index and less than the code of a kernel."""
    code = "import resource, memetik.problem\nfrom tests.kernels.compiler.damage import run_kernels\n"
    code += "resource.setrlimit(resource.RLIMIT_FSIZE, (3000, 3000))\nrun_kernels()"
    (line,) = python(code, tmp_path).stderr.splitlines()
    assert line.startswith("memetik: the cache of compiled kernels could not be written") and str(tmp_path) in line
    assert [path.name for path in tmp_path.rglob("*") if path.is_file()] == []


def test_ctrl_c_leaves_what_was_there(folder, monkeypatch):
    def interrupt(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Path, "replace", interrupt)
        with pytest.raises(KeyboardInterrupt):
            run_kernels()
    assert list(folder.rglob("*.*")) == []
    run_kernels()
    endure(folder, 0)
