"""A note in the footer of a Parquet file that says what the file is, with a checksum of the whole file.

The note is JSON in the file's key-value metadata, under the key `memetik`:

    {"checksum": "32 hexadecimal digits", "job": ..., "part": ..., "shard": ..., "first": ..., "rows": ..., ...}

The checksum is BLAKE2b (16 bytes) of all bytes of the file, with zeros in place of its own digits. A footer holds its strings
as they are, so the note is found and the file verified without decoding anything: a damaged file never reaches a decoder.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

from memetik.errors import FormatError

KEY = b"memetik"
_SIZE = 16  # bytes of a digest
_ZEROS = b"0" * (2 * _SIZE)
_BEGIN = b'{"checksum": "'
_TAIL = b"0000PAR1"  # how a Parquet file ends: the length of the footer, and what it is
_NOTE = re.compile(re.escape(_BEGIN) + rb'([0-9a-f]{32})"[^{}]*\}')


class Sealed(NamedTuple):
    """What a file says of itself."""

    note: dict[str, Any]  # empty where there is none
    intact: bool  # whether the checksum is that of the contents


def digest_of(parts: Iterable[bytes | memoryview]) -> str:
    """The digest of all parts, one after another."""
    digest = hashlib.blake2b(digest_size=_SIZE)
    for part in parts:
        digest.update(part)
    return digest.hexdigest()


def digest_of_data(value: Any) -> str:
    """A digest of plain data, the same on every machine."""
    return digest_of([json.dumps(value, sort_keys=True).encode()])


def read_if_there(path: Path, advice: str) -> bytes | None:
    """The contents of a file, None if there is no such file."""
    try:
        return path.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise FormatError(f"{path}: it cannot be read: {error.strerror}. {advice}") from error


def unsealed_note(fields: dict[str, Any]) -> bytes:
    """The note to write into a file, with zeros for the checksum; the fields are numbers and plain names."""
    return json.dumps({"checksum": _ZEROS.decode(), **fields}).encode()


def seal(data: bytes) -> bytes:
    """The same file with its checksum."""
    begin = data.rindex(_BEGIN + _ZEROS) + len(_BEGIN)
    return data[:begin] + _checksum(data, begin) + data[begin + len(_ZEROS) :]


def read_seal(data: bytes) -> Sealed:
    """The note of a file and whether the file is as it was written."""
    found = _NOTE.match(data, max(data.rfind(_BEGIN), 0))
    if found is None:
        return Sealed({}, False)
    try:
        note = json.loads(found[0])
    except ValueError:
        return Sealed({}, False)
    return Sealed(note, _checksum(data, found.start(1)) == found[1])


def read_note(path: Path) -> dict[str, Any]:
    """The note in the footer of a Parquet file, unverified; empty where there is none. The rest of the file is not read."""
    try:
        with path.open("rb") as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(max(size - len(_TAIL), 0))
            footer = int.from_bytes(file.read(4), "little") + len(_TAIL)
            file.seek(max(size - footer, 0))
            return read_seal(file.read()).note
    except OSError:
        return {}


def _checksum(data: bytes, begin: int) -> bytes:
    """The digest of all bytes, with zeros where the digits of the checksum begin."""
    view = memoryview(data)
    return digest_of([view[:begin], _ZEROS, view[begin + len(_ZEROS) :]]).encode()
