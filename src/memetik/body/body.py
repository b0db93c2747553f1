"""Body: a tree of links and joints, and the questions a user asks of it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from memetik.body import conversion
from memetik.body.conversion import MUJOCO, PINOCCHIO
from memetik.body.flatten import Flat, flatten
from memetik.body.joint import Joint
from memetik.body.link import Frame, Link, all_of
from memetik.body.loop import Loop, checked_loops
from memetik.body.poses import Chain, LinkPoses
from memetik.body.rows import Axes, jacobians_of, poses_of, singular_of
from memetik.body.table import table
from memetik.body.tree import walk
from memetik.body.variables import resolve
from memetik.body.variations import Variations
from memetik.errors import BodyError, known, shown
from memetik.files import path_of
from memetik.geometry import TransformLike, as_transform
from memetik.geometry.checks import frozen, mapping, real_array, real_number, several, text, three_finite
from memetik.geometry.transform import frozen_transform
from memetik.kernels.body.forward import frame_matrices
from memetik.kernels.body.jacobian import frame_jacobian
from memetik.rich import Rich
from memetik.types import Array

if TYPE_CHECKING:
    from memetik.solution import Solution
    from memetik.solvers.budget import Budget

_FLOAT = np.dtype(np.float64)


def _checked_root(root: TransformLike) -> Array:
    return frozen_transform(root, BodyError, "bad root", name="root")


class Body(Variations, Rich):
    """An articulated body. It never changes: every method that alters something returns a new body.

    A joint vector q has one number for each of `joint_names`, the free variables, depth-first from the root. Fixed and
    mimic joints have none; a joint of several degrees of freedom has several, named `joint.x`, `joint.rz`, and so on.
    """

    def __init__(
        self,
        name: str,
        links: Iterable[Link],
        joints: Iterable[Joint],
        *,
        home: Mapping[str, float] | None = None,
        chains: Mapping[str, Chain] | None = None,
        touching: Iterable[Iterable[str]] = (),
        postures: Mapping[str, Mapping[str, float]] | None = None,
        loops: Iterable[Loop] = (),
        file: str | PathLike[str] | None = None,
        parts: Mapping[str, str] | None = None,
        read_as: str = "",
    ) -> None:
        """`home` gives the resting posture by variable name (the rest: zero, or the limit nearest to it); `touching`
        are pairs of links whose contact does not count as a collision; `postures` are named ones, each by variable name, whole
        or in part; `loops` are joints that close loops of the tree, which mk.objectives.close_loops turns into objectives;
        `file` is the model file it was read from; `parts` are links of a human-like figure by what they are, with the names
        of the VRM humanoid in snake case, {"left_upper_arm": "J_Bip_L_UpperArm"}, where a file says so (the map of a .vrm);
        `read_as` says how a file without units was understood, such as "y up, 1 unit = 0.01 m (guessed)"."""
        if not isinstance(name, str):
            raise BodyError(f"the name of a body is {shown(name)}. Give a text.")
        self.name = name
        given = all_of(links, Link, "links of a body", "mk.build.Link(...)")
        self.file = None if file is None else path_of(file, BodyError, "the file of a body").absolute()
        self.root, ordered = walk(given, all_of(joints, Joint, "joints of a body", "mk.build.Joint(...)"))
        self.links = {link.name: link for link in given}
        self.joints = {joint.name: joint for joint in ordered}
        self.variables = resolve(ordered)
        self._index = {name: k for k, name in enumerate(self.variables.names)}
        self._link_rows = {link: k for k, link in enumerate(self.links)}
        self._flat = flatten(self.root, ordered, self.variables)
        self._link_frames = self._flat.frames(Frame(link) for link in self.links)
        self.chains: dict[str, Chain] = mapping(
            chains, BodyError, "chains", "{'arm': mk.body.Chain('base', ('hand',))}"
        )
        for key, chain in self.chains.items():
            self._check_chain(key, chain)
        pairs = several(touching, BodyError, "touching", "[('hand', 'arm')]")
        self.touching = frozenset(frozenset(self._known_links(pair, "a pair of touching links")) for pair in pairs)
        self.loops = checked_loops(loops, self.links, name)
        figure = mapping(parts, BodyError, "parts", "{'left_hand': 'wrist'}")
        self.parts = {
            text(part, BodyError, "a part's name"): self._known_links((link,), "a part")[0]
            for part, link in figure.items()
        }
        if not isinstance(read_as, str):
            raise BodyError(f"read_as is {shown(read_as)}. Give a text.")
        self.read_as = read_as
        self.home = self._home(mapping(home, BodyError, "home", "{'joint_1': 0.5}"))
        named = mapping(postures, BodyError, "postures", "{'ready': {'joint_1': 0.5}}")
        self.named_values = {text(key, BodyError, "a posture's name"): self._posture(key, named[key]) for key in named}

    # What it consists of

    @property
    def joint_names(self) -> tuple[str, ...]:
        """The free variables, in the order of every joint vector."""
        return self.variables.names

    @property
    def dof(self) -> int:
        """The number of free variables."""
        return len(self.variables.names)

    @property
    def lower(self) -> Array:
        """Lower limits [rad or m], -inf where there is none."""
        return self.variables.lower

    @property
    def upper(self) -> Array:
        """Upper limits [rad or m], +inf where there is none."""
        return self.variables.upper

    @property
    def postures(self) -> dict[str, Array]:
        """Named joint vectors: group states of an SRDF, keyframes of a MuJoCo model. What one does not name is at home."""
        return {name: self.vector(values) for name, values in self.named_values.items()}

    @property
    def effort(self) -> Array:
        """The torque [N m] or force [N] that the motor of each variable has at most, +inf where nobody says."""
        return self.variables.effort

    @property
    def mass(self) -> float:
        """The mass of all links together [kg]."""
        return sum(link.mass for link in self.links.values())

    def index(self, variable: str) -> int:
        """The place of a variable in the joint vector."""
        return self._index[known(variable, self._index, "free joint", f"body {self.name!r}")]

    def frame(self, link: str | Frame, offset: TransformLike | None = None) -> Frame:
        """The frame of a link, moved by `offset`: a position in the link frame or a 4x4 link_from_frame."""
        frame = link if isinstance(link, Frame) else Frame(link)
        self._known_link(frame.link)
        if offset is None:
            return frame
        return Frame(frame.link, frame.link_from_frame @ as_transform(offset))

    def vector(self, values: Mapping[str, float], *, default: ArrayLike | None = None) -> Array:
        """A joint vector from names; joints that are not named keep their value in `default` (home unless given)."""
        q = self._vector(self.home if default is None else default)
        for name, value in mapping(values, BodyError, "values", "{'joint_1': 0.5}").items():
            q[self.index(name)] = real_number(value, BodyError, f"the value of joint {name!r}")
        return q

    # Kinematics

    @overload
    def forward(self, q: ArrayLike, *, root: TransformLike | None = None) -> LinkPoses: ...

    @overload
    def forward(self, q: ArrayLike, frame: str | Frame, *, root: TransformLike | None = None) -> Array: ...

    def forward(
        self, q: ArrayLike, frame: str | Frame | None = None, *, root: TransformLike | None = None
    ) -> LinkPoses | Array:
        """The pose of every link in the frame of the root: `body.forward(q)["hand"]` is a 4x4 array.

        frame: only this one, as the array itself; nothing else is computed.
        q: one joint vector (dof,), or many (n, dof), computed on all cores; every pose is (n, 4, 4) then.
        root: world_from_root, the pose of the root link in the world; with it the poses are those in the world.
        """
        vectors = self._vectors(q)
        if vectors.ndim == 2:
            flat, frames = self.flatten(None if frame is None else [frame])
            many = poses_of(flat.nodes, frames, vectors)
            if root is not None:
                many = _checked_root(root) @ many
            return LinkPoses(self._link_rows, many) if frame is None else np.asarray(many[:, 0])
        frames = self._link_frames if frame is None else self._packed(frame)
        out = np.empty((frames.size, 4, 4))
        frame_matrices(self._flat.nodes, frames, vectors, np.empty((self._flat.nodes.size, 7)), out)
        if root is not None:
            out = _checked_root(root) @ out
        return LinkPoses(self._link_rows, out) if frame is None else np.asarray(out[0])

    def jacobian(self, frame: str | Frame, q: ArrayLike, *, root: TransformLike | None = None) -> Array:
        """Geometric Jacobian (6, dof) of a frame: rows 0-2 its origin's velocity, rows 3-5 its angular velocity, both in
        root axes, for a unit velocity of each variable; in world axes with `root`, world_from_root. For many joint vectors q
        (n, dof) it is (n, 6, dof)."""
        vectors = self._vectors(q)
        if vectors.ndim == 2:
            flat, frames = self.flatten([frame])
            jacobian = jacobians_of(flat.nodes, frames, vectors)
        else:
            jacobian = np.empty((6, self.dof))
            frame_jacobian(
                self._flat.nodes, self._packed(frame), vectors, np.empty((self._flat.nodes.size, 7)), jacobian
            )
        if root is not None:
            turn = _checked_root(root)[:3, :3]
            jacobian = np.concatenate([turn @ jacobian[..., :3, :], turn @ jacobian[..., 3:, :]], axis=-2)
        return jacobian

    def ik(
        self, frame: str | Frame, target: TransformLike | ArrayLike, *, start: ArrayLike | None = None,
        free: str | Iterable[str] = (), obstacles: object = None, clearance: float = 0.0, self_collision: bool = False,
        lock: Mapping[str, float] | None = None, root: TransformLike | None = None, position_tolerance: float = 1e-4,
        orientation_tolerance: float = 1e-3, budget: Budget | None = None, seed: int = 0,
    ) -> Solution:  # fmt: skip
        """Joint values that take a frame to a target, near the start: `body.ik("panda_hand", T, start=q).q`.

        target: the pose as a 4x4 transform, or a point (3,) [m], which leaves the rotation free; in the world.
        start: joint vector (dof,) to start from; the home posture unless given. Among several solutions one near it is taken,
            on arms that have a closed form the nearest.
        free: axes of the target that do not count, of "x", "y", "z" and the rotations "rx", "ry", "rz" about them:
            "rz" lets a tool spin about its z axis.
        obstacles: what the collision shapes of all links keep `clearance` [m] away from: a mk.World, a dict of obstacles by
            name, a mk.Shape placed in the world, a list of these, or whatever else mk.Distance takes.
        self_collision: True keeps the links `clearance` apart from each other, too (mk.SelfDistance).
        lock: joints by name that keep a value.
        root: world_from_root, where the body stands.
        position_tolerance, orientation_tolerance: the largest errors of a success [m, rad].
        budget, seed: as for mk.solve.

        Each call builds a mk.Problem, which takes about a millisecond. Where many targets are to be reached, keep a problem and
        assign its targets; with several objectives, use mk.Problem and mk.solve.
        """
        from memetik.solvers.frame_ik import solve_frame  # solvers know bodies, not bodies solvers

        return solve_frame(
            self, frame, target, start=start, free=free, obstacles=obstacles, clearance=clearance,
            self_collision=self_collision, lock=lock, root=root, position_tolerance=position_tolerance,
            orientation_tolerance=orientation_tolerance, budget=budget, seed=seed,
        )  # fmt: skip

    def manipulability(self, frame: str | Frame, q: ArrayLike, *, axes: Axes = "all") -> Array | float:
        """How well a frame can be moved in every direction (Yoshikawa 1985): w = sqrt(det(J J^T)), the product of the
        singular values of its Jacobian. It is zero in singular postures.

        axes: "all" six rows of the Jacobian, which mixes metres and radians, or those of the "position" (w in m^3 for
        turning joints) or of the "rotation" alone. With fewer joints than rows, w is zero everywhere.
        q: one joint vector, or many (n, dof) for an array (n,).
        """
        return self._singular(frame, q, axes, 0)

    def condition_number(self, frame: str | Frame, q: ArrayLike, *, axes: Axes = "all") -> Array | float:
        """The largest singular value of the Jacobian of a frame over its smallest: 1 where the frame moves equally well
        in every direction, infinite in singular postures. Arguments as for `manipulability`."""
        return self._singular(frame, q, axes, 1)

    def _packed(self, frame: str | Frame) -> NDArray[np.void]:
        """A frame as the kernels take it, on the nodes of the whole body; links are packed already."""
        if not isinstance(frame, str):
            return self._flat.frames([self.frame(frame)])
        self._known_link(frame)
        row = self._link_rows[frame]
        return self._link_frames[row : row + 1]

    def _singular(self, frame: str | Frame, q: ArrayLike, axes: Axes, column: int) -> Array | float:
        vectors = self._vectors(q)
        flat, frames = self.flatten([frame])
        values = singular_of(flat.nodes, frames, np.atleast_2d(vectors), axes)[:, column]
        return values if vectors.ndim == 2 else float(values[0])

    def write_urdf(self, path: str | PathLike[str]) -> Path:
        """Write the body as a .urdf file; return the path.

        Read again it has the same links in the same places, limits, mimic joints, masses, shapes and loops (<loop> of URDF+).
        Joints that URDF lacks become chains of revolute and prismatic ones with the same variables; a screw is a revolute joint
        and a prismatic one that mimics it. Hulls become meshes, binary STL files in a folder NAME_meshes beside the file; other
        meshes are named as they are. Inertias, which bodies do not have, are those of balls of water. URDF has no home posture
        and no named chains (SRDF has).
        """
        from memetik.write.urdf import write_urdf  # files are written from bodies, of which they know

        return write_urdf(self, path)

    # The joint vectors of other libraries

    def to_qpos(self, q: ArrayLike, model: Any = None) -> Array:
        """The joint vector, or each row of many, as MuJoCo's qpos: for every joint that moves, in the order of `joints`, a
        floating one as x, y, z [m] and the unit quaternion w, x, y, z, a spherical one as its quaternion, and all other
        variables, also those of mimic joints, as they are.

        model: a mujoco.MjModel whose joints have the same names, in any order; joints that only it has stay as in its qpos0,
        and a floating base may have another name there. Without it the order of `joints` is meant.
        """
        return conversion.to_other(self, q, MUJOCO, model)

    def from_qpos(self, qpos: ArrayLike, model: Any = None) -> Array:
        """The joint vector, or each row of many, of MuJoCo's qpos (see `to_qpos`); mimic joints have no say in it.

        Of the angles that make the rotation of a floating or spherical joint, those with the middle one within ±90°. With a
        `model`, joints that it lacks are at home.
        """
        return conversion.from_other(self, qpos, MUJOCO, model)

    def to_pinocchio(self, q: ArrayLike, model: Any = None) -> Array:
        """The joint vector, or each row of many, as Pinocchio's configuration: as `to_qpos`, but joints in Pinocchio's
        order, children of a link by name, quaternions as x, y, z, w, and continuous joints as cosine and sine.

        model: a pinocchio.Model whose joints have the same names, in any order and with whatever numbers it has for them;
        joints that only it has stay neutral, and a base that moves may have another name there.
        """
        return conversion.to_other(self, q, PINOCCHIO, model)

    def from_pinocchio(self, q: ArrayLike, model: Any = None) -> Array:
        """The joint vector, or each row of many, of Pinocchio's configuration (see `to_pinocchio` and `from_qpos`); the
        angles of joints that Pinocchio has as cosine and sine are from -pi to pi."""
        return conversion.from_other(self, q, PINOCCHIO, model)

    def gravity_torque(
        self, q: ArrayLike, *, gravity: ArrayLike = (0.0, 0.0, -9.81), root: TransformLike | None = None
    ) -> Array:
        """What each variable has to bear so that the body rests in its own weight [N m, or N for slides]: (dof,), or (n, dof).

        tau_k = - sum_i m_i g^T J_i,k, with the Jacobian J_i of the centre of mass of link i; a variable that drives mimic joints
        bears theirs as well. gravity: g [m/s^2] in the world; root: world_from_root, if the root does not stand upright in it.
        """
        pull = three_finite(gravity, BodyError, "gravity")
        if root is not None:
            pull = _checked_root(root)[:3, :3].T @ pull
        torque = np.zeros_like(self._vectors(q))
        for name, link in self.links.items():
            if link.mass > 0.0:
                center = self.frame(name, np.array(link.center_of_mass))
                torque -= link.mass * np.einsum("i,...ij->...j", pull, self.jacobian(center, q)[..., :3, :])
        return torque

    def center_of_mass(self, q: ArrayLike) -> Array:
        """The common centre of mass of all links [m], in the frame of the root; (n, 3) for many joint vectors."""
        if self.mass == 0.0:
            raise BodyError(f"body {self.name!r} has no mass, so it has no centre of mass. Give its links masses.")
        poses = self.forward(q)
        moments = (link.mass * (poses[name] @ (*link.center_of_mass, 1.0)) for name, link in self.links.items())
        return np.asarray(sum(moments)[..., :3] / self.mass)  # type: ignore[index]

    def sample(self, rng: np.random.Generator) -> Array:
        """A posture drawn uniformly within the limits; without limits within ±pi rad or ±1 m."""
        if not isinstance(rng, np.random.Generator):
            raise BodyError(f"rng is {shown(rng)}. Give a generator of numpy: numpy.random.default_rng(seed).")
        return rng.uniform(self.variables.sample_lower, self.variables.sample_upper)

    def clip(self, q: ArrayLike) -> Array:
        """The nearest joint vector within the limits."""
        return np.clip(self._vector(q), self.lower, self.upper)

    def flatten(self, frames: Iterable[str | Frame] | None = None) -> tuple[Flat, NDArray[np.void]]:
        """The arrays of the kernels, pruned to what moves these frames (all links if None)."""
        if frames is None:
            return self._flat, self._link_frames
        wanted = [self.frame(frame) for frame in several(frames, BodyError, "frames", "['hand']")]
        joints = tuple(self.joints.values())
        flat = flatten(self.root, joints, self.variables, only={frame.link for frame in wanted})
        return flat, flat.frames(wanted)

    def __str__(self) -> str:
        return table(self)

    def __repr__(self) -> str:
        return f"<Body {self.name!r}: {self.dof} degrees of freedom, {len(self.links)} links>"

    # Checks

    def _vectors(self, q: ArrayLike) -> Array:
        """One joint vector, or many, a row each."""
        if type(q) is not np.ndarray:
            q = real_array(q, BodyError, f"a joint vector of body {self.name!r} holds numbers")
        if q.ndim != 2:
            return self._vector(q)
        rows = real_array(q, BodyError, f"joint vectors of body {self.name!r} hold numbers")
        if rows.shape[1] != self.dof:
            raise BodyError(
                f"body {self.name!r} has {self.dof} free joints, but the joint vectors have shape {rows.shape}. "
                "Give a row for each of them, with one number for each of body.joint_names."
            )
        rows = np.require(rows, requirements=["C", "W"])
        if not math.isfinite(np.einsum("ij,ij->", rows, rows)):  # as in _vector; BLAS would wake threads for it
            row, k = np.argwhere(~(np.abs(rows) < 1e150))[0]
            raise BodyError(f"joint vector {row} is not finite at {self.joint_names[k]}, or too large.")
        return rows

    def _vector(self, q: ArrayLike) -> Array:
        if type(q) is not np.ndarray or q.dtype is not _FLOAT:  # most are, and are quick to take
            q = real_array(q, BodyError, f"a joint vector of body {self.name!r} holds numbers")
        vector = q.copy()  # always: Numba would compile the kernels once more for a read-only one such as home
        if vector.shape != (self.dof,):
            raise BodyError(
                f"body {self.name!r} has {self.dof} free joints, but the joint vector has shape {vector.shape}. "
                "Give one number for each of body.joint_names."
            )
        # v · v is NaN or infinite exactly when an entry is (or is beyond 1e154, which no posture is).
        if not math.isfinite(vector.dot(vector)):
            bad = [name for name, value in zip(self.joint_names, vector, strict=True) if not np.isfinite(value)]
            raise BodyError(f"the joint vector is not finite at {', '.join(bad[:6]) or 'entries that are too large'}.")
        return vector

    def _check_chain(self, name: object, chain: object) -> None:
        text(name, BodyError, "the name of a chain")
        if not isinstance(chain, Chain):
            raise BodyError(f"chain {name!r} is {shown(chain)}. Give mk.body.Chain(base, (tip,)).")
        self._known_link(chain.base)
        self._known_links(chain.tips, f"the tips of chain {name!r}")
        if chain.joints is not None:
            several(chain.joints, BodyError, f"the joints of chain {name!r}", "('joint_1',)")

    def _known_links(self, links: object, what: str) -> tuple[str, ...]:
        names = several(links, BodyError, what, "('hand', 'arm')")
        for link in names:
            self._known_link(link)
        return names

    def _known_link(self, link: str) -> None:
        known(link, self._link_rows, "link", f"body {self.name!r}")

    def _home(self, wanted: Mapping[str, float]) -> Array:
        home = np.clip(np.zeros(self.dof), self.lower, self.upper)
        for name, given in wanted.items():
            k, value = self.index(name), real_number(given, BodyError, f"home of joint {name!r}")
            slack = 1e-9 * (1.0 + abs(value))  # a value computed through a mimic relation is off by rounding
            within = self.lower[k] - slack <= value <= self.upper[k] + slack
            if not (within and np.isfinite(value)):
                raise BodyError(
                    f"home of joint {name!r} is {value:g}, outside its limits {self.lower[k]:g} to {self.upper[k]:g}."
                )
            home[k] = min(max(value, self.lower[k]), self.upper[k])
        return frozen(home)

    def _posture(self, name: str, wanted: Mapping[str, float]) -> dict[str, float]:
        """By variable; what is beyond a limit is moved to it, because files name postures that their limits do not allow."""
        found = {}
        for variable, given in mapping(wanted, BodyError, f"posture {name!r}", "{'joint_1': 0.5}").items():
            k, value = self.index(variable), real_number(given, BodyError, f"joint {variable!r} in posture {name!r}")
            found[variable] = float(min(max(value, self.lower[k]), self.upper[k]))
        return found
