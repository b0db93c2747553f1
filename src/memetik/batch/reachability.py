"""Reachability: which share of all orientations a tip can take, as a grid over its workspace."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memetik.batch.checks import positive
from memetik.errors import FormatError, MemetikError, ProblemError, shown
from memetik.files import path_of, write_whole
from memetik.geometry.checks import whole_number
from memetik.types import Array

_FORMAT = 1
_EXPECTED = {
    "corner": "it must be three finite numbers [m]",
    "position": "it must be an array of bool with three dimensions",
    "fraction": "it must be an array of numbers from 0 to 1, of the shape of position",
}


@dataclass(frozen=True, eq=False)
class Reachability:
    """A grid of voxels; what is known of each is measured at its centre."""

    body: str
    tip: str
    voxel: float  # m, the edge of a voxel
    corner: Array  # (3,) m, in the world: the corner of the grid where x, y and z are least
    position: NDArray[np.bool_]  # (nx, ny, nz) whether the tip gets there at all
    fraction: Array  # (nx, ny, nz) share of the orientations that it can take there
    orientations: int  # how many were tried

    def __post_init__(self) -> None:
        for name in ("body", "tip"):
            if not isinstance(getattr(self, name), str):
                raise ProblemError(f"reachability: {name} is {shown(getattr(self, name))}, not a name.")
        positive(self.voxel, "reachability: voxel", "[m]")
        whole_number(self.orientations, ProblemError, "reachability: orientations", least=1)
        _require(self.corner, "corner", "f", lambda array: array.shape == (3,) and np.isfinite(array).all())
        _require(self.position, "position", "b", lambda array: array.ndim == 3)
        _require(self.fraction, "fraction", "f", lambda array: array.shape == self.position.shape)
        _require(self.fraction, "fraction", "f", lambda array: ((array >= 0.0) & (array <= 1.0)).all())

    def centers(self, axis: int) -> Array:
        """The centres of the voxels along x (0), y (1) or z (2) [m]."""
        axis = whole_number(axis, ProblemError, "reachability: axis", least=0, most=2)
        return np.asarray(self.corner[axis] + self.voxel * (np.arange(self.fraction.shape[axis]) + 0.5))

    @property
    def volume(self) -> float:
        """What the tip can reach [m³]."""
        return float(self.position.sum()) * self.voxel**3

    @property
    def mean(self) -> float:
        """The share of orientations, averaged over what can be reached."""
        return float(self.fraction[self.position].mean()) if self.position.any() else 0.0

    def __str__(self) -> str:
        best = float(self.fraction.max(initial=0.0))
        return (
            f"{self.tip} of {self.body} reaches {int(self.position.sum()):,} voxels of {self.voxel:g} m, "
            f"{self.volume:.3g} m³ in all. Of {self.orientations} orientations it can take {100.0 * self.mean:.1f} % there on "
            f"average, {100.0 * best:.1f} % at best."
        )

    def save(self, path: str | Path) -> Path:
        """Write a NumPy .npz file, which `load_reachability` reads."""
        target, file = path_of(path, ProblemError, "reachability: path"), io.BytesIO()
        about = {"format": _FORMAT, "body": self.body, "tip": self.tip, "orientations": int(self.orientations)}
        arrays: dict[str, Any] = {name: getattr(self, name) for name in ("voxel", "corner", "position", "fraction")}
        np.savez_compressed(file, about=np.array(json.dumps(about)), **arrays)
        write_whole(target, file.getvalue())
        return target


def load_reachability(path: str | Path) -> Reachability:
    """Read what Reachability.save wrote."""
    place = path_of(path, ProblemError, "load_reachability: path")
    try:
        data = place.read_bytes()
    except OSError as error:
        raise FormatError(f"{path}: this is no saved reachability: {error.strerror}.") from error
    try:
        with np.load(io.BytesIO(data)) as saved:
            about = json.loads(str(saved["about"]))
            return Reachability(
                about["body"], about["tip"], float(saved["voxel"]), saved["corner"], saved["position"],
                saved["fraction"], about["orientations"],
            )  # fmt: skip
    except Exception as error:  # zipfile, zlib, numpy and json fail in ways of their own where a file is damaged
        raise FormatError(
            f"{path}: this is no saved reachability: {_reason(error)}. Compute and save it again."
        ) from error


def _reason(error: Exception) -> str:
    return str(error).rstrip(".") if isinstance(error, MemetikError) else "it is damaged, or a file of another kind"


def _require(value: object, name: str, kind: str, holds: Callable[[Any], Any]) -> None:
    """Raise unless a field is an array of a kind of numbers for which something holds."""
    if not isinstance(value, np.ndarray) or value.dtype.kind != kind or not holds(value):
        raise ProblemError(f"reachability: {name} is {_short(value)}; {_EXPECTED[name]}.")


def _short(value: object) -> str:
    if isinstance(value, np.ndarray):
        return f"an array of {value.dtype} with shape {value.shape}"
    return shown(value)
