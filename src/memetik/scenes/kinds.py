"""The kinds of wishes: every objective of the library, with its fields and the part of it that a gizmo moves."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import memetik as mk
from memetik.errors import FormatError
from memetik.scenes.fields import Field, argument, check, keys
from memetik.scenes.scene import Wish

Values = Mapping[str, Any]


@dataclass(frozen=True)
class Kind:
    """One kind of wish.

    place, turn, axis: the fields with a point, a rotation and a direction that a gizmo moves (the direction is its z).
    make: builds the objective where the names of the fields are not those of its arguments.
    """

    name: str
    about: str
    fields: tuple[Field, ...]
    place: str | None = None
    turn: str | None = None
    axis: str | None = None
    make: Callable[[mk.Body, dict[str, Any]], mk.Objective] | None = None

    @property
    def moved(self) -> tuple[str, ...]:
        """The fields that gizmos move: obstacles have one each."""
        obstacles = "obstacles" if self.name == "Distance" else None
        return tuple(name for name in (self.place, self.turn, self.axis, obstacles) if name is not None)

    def field(self, name: str) -> Field:
        """A field by its name."""
        return next(field for field in self.fields if field.name == name)

    def new(self, name: str, **values: Any) -> Wish:
        """A wish of this kind with the usual values where none are given."""
        usual = {field.name: field.default for field in self.fields}
        return self.check(Wish(self.name, name, {**usual, **values}))

    def check(self, wish: Wish) -> Wish:
        """The wish with every field filled and checked; raises FormatError."""
        where = f"objective {wish.name!r}"
        given = keys(dict(wish.values), where, [field.name for field in self.fields])
        values = {field.name: check(field, given.get(field.name, field.default), where) for field in self.fields}
        if not values["weight"] > 0.0:
            raise FormatError(f"{where}: weight is {values['weight']:g}; write a number above zero, or disable it.")
        return Wish(self.name, wish.name, values, wish.enabled)

    def objective(self, wish: Wish, body: mk.Body, world: mk.World | None = None) -> mk.Objective:
        """The objective of a checked wish."""
        arguments = {
            field.parameter or field.name: argument(field, wish.values[field.name], body) for field in self.fields
        }
        arguments["name"] = wish.name
        if arguments.pop("world", False):
            arguments["obstacles"] = mk.World() if world is None else world
        if self.make is not None:
            return self.make(body, arguments)
        made: mk.Objective = getattr(mk, self.name)(**arguments)
        return made

    def unusual(self, wish: Wish) -> dict[str, Any]:
        """The values of a wish that are not the usual ones."""
        values = {field.name: (wish.values[field.name], field.default) for field in self.fields}
        return {name: value for name, (value, usual) in values.items() if _listed(value) != _listed(usual)}

    def retarget(self, objective: mk.Objective, wish: Wish, body: mk.Body) -> None:
        """Write what a gizmo moves into an objective in place; nothing is compiled again."""
        if self.name == "Pose":
            objective.target = mk.transform(wish.values["position"], wish.values["wxyz"])  # type: ignore[attr-defined]
            return
        for name in self.moved if not wish.values.get("world") else ():  # that of a scene moves its obstacles itself
            setattr(objective, name, argument(self.field(name), wish.values[name], body))


def _listed(value: Any) -> Any:
    return [_listed(each) for each in value] if isinstance(value, (list, tuple)) else value


def _pose(body: mk.Body, given: dict[str, Any]) -> mk.Objective:
    target = mk.transform(given.pop("position"), given.pop("wxyz"))
    return mk.Pose(given.pop("frame"), target, **given)


def _distance(body: mk.Body, given: dict[str, Any]) -> mk.Objective:
    links = given.pop("links") or [link.name for link in body.links.values() if link.shapes and link.name != body.root]
    return mk.Distance(links, given.pop("obstacles"), **given)


def _self_distance(body: mk.Body, given: dict[str, Any]) -> mk.Objective:
    return mk.SelfDistance(body, given.pop("links") or None, **given)


def _relation(body: mk.Body, given: dict[str, Any]) -> mk.Objective:
    ratio, offset, source = given.pop("ratio"), given.pop("offset"), given.pop("sources")
    return mk.FunctionalRelation(given.pop("joint"), lambda value: ratio * value + offset, sources=[source], **given)


_FRAME, _RIDES = Field("frame", "frame"), Field("relative_to", "frame", optional=True)
_TARGET, _POINT = Field("target", "point", (0.0, 0.0, 0.0)), Field("point", "point", (0.0, 0.0, 0.0))
_AXIS_X, _AXIS_Z = Field("axis", "direction", (1.0, 0.0, 0.0)), Field("axis", "direction", (0.0, 0.0, 1.0))
_NORMAL = Field("normal", "direction", (0.0, 0.0, 1.0))
_SIDE = Field("side", "text", "on", choices=("on", "above"))
_JOINTS = Field("joints", "weights", {}, parameter="stiffness")
_MARGIN = Field("margin", "number", 0.005)
_TOLERANCES = ("position_tolerance", "orientation_tolerance")


def _kind(name: str, about: str, *fields: Field, tolerances: tuple[str, ...] = ("tolerance",), **gizmo: Any) -> Kind:
    """A kind whose weight, tolerances and priority are by default those of its objective."""
    usual = inspect.signature(getattr(mk, name)).parameters
    common = [Field(each, "number", usual[each].default, optional=True) for each in tolerances]
    weight = Field("weight", "number", usual["weight"].default)
    priority = Field("priority", "whole", usual["priority"].default)
    return Kind(name, about, (*fields, weight, *common, priority), **gizmo)


def _kinds() -> tuple[Kind, ...]:
    return (
        _kind("Position", "a frame reaches a point", _FRAME, _TARGET, _RIDES, place="target"),
        _kind(
            "Orientation", "a frame is turned so", _FRAME, Field("target", "rotation", (1.0, 0.0, 0.0, 0.0)), _RIDES,
            turn="target",
        ),
        _kind(
            "Pose", "a frame takes a position and an orientation", _FRAME, Field("position", "point", (0.0, 0.0, 0.0)),
            Field("wxyz", "rotation", (1.0, 0.0, 0.0, 0.0)), _RIDES, tolerances=_TOLERANCES, place="position",
            turn="wxyz", make=_pose,
        ),
        _kind("LookAt", "an axis of a frame points to a point", _FRAME, _TARGET, _AXIS_X, _RIDES, place="target"),
        _kind(
            "Direction", "an axis of a frame points along a direction", _FRAME,
            Field("target", "direction", (0.0, 0.0, 1.0)), _AXIS_Z, _RIDES, axis="target",
        ),
        _kind(
            "Cone", "an axis of a frame stays within an angle of a direction", _FRAME,
            Field("target", "direction", (0.0, 0.0, 1.0)), Field("half_angle", "number", 0.5), _AXIS_Z, _RIDES,
            axis="target",
        ),
        _kind(
            "Side", "an axis of a frame points away from a direction", _FRAME,
            Field("direction", "direction", (0.0, 0.0, -1.0)), _AXIS_Z, _RIDES, axis="direction",
        ),
        _kind(
            "MinDistance", "a frame keeps away from a point", _FRAME, _TARGET, Field("distance", "number", 0.2), _RIDES,
            place="target",
        ),
        _kind(
            "MaxDistance", "a frame stays near a point", _FRAME, _TARGET, Field("distance", "number", 0.2), _RIDES,
            place="target",
        ),
        _kind(
            "Line", "a frame lies on a line", _FRAME, _POINT, Field("direction", "direction", (1.0, 0.0, 0.0)), _RIDES,
            place="point", axis="direction",
        ),
        _kind(
            "Plane", "a frame lies on a plane or above it", _FRAME, _POINT, _NORMAL, _SIDE, _RIDES, place="point",
            axis="normal",
        ),
        _kind(
            "Touch", "a link touches a plane or stays above it", Field("link", "text"), _POINT, _NORMAL, _SIDE, _RIDES,
            place="point", axis="normal",
        ),
        _kind(
            "Distance", "links keep away from spheres, or from the world (all links if none is named)",
            Field("links", "links", ()), Field("obstacles", "spheres", ((0.4, 0.0, 0.4, 0.1),)),
            Field("world", "flag", False), _MARGIN, make=_distance,
        ),
        _kind("SelfDistance", "links keep apart", Field("links", "links", ()), _MARGIN, make=_self_distance),
        _kind(
            "Projection", "a frame rests on a surface and faces it", _FRAME,
            Field("surface", "surface", {"kind": "ground"}), Field("direction", "direction", (0.0, 0.0, -1.0)),
            Field("lift", "number", 0.5), Field("align", "flag", True), tolerances=_TOLERANCES,
        ),
        _kind(
            "Balance", "the centre of mass stays over a polygon",
            Field("polygon", "points", ((-0.1, -0.1), (0.1, -0.1), (0.1, 0.1), (-0.1, 0.1))),
            Field("margin", "number", 0.0),
        ),
        _kind(
            "Manipulability", "a frame stays away from singular postures", _FRAME, Field("least", "number", 0.05),
        ),
        _kind("GravityTorque", "motors bear the weight of the body", Field("share", "number", 1.0, parameter="effort_fraction")),
        _kind("JointValue", "a joint takes a value", Field("joint", "joint"), Field("target", "number", 0.0)),
        _kind(
            "FunctionalRelation", "a joint follows another one, ratio * value + offset", Field("joint", "joint"),
            Field("of", "joint", parameter="sources"), Field("ratio", "number", 1.0), Field("offset", "number", 0.0),
            make=_relation,
        ),
        _kind(
            "Displacement", "joints stay near the last posture, or near a reference",
            Field("reference", "posture", optional=True), _JOINTS,
        ),
        _kind("CenterJoints", "joints stay near the middle of their range", _JOINTS),
        _kind("AvoidLimits", "joints keep off their limits", Field("margin", "number", 0.1), _JOINTS),
    )  # fmt: skip


KINDS: dict[str, Kind] = {kind.name: kind for kind in _kinds()}
