"""MuJoCo models -> Body, parsed and compiled by MuJoCo itself.

A joint's value is MuJoCo's own qpos, so limits and postures carry over number for number: where a joint has a reference
value, its origin is turned back by it. A MuJoCo body with several joints becomes as many links, the last of which has its name.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from memetik.body import Body, Frame, Joint, Link, Loop, Mimic, Shape
from memetik.errors import FormatError, MissingExtraError, warn
from memetik.geometry import axis_angle, invert, transform, translation
from memetik.geometry.checks import text
from memetik.read.mjcf_bounds import check_model
from memetik.read.untrusted import compiled, distrusted
from memetik.types import Array

Model = Any  # mujoco.MjModel
WORLD = "world"
NO_COLOR = (0.5, 0.5, 0.5, 1.0)  # of a geom whose file gives none, as MuJoCo writes it


def read_mjcf(path: Path) -> Body:
    """The body of a MuJoCo file (.xml with <mujoco>, .mjcf, .mjb)."""
    mujoco, path = _mujoco(), path.absolute()  # so that meshes are found from wherever the program goes
    strangers = distrusted(path)
    if strangers is not None:
        model, folder = compiled(path.resolve(), strangers)
        return _body_of(model, path.stem, path, path.parent / folder if _names_only(mujoco, model) else None)
    if path.suffix.lower() != ".mjb":
        check_model(path)
    try:
        if path.suffix.lower() == ".mjb":
            model = mujoco.MjModel.from_binary_path(str(path))
        else:
            model = mujoco.MjModel.from_xml_path(str(path))
    except (ValueError, RuntimeError, OSError, mujoco.FatalError) as error:
        raise FormatError(f"{path.name}: MuJoCo cannot read it. {' '.join(str(error).split())}") from None
    try:
        return _body_of(model, path.stem, path, _folder_of_meshes(mujoco, model, path))
    except (UnicodeDecodeError, IndexError) as error:  # numbers and names that MuJoCo did not check in a .mjb
        raise FormatError(f"{path.name}: the model is damaged: {error}. Compile it again.") from None


def from_mujoco(model: Model, *, name: str | None = None) -> Body:
    """The body of a compiled MuJoCo model (mujoco.MjModel).

    - bodies and sites become links, `world` the root; a site whose name is taken gets "_site" behind it
    - hinge, slide, ball and free joints with ranges; joints that an <equality> couples linearly to another mimic it
    - <connect> and <weld> between bodies or sites become `body.loops`, unless they are switched off; see
      mk.objectives.close_loops
    - the effort of a joint is what its range of actuator forces leaves of the ranges of its motors, times their gears
    - geoms: those that collide are shapes, the others visuals; meshes keep the path of their file, and kinds without a simple
      shape (planes, ellipsoids, meshes that are not of a file) are left out
    - keyframes with a name become postures; "home", or the first one, is the home posture, without one the reference posture

    What a body cannot express (curved couplings, cones of ball joints) is named in one warning. Joint vectors convert
    with `body.to_qpos` and `body.from_qpos`.
    """
    if not isinstance(model, _mujoco().MjModel):
        raise FormatError(f"from_mujoco takes a mujoco.MjModel, not {type(model).__name__}. Compile the MjSpec first.")
    return _body_of(model, None if name is None else text(name, FormatError, "the name of a body"))


def _body_of(model: Model, name: str | None, file: Path | None = None, meshes: Path | None = None) -> Body:
    """The body of a model, of a file if it is of one; meshes are in the folder `meshes`, unless they say where they are."""
    reader = _Reader(_mujoco(), model, meshes)
    title = name or model.names[: model.names.index(b"\0")].decode() or "mujoco"
    body = Body(title, reader.links, reader.joints)
    home = body.clip(body.from_qpos(reader.home()))
    named = body.joint_names
    body = Body(
        title, reader.links, reader.joints, home=dict(zip(named, home.tolist(), strict=True)),
        postures={key: dict(zip(named, body.from_qpos(qpos).tolist(), strict=True)) for key, qpos in reader.postures().items()},
        loops=reader.loops(), file=file,
    )  # fmt: skip
    if reader.left_out:
        warn(f"body {body.name!r} from MuJoCo is without {', '.join(reader.left_out)}.")
    return body


def _folder_of_meshes(mujoco: Any, model: Model, path: Path) -> Path | None:
    """Where the meshes of a file are, if the model does not say; MuJoCo before 3.17 keeps what the file says of each, no more."""
    if path.suffix.lower() == ".mjb" or not _names_only(mujoco, model):
        return None
    folder: str = mujoco.MjSpec.from_file(str(path)).meshdir
    return path.parent / folder


def _names_only(mujoco: Any, model: Model) -> bool:
    """Whether a model keeps of its meshes what the file says of each, and not where they are."""
    version = tuple(int(part) for part in mujoco.__version__.split(".")[:2])
    return bool(model.nmesh) and version < (3, 17)


def _mujoco() -> Any:
    try:
        import mujoco
    except ImportError:
        raise MissingExtraError("mujoco", "reading MuJoCo models", "mujoco") from None
    return mujoco


class _Reader:
    """Links and joints of a model, body after body: MuJoCo numbers them depth-first, as bodies here are."""

    def __init__(self, mujoco: Any, model: Model, meshes: Path | None) -> None:
        self._mujoco, self._model, self._meshes = mujoco, model, meshes
        self.left_out: dict[str, None] = {}
        self._names = _unique([self._name("BODY", k) or f"body{k}" for k in range(model.nbody)])
        self._names[0] = WORLD if WORLD not in self._names[1:] else f"{WORLD}_"
        self._joint_names = _unique([self._name("JOINT", k) or f"joint{k}" for k in range(model.njnt)])
        taken = {*self._names}
        self._site_names: list[str] = []
        for k in range(model.nsite):
            site = self._name("SITE", k) or f"site{k}"
            while site in taken:
                site += "_site"
            taken.add(site)
            self._site_names.append(site)
        self._taken = taken
        self._mimics = self._couplings()
        self.links: list[Link] = [self._link(0)]
        self.joints: list[Joint] = []
        self._sites(0)
        for k in range(1, model.nbody):
            self._body(k)
        if model.ntendon and any(model.eq_type == mujoco.mjtEq.mjEQ_TENDON):
            self.left_out["couplings of tendons"] = None

    def postures(self) -> dict[str, Array]:
        """The qpos of every keyframe that has a name."""
        keys = {self._name("KEY", k): np.array(self._model.key_qpos[k]) for k in range(self._model.nkey)}
        return {name: qpos for name, qpos in keys.items() if name}

    def home(self) -> Array:
        """The qpos of the keyframe "home", else of the first one, else of the reference posture."""
        model = self._model
        if not model.nkey:
            return np.array(model.qpos0)
        keys = [self._name("KEY", k) for k in range(model.nkey)]
        return np.array(model.key_qpos[keys.index("home") if "home" in keys else 0])

    def _name(self, kind: str, k: int) -> str:
        return self._mujoco.mj_id2name(self._model, getattr(self._mujoco.mjtObj, f"mjOBJ_{kind}"), k) or ""

    def _link(self, k: int) -> Link:
        model = self._model
        mass = float(model.body_mass[k])
        x, y, z = np.array(model.body_ipos[k]).tolist()
        shapes: list[Shape] = []
        visuals: list[Shape] = []
        for g in range(int(model.body_geomadr[k]), int(model.body_geomadr[k]) + int(model.body_geomnum[k])):
            shape = self._shape(g)
            if shape is not None:
                collides = bool(model.geom_contype[g] or model.geom_conaffinity[g])
                (shapes if collides else visuals).append(shape)
        return Link(self._names[k], mass, (x, y, z), tuple(shapes), tuple(visuals))

    def _shape(self, g: int) -> Shape | None:
        kinds, model = self._mujoco.mjtGeom, self._model
        kind, size = int(model.geom_type[g]), np.array(model.geom_size[g])
        place = transform(model.geom_pos[g], model.geom_quat[g])
        color = self._color(g)
        if kind == kinds.mjGEOM_SPHERE:
            return Shape("sphere", (float(size[0]),), place, color=color)
        if kind in (kinds.mjGEOM_CAPSULE, kinds.mjGEOM_CYLINDER):
            name = "capsule" if kind == kinds.mjGEOM_CAPSULE else "cylinder"
            return Shape(name, (float(size[0]), 2.0 * float(size[1])), place, color=color)
        if kind == kinds.mjGEOM_BOX:
            x, y, z = (2.0 * size).tolist()
            return Shape("box", (x, y, z), place, color=color)
        if kind == kinds.mjGEOM_MESH and (found := self._mesh(g, place)) is not None:
            return replace(found, color=color)
        names = {kinds.mjGEOM_PLANE: "planes", kinds.mjGEOM_MESH: "meshes", kinds.mjGEOM_ELLIPSOID: "ellipsoids"}
        self.left_out[f"shapes of {names.get(kind, 'other kinds')}"] = None
        return None

    def _color(self, g: int) -> tuple[float, float, float, float]:
        """Of the geom, or of its material where it has none of its own."""
        model, material = self._model, int(self._model.geom_matid[g])
        own = np.array(model.geom_rgba[g], dtype=float)
        if material >= 0 and np.array_equal(own, NO_COLOR):
            own = np.array(model.mat_rgba[material], dtype=float)
        r, green, b, a = np.clip(own, 0.0, 1.0).tolist()
        return r, green, b, a

    def _mesh(self, g: int, place: Array) -> Shape | None:
        """The mesh of a geom as its file has it; None if it is not of a file.

        MuJoCo moves the corners v of a file into the principal axes of the mesh, T^-1 v, and the geom with them.
        """
        model, mesh = self._model, int(self._model.geom_dataid[g])
        address = int(model.mesh_pathadr[mesh]) if mesh >= 0 else -1
        if address < 0:
            return None
        file = bytes(model.paths[address : model.paths.index(b"\0", address)]).decode(errors="replace")
        if self._meshes is not None:
            file = str(self._meshes / file)
        x, y, z = np.array(model.mesh_scale[mesh], dtype=float).tolist()
        axes_from_file = invert(transform(model.mesh_pos[mesh], model.mesh_quat[mesh]))
        return Shape("mesh", (x, y, z), place @ axes_from_file, mesh=file)

    def _body(self, k: int) -> None:
        """The joints that move a body, the links between them, the body itself, and its sites."""
        model = self._model
        parent = self._names[int(model.body_parentid[k])]
        place = transform(model.body_pos[k], model.body_quat[k])
        first, count = int(model.body_jntadr[k]), int(model.body_jntnum[k])
        moving = [j for j in range(first, first + count) if first >= 0]
        name = self._names[k]
        at = np.zeros(3)  # where the frame of the last link is, seen from the body's own
        for number, j in enumerate(moving):
            free = int(model.jnt_type[j]) == self._mujoco.mjtJoint.mjJNT_FREE
            anchor = np.zeros(3) if free else np.array(model.jnt_pos[j], dtype=float)
            origin = np.eye(4) if free else place @ translation(*(anchor - at))
            last = number == len(moving) - 1 and not anchor.any()
            child = name if last else self._fresh(f"{name}_{self._joint_names[j]}")
            self.joints.append(self._joint(j, parent, child, origin))
            if not last:
                self.links.append(Link(child))
            parent, place, at = child, np.eye(4), anchor
        if parent != name:
            self.joints.append(
                Joint(self._fresh(f"{name}_fixed"), "fixed", parent, name, origin=place @ translation(*-at))
            )
        self.links.append(self._link(k))
        self._sites(k)

    def _joint(self, j: int, parent: str, child: str, origin: Array) -> Joint:
        kinds, model = self._mujoco.mjtJoint, self._model
        name, kind = self._joint_names[j], int(model.jnt_type[j])
        if kind == kinds.mjJNT_FREE:
            return Joint(name, "floating", parent, child, origin=origin)
        limited = bool(model.jnt_limited[j])
        if kind == kinds.mjJNT_BALL:
            if limited:
                self.left_out["the cones of ball joints"] = None
            return Joint(name, "spherical", parent, child, origin=origin)
        axis = np.array(model.jnt_axis[j], dtype=float)
        low, high = np.array(model.jnt_range[j], dtype=float).tolist() if limited else (-math.inf, math.inf)
        reference = float(model.qpos0[int(model.jnt_qposadr[j])])
        mimic, effort = self._mimics.get(j), (self._effort(j),)
        if kind == kinds.mjJNT_SLIDE:
            origin = origin @ translation(*(-reference * axis))
            return Joint(name, "prismatic", parent, child, origin, axis, (low,), (high,), mimic=mimic, effort=effort)
        origin = origin @ transform((0.0, 0.0, 0.0), axis_angle(axis, -reference))
        turning = "revolute" if limited or mimic is not None else "continuous"
        return Joint(name, turning, parent, child, origin, axis, (low,), (high,), mimic=mimic, effort=effort)

    def _sites(self, k: int) -> None:
        model = self._model
        for s in np.flatnonzero(np.array(model.site_bodyid) == k).tolist():
            place = transform(model.site_pos[s], model.site_quat[s])
            name = self._site_names[s]
            self.links.append(Link(name))
            self.joints.append(Joint(self._fresh(f"{name}_at"), "fixed", self._names[k], name, origin=place))

    def _couplings(self) -> dict[int, Mimic]:
        """Joints that an <equality> couples: q1 - q1_0 = c0 + c1 (q2 - q2_0)."""
        model, kinds = self._model, self._mujoco.mjtEq
        found: dict[int, Mimic] = {}
        for e in range(model.neq):
            kind = int(model.eq_type[e])
            if kind == kinds.mjEQ_JOINT:
                one, other = int(model.eq_obj1id[e]), int(model.eq_obj2id[e])
                c = np.array(model.eq_data[e][:5], dtype=float)
                if other < 0 or c[2:].any() or one in found:
                    self.left_out["couplings that are curved or hold one joint"] = None
                    continue
                zero, source_zero = (float(model.qpos0[int(model.jnt_qposadr[j])]) for j in (one, other))
                offset = zero + float(c[0]) - float(c[1]) * source_zero
                found[one] = Mimic(self._joint_names[other], float(c[1]), offset)
        return found

    def loops(self) -> list[Loop]:
        """What <connect> and <weld> hold together: anchors on both bodies, or two sites.

        The numbers of a connection are its anchors on both bodies; those of a weld the anchor on the second, and the place
        and rotation on the first that it has to have.
        """
        model, kinds = self._model, self._mujoco.mjtEq
        found: list[Loop] = []
        for e in range(model.neq):
            if int(model.eq_type[e]) not in (kinds.mjEQ_CONNECT, kinds.mjEQ_WELD) or not model.eq_active0[e]:
                continue
            weld = int(model.eq_type[e]) == kinds.mjEQ_WELD
            data = np.array(model.eq_data[e], dtype=float)
            ids = int(model.eq_obj1id[e]), int(model.eq_obj2id[e])
            if int(model.eq_objtype[e]) == self._mujoco.mjtObj.mjOBJ_SITE:
                one, other = (Frame(self._site_names[k]) for k in ids)
            else:
                places = [transform(data[:3]), transform(data[3:6])]
                if weld:
                    places = [transform(data[3:6], data[6:10]), transform(data[:3])]
                one, other = (Frame(self._names[k], place) for k, place in zip(ids, places, strict=True))
            name = self._name("EQUALITY", e) or f"loop{e}"
            found.append(Loop(name, one, other, "fixed" if weld else "spherical"))
        return found

    def _effort(self, j: int) -> float:
        """What the motors of a joint have at most [N m or N], infinite if nobody says."""
        model, kinds = self._model, self._mujoco
        most = math.inf
        if model.jnt_actfrclimited[j]:
            most = float(np.abs(model.jnt_actfrcrange[j]).max())
        motors = []
        for a in np.flatnonzero(np.array(model.actuator_trnid)[:, 0] == j).tolist():
            if int(model.actuator_trntype[a]) not in (kinds.mjtTrn.mjTRN_JOINT, kinds.mjtTrn.mjTRN_JOINTINPARENT):
                continue
            force = float(np.abs(model.actuator_forcerange[a]).max()) if model.actuator_forcelimited[a] else math.inf
            plain = int(model.actuator_biastype[a]) == kinds.mjtBias.mjBIAS_NONE
            if (
                model.actuator_ctrllimited[a]
                and plain
                and int(model.actuator_gaintype[a]) == kinds.mjtGain.mjGAIN_FIXED
            ):
                force = min(force, float(np.abs(model.actuator_ctrlrange[a]).max() * abs(model.actuator_gainprm[a][0])))
            motors.append(force * abs(float(model.actuator_gear[a][0])))
        most = min(most, sum(motors)) if motors else most
        return most if most > 0.0 else math.inf

    def _fresh(self, name: str) -> str:
        while name in self._taken or name in self._joint_names:
            name += "_"
        self._taken.add(name)
        return name


def _unique(names: Sequence[str]) -> list[str]:
    """The names, with a number behind those that come again."""
    found: list[str] = []
    for k, name in enumerate(names):
        found.append(name if name not in found else f"{name}_{k}")
    return found
