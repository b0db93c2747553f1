"""The gallery."""

from pathlib import Path


def write(folder: Path, draw: bool) -> None: ...
