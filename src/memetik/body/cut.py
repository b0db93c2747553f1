"""Bodies cut from bodies: a chain, a subtree, welded joints; and the links at which a body ends."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from memetik.body.joint import Joint, Mimic
from memetik.body.loop import inside as inside_of
from memetik.errors import BodyError, known, shown

if TYPE_CHECKING:
    from memetik.body.body import Body


def rebuilt(body: Body, **changes: Any) -> Body:
    """The body made again, with some arguments of its constructor changed; postures lose the joints that are no longer free."""
    joints = list(changes.pop("joints", body.joints.values()))
    free = {variable for joint in joints if joint.mimic is None for variable in joint.variables}
    named = changes.pop("postures", body.named_values)
    postures = {name: {v: value for v, value in values.items() if v in free} for name, values in named.items()}
    links = list(changes.pop("links", body.links.values()))
    kept = {link.name for link in links}
    given = {
        "links": links,
        "joints": joints,
        "home": home_by_name(body),
        "chains": body.chains,
        "touching": body.touching,
        "loops": body.loops,
        "postures": {name: values for name, values in postures.items() if values},
        "file": body.file,
        "parts": {part: link for part, link in body.parts.items() if link in kept},
        "read_as": body.read_as,
    }
    return type(body)(body.name, **{**given, **changes})


def home_by_name(body: Body) -> dict[str, float]:
    """The resting posture by the names of the variables."""
    return dict(zip(body.joint_names, body.home.tolist(), strict=True))


def chain(body: Body, base: str, tips: Sequence[str], only: Sequence[str] | None) -> Body:
    """The links between `base` and the tips. With `only`, the other joints on the way are welded at home."""
    holder = {joint.child: joint for joint in body.joints.values()}
    kept: set[str] = set()
    if not tips:
        raise BodyError(f"the chain from {shown(base)} has no tip. Name at least one link to end at.")
    for link in (base, *tips):
        known(link, body.links, "link", f"body {body.name!r}")
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
    home = home_by_name(part)
    freed = {known(name, home, "free joint", f"the chain from {base!r}") for name in only}
    return fix(part, {name: value for name, value in home.items() if name not in freed})


def subtree(body: Body, link: str) -> Body:
    """All that hangs below `link`."""
    kept = {known(link, body.links, "link", f"body {body.name!r}")}
    for joint in body.joints.values():  # depth-first: parents are met before their children
        if joint.parent in kept:
            kept.add(joint.child)
    return _part(body, link, kept - {link})


def tips(body: Body) -> tuple[str, ...]:
    """The links at which the limbs end: without children, on rigid parts that something moves and that move nothing."""
    part = {body.root: body.root}  # the first link of the rigid part that a link belongs to
    for joint in body.joints.values():  # depth-first: parents are met before their children
        part[joint.child] = part[joint.parent] if joint.dof == 0 else joint.child
    parents = {joint.parent for joint in body.joints.values()}
    passed = {part[joint.parent] for joint in body.joints.values() if joint.dof > 0} | {body.root}
    return tuple(link for link in body.links if link not in parents and part[link] not in passed)


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
    home = {name: value for name, value in home_by_name(body).items() if name not in values}
    chains = {  # less the joints that are welded
        name: chain._replace(joints=chain.joints and tuple(j for j in chain.joints if j not in values))
        for name, chain in body.chains.items()
    }
    return rebuilt(body, joints=joints, home=home, chains=chains)


def _part(body: Body, root: str, kept: set[str]) -> Body:
    """The links `root` and `kept`, with mimic joints re-tied where their source is gone."""
    inside = kept | {root}
    joints = [joint for joint in body.joints.values() if joint.child in kept and joint.parent in inside]
    links = [link for link in body.links.values() if link.name in inside]
    free = {v for joint in joints if joint.mimic is None for v in joint.variables}
    leader: dict[str, tuple[str, float, float]] = {}  # lost variable -> joint that stands in for it, its ratio, offset
    home = {name: value for name, value in home_by_name(body).items() if name in free}
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
    chains = {
        name: chain
        for name, chain in body.chains.items()
        if chain.joints is None and inside.issuperset((chain.base, *chain.tips))
    }
    touching = [pair for pair in body.touching if inside.issuperset(pair)]
    loops = inside_of(body.loops, inside)
    return rebuilt(body, links=links, joints=result, home=home, chains=chains, touching=touching, loops=loops)
