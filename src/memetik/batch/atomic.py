"""Files that are there whole or not at all."""

from __future__ import annotations

import os
import uuid
from pathlib import Path

from memetik.errors import FormatError


def write_whole(path: Path, data: bytes) -> None:
    """Write under another name, and rename when all is on the disk. Who is stopped in the middle leaves nothing wrong."""
    half = path.with_name(f".{path.name}.{uuid.uuid4().hex}.tmp")
    try:
        with half.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        half.replace(path)
    except OSError as error:
        raise FormatError(f"{path}: it cannot be written: {error.strerror}.") from error
    finally:
        half.unlink(missing_ok=True)
