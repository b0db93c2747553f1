"""How well a motion was retargeted, measured from the two motions, the model's meshes and finite differences alone.

Nothing here uses targets, plans' turns, reports or the kernels: forward kinematics come from `naive.kinematics`, meshes from
trimesh, and which link answers to which bone is an argument.
"""

import math

import numpy as np

from tests.naive.kinematics import pose


def poses_of(body, q, links=None):
    """The poses (frames, 4, 4) of links [m], each from its own way to the root."""
    return {
        name: np.broadcast_to(pose(body, name, q.T), (len(q), 4, 4))
        for name in (body.links if links is None else links)
    }


def bone_errors(source, found, pairs):
    """For each pair (bone, link): the distance [m] and the angle [rad] between the two in each frame, without any offset."""
    theirs = poses_of(source.body, source.q, {bone for bone, _ in pairs})
    mine = poses_of(found.body, found.q, {link for _, link in pairs})
    result = {}
    for bone, link in pairs:
        away = np.linalg.norm(theirs[bone][:, :3, 3] - mine[link][:, :3, 3], axis=1)
        result[link] = away, angles(theirs[bone][:, :3, :3], mine[link][:, :3, :3])
    return result


def angles(one, other):
    """The angles [rad] between rotations (n, 3, 3)."""
    trace = np.einsum("nij,nij->n", one, other)
    sine = np.linalg.norm(one - other, axis=(1, 2)) / math.sqrt(8.0)
    return np.where(
        trace > 0.0, 2.0 * np.arcsin(np.clip(sine, 0.0, 1.0)), np.arccos(np.clip(0.5 * (trace - 1.0), -1, 1))
    )


def points_of(body, q, link, point):
    """Where a point of a link is in each frame (n, 3) [m]."""
    poses = poses_of(body, q, [link])[link]
    return poses[:, :3, 3] + poses[:, :3, :3] @ np.array(point)


def directions(start, end):
    """Unit vectors (n, 3) from one way to another."""
    away = end - start
    return away / np.linalg.norm(away, axis=1, keepdims=True)


def limit_violations(body, times, q, share=1e-9):
    """How many values are beyond the limits of position, velocity and acceleration, by finite differences of single joints.

    The first three or six numbers of a floating base and the turns of balls have no limits here.
    """
    singles = {joint.variables[0] for joint in body.joints.values() if joint.dof == 1}
    single = np.array([name in singles for name in body.joint_names])
    outside = ((q < body.lower - 1e-9) | (q > body.upper + 1e-9)).sum()
    steps = np.diff(times)[:, None]
    velocity = np.diff(q, axis=0) / steps
    fast = (np.abs(velocity) > body.variables.velocity * (1.0 + share))[:, single].sum()
    hard = 0
    if len(times) > 2:
        acceleration = np.diff(velocity, axis=0) / (0.5 * (steps[1:] + steps[:-1]))
        hard = (np.abs(acceleration) > body.variables.acceleration * (1.0 + 1e-6) + 1e-6)[:, single].sum()
    return int(outside), int(fast), int(hard)


def sole_points(body, link, meshes, visual=False):
    """Points (n, 3) of a foot in the frame of its link: corners of meshes, boxes, and points on round shapes.

    meshes: reads a shape's mesh file -> vertices (n, 3) as the file has them, scaled and placed here.
    """
    below = {link: np.eye(4)}
    for joint in body.joints.values():
        if joint.parent in below and joint.kind == "fixed":
            below[joint.child] = below[joint.parent] @ joint.origin
    found = []
    for name, place in below.items():
        shapes = body.links[name].visuals if visual or not body.links[name].shapes else body.links[name].shapes
        for shape in shapes:
            points = shape_samples(shape, meshes) @ shape.link_from_shape[:3, :3].T + shape.link_from_shape[:3, 3]
            found.append(points @ place[:3, :3].T + place[:3, 3])
    return np.concatenate(found) if found else np.empty((0, 3))


def feet_points(body, link, meshes):
    """Points (n, 3) of a foot by its links: of all that is rigid with the given one, and of toes that joints move below it."""
    above = {joint.child: joint for joint in body.joints.values()}
    top = link
    while top in above and above[top].dof == 0:
        top = above[top].parent
    below = [top]
    for each in below:
        below += [joint.child for joint in body.joints.values() if joint.parent == each]
    own = {each: sole_points(body, each, meshes) for each in below if each == top or above[each].dof}
    return {each: points for each, points in own.items() if len(points)}


def shape_samples(shape, meshes):
    """Points of the surface of a shape in its own frame, dense enough for a tenth of a millimetre on a foot."""
    if shape.kind == "mesh":
        return meshes(shape) * np.array(shape.size)
    if shape.kind == "box":
        half = 0.5 * np.array(shape.size)
        return np.array([(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]) * half
    if shape.kind == "hull":
        assert shape.size[0] == 0.0
        return np.asarray(shape.points)
    ball = sphere_points()
    radius, length = shape.size[0], shape.size[1] if len(shape.size) > 1 else 0.0
    if shape.kind == "cylinder":
        ring = np.array([(math.cos(a), math.sin(a), 0.0) for a in np.linspace(0.0, 2.0 * math.pi, 360)]) * radius
        cap = np.array((0.0, 0.0, 0.5 * length))
        return np.concatenate((ring + cap, ring - cap))
    return np.concatenate([radius * ball + (0.0, 0.0, z) for z in (-0.5 * length, 0.5 * length)])


def sphere_points(count=4000):
    """Points spread evenly over the unit sphere."""
    k = np.arange(count) + 0.5
    z, turn = 1.0 - 2.0 * k / count, math.pi * (1.0 + math.sqrt(5.0)) * k
    return np.stack([np.sqrt(1.0 - z * z) * np.cos(turn), np.sqrt(1.0 - z * z) * np.sin(turn), z], axis=1)


def lowest(body, q, link, points):
    """The height of the lowest of a link's points in each frame (n,) [m]."""
    poses = poses_of(body, q, [link])[link]
    return np.array([(points @ pose[2, :3] + pose[2, 3]).min() for pose in poses])


def sliding(body, times, q, link, points, standing):
    """Speeds [m/s] of the slowest of a link's points over the floor, between frames that both stand."""
    poses = poses_of(body, q, [link])[link]
    found = []
    for k in range(1, len(times)):
        if standing[k] and standing[k - 1]:
            before, after = (points @ poses[i][:3, :3].T + poses[i][:3, 3] for i in (k - 1, k))
            found.append(np.linalg.norm((after - before)[:, :2], axis=1).min() / (times[k] - times[k - 1]))
    return np.array(found)


def differences(clip, found, meshes=None):
    """How far the figures of a report are from what is measured here, the largest difference of each: {"position": 1e-16, ...}.

    The plan says which bone answers to which link and how calibration laid them on each other; soles are those of the model.
    """
    body, plan, report = found.body, found.plan, found.report
    links = {match.link for match in plan.matches}
    bones = {match.bone for match in plan.matches}
    mine, theirs = poses_of(body, found.q, links), poses_of(clip.body, clip.q, bones)
    at, source, result = {}, {}, {}
    hips = plan.matches[0]
    above = {joint.child: joint for joint in body.joints.values()}
    top = hips.link
    while top in above and above[top].parent != body.root:
        top = above[top].parent
    if top not in above or above[top].kind != "floating":
        # A machine that stands fixed is compared with the source as seen from the hips of both.
        link, bone = mine[hips.link], theirs[hips.bone]
        across = link[:, :3, :3] @ rotation(hips.turn).T @ np.swapaxes(bone[:, :3, :3], 1, 2)
        here = (link[:, :3, 3] + link[:, :3, :3] @ hips.point) / report.scale
        there = bone[:, :3, 3] + bone[:, :3, :3] @ hips.joint
        moved = {}
        for name, pose in theirs.items():
            moved[name] = np.array(pose)
            moved[name][:, :3, :3] = across @ pose[:, :3, :3]
            moved[name][:, :3, 3] = here + np.einsum("nij,nj->ni", across, pose[:, :3, 3] - there)
        theirs = moved

    def note(name, one, other):
        result[name] = max(result.get(name, 0.0), float(np.abs(np.subtract(one, other)).max(initial=0.0)))

    for match in plan.matches:
        link, bone = mine[match.link], theirs[match.bone]
        at[match.part] = link[:, :3, 3] + link[:, :3, :3] @ match.point
        source[match.part] = report.scale * (bone[:, :3, 3] + bone[:, :3, :3] @ match.joint) + (0.0, 0.0, report.lift)
        note("position", report.position[match.part], np.linalg.norm(at[match.part] - source[match.part], axis=1))
        own, other = link[:, :3, :3], bone[:, :3, :3] @ rotation(match.turn)
        if match.relative:
            above = plan[match.parent]
            own = np.swapaxes(mine[above.link][:, :3, :3], 1, 2) @ own
            other = np.swapaxes(theirs[above.bone][:, :3, :3] @ rotation(above.turn), 1, 2) @ other
        note("rotation", report.rotation[match.part], angles(own, other))
    for side in ("left", "right"):
        for upper, lower in (
            ("upper_leg", "lower_leg"), ("lower_leg", "foot"), ("foot", "toes"),
            ("upper_arm", "lower_arm"), ("lower_arm", "hand"),
        ):  # fmt: skip
            ends = f"{side}_{upper}", f"{side}_{lower}"
            if all(part in at for part in ends):
                one, other = (directions(*(figure[part] for part in ends)) for figure in (at, source))
                angle = np.arctan2(np.linalg.norm(np.cross(one, other), axis=1), (one * other).sum(axis=1))
                note("direction", report.direction[ends[1]], angle)
    lows, speeds = [0.0], []
    for part, contact in found.standing.items():
        points = feet_points(body, plan[part].link, meshes)
        if not points:
            continue
        low = np.min([lowest(body, found.q, link, own) for link, own in points.items()], axis=0)
        lows.append(low.min())
        note("sole", report.sole[part], low)
        off = np.abs(low[report.reached & contact.any])
        result["reached, but off the floor"] = max(
            result.get("reached, but off the floor", 0.0), off.max(initial=0.0) - 2e-3
        )
        link, own = next(iter(points.items()))
        own = np.vstack((own, front_edge(body, plan, link, own)))
        speeds.append(sliding(body, found.times, found.q, link, own, contact.any))
    if len(lows) > len(found.standing):
        note("penetration", report.penetration, max(0.0, -min(lows)))
    if speeds:
        speed = np.concatenate(speeds)
        note("sliding", report.sliding, speed.mean() if len(speed) else 0.0)
    note("limits", (report.outside, report.too_fast, report.too_hard), limit_violations(body, found.times, found.q))
    single = [
        body.index(joint.variables[0]) for joint in body.joints.values() if joint.dof == 1 and joint.mimic is None
    ]
    steps = np.diff(found.times)[:, None]
    velocity = np.diff(found.q[:, single], axis=0) / steps
    limits = body.variables.velocity[single]
    kept = np.isfinite(limits) & (limits > 0.0)
    note("fastest", report.fastest, (np.abs(velocity[:, kept]) / limits[kept]).max(initial=0.0))
    return result


def front_edge(body, plan, link, points, near=0.01):
    """The middle of the front edge of a sole (3,) in the frame of its link [m], as the body stands in its home posture."""
    home = body.home[None]
    pair = "upper_leg" if "left_upper_leg" in {match.part for match in plan.matches} else "upper_arm"
    left, right = (
        points_of(body, home, match.link, match.point)[0] for match in (plan[f"left_{pair}"], plan[f"right_{pair}"])
    )
    ahead = np.cross(left - right, (0.0, 0.0, 1.0))
    turn = poses_of(body, home, [link])[link][0, :3, :3]
    heights, forward = points @ turn[2], points @ turn.T @ ahead / np.linalg.norm(ahead)
    low = heights < heights.min() + near
    middle = points[low & (forward > forward[low].max() - near)].mean(axis=0)
    return middle - turn[2] * (middle @ turn[2] - heights.min())


def rotation(quaternion):
    """The rotation (3, 3) of a unit quaternion (w, x, y, z): v -> v + 2 w u x v + 2 u x (u x v)."""
    w, u = quaternion[0], np.array(quaternion[1:])
    cross = np.array([[0.0, -u[2], u[1]], [u[2], 0.0, -u[0]], [-u[1], u[0], 0.0]])
    return np.eye(3) + 2.0 * w * cross + 2.0 * cross @ cross
