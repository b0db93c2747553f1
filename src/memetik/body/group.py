"""Group: several bodies in one tree, so that one problem has them all."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike

from memetik.body.body import Body
from memetik.body.link import Frame, Link
from memetik.errors import BodyError, known, shown
from memetik.geometry import TransformLike
from memetik.geometry.checks import mapping, text
from memetik.geometry.transform import frozen_transform
from memetik.types import Array

BETWEEN = "/"  # the name of a body and one of its own names
ROOT = "world"


class Group:
    """Several bodies as one, `group.body`: people who shake hands, arms that carry one object.

    ```python
    import memetik as mk

    arms = mk.body.Group({"left": mk.load("panda"), "right": mk.load("panda")}, placements={"right": (0.8, 0.0, 0.0)})
    meet = mk.Position("left/panda_hand", (0.0, 0.0, 0.1), relative_to=arms.frame("right", "panda_hand"))
    solution = mk.solve(mk.Problem(arms.body, meet))
    q = arms.split(solution.q)["right"]  # as mk.load("panda") has it
    ```

    bodies: by name. All names of a body get its name and "/" in front; links, joints, home, limits, named chains, loops and
    touching links come along.
    placements: world_from_root, where the root of each body stands: a position [m], a pair (position, rotation) or a 4x4; in
    the origin unless given. It is fixed there; a body that moves about is one with a base:
    mk.load(..., base="floating"), or Body.with_base.
    """

    def __init__(self, bodies: Mapping[str, Body], *, placements: Mapping[str, TransformLike] | None = None) -> None:
        given = mapping(bodies, BodyError, "bodies", "{'ann': mk.load('human'), 'ben': mk.load('human')}")
        if not given:
            raise BodyError("a group needs at least one body, by its name: mk.body.Group({'ann': mk.load('human')}).")
        for name, part in given.items():
            if not isinstance(part, Body):
                raise BodyError(f"a group consists of bodies, and {name!r} is {shown(part)}. Give mk.load(...).")
            if not text(name, BodyError, "the name of a body in a group") or BETWEEN in name:
                raise BodyError(f"a body in a group is named {name!r}. Give a name that has no {BETWEEN!r} in it.")
        places = mapping(placements, BodyError, "placements", "{'ben': (1.0, 0.0, 0.0)}")
        for name in places:
            known(name, given, "body", "the group")
        self.bodies: dict[str, Body] = dict(given)
        body = Body(" and ".join(given), [Link(ROOT)], [])
        for name, part in given.items():
            place = frozen_transform(places.get(name, np.eye(4)), BodyError, f"bad place of {name!r}")
            body = body.attach(part, Frame(ROOT, place), prefix=name + BETWEEN)
        self.body = body
        self._rows = {
            name: np.array([body.index(self.name(name, joint)) for joint in part.joint_names], dtype=np.int64)
            for name, part in self.bodies.items()
        }

    def name(self, body_name: str, name: str) -> str:
        """What a link, joint or variable of one of the bodies is called here: "ann/hand"."""
        return (
            known(body_name, self.bodies, "body", "the group") + BETWEEN + text(name, BodyError, "a name in the group")
        )

    def frame(self, body_name: str, link: str | Frame, offset: TransformLike | None = None) -> Frame:
        """The frame of a link of one of the bodies, as `Body.frame` gives it there."""
        frame = self.bodies[known(body_name, self.bodies, "body", "the group")].frame(link, offset)
        return Frame(self.name(body_name, frame.link), frame.link_from_frame)

    def split(self, q: ArrayLike) -> dict[str, Array]:
        """The joint vector (or each row of many) of the group as one for each body, by its name."""
        vectors = self.body._vectors(q)
        return {name: vectors[..., rows] for name, rows in self._rows.items()}

    def vector(self, vectors: Mapping[str, ArrayLike]) -> Array:
        """The joint vector of the group from one for each body; those that are not named are at home."""
        q = self.body.home.copy()
        for name, part in mapping(vectors, BodyError, "vectors", "{'ann': ann.home}").items():
            own = self.bodies[known(name, self.bodies, "body", "the group")]
            q[self._rows[name]] = own._vector(part)
        return q

    def __repr__(self) -> str:
        return f"<Group {', '.join(self.bodies)}: {self.body.dof} degrees of freedom>"
