"""Soles: the points of a foot that meet the ground, from its shapes, or from its joints if it has none."""

from __future__ import annotations

from itertools import product

import numpy as np

from memetik.body import Body, Frame, Link
from memetik.errors import BodyError
from memetik.types import Array

ANKLE = 0.15  # of the length of a shin; joints this near to the first one of an ankle belong to it
THICK = 0.01  # m; points this near to the lowest one belong to the sole


def sole_points(body: Body, foot: Frame) -> Array:
    """Return the points of a sole (k, 3) in the frame of the foot [m], as the foot stands at home.

    From the shapes of the foot's link and of links that are fixed to it, the lowest points: toes that bend by themselves are no
    part of it. Without shapes, a frame that has an offset is itself the point; of a bare link, its joints: where its toes
    begin, and a heel as low as these below the ankle.
    """
    world = body.forward(body.home, foot)
    poses = body.forward(body.home)
    links = _rigid_group(body, foot.link)
    below = links | {joint.child for joint in body.joints.values() if joint.parent in links}
    found = [
        points @ poses[name][:3, :3].T + poses[name][:3, 3]
        for name in links
        if len(points := shape_points(body.links[name], -poses[name][2, :3]))
    ]
    if found:
        points = np.vstack(found)
        points = points[points[:, 2] < points[:, 2].min() + THICK]
    elif len(below) == 1 or not np.array_equal(foot.link_from_frame, np.eye(4)):
        points = world[None, :3, 3]
    else:
        points = np.array([poses[name][:3, 3] for name in below])
        heel = np.array([*world[:2, 3], points[:, 2].min()])
        points = np.vstack((points[points[:, 2] < heel[2] + THICK], heel))
    return np.unique(np.round((points - world[:3, 3]) @ world[:3, :3], 9), axis=0)


def feet_of(body: Body) -> tuple[Frame, ...]:
    """Return the feet of a figure, left and right: the links that its ankles turn; none if the body is no figure."""
    from memetik.motion.retargeting.figure import find_parts  # which reads motions

    try:
        parts = find_parts(body)
    except BodyError:
        return ()
    poses = body.forward(body.home)
    above = {joint.child: joint for joint in body.joints.values()}
    found = []
    for side in ("left", "right"):
        if f"{side}_foot" not in parts or f"{side}_lower_leg" not in parts:
            return ()
        shin, way = parts[f"{side}_lower_leg"].link, [parts[f"{side}_foot"].link]
        while way[-1] in above and above[way[-1]].parent != shin:
            way.append(above[way[-1]].parent)
        ankle = poses[way[-1]][:3, 3]
        near = ANKLE * float(np.linalg.norm(ankle - poses[shin][:3, 3]))
        # Axes of an ankle meet, or nearly so; toes turn elsewhere.
        found.append(next(link for link in way if np.linalg.norm(poses[link][:3, 3] - ankle) <= near))
    return tuple(body.frame(link) for link in found)


def contact_frame(body: Body, foot: Frame) -> Frame:
    """Return the foot as a frame in the middle of its sole, for a foot that is only named; one with an offset as it is."""
    return foot if has_offset(foot) else sole_frame(body, foot)[0]


def has_offset(foot: Frame) -> bool:
    """Whether a frame is more than the name of a link."""
    return not np.array_equal(foot.link_from_frame, np.eye(4))


def is_marker(body: Body, foot: Frame) -> bool:
    """Whether a frame is a point by itself: it has an offset, or it is a link without shapes that is fixed to one with some."""
    link = body.links[foot.link]
    bare = not (link.shapes or link.visuals) and len(_rigid_group(body, foot.link)) > 1
    return has_offset(foot) or bare


def sole_frame(body: Body, foot: Frame) -> tuple[Frame, tuple[float, float]]:
    """Return a frame in the middle of the sole of a link, upright at home, and its length along x and width [m]."""
    link = body.forward(body.home, foot.link)
    points = sole_points(body, foot) @ foot.link_from_frame[:3, :3].T + foot.link_from_frame[:3, 3]
    level = points @ link[:3, :3].T
    low, high = level.min(axis=0), level.max(axis=0)
    middle = np.array([*(0.5 * (low + high))[:2], low[2]])
    offset = np.eye(4)
    offset[:3, :3], offset[:3, 3] = link[:3, :3].T, link[:3, :3].T @ middle
    length, width = (high - low)[:2].tolist()
    return body.frame(foot.link, offset), (length, width)


def below_frame(body: Body, foot: Frame) -> float:
    """Return how far the shapes of a foot reach below the origin of its frame at home [m]; 0 without shapes."""
    if not any(len(shape_points(body.links[name], np.zeros(3))) for name in _rigid_group(body, foot.link)):
        return 0.0
    return max(0.0, -float((sole_points(body, foot) @ body.forward(body.home, foot)[2, :3]).min()))


def lowest(poses: Array, points: Array) -> Array:
    """Return the height of the lowest point (n,) of a sole (k, 3) at poses (n, 4, 4) [m]."""
    return np.asarray((points @ poses[:, 2, :3].T).min(axis=0) + poses[:, 2, 3])


def _rigid_group(body: Body, link: str) -> set[str]:
    """The link and all that are fixed to it."""
    links = {link}
    for joint in reversed(body.joints.values()):  # children before their parents
        if joint.kind == "fixed" and joint.child in links:
            links.add(joint.parent)
    for joint in body.joints.values():
        if joint.parent in links and joint.kind == "fixed":
            links.add(joint.child)
    return links


def shape_points(link: Link, down: Array) -> Array:
    """Points of a link (n, 3) [m]: corners of boxes, hulls and cylinders, and ends of what is round in a direction `down`."""
    points = [np.empty((0, 3))]
    for shape in link.shapes or link.visuals:
        if shape.kind == "mesh" or shape.is_field:
            continue
        to_link, rise = shape.link_from_shape, np.zeros(3)
        if shape.points is not None:
            corners = shape.rounded_hull.vertices
        elif shape.kind == "box":
            corners = np.array(list(product((-0.5, 0.5), repeat=3))) * shape.size
        elif shape.kind == "cylinder":
            radius, length = shape.size
            corners = np.array(list(product((-radius, radius), (-radius, radius), (-0.5 * length, 0.5 * length))))
        else:
            half = 0.5 * shape.size[1] if len(shape.size) > 1 else 0.0
            corners, rise = np.array([(0.0, 0.0, -half), (0.0, 0.0, half)]), shape.size[0] * down
        points.append(corners @ to_link[:3, :3].T + to_link[:3, 3] + rise)
    return np.vstack(points)
