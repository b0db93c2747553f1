"""Bodies from bodies: a chain, a subtree, welded joints, a free root."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from memetik.body.joint import Joint, Mimic
from memetik.body.link import Link
from memetik.errors import BodyError, UnknownNameError, shown
from memetik.geometry.checks import real_array

if TYPE_CHECKING:
    from memetik.body.body import Body, Chain

BASES = ("fixed", "xyz", "planar", "floating")


def chain(body: Body, base: str, tips: Sequence[str], only: Sequence[str] | None) -> Body:
    """The links between `base` and the tips. With `only`, the other joints on the way are welded at home."""
    holder = {joint.child: joint for joint in body.joints.values()}
    kept: set[str] = set()
    if not tips:
        raise BodyError(f"the chain from {base!r} has no tip. Name at least one link to end at.")
    for link in (base, *tips):
        if not isinstance(link, str) or link not in body.links:
            raise UnknownNameError("link", link, body.links, f"body {body.name!r}")
    for tip in tips:
        link = tip
        while link != base:
            if link == body.root:
                raise BodyError(
                    f"link {tip!r} does not hang below {base!r} in body {body.name!r}, so no chain leads there. "
                    f"Start at a link that both share; {body.root!r} always works."
                )
            kept.add(link)
            link = holder[link].parent
    part = _part(body, base, kept)
    if only is None:
        return part
    known, freed = set(part.joint_names), set(only)
    unknown = [name for name in only if name not in known]
    if unknown:
        raise UnknownNameError("free joint", unknown[0], part.joint_names, f"the chain from {base!r}")
    rest = {name: part.home[k] for k, name in enumerate(part.joint_names) if name not in freed}
    return fix(part, rest)


def subtree(body: Body, link: str) -> Body:
    """All that hangs below `link`."""
    if not isinstance(link, str) or link not in body.links:
        raise UnknownNameError("link", link, body.links, f"body {body.name!r}")
    kept = {link}
    for joint in body.joints.values():  # depth-first: parents are met before their children
        if joint.parent in kept:
            kept.add(joint.child)
    return _part(body, link, kept - {link})


def fix(body: Body, values: Mapping[str, float]) -> Body:
    """Weld the joints whose variables are given, and the mimic joints that follow them."""
    if not values:
        return body
    for name, value in values.items():
        k = body.index(name)
        if not body.lower[k] <= value <= body.upper[k]:
            raise BodyError(
                f"joint {name!r} cannot be fixed at {value:g}: its limits are {body.lower[k]:g} to {body.upper[k]:g}."
            )
    joints = []
    for joint in body.joints.values():
        drives = body.variables.drives.get(joint.name, ())
        sources = [body.joint_names[drive.variable] for drive in drives]
        given = [source in values for source in sources]
        if any(given) and not all(given):
            missing = ", ".join(s for s, g in zip(sources, given, strict=True) if not g)
            raise BodyError(f"joint {joint.name!r} can only be fixed as a whole: give {missing} too.")
        if given and all(given):
            at = [drive.ratio * values[s] + drive.offset for drive, s in zip(drives, sources, strict=True)]
            joint = Joint(joint.name, "fixed", joint.parent, joint.child, joint.transform(at))
        joints.append(joint)
    home = {name: body.home[k] for k, name in enumerate(body.joint_names) if name not in values}
    return type(body)(
        body.name, body.links.values(), joints, home=home, chains=_without(body, values), touching=_pairs(body)
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
    return type(body)(
        body.name,
        (Link(world), *body.links.values()),
        (joint, *body.joints.values()),
        home=dict(zip(body.joint_names, body.home.tolist(), strict=True)),
        chains=body.chains,
        touching=_pairs(body),
    )


def _part(body: Body, root: str, kept: set[str]) -> Body:
    """The links `root` and `kept`, with mimic joints re-tied where their source is gone."""
    inside = kept | {root}
    joints = [joint for joint in body.joints.values() if joint.child in kept and joint.parent in inside]
    links = [link for link in body.links.values() if link.name in inside]
    free = {v for joint in joints if joint.mimic is None for v in joint.variables}
    leader: dict[str, tuple[str, float, float]] = {}  # lost variable -> joint that stands in for it, its ratio, offset
    home = {name: float(body.home[k]) for k, name in enumerate(body.joint_names) if name in free}
    result = []
    for joint in joints:
        if joint.mimic is not None:
            k, ratio, offset = body.variables.drives[joint.name][0]
            source = body.joint_names[k]
            if source in free:
                joint = dataclasses.replace(joint, mimic=Mimic(source, ratio, offset))
            elif source in leader and ratio != 0.0:
                # v = ratio q + offset with q = (v_leader - offset_leader) / ratio_leader
                name, lead_ratio, lead_offset = leader[source]
                share = ratio / lead_ratio
                joint = dataclasses.replace(joint, mimic=Mimic(name, share, offset - share * lead_offset))
            elif ratio != 0.0:
                leader[source] = (joint.name, ratio, offset)
                home[joint.name] = ratio * float(body.home[k]) + offset
                joint = dataclasses.replace(joint, mimic=None)
            else:
                joint = Joint(joint.name, "fixed", joint.parent, joint.child, joint.transform([offset]))
        result.append(joint)
    names = {link.name for link in links}
    chains = {
        name: chain
        for name, chain in body.chains.items()
        if chain.joints is None and names.issuperset((chain.base, *chain.tips))
    }
    touching = [pair for pair in _pairs(body) if names.issuperset(pair)]
    return type(body)(body.name, links, result, home=home, chains=chains, touching=touching)


def _without(body: Body, fixed: Mapping[str, float]) -> dict[str, Chain]:
    """The named chains, less the joints that are welded."""
    return {
        name: chain if chain.joints is None else chain._replace(joints=tuple(j for j in chain.joints if j not in fixed))
        for name, chain in body.chains.items()
    }


def _pairs(body: Body) -> list[tuple[str, str]]:
    return [(min(pair), max(pair)) for pair in body.touching]


def _free_name(wanted: str, taken: Mapping[str, object]) -> str:
    while wanted in taken:
        wanted += "_"
    return wanted
