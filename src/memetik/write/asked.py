"""What every picture is asked for, checked: the body, the file, the title, the evolution."""

from __future__ import annotations

from pathlib import Path

from memetik.batch.reachability import Reachability
from memetik.body import Body
from memetik.errors import FormatError, shown
from memetik.files import path_of
from memetik.solvers.history import History


def require_body(body: object) -> None:
    """Raise unless it is a body."""
    if not isinstance(body, Body):
        raise FormatError(f"{shown(body)} is not a body that could be drawn. Give mk.load(...) and the like.")


def require_history(history: object) -> None:
    """Raise unless it is the history of an evolution."""
    if not isinstance(history, History):
        raise FormatError(f"{shown(history)} is not a history. Give the second of mk.BioIK().evolve(problem).")


def require_reachability(reach: object) -> None:
    """Raise unless it is the reachability of a tip."""
    if not isinstance(reach, Reachability):
        raise FormatError(f"{shown(reach)} is not a reachability. Give mk.reachability(body, tip).")


def file_of(path: object) -> Path:
    """Where a picture goes."""
    return path_of(path, FormatError, "the path of the picture")


def title_of(title: object) -> str:
    """The title of a picture; empty for none."""
    if title is not None and not isinstance(title, str):
        raise FormatError(f"the title of a picture is {shown(title)}. Give a text.")
    return title or ""
