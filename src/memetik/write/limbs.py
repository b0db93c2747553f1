"""Which colour each link gets: one for each limb."""

from __future__ import annotations

from memetik.body import Body
from memetik.write.colors import LIMBS, RAMP, TRUNK, Color, along

LEAST_JOINTS = 2  # fewer than that are no limb of their own
RAMP_STEPS = 24
LEAST_SHARE = 0.08  # of all moving joints; fingers of a humanoid keep the colour of its arm


def link_colors(body: Body) -> dict[str, Color]:
    """A colour for every link: where the body branches, each branch that is large enough gets one of its own.

    The largest branch goes on in the colour of the trunk if it outweighs the others. A body that is one
    limb is coloured from root to tip along a ramp.
    """
    children: dict[str, list[str]] = {link: [] for link in body.links}
    weight = dict.fromkeys(body.links, 0)  # moving joints from the link outwards, its own included
    for joint in reversed(body.joints.values()):  # depth-first, so children are met before their parents
        children[joint.parent].insert(0, joint.child)
        weight[joint.child] += joint.dof > 0
        weight[joint.parent] += weight[joint.child]
    least = max(LEAST_JOINTS, LEAST_SHARE * weight[body.root])
    limb = {body.root: 0}
    count = 0
    for joint in body.joints.values():
        branches = sorted((weight[c] for c in children[joint.parent] if weight[c] >= least), reverse=True)
        is_trunk = len(branches) > 1 and weight[joint.child] == branches[0] > 1.4 * branches[1]
        if len(branches) < 2 or weight[joint.child] < least or is_trunk:
            limb[joint.child] = limb[joint.parent]
        else:
            count += 1
            limb[joint.child] = count
    if count == 0:
        return _ramp(body)
    palette = (TRUNK, *LIMBS)
    return {link: palette[k if k == 0 else 1 + (k - 1) % len(LIMBS)] for link, k in limb.items()}


def _ramp(body: Body) -> dict[str, Color]:
    depth = {body.root: 0}
    for joint in body.joints.values():
        depth[joint.child] = depth[joint.parent] + (joint.dof > 0)
    deepest = max(1, *depth.values()) if len(depth) > 1 else 1
    steps = min(deepest, RAMP_STEPS)  # few colours, so that a chain of a thousand links stays a small file
    return {link: along(RAMP, round(steps * d / deepest) / steps) for link, d in depth.items()}
