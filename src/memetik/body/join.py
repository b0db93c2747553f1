"""Bodies joined to something: another body, what the hand holds, a base that moves."""

from __future__ import annotations

import dataclasses
from collections.abc import Container, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from memetik.body.cut import home_by_name, rebuilt
from memetik.body.joint import BASES, Joint
from memetik.body.link import Frame, Link
from memetik.body.loop import inside, renamed
from memetik.errors import BodyError, known, shown
from memetik.geometry import TransformLike
from memetik.geometry.checks import real_array, several
from memetik.geometry.transform import frozen_transform

if TYPE_CHECKING:
    from memetik.body.body import Body

HELD = "_held"  # what the joint of an attached shape has behind its name
MOUNT = "_mount"  # and that of an attached body behind the name of its root


def attach(body: Body, other: Body, at: Frame, prefix: str) -> Body:
    """Fix the root of another body to a frame; its names get the prefix."""
    _check_names(body, other, prefix)
    links = [dataclasses.replace(link, name=prefix + link.name) for link in other.links.values()]
    mount = Joint(prefix + other.root + MOUNT, "fixed", at.link, prefix + other.root, at.link_from_frame)
    joints = [_renamed(joint, prefix) for joint in other.joints.values()]
    chains = {
        prefix + name: chain._replace(
            base=prefix + chain.base,
            tips=tuple(prefix + tip for tip in chain.tips),
            joints=chain.joints and tuple(prefix + joint for joint in chain.joints),
        )
        for name, chain in other.chains.items()
    }
    home = {prefix + name: value for name, value in home_by_name(other).items()}
    touching = [[prefix + link for link in pair] for pair in other.touching]
    postures = {name: dict(values) for name, values in body.named_values.items()}
    for name, values in other.named_values.items():  # one that both have is one of both together
        postures.setdefault(name, {}).update({prefix + variable: value for variable, value in values.items()})
    return rebuilt(
        body, links=[*body.links.values(), *links], joints=[*body.joints.values(), mount, *joints],
        home={**home_by_name(body), **home}, chains={**body.chains, **chains}, touching=[*body.touching, *touching],
        postures=postures, loops=[*body.loops, *(renamed(loop, prefix) for loop in other.loops)],
    )  # fmt: skip


def _renamed(joint: Joint, prefix: str) -> Joint:
    mimic = joint.mimic and joint.mimic._replace(source=prefix + joint.mimic.source)
    return dataclasses.replace(
        joint, name=prefix + joint.name, parent=prefix + joint.parent, child=prefix + joint.child, mimic=mimic
    )


def _check_names(body: Body, other: Body, prefix: str) -> None:
    """Raise if a name of the other body is taken."""
    added: dict[str, tuple[Container[str], Iterable[str]]] = {
        "link": (body.links, other.links),
        "joint": (body.joints, [*other.joints, other.root + MOUNT]),
        "chain": (body.chains, other.chains),
        "loop": ([loop.name for loop in body.loops], [loop.name for loop in other.loops]),
    }
    for what, (taken, names) in added.items():
        twice = [prefix + name for name in names if prefix + name in taken]
        if twice:
            raise BodyError(
                f"body {body.name!r} has a {what} {twice[0]!r} already, and so has {other.name!r} that is attached to it"
                f"{f' ({len(twice)} names in all)' if len(twice) > 1 else ''}. Give its names a prefix: prefix='left_'."
            )


def with_base(body: Body, kind: str, lower: float | Sequence[float], upper: float | Sequence[float]) -> Body:
    """Put a moving joint between a new root link and the old root."""
    if isinstance(kind, str) and kind == "fixed":
        ends = (real_array(end, BodyError, "a limit of the base is no number") for end in (lower, upper))
        if any(end.size for end in ends):
            raise BodyError("a fixed base has no limits. Leave them out, or choose the base xyz, planar or floating.")
        return body
    if not isinstance(kind, str) or kind not in BASES:
        raise BodyError(f"unknown base {shown(kind)}. The bases are: {', '.join(BASES)}.")
    world, name = _free_name("world", body.links), _free_name("base", body.joints)
    joint = Joint(name, kind, world, body.root, lower=lower, upper=upper)  # type: ignore[arg-type]
    links = (Link(world), *body.links.values())
    return rebuilt(body, links=links, joints=(joint, *body.joints.values()))


def attach_shape(
    body: Body, link: Link, at: str, pose: TransformLike | None, mass: float, touching: Iterable[str]
) -> Body:  # fmt: skip
    """Fix a link that has shapes to the link `at`."""
    known(at, body.links, "link", f"body {body.name!r}")
    name, joint = link.name, f"{link.name}{HELD}"
    if name in body.links or joint in body.joints:
        raise BodyError(f"body {body.name!r} has a link {name!r} already. Give what is attached another name.")
    if not link.shapes:
        raise BodyError(f"{name!r} has no shapes. Give at least one, mk.Shape('sphere', (0.1,)).")
    allowed = [(name, other) for other in several(touching, BodyError, "touching", "['finger']")]
    middle = np.mean([shape.link_from_shape[:3, 3] for shape in link.shapes], axis=0)
    place = frozen_transform(pose, BodyError, f"bad pose of {name!r}")
    return rebuilt(
        body, links=(*body.links.values(), dataclasses.replace(link, mass=mass, center_of_mass=tuple(middle.tolist()))),
        joints=(*body.joints.values(), Joint(joint, "fixed", at, name, place)), touching=[*body.touching, *allowed],
    )  # fmt: skip


def detach_shape(body: Body, name: str) -> Body:
    """Take a link away that `attach_shape` added."""
    held = [link for link in body.links if f"{link}{HELD}" in body.joints]
    known(name, held, "attached shape", f"body {body.name!r}")
    links = [link for link in body.links.values() if link.name != name]
    joints = [joint for joint in body.joints.values() if joint.child != name]
    if any(joint.parent == name for joint in joints):
        raise BodyError(f"something hangs on {name!r}. Detach that first.")
    chains = {key: chain for key, chain in body.chains.items() if name not in (chain.base, *chain.tips)}
    touching = [pair for pair in body.touching if name not in pair]
    loops = inside(body.loops, (link.name for link in links))
    return rebuilt(body, links=links, joints=joints, chains=chains, touching=touching, loops=loops)


def _free_name(wanted: str, taken: Mapping[str, object]) -> str:
    while wanted in taken:
        wanted += "_"
    return wanted
