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
    links, below = {foot.link}, {foot.link}
    for joint in reversed(body.joints.values()):  # children before their parents
        if joint.kind == "fixed" and joint.child in links:
            links.add(joint.parent)
    for joint in body.joints.values():
        if joint.parent in links:
            below.add(joint.child)
            if joint.kind == "fixed":
                links.add(joint.child)
    found = [
        points @ poses[name][:3, :3].T + poses[name][:3, 3]
        for name in links
        if len(points := shape_points(body.links[name]))
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
    if not np.array_equal(foot.link_from_frame, np.eye(4)):
        return foot
    points = sole_points(body, foot)
    return body.frame(foot.link, tuple((0.5 * (points.min(axis=0) + points.max(axis=0))).tolist()))


def lowest(poses: Array, points: Array) -> Array:
    """Return the height of the lowest point (n,) of a sole (k, 3) at poses (n, 4, 4) [m]."""
    return np.asarray((points @ poses[:, 2, :3].T).min(axis=0) + poses[:, 2, 3])


def shape_points(link: Link) -> Array:
    """Points of a link whose hull holds its boxes and hulls, and round shapes but for their roundness: (n, 3) [m]."""
    points = [np.empty((0, 3))]
    for shape in link.shapes or link.visuals:
        if shape.kind == "mesh" or shape.is_field:
            continue
        if shape.points is not None:
            corners = shape.rounded_hull.vertices
        else:
            if shape.kind == "box":
                half = 0.5 * np.array(shape.size)
            else:
                radius, length = shape.size[0], shape.size[1] if len(shape.size) > 1 else 0.0
                half = np.array([radius, radius, 0.5 * length + (0.0 if shape.kind == "cylinder" else radius)])
            corners = np.array(list(product((-1.0, 1.0), repeat=3))) * half
        points.append(corners @ shape.link_from_shape[:3, :3].T + shape.link_from_shape[:3, 3])
    return np.vstack(points)
