"""Rigid bodies of a USD stage -> Link: mass, centre of mass and shapes."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any

import numpy as np

from memetik.body import Link, Shape
from memetik.errors import FormatError
from memetik.geometry import between, invert, transform
from memetik.read.usd.stage import Prim, Stage, rigid_part
from memetik.types import Array

UNEVEN = 1e-4  # relative difference of scales that still counts as one, for what stays round
SITES = ("NewtonSiteAPI", "MjcSiteAPI")  # schemas that make a frame of a prim, known to usd-core or not
FOLDERS = ("visuals", "collisions")  # prims of Isaac's importer, which are no frames even if nothing is in them
AXES = {"X": (1.0, 0.0, 0.0), "Y": (0.0, 1.0, 0.0), "Z": (0.0, 0.0, 1.0)}


class LinkReader:
    """Makes links; `left_out` collects what they cannot express."""

    def __init__(self, stage: Stage, bodies: Collection[str], left_out: dict[str, None]) -> None:
        self._stage, self._bodies, self._left_out = stage, bodies, left_out
        self._geom, self._physics = stage.pxr.UsdGeom, stage.pxr.UsdPhysics

    def read(self, prim: Prim, name: str) -> Link:
        """The link of a rigid body, whose frame is that of the prim."""
        link_from_world = invert(self._stage.rigid(prim))
        shapes: list[Shape] = []
        visuals: list[Shape] = []
        masses = [found] if (found := self._mass(prim, link_from_world)) else []
        whole = bool(masses)
        for part, collides in self._parts(prim):
            if not whole and (found := self._mass(part, link_from_world)):
                masses.append(found)
            if part.IsA(self._geom.Gprim) and not _is_site(part):
                shape = self._shape(part, link_from_world @ self._stage.world_from(part), collides)
                if shape is not None:
                    (shapes if collides else visuals).append(shape)
        mass = sum(each for each, _ in masses)
        center = sum((each * at for each, at in masses), start=np.zeros(3)) / mass if mass > 0.0 else np.zeros(3)
        x, y, z = center.tolist()
        return Link(name, mass, (x, y, z), tuple(shapes), tuple(visuals))

    def frames(self, body: Prim) -> list[Prim]:
        """What is below a body that is but a place: sites, and prims of type Xform with no geometry and no body in them."""
        return [part for part, _ in self._parts(body) if part != body and (_is_site(part) or self._is_frame(part))]

    def _is_frame(self, prim: Prim) -> bool:
        if str(prim.GetTypeName()) != "Xform" or prim.GetName() in FOLDERS:
            return False
        usd = self._stage.pxr.Usd
        below = usd.PrimRange(prim, usd.TraverseInstanceProxies())
        return not any(each.IsA(self._geom.Gprim) or str(each.GetPath()) in self._bodies for each in below)

    def _parts(self, body: Prim) -> Iterator[tuple[Prim, bool]]:
        """What is below a body and not below another one, and whether it collides."""
        every = self._stage.pxr.Usd.TraverseInstanceProxies()
        stack = [(body, False)]
        while stack:
            prim, inherited = stack.pop()
            collides = inherited
            if prim.HasAPI(self._physics.CollisionAPI):
                collides = bool(self._physics.CollisionAPI(prim).GetCollisionEnabledAttr().Get())
            if collides or not self._is_hidden(prim):
                yield prim, collides
            children = prim.GetFilteredChildren(every)
            stack += [(each, collides) for each in reversed(children) if str(each.GetPath()) not in self._bodies]

    def _is_hidden(self, prim: Prim) -> bool:
        """Whether a prim is for nobody's eyes: invisible, or a guide or a stand-in."""
        if not prim.IsA(self._geom.Imageable):
            return False
        seen = self._geom.Imageable(prim)
        return seen.ComputePurpose() in ("guide", "proxy") or seen.ComputeVisibility() == "invisible"

    def _mass(self, prim: Prim, link_from_world: Array) -> tuple[float, Array] | None:
        """The mass that a prim has by itself [kg] and its centre in the link [m]; None if nobody says."""
        if not prim.HasAPI(self._physics.MassAPI):
            return None
        api = self._physics.MassAPI(prim)
        mass = float(api.GetMassAttr().Get() or 0.0)
        if not (np.isfinite(mass) and mass >= 0.0):
            raise FormatError(f"{prim.GetPath()}: physics:mass is {mass:g}; it must be zero (unknown) or positive.")
        if mass == 0.0:
            if api.GetDensityAttr().Get():
                self._left_out["masses that follow from densities"] = None
            return None
        center = np.array(api.GetCenterOfMassAttr().Get(), dtype=float)
        if not np.isfinite(center).all():  # USD's way to say that it follows from the shapes
            center = np.zeros(3)
        place = link_from_world @ self._stage.world_from(prim)
        return mass * self._stage.kilograms, (place @ np.append(center, 1.0))[:3]

    def _shape(self, prim: Prim, place: Array, collides: bool) -> Shape | None:
        kind = str(prim.GetTypeName())
        if kind == "Mesh":
            return self._hull(prim, place, collides)
        mirrored = np.linalg.det(place[:3, :3]) < 0.0  # all of them look the same in a mirror
        found = rigid_part(place @ np.diag((-1.0, 1.0, 1.0, 1.0)) if mirrored else place)
        if found is None:
            self._left_out["shapes that are sheared or flat"] = None
            return None
        at, scale = found
        color = self._color(prim)
        if kind == "Cube":
            x, y, z = (float(self._geom.Cube(prim).GetSizeAttr().Get()) * scale).tolist()
            return Shape("box", (x, y, z), at, color=color)
        if kind == "Sphere":
            if _is_even(scale):
                return Shape(
                    "sphere", (float(self._geom.Sphere(prim).GetRadiusAttr().Get() * scale[0]),), at, color=color
                )
            self._left_out["shapes of ellipsoids"] = None
            return None
        if kind in ("Cylinder", "Capsule"):
            return self._round(prim, kind.lower(), at, scale, color)
        self._left_out[f"shapes of type {kind}"] = None
        return None

    def _round(self, prim: Prim, kind: str, at: Array, scale: Array, color: Any) -> Shape | None:
        schema = self._geom.Cylinder(prim) if kind == "cylinder" else self._geom.Capsule(prim)
        axis = str(schema.GetAxisAttr().Get())
        along = "XYZ".index(axis)
        across = np.delete(scale, along)
        if not _is_even(across if kind == "cylinder" else scale):  # caps of a stretched capsule are no half balls
            self._left_out[f"{kind}s that their scale makes oval"] = None
            return None
        turned = at @ transform((0.0, 0.0, 0.0), between((0.0, 0.0, 1.0), AXES[axis]))
        radius, height = float(schema.GetRadiusAttr().Get()), float(schema.GetHeightAttr().Get())
        return Shape(kind, (radius * float(across[0]), height * float(scale[along])), turned, color=color)

    def _hull(self, prim: Prim, place: Array, collides: bool) -> Shape | None:
        """The convex hull of a mesh that collides. A hull is no picture of a mesh: those for the eye are left out."""
        if not collides:
            self._left_out["meshes that do not collide"] = None
            return None
        points = np.array(self._geom.Mesh(prim).GetPointsAttr().Get() or [], dtype=float).reshape(-1, 3)
        if not len(points):
            self._left_out["meshes without points"] = None
            return None
        if not np.isfinite(points).all():
            raise FormatError(f"{prim.GetPath()}: points of the mesh are not finite. Export it again.")
        return Shape("hull", points=points @ place[:3, :3].T + place[:3, 3], color=self._color(prim))

    def _color(self, prim: Prim) -> tuple[float, float, float, float] | None:
        schema = self._geom.Gprim(prim)
        colors, opacity = schema.GetDisplayColorAttr().Get(), schema.GetDisplayOpacityAttr().Get()
        if not colors:
            return None
        r, g, b = np.clip(np.array(colors[0], dtype=float), 0.0, 1.0).tolist()
        return r, g, b, float(np.clip(opacity[0], 0.0, 1.0)) if opacity else 1.0


def _is_site(prim: Prim) -> bool:
    return any(str(schema) in SITES for schema in prim.GetPrimTypeInfo().GetAppliedAPISchemas())


def _is_even(scale: Array) -> bool:
    return float(scale.max() - scale.min()) <= UNEVEN * float(scale.max())
