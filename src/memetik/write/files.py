"""Where something is going to be written: what is wrong with the place is told before the work, not after it."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from memetik.errors import FormatError


def writable_folder(folder: str | Path) -> Path:
    """The folder, made if need be, if files can be written into it."""
    place = Path(folder)
    try:
        place.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=place):
            pass
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise FormatError(f"nothing can be written to the folder {str(place)!r}: {reason}. Name another.") from error
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
