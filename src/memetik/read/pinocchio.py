"""Pinocchio models -> Body: joints with their placements, frames as links, masses, and shapes of geometry models.

A joint's value is Pinocchio's own, so limits and postures carry over number for number; `body.to_pinocchio(q, model)` and
`body.from_pinocchio(q, model)` convert joint vectors, whatever the order of the joints.
"""

from __future__ import annotations

import dataclasses
import math
from typing import Any, NamedTuple

import numpy as np

from memetik.body import Body, Joint, Link, Mimic, Shape
from memetik.errors import FormatError, MissingExtraError, shown, warn
from memetik.geometry import invert, transform
from memetik.geometry.checks import text
from memetik.types import Array

Model = Any  # pinocchio.Model
ROOT = "universe"
ENDLESS = 1e10  # rad or m; limits beyond are none


class Kind(NamedTuple):
    """A kind of joint in Pinocchio, and what it is here."""

    kind: str
    order: str = "zxy"
    moves: slice | None = None  # where the axis stands in the motion of a joint: its velocity, or its angular velocity


SLIDES, TURNS = slice(0, 3), slice(3, 6)


def _kinds() -> dict[str, Kind]:
    kinds = {
        "JointModelFreeFlyer": Kind("floating"),
        "JointModelPlanar": Kind("planar"),
        "JointModelSpherical": Kind("spherical"),
        "JointModelSphericalZYX": Kind("spherical", order="zyx"),
        "JointModelTranslation": Kind("xyz"),
    }
    families = (
        ("R", "RevoluteUnaligned", Kind("revolute", moves=TURNS)),
        ("RUB", "RevoluteUnboundedUnaligned", Kind("continuous", moves=TURNS)),
        ("P", "PrismaticUnaligned", Kind("prismatic", moves=SLIDES)),
        ("H", "HelicalUnaligned", Kind("screw", moves=TURNS)),
    )
    for short, long, kind in families:
        kinds |= {f"JointModel{name}": kind for name in (long, *(short + letter for letter in "XYZ"))}
    return kinds


KINDS = _kinds()


def from_pinocchio(model: Model, *, collision: Any = None, visual: Any = None, name: str | None = None) -> Body:
    """The body of a Pinocchio model (pinocchio.Model).

    - the bodies, operational frames and sensors of the model become links, with the tree of its frames between them; a joint
      on which no body sits gets a link named after it, with "_link" behind it
    - all joints of one kind (revolute, unbounded, prismatic, helical, planar, spherical, translation, free flyer) with position
      velocity and effort limits, and mimic joints; composite, universal and ellipsoid joints are refused by name
    - the mass of what a joint carries rigidly is that of its link
    - the reference configuration "home", or the first one, is the home posture; otherwise the neutral one is
    - `collision` and `visual` are geometry models (pinocchio.GeometryModel), which become shapes and visuals

    Joint vectors convert with `body.to_pinocchio(q, model)` and `body.from_pinocchio(q, model)`.
    """
    pin = _pinocchio()
    if not isinstance(model, pin.Model):
        raise FormatError(
            f"from_pinocchio takes a pinocchio.Model, not {type(model).__name__}. Of a wrapper give .model."
        )
    title = model.name or "pinocchio" if name is None else text(name, FormatError, "the name of a body")
    reader = _Reader(pin, model)
    reader.add_shapes(collision, "shapes")
    reader.add_shapes(visual, "visuals")
    links, joints = reader.links.values(), reader.joints
    body = Body(title, links, joints)
    home = body.clip(body.from_pinocchio(reader.home(), model))
    body = Body(title, links, joints, home=dict(zip(body.joint_names, home.tolist(), strict=True)))
    if reader.left_out:
        warn(f"body {body.name!r} from Pinocchio is without {', '.join(reader.left_out)}.")
    return body


def _pinocchio() -> Any:
    try:
        import pinocchio
    except ImportError:
        raise MissingExtraError("pin", "reading Pinocchio models") from None
    return pinocchio


class _Reader:
    """Links and joints of a model, frame after frame: each is listed after the one that it hangs on."""

    def __init__(self, pin: Any, model: Model) -> None:
        self._pin, self._model = pin, model
        self._types = pin.FrameType
        self.left_out: dict[str, None] = {}
        self.links: dict[str, Link] = {}
        self.joints: list[Joint] = []
        self._place: dict[
            str, tuple[int, Array]
        ] = {}  # of each link: the joint that moves it, and its pose seen from there
        self._link_of: dict[int, str] = {}  # by frame
        self._carriers = [self._carrier(j) for j in range(model.njoints)]  # the frame that sits on each joint, or none
        self._joint_links = [self._add_joint_link(j) for j in range(model.njoints)]
        self._taken = {*model.names, *(frame.name for frame in model.frames)}
        for i, frame in enumerate(model.frames):
            if frame.type == self._types.JOINT or i == 0:
                self._link_of[i] = self._joint_links[frame.parentJoint]
                if frame.type == self._types.JOINT:
                    self.joints.append(self._joint(frame))
            elif frame.type == self._types.FIXED_JOINT:
                self._link_of[i] = self._parent_of(frame)  # a name for what comes on it, and no link of its own
            elif i == self._carriers[frame.parentJoint]:
                self._link_of[i] = self._joint_links[frame.parentJoint]
            else:
                self._link_of[i] = self._add_frame(frame)

    def home(self) -> Array:
        """The reference configuration "home", else the first one, else the neutral configuration."""
        known = {entry.key(): entry.data() for entry in self._model.referenceConfigurations}
        if not known:
            return np.array(self._pin.neutral(self._model))
        return np.array(known.get("home", next(iter(known.values()))))

    def add_shapes(self, geometry: Any, field: str) -> None:
        """The solids of a geometry model as the `shapes` or `visuals` of links."""
        if geometry is None:
            return
        if not isinstance(geometry, self._pin.GeometryModel):
            raise FormatError(f"from_pinocchio: {shown(geometry)} is not a pinocchio.GeometryModel.")
        for solid in geometry.geometryObjects:
            shape = self._shape(solid)
            if shape is None:
                continue
            link = self._link_of.get(int(solid.parentFrame), self._joint_links[int(solid.parentJoint)])
            if self._place[link][0] != int(solid.parentJoint):
                link = self._joint_links[int(solid.parentJoint)]
            place = invert(self._place[link][1]) @ np.array(solid.placement.homogeneous) @ shape.link_from_shape
            shape = dataclasses.replace(shape, link_from_shape=place)
            old = self.links[link]
            added: dict[str, Any] = {field: (*getattr(old, field), shape)}
            self.links[link] = dataclasses.replace(old, **added)

    def _carrier(self, j: int) -> int | None:
        """The first body that sits where a joint is; a body with its name then stands for it."""
        for i, frame in enumerate(self._model.frames):
            if frame.type == self._types.BODY and frame.parentJoint == j and frame.placement.isIdentity(0.0):
                above = self._model.frames[frame.parentFrame]
                if above.type == self._types.JOINT or frame.parentFrame == 0:
                    return i
        return None

    def _add_joint_link(self, j: int) -> str:
        carrier = self._carriers[j]
        alone = ROOT if j == 0 else f"{self._model.names[j]}_link"
        name = alone if carrier is None else self._model.frames[carrier].name
        inertia = self._model.inertias[j]
        mass = max(float(inertia.mass), 0.0)
        x, y, z = np.array(inertia.lever).tolist() if mass > 0.0 else (0.0, 0.0, 0.0)
        return self._add_link(Link(self._free(name), mass, (x, y, z)), j, np.eye(4))

    def _add_link(self, link: Link, j: int, place: Array) -> str:
        self.links[link.name] = link
        self._place[link.name] = j, place
        return link.name

    def _parent_of(self, frame: Any) -> str:
        """The link that a frame hangs on, moved by the same joint."""
        parent = self._link_of[int(frame.parentFrame)]
        return parent if self._place[parent][0] == frame.parentJoint else self._joint_links[frame.parentJoint]

    def _add_frame(self, frame: Any) -> str:
        """A body, operational frame or sensor as a link on a fixed joint."""
        parent = self._parent_of(frame)
        place = np.array(frame.placement.homogeneous)
        name = self._add_link(Link(self._free(frame.name)), int(frame.parentJoint), place)
        above = self._model.frames[frame.parentFrame]
        taken = {joint.name for joint in self.joints}
        joint = above.name if above.type == self._types.FIXED_JOINT and above.name not in {ROOT, *taken} else ""
        if not joint:
            joint = f"{name}_fixed"
            while joint in self._taken or joint in taken:
                joint += "_"
        self.joints.append(Joint(joint, "fixed", parent, name, invert(self._place[parent][1]) @ place))
        return name

    def _joint(self, frame: Any) -> Joint:
        model = self._model
        j = int(frame.parentJoint)
        name, joint = model.names[j], model.joints[j].extract()
        parent = self._link_of[int(frame.parentFrame)]
        if self._place[parent][0] != model.parents[j]:
            parent = self._joint_links[model.parents[j]]
        origin = invert(self._place[parent][1]) @ np.array(model.jointPlacements[j].homogeneous)
        ends = {"name": name, "parent": parent, "child": self._joint_links[j], "origin": origin}
        if joint.shortname() == "JointModelMimic":
            return self._mimic(j, joint, ends)
        kind = self._kind(name, joint)
        more: dict[str, Any] = {"kind": kind.kind, "order": kind.order}
        if kind.moves is not None:
            more["axis"] = self._motion(j)[kind.moves]
        if kind.kind == "screw":
            more["screw_pitch"] = float(joint.pitch)
        return Joint(**ends, **more, **self._limits(joint, kind.kind))

    def _kind(self, name: str, joint: Any) -> Kind:
        if joint.shortname() not in KINDS:
            raise FormatError(
                f"Pinocchio model {self._model.name!r}: joint {name!r} is a {joint.shortname()}, which bodies do not have. "
                "Replace it by joints of one motion each."
            )
        return KINDS[joint.shortname()]

    def _mimic(self, j: int, joint: Any, ends: dict[str, Any]) -> Joint:
        """A joint that follows another one: the one whose place in the configuration it reads."""
        model = self._model
        name, scaling, offset = model.names[j], float(joint.scaling), float(joint.offset)
        source = next(k for k in range(1, model.njoints) if model.joints[k].nq and model.joints[k].idx_q == joint.idx_q)
        motion = self._motion(j)
        slides, turns = (bool(np.abs(motion[part]).max() > 0.0) for part in (SLIDES, TURNS))
        if scaling == 0.0 or model.joints[source].nq != 1 or slides == turns:
            raise FormatError(
                f"Pinocchio model {model.name!r}: joint {name!r} mimics {model.names[source]!r} in a way that bodies do not "
                "have. Build the model with mimic=False."
            )
        axis = np.sign(scaling) * motion[TURNS if turns else SLIDES]
        mimic = Mimic(model.names[source], scaling, offset)
        return Joint(**ends, kind="revolute" if turns else "prismatic", axis=axis, mimic=mimic)

    def _motion(self, j: int) -> Array:
        """Velocity and angular velocity (6,) of a joint of one degree of freedom, in its own axes."""
        joint = self._model.joints[j]
        data = joint.createData()
        joint.calc(data, self._pin.neutral(self._model))
        return np.array(data.S, dtype=float).reshape(6)

    def _limits(self, joint: Any, kind: str) -> dict[str, Any]:
        model, q, v = self._model, int(joint.idx_q), int(joint.idx_v)
        found: dict[str, Any] = {}
        rates = np.array(model.velocityLimit[v : v + joint.nv])
        efforts = np.array(model.effortLimit[v : v + joint.nv])
        if kind != "spherical" and kind != "floating":
            found["velocity"] = [rate if 0.0 < rate < ENDLESS else math.inf for rate in rates.tolist()]
            found["effort"] = [effort if 0.0 < effort < ENDLESS else math.inf for effort in efforts.tolist()]
        slides = {"floating": 3, "planar": 2}.get(kind, joint.nq if joint.nq == joint.nv else 0)
        lower, upper = (
            np.array(end[q : q + slides]).tolist() for end in (model.lowerPositionLimit, model.upperPositionLimit)
        )
        free = [math.inf] * (joint.nv - slides)
        # Limits that leave no value, such as those of joints added by hand, are none.
        ends = [(a, b) if a < b else (-math.inf, math.inf) for a, b in zip(lower, upper, strict=True)]
        low = [a if a > -ENDLESS else -math.inf for a, _ in ends]
        high = [b if b < ENDLESS else math.inf for _, b in ends]
        if kind != "continuous":
            found |= {"lower": [*low, *(-end for end in free)], "upper": [*high, *free]}
        return found

    def _shape(self, solid: Any) -> Shape | None:
        geometry = solid.geometry
        kind = type(geometry).__name__
        color = tuple(np.clip(np.array(solid.meshColor, dtype=float), 0.0, 1.0).tolist())
        if kind == "Sphere":
            return Shape("sphere", (float(geometry.radius),), color=color)
        if kind in ("Capsule", "Cylinder"):
            return Shape(kind.lower(), (float(geometry.radius), 2.0 * float(geometry.halfLength)), color=color)
        if kind == "Box":
            return Shape("box", tuple((2.0 * np.array(geometry.halfSide)).tolist()), color=color)
        if solid.meshPath and solid.meshPath not in ("SPHERE", "CAPSULE", "CYLINDER", "BOX"):
            return Shape(
                "mesh", tuple(np.array(solid.meshScale).tolist()), transform((0.0, 0.0, 0.0)), solid.meshPath, color
            )
        self.left_out[f"shapes of the kind {kind}"] = None
        return None

    def _free(self, name: str) -> str:
        while name in self.links:
            name += "_"
        return name
