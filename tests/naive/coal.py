"""Distances of shapes by coal, which is written in C++ and not by us."""

from __future__ import annotations

import coal
import numpy as np


def exact(request):
    """The request with all the digits that coal can give."""
    request.gjk_tolerance = request.epa_tolerance = 1e-13
    request.gjk_max_iterations = request.epa_max_iterations = 1000
    request.enable_signed_distance = True
    return request


def geometry(shape):
    """The shape as coal has it; a hull that has no inside is none of coal's."""
    match shape.kind:
        case "sphere":
            return coal.Sphere(*shape.size)
        case "capsule":
            return coal.Capsule(*shape.size)
        case "cylinder":
            return coal.Cylinder(*shape.size)
        case "box":
            return coal.Box(*shape.size)
    corners, faces = coal.StdVec_Vec3s(), coal.StdVec_Triangle()
    corners.extend(shape.hull.vertices)
    faces.extend([coal.Triangle(*map(int, face)) for face in shape.hull.faces])
    solid = coal.Convex(corners, faces)
    solid.setSweptSphereRadius(shape.size[0])
    return solid


def pose(matrix):
    """A 4x4 transform as coal has it."""
    return coal.Transform3s(np.ascontiguousarray(matrix[:3, :3]), matrix[:3, 3].copy())


def distance(one, other):
    """Signed distance between two shapes placed in the world, NaN where coal gives up, and the unit vector from other to one."""
    result = coal.DistanceResult()
    places = pose(one.link_from_shape), pose(other.link_from_shape)
    found = coal.distance(geometry(one), places[0], geometry(other), places[1], exact(coal.DistanceRequest()), result)
    return (found if abs(found) < 1e100 else float("nan")), -np.array(result.normal)
