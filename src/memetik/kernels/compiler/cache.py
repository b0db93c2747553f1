"""The machine code of kernels on disk: what is damaged there counts as absent, and what cannot be written is done without.

Numba believes its cache. A file cut short by a full disk or a crash raises an error at every run, and machine code with a
flipped bit crashes the process. Here every file begins with a checksum, which is verified before anything is unpickled.
The checksum covers the name of the file, and the index names the checksum of its data files, so that a file in the place
of another one is noticed, too.

A checksum protects from accidents, not from people: who can write a file can run code in the process that unpickles it. So
a file or a folder that another user owns or may write to is not read (`why_untrusted`).

A file is replaced in one step, data before the index that names it: whoever is interrupted, or reads meanwhile, finds the
old one or the new one.

Machine code is that of the sources it was made from, whenever and wherever they were written: a stamp is a hash of them all.
"""

import contextlib
import functools
import hashlib
import itertools
import os
import pickle
import stat
import uuid
from pathlib import Path
from typing import Any

from numba.core import event
from numba.core.caching import FunctionCache, IndexDataCacheFile

from memetik.kernels.compiler.compile_time import compile_times

TROUBLE = "memetik:cache trouble"  # an event of Numba's kind; its data are "read" or "written", the path, and why

FOLDERS: set[str] = set()  # where the kernels of this process keep their machine code
# What they have loaded from there: the cache of the kernel, the signature, its key in the index of that cache.
LOADED: list[tuple[Any, Any, Any]] = []

_MARK = b"memetik1"  # what a file of this form begins with
_PICKLE = b"\x80"  # what the index of Numba itself begins with, as older versions of memetik left it
_HEAD = len(_MARK) + hashlib.sha256().digest_size


@functools.cache
def source_stamp() -> str:
    """The hash of all kernels: Numba looks at the file of the function alone, but a kernel contains the kernels it calls."""
    return hash_of_sources(Path(__file__).parents[1])


def hash_of_sources(root: Path) -> str:
    """A hash of the names and contents of all Python files below a folder."""
    sources = hashlib.sha256()
    for file in sorted(file.relative_to(root).as_posix() for file in root.rglob("*.py")):
        content = (root / file).read_bytes()
        sources.update(f"{file}\0{len(content)}\0".encode())
        sources.update(content)
    return sources.hexdigest()


class KernelCache(FunctionCache):
    """The cache of one kernel. RuntimeError if there is no folder that can be written."""

    machine_code = True  # and not parts of it (part.py)

    def __init__(self, function: Any) -> None:
        super().__init__(function)
        stamp = self._cache_file._source_stamp, source_stamp()
        self._cache_file = CacheFiles(self._cache_path, self._impl.filename_base, stamp)
        FOLDERS.add(self._cache_path)

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """The machine code for a signature; None if there is none that can be used."""
        try:
            loaded = super().load_overload(sig, target_context)
        except Exception as error:  # whatever linking strange code may raise
            tell("read", Path(self._cache_path), error)
            return None
        if loaded is not None:
            compile_times.note()
            if self.machine_code:
                LOADED.append((self, sig, self._index_key(sig, target_context.codegen())))
        return loaded

    def holds(self, sig: Any, target_context: Any) -> bool:
        """Whether there seems to be machine code for a signature."""
        files: Any = self._cache_file
        return bool(files.holds(self._index_key(sig, target_context.codegen())))

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep the machine code for a signature, if the disk takes it."""
        try:
            super().save_overload(sig, data)
        except OSError as error:  # full, read-only, no more allowed
            tell("written", Path(self._cache_path), error)
        finally:
            compile_times.note()


class CacheFiles(IndexDataCacheFile):
    """The index of one kernel, and a data file for each signature that it is compiled for."""

    def save(self, key: Any, data: Any) -> None:
        """Write the data of a signature, then the index that names it."""
        index = self._load_index()
        taken = {name for name, _ in index.values()}
        free = (self._data_name(k) for k in itertools.count(1))
        name = index[key][0] if key in index else next(name for name in free if name not in taken)
        index[key] = name, self._write(name, self._dump(data))
        self._save_index(index)

    def holds(self, key: Any) -> bool:
        """Whether there is a file for the data of a signature."""
        name, _ = self._load_index().get(key, (None, b""))
        return name is not None and self._path(name).exists()

    def load(self, key: Any) -> Any:
        """The data of a signature; None if there is none, or it is damaged."""
        name, checksum = self._load_index().get(key, (None, b""))
        if name is None:
            return None
        try:
            found = self._read(name)
            if found is None:
                return None
            if found[0] != checksum:  # whole, but of another signature: two processes took the same name
                return None
            return pickle.loads(found[1])
        except Exception as error:  # whatever unpickling strange bytes may raise
            tell("read", self._path(name), error)
            return None

    def _load_index(self) -> dict[Any, tuple[str, bytes]]:
        """Name and checksum of the data file for each signature; nothing if the index is stale or damaged."""
        try:
            found = self._read(self._index_name)
            if found is None:
                return {}
            version, stamp, index = pickle.loads(found[1])
            if (version, stamp) != (self._version, self._source_stamp):
                return {}
            # Apart, because what another version left may speak of something that this one does not have.
            known: dict[Any, tuple[str, bytes]] = pickle.loads(index)
            return known
        except Exception as error:  # whatever unpickling strange bytes may raise
            tell("read", self._path(self._index_name), error)
            return {}

    def _save_index(self, overloads: dict[Any, tuple[str, bytes]]) -> None:
        self._write(self._index_name, self._dump((self._version, self._source_stamp, self._dump(overloads))))

    def _read(self, name: str) -> tuple[bytes, bytes] | None:
        """The checksum of a file and its content; None if there is no file, or one that this version did not write."""
        try:
            with self._path(name).open("rb") as file:
                why = why_untrusted(os.fstat(file.fileno())) or why_untrusted(Path(self._cache_path).stat())
                if why:
                    raise _UntrustedFileError(why)
                whole = file.read()
        except FileNotFoundError:
            return None
        if whole.startswith(_PICKLE):
            return None
        checksum, content = whole[len(_MARK) : _HEAD], whole[_HEAD:]
        if not is_whole(name, whole):
            raise _DamagedFileError("the file is damaged")
        return checksum, content

    def _write(self, name: str, content: bytes) -> bytes:
        """Write or replace a file in one step; its checksum."""
        checksum = _checksum(name, content)
        path = self._path(name)
        draft = path.with_name(f"{name}.tmp.{uuid.uuid4().hex[:16]}")
        try:
            draft.touch(mode=0o644, exist_ok=False)  # nobody else may write to it, whatever the umask
            draft.write_bytes(b"".join((_MARK, checksum, content)))
            draft.replace(path)
        except BaseException:  # Ctrl-C as well: nobody would ever remove the draft
            with contextlib.suppress(OSError):
                draft.unlink()
            raise
        return checksum

    def _path(self, name: str) -> Path:
        return Path(self._cache_path, name)


class _DamagedFileError(Exception):
    """A file is not what was written under its name."""


class _UntrustedFileError(Exception):
    """Another user could have written a file."""


def why_untrusted(status: os.stat_result) -> str:
    """Return why a file or a folder of machine code is not to be trusted, empty if it is.

    Its owner is this user, root, or whoever owns this package, whose code runs anyway. Only the owner may write to it;
    a group may if it is the owner's private one, as where the umask is 002.
    """
    if os.name != "posix":
        return ""
    what = "folder" if stat.S_ISDIR(status.st_mode) else "file"
    if status.st_uid not in (os.geteuid(), 0, _package_owner()):
        return f"the {what} belongs to another user ({status.st_uid})"
    others = status.st_mode & stat.S_IWOTH or (
        status.st_mode & stat.S_IWGRP and not _is_private_group(status.st_uid, status.st_gid)
    )
    return f"other users may write to the {what}; run chmod go-w on it" if others else ""


@functools.cache
def _package_owner() -> int:
    return Path(__file__).stat().st_uid


@functools.cache
def _is_private_group(user: int, group: int) -> bool:
    """Whether a group has the name of a user and no other members."""
    import grp
    import pwd

    try:
        name, entry = pwd.getpwuid(user).pw_name, grp.getgrgid(group)
    except KeyError:
        return False
    return entry.gr_name == name and set(entry.gr_mem) <= {name}


def is_whole(name: str, content: bytes) -> bool:
    """Whether these bytes are what was written under a name."""
    return content.startswith(_MARK) and content[len(_MARK) : _HEAD] == _checksum(name, content[_HEAD:])


def _checksum(name: str, content: bytes) -> bytes:
    checksum = hashlib.sha256(name.encode() + b"\0")
    checksum.update(content)
    return checksum.digest()


def tell(what: str, path: Path, error: Exception) -> None:
    """Let whoever speaks to the user know of it."""
    why = getattr(error, "strerror", None) or str(error) or type(error).__name__
    event.broadcast(event.Event(TROUBLE, event.EventStatus.START, data=(what, path, why)))
