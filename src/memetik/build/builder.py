"""Bodies written in Python, link by link."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from memetik.body import Body, Chain, Frame, Joint, Link, Loop, Mimic, Shape
from memetik.body.fields import volume_and_center as field_volume
from memetik.body.hull import volume_and_center
from memetik.body.link import all_of
from memetik.errors import BodyError, known, shown
from memetik.geometry import TransformLike, as_transform, between, transform
from memetik.geometry.checks import real_array, text
from memetik.types import Array

WATER = 1000.0  # kg/m3; limbs weigh about as much
# The volume of a shape of this size [m3]; a mesh counts as none, because its file is not read here.
VOLUMES: dict[str, Callable[..., float]] = {
    "sphere": lambda radius: 4.0 / 3.0 * math.pi * radius * radius * radius,
    "cylinder": lambda radius, length: math.pi * radius * radius * length,
    "capsule": lambda radius, length: math.pi * radius * radius * (length + 4.0 / 3.0 * radius),
    "box": lambda x, y, z: x * y * z,
    "mesh": lambda *scale: 0.0,
}
AXES = {"x": (1.0, 0.0, 0.0), "y": (0.0, 1.0, 0.0), "z": (0.0, 0.0, 1.0)}


class BodyBuilder:
    """A body put together link by link: every `add` hangs one new link on one that is there already.

    So it is a tree at every step, and a mistake shows at the line that makes it.

    ```python
    crane = BodyBuilder("crane", root_link="mast")
    crane.add("mast", "slew", "revolute", "boom", origin=(0, 0, 2), shapes=[rod((0, 0, 0), (3, 0, 0), 0.1)])
    crane.add("boom", "hoist", "prismatic", "hook", origin=(3, 0, 0), axis=(0, 0, -1), lower=0, upper=1.8)
    body = crane.build()
    ```
    """

    def __init__(
        self, name: str, root_link: str = "base", *, shapes: Sequence[Shape] = (), mass: float | None = None
    ) -> None:
        self.name = text(name, BodyError, "the name of a body")
        self._links = {text(root_link, BodyError, "the name of the root link"): _link(root_link, shapes, mass)}
        self._joints: dict[str, Joint] = {}
        self._home: dict[str, float] = {}
        self._chains: dict[str, Chain] = {}
        self._touching: list[tuple[str, str]] = []
        self._loops: list[Loop] = []

    def add(
        self,
        parent: str,
        joint: str,
        kind: str,
        child: str,
        *,
        origin: TransformLike | None = None,
        axis: ArrayLike = AXES["z"],
        lower: float | Sequence[float] = (),
        upper: float | Sequence[float] = (),
        velocity: float | Sequence[float] = (),
        effort: float | Sequence[float] = (),
        home: float | Sequence[float] = (),
        mimic: Mimic | None = None,
        screw_pitch: float = 0.0,
        shapes: Sequence[Shape] = (),
        mass: float | None = None,
    ) -> BodyBuilder:
        """Hang the new link `child` on `parent` by a joint, and return the builder.

        `origin` is parent_from_child at zero: a position, a pair (position, rotation) or a 4x4. `axis` is
        written in the frame of the joint. Limits [rad or m], velocity [rad/s or m/s], effort [N m or N] and `home`, the
        resting value, are one number or one for each degree of freedom. Without `mass` [kg] the shapes are
        taken to be full of water.
        """
        self._known(parent)
        taken: Mapping[str, object]
        for what, name, taken in (("link", child, self._links), ("joint", joint, self._joints)):
            if text(name, BodyError, f"the name of the {what}") in taken:
                raise BodyError(f"body {self.name!r} already has a {what} named {name!r}. Choose another name.")
        place = np.eye(4) if origin is None else as_transform(origin, name=f"origin of joint {joint!r}")
        loose: dict[str, Any] = {
            "axis": axis,
            "lower": lower,
            "upper": upper,
            "velocity": velocity,
            "effort": effort,
        }  # Joint checks them
        added = Joint(joint, kind, parent, child, place, mimic=mimic, screw_pitch=screw_pitch, **loose)
        numbers = np.atleast_1d(real_array(home, BodyError, f"joint {joint!r}: home is no number"))
        if numbers.ndim != 1:
            raise BodyError(f"joint {joint!r}: home is {shown(home)}. Give a number for each degree of freedom.")
        resting = tuple(numbers.tolist())
        if resting and len(resting) != added.dof:
            raise BodyError(f"joint {joint!r} has {added.dof} degrees of freedom, but home {len(resting)} numbers.")
        self._home.update(zip(added.variables if resting else (), resting, strict=True))
        self._links[child] = _link(child, shapes, mass)
        self._joints[joint] = added
        return self

    def chain(self, name: str, base_link: str, *tips: str) -> BodyBuilder:
        """Name the part from `base_link` to the tips, so that `body.chain(name)` finds it."""
        self._known(text(base_link, BodyError, "the base of a chain"), *tips)
        self._chains[text(name, BodyError, "the name of a chain")] = Chain(base_link, tips)
        return self

    def touching(self, link: str, other_link: str) -> BodyBuilder:
        """Say that two links may touch: their contact is no collision."""
        self._known(link, other_link)
        self._touching.append((link, other_link))
        return self

    def close(self, name: str, frame: str | Frame, other_frame: str | Frame, kind: str = "spherical") -> BodyBuilder:
        """Say that two frames meet as a joint would hold them (see mk.build.Loop); mk.objectives.close_loops makes an
        objective of it."""
        one, two = (end if isinstance(end, Frame) else Frame(end) for end in (frame, other_frame))
        self._loops.append(Loop(name, one, two, kind))
        return self

    def build(self) -> Body:
        """The body as it stands now; the builder can go on."""
        parts = self._links.values(), self._joints.values()
        return Body(self.name, *parts, home=self._home, chains=self._chains, touching=self._touching, loops=self._loops)

    def _known(self, *links: str) -> None:
        for link in links:
            known(link, self._links, "link", f"body {self.name!r} so far")


def rod(start: ArrayLike, end: ArrayLike, radius: float) -> Shape:
    """A capsule from one point of the link to another [m]; a sphere if the two are the same."""
    a, b = (as_transform(p, name=name)[:3, 3] for p, name in ((start, "start"), (end, "end")))
    length = math.dist(a, b)
    if length == 0.0:
        return Shape("sphere", (radius,), transform(a))
    return Shape("capsule", (radius, length), transform(0.5 * (a + b), between(AXES["z"], b - a)))


class Rod(NamedTuple):
    """One of several rods in a row: its size [m], the axis it turns about, its limits and its resting value [rad]."""

    length: float
    radius: float
    axis: str
    limits: tuple[float, float]
    home: float | tuple[()] = ()


def add_rods(
    builder: BodyBuilder, parent: str, prefix: str, origin: TransformLike, along: str, rods: Iterable[Rod]
) -> tuple[str, TransformLike]:
    """Hang rods in a row on `parent`, by joints PREFIXjoint_1, ...; return the last link and where it ends."""
    for i, (length, radius, axis, (lower, upper), home) in enumerate(rods, start=1):
        child, end = f"{prefix}link_{i}", tuple(length * component for component in AXES[along])
        builder.add(
            parent, f"{prefix}joint_{i}", "revolute", child, origin=origin, axis=AXES[axis], lower=lower, upper=upper,
            home=home, shapes=[rod((0.0, 0.0, 0.0), end, radius)],
        )  # fmt: skip
        parent, origin = child, end
    return parent, origin


def _link(name: str, shapes: Sequence[Shape], mass: float | None) -> Link:
    """A link with its mass spread evenly over its shapes."""
    shapes = all_of(shapes, Shape, f"link {name!r}: shapes", "mk.Shape('sphere', (0.1,))")
    parts = [_volume_and_center(shape) for shape in shapes]
    volumes = np.array([volume for volume, _ in parts])
    total = float(volumes.sum())
    centers = np.array([center for _, center in parts]).reshape(-1, 3)
    x, y, z = (volumes @ centers / total).tolist() if total > 0.0 else (0.0, 0.0, 0.0)
    return Link(name, WATER * total if mass is None else mass, (x, y, z), shapes)


def _volume_and_center(shape: Shape) -> tuple[float, Array]:
    """The volume [m3] of a shape, without the radius of a hull, and its centre in the link [m]."""
    if shape.kind != "hull" and shape.values is None:
        return VOLUMES[shape.kind](*shape.size), shape.link_from_shape[:3, 3]
    if shape.values is None:
        volume, center = volume_and_center(shape.hull)
    else:
        volume, center = field_volume(shape.kind, shape.values, shape.size)
    return volume, shape.link_from_shape[:3, :3] @ center + shape.link_from_shape[:3, 3]
