"""Two bodies made one: a hand on an arm."""

from __future__ import annotations

from memetik.body import Body, Joint
from memetik.geometry import TransformLike, as_transform


def mount(arm: Body, link: str, tool: Body, origin: TransformLike) -> Body:
    """`tool` welded to a link of `arm`; `origin` is where its root stands on the link, link_from_root."""
    arm.frame(link)
    placed = as_transform(origin, name=f"origin of {tool.name} on {link}")
    weld = Joint(f"{link}_holds_{tool.root}", "fixed", link, tool.root, placed)
    names, values = (*arm.joint_names, *tool.joint_names), (*arm.home, *tool.home)
    return Body(
        f"{arm.name} with {tool.name}",
        [*arm.links.values(), *tool.links.values()],
        [*arm.joints.values(), weld, *tool.joints.values()],
        home=dict(zip(names, values, strict=True)),
        chains={**arm.chains, **tool.chains},
        touching=[*arm.touching, *tool.touching],
    )
