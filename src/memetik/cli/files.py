"""Where the commands write."""

from __future__ import annotations

from pathlib import Path

from memetik.errors import FormatError

OUT = Path("memetik-out")


def ready(path: Path) -> Path:
    """The same path, with its folder made."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FormatError(f"the folder {str(path.parent)!r} cannot be made: {error.strerror}.") from error
    return path
