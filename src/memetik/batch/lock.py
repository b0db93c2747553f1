"""One job at a time in a folder, also where several machines share it.

Who works in a folder holds the file `running.lock` in it, which names the host, the process and a token. It is created with
O_EXCL, which exactly one process of all machines can do, and is touched every few seconds. Locks of the system (flock) are
not used: on network file systems some do nothing, and others stay when a machine is lost.

A lock whose process has ended counts as none: on the same machine that is seen at once, by the process and when it began;
from another machine when it was not touched for LEASE seconds by the clock of the file system, so clocks need not agree.
Whoever removes such a lock holds a second file meanwhile, named by the token, so that a newer lock is never removed.
A process that was stopped for so long that its lock was taken finds another token there, and writes nothing more.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import socket
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from memetik.errors import FormatError, ProblemError, warn

NAME = "running.lock"
LEASE = 60.0  # s without a touch until a lock counts as left behind; network file systems may tell of one half as late
TOUCH = 10.0  # s between touches
TOKEN, GARBLED = re.compile("[0-9a-f]{32}"), "garbled"
TRIES = 10  # at a lock that others take and release meanwhile

_held: set[str] = set()  # the tokens of this process


@contextlib.contextmanager
def held(folder: Path) -> Iterator[Callable[[], None]]:
    """Hold the folder. Gives a function that raises if it is no longer held, to call before anything is written."""
    lock, token, ended = folder / NAME, uuid.uuid4().hex, threading.Event()

    def require() -> None:
        if _read(lock).get("token") != token:
            raise ProblemError(
                f"files: {lock} was taken by another run, because this one was not heard of for {LEASE:g} s. Its "
                "shards are kept; start it again when the other has ended."
            )

    def touch() -> None:
        while not ended.wait(TOUCH):
            with contextlib.suppress(OSError):
                if _read(lock).get("token") == token:
                    os.utime(lock)

    _held.add(token)
    try:
        _acquire(lock, token)
        threading.Thread(target=touch, name="memetik-lock", daemon=True).start()
        yield require
    finally:
        ended.set()
        _held.discard(token)
        try:
            if _read(lock).get("token") == token:
                lock.unlink(missing_ok=True)
        except OSError as error:  # what was done is done, and the lock counts for nothing
            warn(f"files: {lock} cannot be removed: {error.strerror}. It holds nobody back; delete it.")


def _acquire(lock: Path, token: str) -> None:
    """Create the lock."""
    holder = {"token": token, "host": socket.gethostname(), "pid": os.getpid(), **_here(os.getpid())}
    for _ in range(TRIES):
        if _create(lock, json.dumps(holder).encode()):
            return
        found = _read(lock)
        if _is_left_behind(lock, found):
            _remove(lock, found.get("token", GARBLED))
        elif lock.exists():
            raise ProblemError(
                f"files: another run works in {lock.parent}: process {found.get('pid')} on {found.get('host')}. Wait "
                f"until it has ended, or choose another folder. If it has died, its lock ends within {LEASE:g} s."
            )
    raise ProblemError(f"files: {lock} is taken again and again by others. Choose another folder.")


def _create(path: Path, data: bytes) -> bool:
    """Create a file unless there is one."""
    try:
        with path.open("xb") as file:
            file.write(data)
    except FileExistsError:
        return False
    except OSError as error:
        path.unlink(missing_ok=True)
        raise FormatError(f"{path}: it cannot be written: {error.strerror}.") from error
    return True


def _read(lock: Path) -> dict[str, Any]:
    """Who holds a lock; empty if nobody does, or it is not written yet or garbled."""
    try:
        holder = json.loads(lock.read_bytes())
        return holder if TOKEN.fullmatch(holder["token"]) else {}
    except (OSError, ValueError, TypeError, KeyError, RecursionError):
        return {}


def _is_left_behind(lock: Path, holder: dict[str, Any]) -> bool:
    """Whether the process that created a lock has ended, as far as can be told."""
    here = _here(holder.get("pid"))
    if here and holder.get("system") == here["system"]:
        left_here = holder.get("pid") == os.getpid() and holder.get("token") not in _held
        return holder.get("began") != here["began"] or left_here
    age = _age(lock)
    return age is not None and age > LEASE


def _remove(lock: Path, token: str) -> None:
    """Remove the lock with this token and no other."""
    claim = lock.with_name(f"{NAME}.{token}")
    if not _create(claim, b""):
        age = _age(claim)
        if age is not None and age > LEASE:  # who removed the lock has died before it could
            claim.unlink(missing_ok=True)
        time.sleep(0.01)
        return
    try:
        if _read(lock).get("token", GARBLED) == token:
            lock.unlink(missing_ok=True)
    finally:
        claim.unlink(missing_ok=True)


def _age(path: Path) -> float | None:
    """Seconds since a file was touched, by the clock of its file system; None if it is gone."""
    probe = path.with_name(f".{NAME}.{uuid.uuid4().hex}")
    try:
        probe.touch(exist_ok=False)
        with path.open("rb") as file:  # opening asks a network file system again
            return probe.stat().st_mtime - os.fstat(file.fileno()).st_mtime
    except FileNotFoundError:
        return None
    except OSError as error:
        raise FormatError(f"{path}: it cannot be read: {error.strerror}.") from error
    finally:
        probe.unlink(missing_ok=True)


def _here(pid: object) -> dict[str, str]:
    """Where processes are numbered, and when the one with this number began, empty if it has ended; nothing if the system
    does not say."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        system = f"{boot} {Path('/proc/self/ns/pid').stat().st_ino}"  # containers number their own
    except OSError:
        return {}
    try:
        began = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19]
    except (OSError, IndexError):
        began = ""
    return {"system": system, "began": began}
