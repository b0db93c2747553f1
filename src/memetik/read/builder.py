"""Bodies written in Python, link by link."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from memetik.body import Body, Chain, Joint, Link, Mimic, Shape
from memetik.errors import BodyError, UnknownNameError
from memetik.geometry import TransformLike, as_transform, between, transform

WATER = 1000.0  # kg/m3; limbs weigh about as much
AXES = {"x": (1.0, 0.0, 0.0), "y": (0.0, 1.0, 0.0), "z": (0.0, 0.0, 1.0)}


class BodyBuilder:
    """A body put together link by link: every `add` hangs one new link on one that is there already.

    So it is a tree at every step, and a mistake shows at the line that makes it.

    ```python
    crane = BodyBuilder("crane", root="mast")
    crane.add("mast", "slew", "revolute", "boom", origin=(0, 0, 2), shapes=[rod((0, 0, 0), (3, 0, 0), 0.1)])
    crane.add("boom", "hoist", "prismatic", "hook", origin=(3, 0, 0), axis=(0, 0, -1), lower=0, upper=1.8)
    body = crane.build()
    ```
    """

    def __init__(
        self, name: str, root: str = "base", *, shapes: Sequence[Shape] = (), mass: float | None = None
    ) -> None:
        self.name = name
        self._links = {root: _link(root, shapes, mass)}
        self._joints: dict[str, Joint] = {}
        self._home: dict[str, float] = {}
        self._chains: dict[str, Chain] = {}
        self._touching: list[tuple[str, str]] = []

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
        home: float | Sequence[float] = (),
        mimic: Mimic | None = None,
        pitch: float = 0.0,
        shapes: Sequence[Shape] = (),
        mass: float | None = None,
    ) -> BodyBuilder:
        """Hang the new link `child` on `parent` by a joint, and return the builder.

        `origin` is parent_from_child at zero: a position, a pair (position, rotation) or a 4x4. `axis` is
        written in the frame of the joint. Limits [rad or m], velocity [rad/s or m/s] and `home`, the
        resting value, are one number or one for each degree of freedom. Without `mass` [kg] the shapes are
        taken to be full of water.
        """
        if parent not in self._links:
            raise UnknownNameError("link", parent, self._links, f"body {self.name!r} so far")
        for what, name, taken in (
            ("link", child, child in self._links),
            ("joint", joint, joint in self._joints),
        ):
            if taken:
                raise BodyError(f"body {self.name!r} already has a {what} named {name!r}. Choose another name.")
        added = Joint(
            joint,
            kind,
            parent,
            child,
            np.eye(4) if origin is None else as_transform(origin, name=f"origin of joint {joint!r}"),
            np.asarray(axis),
            _numbers(lower),
            _numbers(upper),
            _numbers(velocity),
            mimic=mimic,
            pitch=pitch,
        )
        resting = _numbers(home)
        if resting and len(resting) != added.dof:
            raise BodyError(f"joint {joint!r} has {added.dof} degrees of freedom, but home {len(resting)} numbers.")
        self._home.update(zip(added.variables if resting else (), resting, strict=True))
        self._links[child] = _link(child, shapes, mass)
        self._joints[joint] = added
        return self

    def chain(self, name: str, base: str, *tips: str) -> BodyBuilder:
        """Name the part from `base` to the tips, so that `body.chain(name)` finds it."""
        self._chains[name] = Chain(base, tips)
        return self

    def touching(self, one: str, other: str) -> BodyBuilder:
        """Say that two links may touch: their contact is no collision."""
        self._touching.append((one, other))
        return self

    def build(self) -> Body:
        """The body as it stands now; the builder can go on."""
        return Body(
            self.name,
            self._links.values(),
            self._joints.values(),
            home=self._home,
            chains=self._chains,
            touching=self._touching,
        )


def rod(start: ArrayLike, end: ArrayLike, radius: float) -> Shape:
    """A capsule from one point of the link to another [m]; a sphere if the two are the same."""
    a, b = (as_transform(p, name=name)[:3, 3] for p, name in ((start, "start"), (end, "end")))
    length = math.dist(a, b)
    if length == 0.0:
        return Shape("sphere", (radius,), transform(a))
    return Shape("capsule", (radius, length), transform(0.5 * (a + b), between(AXES["z"], b - a)))


def _numbers(values: float | Sequence[float]) -> tuple[float, ...]:
    return tuple(np.atleast_1d(np.asarray(values, dtype=np.float64)).tolist())


def _link(name: str, shapes: Sequence[Shape], mass: float | None) -> Link:
    """A link with its mass spread evenly over its shapes."""
    volumes = np.array([_volume(shape) for shape in shapes])
    total = float(volumes.sum())
    centers = np.array([shape.link_from_shape[:3, 3] for shape in shapes]).reshape(-1, 3)
    x, y, z = (volumes @ centers / total).tolist() if total > 0.0 else (0.0, 0.0, 0.0)
    return Link(name, WATER * total if mass is None else mass, (x, y, z), tuple(shapes))


def _volume(shape: Shape) -> float:
    """The volume of a primitive [m3]; a mesh counts as none, because its file is not read here."""
    size = shape.size
    match shape.kind:
        case "sphere":
            return 4.0 / 3.0 * math.pi * size[0] ** 3
        case "cylinder":
            return math.pi * size[0] ** 2 * size[1]
        case "capsule":
            return math.pi * size[0] ** 2 * (size[1] + 4.0 / 3.0 * size[0])
        case "box":
            return size[0] * size[1] * size[2]
        case _:
            return 0.0
