"""Stages of UsdPhysics -> Body: rigid bodies as links, joints as joints, all hanging on a root link `world`."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from memetik.body import Body, Frame, Joint, Link, Loop, Mimic
from memetik.errors import FormatError, MemetikError, said, shown, warn
from memetik.geometry import between, invert, pose_distance, to_euler, to_quaternion, transform
from memetik.geometry.checks import text
from memetik.read.usd.joint import JointReader, Move, UsdJoint
from memetik.read.usd.link import LinkReader
from memetik.read.usd.stage import Prim, Stage, open_stage, schemas
from memetik.read.usd.tree import WORLD, Tree, grow
from memetik.types import Array

ROOT = "world"
ON_AXIS = 1e-10  # m that the origin of a body may be off the axis of its joint and still count as on it
AT_REST = 1e-3  # m and rad by which the authored place of a body may miss what its joint allows


def read_usd(path: Path) -> Body:
    """The body of a USD file (.usd, .usda, .usdc, .usdz)."""
    return from_usd(open_stage(path), name=path.stem)


def from_usd(stage: Any, *, name: str | None = None, prim: str | None = None) -> Body:
    """The body of a USD stage (pxr.Usd.Stage) with the schemas of UsdPhysics, in metres and z up whatever the stage has.

    - rigid bodies become links with the frames of their prims, without scale; the root is a link `world`. A part that no joint
      holds to the world is fixed where it stands; `base="floating"` of mk.load frees it
    - prims of type Xform below a rigid body, with no geometry in them, and sites of Newton and MuJoCo become links, as frames
    - revolute, prismatic, spherical and fixed joints, and generic ones (PhysicsJoint) that turn about none, one or three axes;
      where a joint frame is off the origin of its body, a link between them has the name of the joint behind that of the body
    - joints excluded from the articulation that close loops become `body.loops`; see mk.objectives.close_loops. On a stage
      without articulations, the last joint of each loop does
    - limits, the effort of drives (maxForce), PhysX's maxJointVelocity, and mimics by the schemas of Newton and PhysX
    - masses and centres of mass that are written; cubes, spheres, cylinders, capsules and the convex hulls of meshes that
      collide as shapes, the first four that do not as visuals
    - the places of the bodies on the stage are the home posture, where the joints can have them

    prim: path of the prim below which to read, such as "/World/arm", of a stage with more than one robot; joints to what is
    outside hold to the world.

    Names are those of the prims, with as much of the path before them as it takes to tell them apart. USD keeps the
    frames of joints in single precision, so that a robot of 1 m is within about 1e-7 m of the one it was exported from.
    What a body cannot express (cones, meshes for the eye, rigid bodies that no joint holds) is named in one warning.
    """
    pxr = schemas()
    if not isinstance(stage, pxr.Usd.Stage) or not stage:
        raise FormatError(f"from_usd takes a pxr.Usd.Stage, not {shown(stage)}. Give pxr.Usd.Stage.Open(path).")
    top = stage.GetPseudoRoot()
    if prim is not None:
        path = text(prim, FormatError, "the path of a prim")
        top = stage.GetPrimAtPath(path) if pxr.Sdf.Path.IsValidPathString(path) else None
        if not top:
            raise FormatError(f"there is no prim {shown(prim)} on the stage. Give a path such as '/World/arm'.")
    given = None if name is None else text(name, FormatError, "the name of a body")
    default = stage.GetDefaultPrim()
    title = given or (top.GetName() if prim else default.GetName() if default else "") or "usd"
    try:
        reader = _Reader(Stage(stage), top)
    except MemetikError:
        raise
    except Exception as reason:  # an attribute may be of another type than its schema says
        raise FormatError(f"stage {title!r} cannot be read: {said(reason)}. Check it with usdchecker.") from reason
    body = Body(title, reader.links, reader.joints, home=reader.home, loops=reader.loops)
    if reader.left_out:
        warn(f"body {body.name!r} from USD is without {', '.join(reader.left_out)}.")
    return body


class _Reader:
    """Links, joints, loops and the home posture of what is below a prim."""

    def __init__(self, stage: Stage, top: Prim) -> None:
        self.left_out: dict[str, None] = {}
        self.home: dict[str, float] = {}
        usd, physics = stage.pxr.Usd, stage.pxr.UsdPhysics
        prims = list(usd.PrimRange(top, usd.TraverseInstanceProxies()))
        rigid = {str(prim.GetPath()): prim for prim in prims if _is_rigid(prim, physics)}
        if not rigid:
            raise FormatError(
                f"{top.GetPath()}: there is no rigid body on or below it, so there are no links. Apply the "
                f"PhysicsRigidBodyAPI to the prims that move{_hint(stage)}."
            )
        self._places = {path: stage.rigid(prim) for path, prim in rigid.items()}
        articulated = any(prim.HasAPI(physics.ArticulationRootAPI) for prim in prims)
        joints = JointReader(stage, self._places, self.left_out, articulated)
        found = [joint for prim in prims if prim.IsA(physics.Joint) and (joint := joints.read(prim)) is not None]
        used = {end.body for joint in found for end in joint.ends}
        if used:
            self._leave_loose([path for path in rigid if path not in used])
            rigid = {path: prim for path, prim in rigid.items() if path in used}
        marked = [path for path, prim in rigid.items() if prim.HasAPI(physics.ArticulationRootAPI)]
        self._tree: Tree = grow(found, list(rigid), marked)
        self._links = _short_names(list(rigid))
        self._links[WORLD] = _fresh(ROOT, self._links.values())
        self._joints = _short_names([joint.path for joint in found])
        self._taken = {*self._links.values(), *self._joints.values()}
        links = LinkReader(stage, self._places, self.left_out)
        self.links = [Link(self._links[WORLD]), *(links.read(prim, self._links[path]) for path, prim in rigid.items())]
        self.joints: list[Joint] = []
        self._frames(stage, {frame: prim for prim in rigid.values() for frame in links.frames(prim)})
        for path in self._tree.roots:
            name = self._new(f"{self._links[path]}_fixed")
            self.joints.append(Joint(name, "fixed", self._links[WORLD], self._links[path], self._places[path]))
        self._moving = {joint.path: joint for joint, _ in self._tree.joints if len(joint.moves) == 1}
        for joint, turned in self._tree.joints:
            self._joint(joint, turned)
        self.loops = [self._loop(joint) for joint in self._tree.loops]

    def _frames(self, stage: Stage, frames: dict[Prim, Prim]) -> None:
        """Links for frames on bodies, which are given by frame."""
        paths = {str(frame.GetPath()): frame for frame in frames}
        names = _short_names([*self._places, *paths])
        for path, frame in paths.items():
            body = str(frames[frame].GetPath())
            name = self._new(names[path])
            self.links.append(Link(name))
            place = invert(self._places[body]) @ stage.rigid(frame)
            self.joints.append(Joint(self._new(f"{name}_at"), "fixed", self._links[body], name, place))

    def _leave_loose(self, loose: Sequence[str]) -> None:
        if loose:
            more = f" and {len(loose) - 3} more" if len(loose) > 3 else ""
            self.left_out[f"rigid bodies that no joint holds ({', '.join(loose[:3])}{more})"] = None

    def _joint(self, joint: UsdJoint, turned: bool) -> None:
        """The joints and links of a joint of the stage: parent_from_child = parent_from_frame @ motions @ frame_from_child.

        A joint here moves about an axis through the origin of its child. What comes after the last motion is moved before it,
        turned as it is, where that holds: for slides always, for turns where the origin of the child is on the axis.
        """
        parent, child = joint.ends[::-1] if turned else joint.ends
        moves = [_backward(move) for move in reversed(joint.moves)] if turned else list(joint.moves)
        name, above, origin = self._joints[joint.path], self._links[parent.body], parent.link_from_joint
        after, below = child.link_from_joint, self._links[child.body]
        parent_from_child = invert(self._place(parent.body)) @ self._place(child.body)
        motion = invert(origin) @ parent_from_child @ after  # of all moves, as the bodies stand on the stage
        slide = motion[:3, :3].T @ motion[:3, 3] if turned else motion[:3, 3]  # backward it slides after it has turned
        reached = np.eye(4)
        home: dict[str, float] = {}
        for k, move in enumerate(moves):
            last = k == len(moves) - 1 and _is_on_axis(move, after[:3, 3], after[:3, :3] @ move.axis)
            link = below if last else self._new(f"{below}_{name}{move.suffix}")
            place, axis = (origin @ invert(after), after[:3, :3] @ move.axis) if last else (origin, move.axis)
            made = self._single(name + move.suffix, move, above, link, place, axis, self._mimic(joint))
            turn = motion[:3, :3]
            if last and move.kind == "spherical":
                turn = after[:3, :3] @ turn @ after[:3, :3].T
            values = _values(move, slide, turn)
            reached = reached @ made.transform(values)
            if made.mimic is None:
                home |= dict(zip(made.variables, values, strict=True))
            self.joints.append(made)
            if not last:
                self.links.append(Link(link))
            above, origin = link, np.eye(4)
        if above != below:
            called = name if not moves else self._new(f"{below}_fixed")
            self.joints.append(Joint(called, "fixed", above, below, origin @ invert(after)))
            reached = reached @ self.joints[-1].origin
        if max(pose_distance(reached, parent_from_child)) <= AT_REST:
            self.home |= home
        else:
            self.left_out["places of bodies on the stage that their joints cannot have"] = None

    def _single(
        self, name: str, move: Move, parent: str, child: str, origin: Array, axis: Array, mimic: Mimic | None
    ) -> Joint:
        if move.kind == "spherical":
            return Joint(name, "spherical", parent, child, origin)
        endless = math.isinf(move.lower) and math.isinf(move.upper) and mimic is None
        kind = "continuous" if endless and move.kind == "revolute" else move.kind
        return Joint(
            name, kind, parent, child, origin, axis, (move.lower,), (move.upper,), (move.velocity,), mimic=mimic,
            effort=(move.effort,),
        )  # fmt: skip

    def _mimic(self, joint: UsdJoint) -> Mimic | None:
        if joint.mimic is None:
            return None
        source, factor, offset = joint.mimic
        if source not in self._moving:
            raise FormatError(
                f"{joint.path}: it mimics {source}, which is no joint of one degree of freedom here. Correct the path, or remove "
                "the mimic."
            )
        return Mimic(self._joints[source], factor, offset)

    def _place(self, body: str) -> Array:
        return self._places[body] if body else np.eye(4)

    def _loop(self, joint: UsdJoint) -> Loop:
        """A joint that closes a loop: its axis is the z axis of both frames."""
        if len(joint.moves) > 1:
            raise FormatError(
                f"{joint.path}: it closes a loop and is free in several ways. Make it a fixed, revolute, prismatic or "
                "spherical joint."
            )
        kind = joint.moves[0].kind if joint.moves else "fixed"
        turn = np.eye(4)
        if kind in ("revolute", "prismatic"):
            turn = transform((0.0, 0.0, 0.0), between((0.0, 0.0, 1.0), joint.moves[0].axis))
            if math.isfinite(joint.moves[0].lower) or math.isfinite(joint.moves[0].upper):
                self.left_out["the limits of joints that close loops"] = None
        frame, other = (Frame(self._links[end.body], end.link_from_joint @ turn) for end in joint.ends)
        return Loop(self._joints[joint.path], frame, other, kind)

    def _new(self, name: str) -> str:
        name = _fresh(name, self._taken)
        self._taken.add(name)
        return name


def _is_rigid(prim: Prim, physics: Any) -> bool:
    """Whether a prim is a rigid body; one that is switched off is a part of the world."""
    return prim.HasAPI(physics.RigidBodyAPI) and bool(physics.RigidBodyAPI(prim).GetRigidBodyEnabledAttr().Get())


def _hint(stage: Stage) -> str:
    """What a stage without rigid bodies may be: parts of it are not loaded."""
    return "" if not stage.stage.FindLoadable() else ", and load the payloads of the stage"


def _backward(move: Move) -> Move:
    return move._replace(axis=-move.axis)


def _is_on_axis(move: Move, origin: Array, axis: Array) -> bool:
    if move.kind == "prismatic":
        return True
    off = origin if move.kind == "spherical" else origin - float(origin @ axis) * axis
    return float(np.linalg.norm(off)) <= ON_AXIS


def _values(move: Move, slide: Array, rotation: Array) -> list[float]:
    """The values of a motion whose joint slides and turns so, within its limits."""
    if move.kind == "spherical":
        return to_euler(rotation, "ZXY").tolist()  # type: ignore[no-any-return]
    if move.kind == "prismatic":
        return [min(max(float(slide @ move.axis), move.lower), move.upper)]
    w, *xyz = to_quaternion(rotation).tolist()
    angle = math.remainder(2.0 * math.atan2(float(np.array(xyz) @ move.axis), w), 2.0 * math.pi)
    near = [angle + turn for turn in (0.0, 2.0 * math.pi, -2.0 * math.pi) if move.lower <= angle + turn <= move.upper]
    return [near[0] if near else min(max(angle, move.lower), move.upper)]


def _short_names(paths: Sequence[str]) -> dict[str, str]:
    """A name for each path: its last part, with as many before it as it takes to tell them apart."""
    names: dict[str, str] = {}
    parts = {path: path.strip("/").split("/") for path in paths}
    for path, own in parts.items():
        count = 1
        while count < len(own) and any(other[-count:] == own[-count:] for key, other in parts.items() if key != path):
            count += 1
        names[path] = "/".join(own[-count:])
    return names


def _fresh(name: str, taken: Any) -> str:
    while name in taken:
        name += "_"
    return name
