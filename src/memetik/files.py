"""Files: paths that can be paths, places that can be written to, and files that are there whole or not at all."""

from __future__ import annotations

import contextlib
import os
import sys
import tempfile
import uuid
import zipfile
from pathlib import Path
from typing import Any

import numpy as np

from memetik.errors import FormatError, MemetikError, shown

__all__ = ["arrays_in", "cache_folder", "is_writable", "path_of", "writable_file", "writable_folder", "write_whole"]


def path_of(value: object, error: type[MemetikError], what: str) -> Path:
    """`value` as a path; an error that begins with `what` where it cannot be one."""
    if not isinstance(value, (str, os.PathLike)) or not str(value):
        raise error(f"{what} is {shown(value)}. Give a path as a string or a pathlib.Path.")
    try:
        path = Path(value)
        resolved = path.resolve()
        special = resolved.exists() and not (resolved.is_file() or resolved.is_dir())  # exists: names may be too long
    except (OSError, ValueError, RuntimeError, TypeError) as reason:
        raise error(f"{what} is {shown(value)}, which cannot be used as a path: {_reason(reason)}.") from reason
    if special:  # reading a pipe waits for somebody to write, a device may have no end
        raise error(f"{what} is {shown(value)}, a pipe or a device. Give the path of a file.")
    return path


def cache_folder() -> Path:
    """Where this user's programs keep what they can make again, by the customs of the system; it may not exist yet."""
    home = Path.home()
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or home / "AppData" / "Local") / "memetik"
    if sys.platform == "darwin":
        return home / "Library" / "Caches" / "memetik"
    return Path(os.environ.get("XDG_CACHE_HOME") or home / ".cache") / "memetik"


def is_writable(file: Path) -> bool:
    """Whether a file could be written here, in a folder that exists."""
    try:
        return os.access(file.parent, os.W_OK) and (not file.exists() or os.access(file, os.W_OK))
    except OSError:
        return False


def writable_folder(folder: str | Path) -> Path:
    """The folder, made if need be, if files can be written into it: told before the work, not after it."""
    place = Path(folder)
    try:
        place.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=place):
            pass
    except (OSError, ValueError) as error:
        raise FormatError(
            f"nothing can be written to the folder {str(place)!r}: {_reason(error)}. Name another."
        ) from error
    return place


def writable_file(path: str | Path, *suffixes: str) -> Path:
    """The path, its folder made if need be, if a file with one of these endings (any if none is named) can be written."""
    file = Path(path)
    if suffixes and file.suffix.lower() not in suffixes:
        better = file.stem + suffixes[0]
        raise FormatError(f"{file.name!r} has to end in {' or '.join(suffixes)}. Name it {better!r}.")
    writable_folder(file.parent)
    if file.is_dir():
        raise FormatError(f"{str(file)!r} is a folder. Name a file in it.")
    if file.exists() and not os.access(file, os.W_OK):
        raise FormatError(f"the file {str(file)!r} is there and cannot be written. Name another, or delete it.")
    return file


def arrays_in(path: Path, most: int) -> dict[str, Any]:
    """The arrays of an .npz by name, read without running any code of it; FormatError if they take more than `most` bytes.

    A damaged file raises whatever its part of Python does, as a rule ValueError, OSError or zipfile.BadZipFile.
    """
    with zipfile.ZipFile(path) as archive:
        if sum(item.file_size for item in archive.infolist()) > most:
            raise FormatError(f"{path.name} unpacks to more than {most >> 20} MB, which is too much.")
    with np.load(path, allow_pickle=False) as file:
        found = {name: file[name] for name in file.files}
    for name, array in found.items():
        if not isinstance(array, np.ndarray):  # NumPy hands over the bytes of what does not begin as an array
            raise ValueError(f"{name!r} is no array")
        if array.dtype.kind == "U" and array.nbytes:
            codes = np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("=")).view(np.uint32)
            if codes.max() > sys.maxunicode:  # NumPy makes texts of them that Python cannot handle
                raise ValueError(f"{name!r} holds what is no text")
    return found


def write_whole(path: Path, data: bytes) -> None:
    """Write under another name, and rename when all is on the disk. Who is stopped in the middle leaves nothing wrong."""
    if not path.name or path.is_dir():
        raise FormatError(f"{str(path)!r} is a folder. Name a file in it.")
    half = path.with_name(f".{path.name}.{uuid.uuid4().hex}.tmp")
    try:
        with half.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        half.replace(path)
    except BaseException as error:
        with contextlib.suppress(OSError):  # what failed first is what has to be told
            half.unlink()
        if isinstance(error, OSError):
            raise FormatError(f"{path}: it cannot be written: {_reason(error)}.") from error
        raise


def _reason(error: Exception) -> str:
    return str(getattr(error, "strerror", None) or error).rstrip(".")
