"""A USD stage as places in metres, z up: what the readers of links and joints ask of it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from memetik.errors import FormatError, MissingExtraError, said, shown, warn
from memetik.geometry import rotation_matrix, transform
from memetik.read.xml import check_file
from memetik.types import Array

Prim = Any  # pxr.Usd.Prim
SHEARED = 1e-4  # cosine between the axes of a place; matrices in files are often of single precision
Z_FROM_Y_UP = np.array(((1.0, 0.0, 0.0, 0.0), (0.0, 0.0, -1.0, 0.0), (0.0, 1.0, 0.0, 0.0), (0.0, 0.0, 0.0, 1.0)))
Z_FROM_X_UP = np.array(((0.0, 0.0, -1.0, 0.0), (0.0, 1.0, 0.0, 0.0), (1.0, 0.0, 0.0, 0.0), (0.0, 0.0, 0.0, 1.0)))
Z_FROM = {"X": Z_FROM_X_UP, "Y": Z_FROM_Y_UP, "Z": np.eye(4)}


def schemas() -> Any:
    """The modules Usd, UsdGeom and UsdPhysics of usd-core, as attributes of one package."""
    try:
        import pxr
        from pxr import Tf, Usd, UsdGeom, UsdPhysics  # noqa: F401  each is loaded by its own import
    except ImportError:
        raise MissingExtraError("usd-core", "reading USD stages", "usd") from None
    return pxr


def open_stage(path: Path) -> Any:
    """The stage of a file (.usd, .usda, .usdc, .usdz)."""
    pxr = schemas()
    check_file(path)
    try:
        stage = pxr.Usd.Stage.Open(str(path.resolve()))
    except (pxr.Tf.ErrorException, RuntimeError) as error:
        reason = _words(error)
        raise FormatError(
            f"{path.name}: USD cannot read it: {reason[-300:]}. Check it with usdcat, or export it again."
        ) from None
    missing = [str(each) for each in stage.GetCompositionErrors()] if hasattr(stage, "GetCompositionErrors") else []
    if missing:
        warn(f"{path.name}: {len(missing)} of its parts cannot be composed. The first: {shown(missing[0], 300)}")
    return stage


def _words(error: Exception) -> str:
    """What USD says; it quotes files as they are, and what is in them need not be text."""
    try:
        return " ".join(said(error).split())
    except UnicodeDecodeError:
        return "it is neither text of USD nor one of its binary formats"


class Stage:
    """Places of prims. `world_from` maps the units of a prim to metres of the world, scales and all; `rigid` has none."""

    def __init__(self, stage: Any) -> None:
        self.pxr = schemas()
        geom, physics = self.pxr.UsdGeom, self.pxr.UsdPhysics
        self.stage = stage
        self.meters = float(geom.GetStageMetersPerUnit(stage))
        self.kilograms = float(physics.GetStageKilogramsPerUnit(stage))
        for what, unit in (("metersPerUnit", self.meters), ("kilogramsPerUnit", self.kilograms)):
            if not (np.isfinite(unit) and unit > 0.0):
                raise FormatError(f"the stage has {what} = {unit:g}; it must be positive, such as 1.")
        self._world_from_stage = np.diag((self.meters,) * 3 + (1.0,)) @ Z_FROM[str(geom.GetStageUpAxis(stage))]
        self._cache = geom.XformCache(self.pxr.Usd.TimeCode.Default())

    def world_from(self, prim: Prim) -> Array:
        """The place of a prim [4x4]: its axes are as long as its scale and the unit of the stage make them."""
        matrix = np.array(self._cache.GetLocalToWorldTransform(prim), dtype=float).T  # USD's vectors are rows
        if not np.isfinite(matrix).all():
            raise FormatError(f"{prim.GetPath()}: its place is not finite. Correct its xformOps.")
        return np.asarray(self._world_from_stage @ matrix)

    def rigid(self, prim: Prim) -> Array:
        """The place of a prim without its scale; an error if it is mirrored, sheared or flat."""
        found = rigid_part(self.world_from(prim))
        if found is None:
            raise FormatError(
                f"{prim.GetPath()}: its place is mirrored, sheared or flat, which no rigid body can be. Give it and the "
                "prims above it a positive scale, and move what is left into the geometry."
            )
        return found[0]

    def joint_place(self, prim: Prim | None, position: Sequence[float], turn: Any, where: str) -> Array:
        """The place of a joint frame in the world: a position in the units of a prim (none: the world), and a turn."""
        w, (x, y, z) = turn.GetReal(), turn.GetImaginary()
        values = np.array((w, x, y, z), dtype=float)
        length = float(np.linalg.norm(values))
        point = np.array((*position, 1.0), dtype=float)
        if not (np.isfinite(point).all() and np.isfinite(length) and length > 1e-6):
            raise FormatError(
                f"{where}: its frame has a position {position} and a turn {turn}, which are none. Correct them."
            )
        world_from = self._world_from_stage if prim is None else self.world_from(prim)
        rotation = Z_FROM[str(self.pxr.UsdGeom.GetStageUpAxis(self.stage))] if prim is None else self.rigid(prim)
        place = transform((0.0, 0.0, 0.0), rotation[:3, :3] @ rotation_matrix(values / length))
        place[:3, 3] = (world_from @ point)[:3]
        return place


def rigid_part(place: Array) -> tuple[Array, Array] | None:
    """A place without its scale, and the scale along each axis; None if it is mirrored, sheared or flat."""
    scale = np.linalg.norm(place[:3, :3], axis=0)
    if scale.min() < 1e-12:
        return None
    axes = place[:3, :3] / scale
    if np.abs(axes.T @ axes - np.eye(3)).max() > SHEARED or np.linalg.det(axes) < 0.0:
        return None
    left, _, right = np.linalg.svd(axes)  # the nearest rotation
    result = np.eye(4)
    result[:3, :3] = left @ right
    result[:3, 3] = place[:3, 3]
    return result, scale
