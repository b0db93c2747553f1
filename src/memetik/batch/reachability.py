"""Reachability: which share of all orientations a tip can take, as a grid over its workspace."""

from __future__ import annotations

import json
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memetik.batch.answers import Array
from memetik.errors import FormatError

_FORMAT = 1


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

    def centers(self, axis: int) -> Array:
        """The centres of the voxels along x (0), y (1) or z (2) [m]."""
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
        target = Path(path)
        about = {"format": _FORMAT, "body": self.body, "tip": self.tip, "orientations": self.orientations}
        arrays: dict[str, Any] = {name: getattr(self, name) for name in ("voxel", "corner", "position", "fraction")}
        try:
            with target.open("wb") as file:
                np.savez_compressed(file, about=np.array(json.dumps(about)), **arrays)
        except OSError as error:
            raise FormatError(f"{target}: it cannot be written: {error.strerror}.") from error
        return target


def load_reachability(path: str | Path) -> Reachability:
    """Read what Reachability.save wrote."""
    try:
        with np.load(path) as saved:
            about = json.loads(str(saved["about"]))
            return Reachability(
                about["body"], about["tip"], float(saved["voxel"]), saved["corner"], saved["position"],
                saved["fraction"], int(about["orientations"]),
            )  # fmt: skip
    except (OSError, ValueError, KeyError, zipfile.BadZipFile) as error:
        raise FormatError(f"{path}: this is no saved reachability: {error}.") from error
