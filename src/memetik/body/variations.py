"""Bodies made from bodies: parts of them, joined ones, other limits. Each returns a new body."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from os import PathLike
from typing import TYPE_CHECKING

from memetik.body import cut, join
from memetik.body.limits import with_limits
from memetik.body.link import Frame, Link, Shape, all_of
from memetik.body.poses import Chain
from memetik.errors import BodyError, known, shown
from memetik.geometry import TransformLike
from memetik.geometry.checks import instance, mapping, real_number, several, text
from memetik.geometry.transform import frozen_transform

if TYPE_CHECKING:
    from memetik.body.body import Body


class Variations:
    """The part of Body that makes other bodies of it."""

    @property
    def _body(self) -> Body:
        return self  # type: ignore[return-value]  # only Body derives from this

    def _named(self, chain: str) -> Chain:
        body = self._body
        return body.chains[known(chain, body.chains, "chain", f"body {body.name!r}")]

    def chain(self, base_link: str, tips: str | Sequence[str] | None = None) -> Body:
        """The part from a base link to a tip (or several tips), or a named chain: `body.chain("right_arm")`.

        The base becomes the root. A mimic joint whose source is cut away becomes free, with its own limits.
        """
        if tips is None:
            return cut.chain(self._body, *self._named(base_link))
        ends = (tips,) if isinstance(tips, str) else several(tips, BodyError, "tips", "('hand', 'arm')")
        return cut.chain(self._body, base_link, ends, None)

    def subtree(self, link: str) -> Body:
        """Everything from a link outwards, with that link as the root."""
        return cut.subtree(self._body, link)

    def tips(self, chain: str | None = None) -> tuple[str, ...]:
        """The links at which the limbs of the body end, or those of a named chain: `body.tips("right_arm")`.

        A limb ends at links that something moves and that carry nothing that moves by itself: of an arm with a gripper the
        fingers, and of those only links without children. Cameras on a moving trunk, say, are no tips.
        """
        return cut.tips(self._body) if chain is None else self._named(chain).tips

    def fix(self, values: Mapping[str, float]) -> Body:
        """The body with some joints welded at these values: they are fixed joints from then on."""
        given = mapping(values, BodyError, "values", "{'joint_1': 0.5}")
        return cut.fix(
            self._body, {name: real_number(value, BodyError, f"joint {name!r}") for name, value in given.items()}
        )

    def with_base(self, kind: str, *, lower: float | Sequence[float] = (), upper: float | Sequence[float] = ()) -> Body:
        """The body with a free root: a joint named "base" of kind "xyz", "planar" or "floating" between a new root
        link "world" and the old root, within these limits (one number or one for each variable; none if not given)."""
        return join.with_base(self._body, kind, lower, upper)

    def with_shapes(
        self,
        *,
        most: int = 4,
        kinds: Iterable[str] = ("capsule", "sphere", "box"),
        gain: float = 0.03,
        of: str = "collision",
        links: Iterable[str] | None = None,
        roots: Iterable[str | PathLike[str]] = (),
        save: bool | str | PathLike[str] = True,
        progress: Callable[[int, int], None] | bool | None = None,
    ) -> Body:
        """The body with simple shapes in place of the meshes of its links, for Distance and SelfDistance.

        The shapes of a link hold all of its surface, and the inside where the surface is closed, and as little else as can
        be found: planes cut the surface into parts, and each part gets the least shape around it. Shapes that are simple
        in the file stay as they are; a link without collision geometry gets the cover of its visuals. The same meshes give
        the same shapes. `mk.collision.cover` takes the same arguments and also says how large the shapes are.

        most: shapes for a link, at most; 1 to 8.
        kinds: of "capsule", "sphere", "box" and "cylinder", those that may be used. Cylinders are smallest around many arms,
            but distances to them take longest.
        gain: the share of the volume that another shape has to save: of 1 to `most` shapes those with the least
            volume / (1 - gain)^shapes are taken. 0 takes the least volume, 0.2 about two shapes for a link.
        of: "collision", or "visual" to cover the visual meshes of all links, where collision geometry is missing or coarse.
        links: only these, by name; all unless given.
        roots: folders in which meshes are looked for, besides those that mk.load looks in.
        save: True keeps the shapes beside the model file as NAME.shapes.json, or in the user's cache folder if nothing can
            be written there, and uses them again as long as meshes and options are the same; False does neither; a path
            names the file. A body that comes from no file is not saved unless a path is given.
        progress: a function that takes (done, total), False for nobody, or None for a line on the terminal.

        Meshes are read by trimesh: pip install "memetik[meshes]".
        """
        from memetik.collision import cover  # it reads files, which bodies know nothing of

        return cover(
            self._body, most=most, kinds=kinds, gain=gain, of=of, links=links, roots=roots, save=save, progress=progress
        ).body

    def with_hulls(self, *, roots: Iterable[str | PathLike[str]] = (), most: int | None = None) -> Body:
        """The body with the convex hulls of its collision meshes in place of these; other shapes stay.

        roots: folders in which the files of meshes are looked up, besides the paths that they were read with.
        most: vertices of a hull, at most; see `mk.collision.hull`.
        """
        from memetik.collision import with_hulls  # it reads files, which bodies know nothing of

        return with_hulls(self._body, roots, most=most)

    def with_touching(self, pairs: Iterable[Iterable[str]] | None = None) -> Body:
        """The body with more pairs of links whose contact does not count, such as `find_collision_pairs(body).touching`.

        Without pairs those that always touch: at home, or in at least 95 % of 1,000 random postures. So do the covers of links
        that are close to each other in every posture (`with_shapes`), such as a shoulder and the chest. `touching` lists them.
        """
        if pairs is None:
            from memetik.collision import always_touching  # it measures, which bodies do not

            return cut.rebuilt(self._body, touching=[*self._body.touching, *always_touching(self._body)])
        more = several(pairs, BodyError, "pairs of links that touch", "[('hand', 'arm')]")
        return cut.rebuilt(self._body, touching=[*self._body.touching, *more])

    def attach(
        self, other: Body, at: str | Frame | None = None, *, offset: TransformLike | None = None, prefix: str = ""
    ) -> Body:
        """The body with another one fixed to it, such as a gripper: its root sits in the frame `at`, moved by `offset`.

        at: a link, or body.frame(...); the only tip of this body unless given.
        offset: a position in the frame `at` or a 4x4 at_from_root, if the two do not coincide.
        prefix: what all names of the other body get in front, for a second hand of the same kind or names that are taken.

        Its home, limits, mimic joints, named chains and touching links come along, and so do its joints in the joint vector,
        behind those that hang on the same link already; the fixed joint between is called PREFIX + root + "_mount".
        """
        body = self._body
        instance(other, Variations, BodyError, "a body to attach. Give mk.load(...); for shapes there is attach_shape.")
        if at is None:
            ends = cut.tips(body)
            if len(ends) != 1:
                raise BodyError(f"body {body.name!r} has {len(ends)} tips, {', '.join(ends[:6])}. Say where: at=LINK.")
            at = ends[0]
        frame = body.frame(at, None if offset is None else frozen_transform(offset, BodyError, "bad offset"))
        return join.attach(body, other, frame, _prefix(prefix))

    def with_limits(
        self, limits: Mapping[str, tuple[float, float]] | None = None, *, margin: float | Mapping[str, float] = 0.0,
        fraction: float = 0.0,
    ) -> Body:  # fmt: skip
        """The body with other limits [rad or m], or with those it has drawn in; home moves with them where it must.

        limits: (lower, upper) by name, in place of those of the body; infinite where there is none.
        margin: how far from each limit to stay [rad or m], one number for all or some by name.
        fraction: the same as a part of the range of each joint, besides `margin`: 0.05 leaves nine tenths of it.

        Joints without limits keep none; a continuous joint that is given some becomes revolute. What mimic joints allow
        counts as well.
        """
        return with_limits(self._body, limits, margin, fraction)

    def attach_shape(
        self, name: str, at: str, shape: Shape | Iterable[Shape], *, pose: TransformLike | None = None, mass: float = 0.0,
        touching: Iterable[str] = (),
    ) -> Body:  # fmt: skip
        """The body with something in its hand: a new link of this name, fixed to the link `at`. Joint vectors mean what they did.

        shape: one or several, placed in the frame of the new link by their link_from_shape.
        pose: of the new link in the frame of `at`, the same unless given.
        mass: of what is held [kg], in the middle of its shapes.
        touching: links that may touch it, besides the one that holds it and those joined to that.
        """
        shapes = (shape,) if isinstance(shape, Shape) else all_of(shape, Shape, "shapes to attach", "mk.Shape(...)")
        link = Link(text(name, BodyError, "the name of what is attached"), shapes=shapes)
        return join.attach_shape(self._body, link, at, pose, mass, touching)

    def detach_shape(self, name: str) -> Body:
        """The body without what `attach_shape` gave it."""
        return join.detach_shape(self._body, name)


def _prefix(prefix: object) -> str:
    if not isinstance(prefix, str):
        raise BodyError(f"prefix is {shown(prefix)}. Give a text such as 'left_'.")
    return prefix
