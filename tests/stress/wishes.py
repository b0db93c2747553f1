"""Random objectives of every class, each with random targets and with its errors as its documentation has them."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np

from memetik import Frame
from memetik.errors import ProblemError
from memetik.geometry import random_rotation, transform
from memetik.objectives import (
    AvoidLimits,
    Balance,
    CenterJoints,
    Cone,
    Custom,
    Direction,
    Displacement,
    Distance,
    FunctionalRelation,
    GravityTorque,
    Ground,
    HeightField,
    JointValue,
    Line,
    LookAt,
    Manipulability,
    MaxDistance,
    MinDistance,
    Objective,
    Orientation,
    Plane,
    Pose,
    Position,
    Projection,
    SelfDistance,
    Side,
    Touch,
    TriangleMesh,
)
from tests.naive import errors as naive
from tests.naive import solids
from tests.naive.bodies import random_direction, random_origin
from tests.naive.surfaces import projection_gaps
from tests.stress.batch import Postures, Setting


class Part(NamedTuple):
    """One measured thing of many solutions: its error (n,), and what must lie within which limits (None: a guide)."""

    error: Any
    sizes: Any  # (n, k)
    limits: Sequence[float] | None  # (k,)
    slack: Any = 0.0  # of the error, where it is ill-conditioned


class Wish(NamedTuple):
    """An objective and its twin."""

    objective: Objective
    reads: frozenset[str]  # variables that it reads; follows_start: none of its own
    parts: Callable[[Postures, Any], list[Part]]  # from solutions and their targets
    targets: Callable[[np.random.Generator, Postures], Any] | None = None  # reachable at these postures
    astray: Callable[[np.random.Generator, int], Any] | None = None  # anywhere
    assign: str = "target"  # what a target is assigned to


def whole(error, tolerance, slack=0.0) -> list[Part]:
    return [Part(error, error[:, None], None if tolerance is None else (tolerance,), slack)]


def some_tolerance(rng, *choices):
    """One of these, or None: a mere guide."""
    return None if rng.random() < 0.2 else choices[rng.integers(len(choices))]


def some_frame(setting: Setting, rng) -> str | Frame:
    """A link that something moves, or a frame some decimetres off it."""
    links = [link for link in setting.body.links if setting.moving(link)]
    link = links[int(len(links) * rng.random() ** 0.5)]
    return link if rng.random() < 0.5 else setting.body.frame(link, random_origin(rng))


def some_other(setting: Setting, rng) -> str | Frame | None:
    """A frame for a target to ride on, or the world."""
    if rng.random() < 0.75:
        return None
    links = list(setting.body.links)
    return setting.body.frame(links[rng.integers(len(links))], random_origin(rng))


def link_of(frame: str | Frame) -> str:
    return frame if isinstance(frame, str) else frame.link


def moved_by(setting: Setting, *frames: str | Frame | None) -> frozenset[str]:
    return frozenset().union(*(setting.moving(link_of(frame)) for frame in frames if frame is not None))


def carrier(postures: Postures, other):
    """World_from_other (n, 4, 4), the identity where the target does not ride on anything."""
    return np.zeros((postures.count, 4, 4)) + np.eye(4) if other is None else postures.frame(other)


def inverse(poses):
    return np.linalg.inv(poses)


def some_mask(rng):
    return (1, 1, 1) if rng.random() < 0.7 else tuple(rng.permutation([1, 0, int(rng.random() < 0.5)]).tolist())


def per_axis(gap, tolerance) -> list[Part]:
    """A gap vector judged by its length or by each axis."""
    error = naive.lengths(gap)
    return [Part(error, np.abs(gap), tolerance)] if isinstance(tolerance, tuple) else whole(error, tolerance)


# ---- Frames -------------------------------------------------------------------------------------------------


def position(setting: Setting, rng) -> Wish:
    frame, other, mask = some_frame(setting, rng), some_other(setting, rng), some_mask(rng)
    axes = random_rotation(rng) if rng.random() < 0.3 else np.eye(3)
    tolerance = some_tolerance(rng, 1e-4, 1e-2, 1e-6, (1e-3, 0.1, 0.02))
    objective = Position(
        frame,
        (0, 0, 0),
        tolerance=tolerance,
        weight=rng.uniform(0.1, 3.0),
        mask=mask,
        mask_axes=axes,
        relative_to=other,
    )

    def parts(postures, targets):
        wanted = np.zeros((postures.count, 4, 4)) + transform((0, 0, 0), axes)
        wanted[:, :3, 3] = targets
        return per_axis(naive.position_gap(postures.frame(frame), carrier(postures, other) @ wanted, mask), tolerance)

    def targets(rng, postures):
        return (inverse(carrier(postures, other)) @ postures.frame(frame))[:, :3, 3]

    return Wish(objective, moved_by(setting, frame, other), parts, targets, lambda rng, n: rng.normal(size=(n, 3)))


def orientation(setting: Setting, rng) -> Wish:
    frame, other, mask = some_frame(setting, rng), some_other(setting, rng), some_mask(rng)
    tolerance = some_tolerance(rng, 1e-3, 0.1, (0.01, 0.5, 0.1))
    objective = Orientation(frame, np.eye(3), tolerance=tolerance, mask=mask, relative_to=other)

    def parts(postures, targets):
        wanted = np.zeros((postures.count, 4, 4)) + np.eye(4)
        wanted[:, :3, :3] = targets
        return per_axis(
            naive.orientation_gap(postures.frame(frame), carrier(postures, other) @ wanted, mask), tolerance
        )

    def targets(rng, postures):
        return (inverse(carrier(postures, other)) @ postures.frame(frame))[:, :3, :3]

    def astray(rng, n):
        return np.array([random_rotation(rng) for _ in range(n)])

    return Wish(objective, moved_by(setting, frame, other), parts, targets, astray)


def pose(setting: Setting, rng) -> Wish:
    frame, other = some_frame(setting, rng), some_other(setting, rng)
    near, upright = some_tolerance(rng, 1e-4, 1e-2, 1e-5), some_tolerance(rng, 1e-3, 0.1, 1e-5)
    objective = Pose(frame, np.eye(4), position_tolerance=near, orientation_tolerance=upright, relative_to=other)

    def parts(postures, targets):
        T, wanted = postures.frame(frame), carrier(postures, other) @ targets
        return [
            *whole(naive.lengths(naive.position_gap(T, wanted)), near),
            *whole(naive.lengths(naive.orientation_gap(T, wanted)), upright),
        ]

    def targets(rng, postures):
        return inverse(carrier(postures, other)) @ postures.frame(frame)

    def astray(rng, n):
        return np.array([transform(rng.normal(size=3), random_rotation(rng)) for _ in range(n)])

    return Wish(objective, moved_by(setting, frame, other), parts, targets, astray)


def aim(kind: type[Direction] | type[LookAt] | type[Cone], setting: Setting, rng) -> Wish:
    frame, other, axis = some_frame(setting, rng), some_other(setting, rng), random_direction(rng)
    half = float(rng.uniform(0.05, 1.0)) if kind is Cone else 0.0
    tolerance = some_tolerance(rng, 1e-3, 0.1, 1e-5)
    free = (half,) if kind is Cone else ()
    objective = kind(frame, (1, 0, 0), *free, axis=axis, tolerance=tolerance, relative_to=other)

    def parts(postures, targets):
        T, base = postures.frame(frame), carrier(postures, other)
        wanted, slack = naive.turned(base, targets), 0.0
        if kind is LookAt:
            wanted = wanted + base[:, :3, 3] - T[:, :3, 3]
            slack = 1e-14 / (1e-12 + naive.lengths(wanted))  # from close by, a hair changes the direction
        return whole(naive.aim_gap(naive.turned(T, axis), wanted, half), tolerance, slack)

    def targets(rng, postures):
        T, base = postures.frame(frame), carrier(postures, other)
        wanted = naive.turned(T, axis)
        if kind is LookAt:
            wanted = T[:, :3, 3] + rng.uniform(0.1, 2.0, (postures.count, 1)) * wanted - base[:, :3, 3]
        return naive.turned(inverse(base), wanted)

    return Wish(objective, moved_by(setting, frame, other), parts, targets, lambda rng, n: rng.normal(size=(n, 3)))


def side(setting: Setting, rng) -> Wish:
    frame, other, axis = some_frame(setting, rng), some_other(setting, rng), random_direction(rng)
    tolerance = some_tolerance(rng, 1e-3, 0.1)
    objective = Side(frame, (1, 0, 0), axis=axis, tolerance=tolerance, relative_to=other)

    def parts(postures, targets):
        away = -naive.turned(carrier(postures, other), targets)
        return whole(naive.aim_gap(naive.turned(postures.frame(frame), axis), away, math.pi / 2.0), tolerance)

    def targets(rng, postures):
        return -naive.turned(inverse(carrier(postures, other)) @ postures.frame(frame), axis)

    return Wish(
        objective, moved_by(setting, frame, other), parts, targets, lambda rng, n: rng.normal(size=(n, 3)), "direction"
    )


# ---- Regions ------------------------------------------------------------------------------------------------


def points_at(frame, other):
    """Targets: where the frame is, seen from what the region rides on."""

    def targets(rng, postures):
        return (inverse(carrier(postures, other)) @ postures.frame(frame))[:, :3, 3] + rng.normal(scale=0.03, size=3)

    return targets


def points_anywhere(rng, n):
    return rng.normal(size=(n, 3))


def from_there(postures, frame, other, targets):
    """From the targets to the frame, in the world."""
    carried = carrier(postures, other)
    return postures.frame(frame)[:, :3, 3] - carried[:, :3, 3] - naive.turned(carried, targets)


def distance_range(kind: type[MinDistance] | type[MaxDistance], setting: Setting, rng) -> Wish:
    frame, other = some_frame(setting, rng), some_other(setting, rng)
    distance, tolerance = float(rng.uniform(0.05, 0.8)), some_tolerance(rng, 1e-4, 1e-2)
    objective = kind(frame, (0, 0, 0), distance, tolerance=tolerance, relative_to=other)
    sign = 1.0 if kind is MaxDistance else -1.0

    def parts(postures, targets):
        gap = naive.lengths(from_there(postures, frame, other, targets))
        return whole(np.maximum(0.0, sign * (gap - distance)), tolerance)

    return Wish(objective, moved_by(setting, frame, other), parts, points_at(frame, other), points_anywhere)


def line(setting: Setting, rng) -> Wish:
    frame, other, direction = some_frame(setting, rng), some_other(setting, rng), random_direction(rng)
    tolerance = some_tolerance(rng, 1e-4, 1e-2)
    objective = Line(frame, (0, 0, 0), direction, tolerance=tolerance, relative_to=other)

    def parts(postures, targets):
        along = naive.turned(carrier(postures, other), direction)
        return whole(naive.lengths(np.cross(along, from_there(postures, frame, other, targets))), tolerance)

    return Wish(objective, moved_by(setting, frame, other), parts, points_at(frame, other), points_anywhere, "point")


def plane(setting: Setting, rng) -> Wish:
    frame, other, normal = some_frame(setting, rng), some_other(setting, rng), random_direction(rng)
    where, tolerance = str(rng.choice(["on", "above"])), some_tolerance(rng, 1e-4, 1e-2)
    objective = Plane(frame, (0, 0, 0), normal, side=where, tolerance=tolerance, relative_to=other)

    def parts(postures, targets):
        up = naive.turned(carrier(postures, other), normal)
        height = (up * from_there(postures, frame, other, targets)).sum(axis=1)
        return whole(np.abs(height) if where == "on" else np.maximum(0.0, -height), tolerance)

    return Wish(objective, moved_by(setting, frame, other), parts, points_at(frame, other), points_anywhere, "point")


def solid_links(setting: Setting, kinds=("sphere", "capsule", "box", "cylinder")) -> list[str]:
    """Links that something moves, with shapes of these kinds only."""
    return [
        name
        for name, link in setting.body.links.items()
        if link.shapes and {shape.kind for shape in link.shapes} <= set(kinds) and setting.moving(name)
    ]


def touch(setting: Setting, rng) -> Wish | None:
    links = solid_links(setting)
    if not links:
        return None
    link, normal = links[rng.integers(len(links))], random_direction(rng)
    where, tolerance = str(rng.choice(["on", "above"])), some_tolerance(rng, 1e-4, 1e-2)
    objective = Touch(link, (0, 0, 0), normal, side=where, tolerance=tolerance)
    shapes = setting.body.links[link].shapes

    def parts(postures, targets):
        up = np.broadcast_to(normal, (postures.count, 3))
        lowest = np.min([solids.lowest(shape, postures.frame(link), up) for shape in shapes], axis=0)
        height = lowest - targets @ normal
        return whole(np.abs(height) if where == "on" else np.maximum(0.0, -height), tolerance)

    return Wish(objective, moved_by(setting, link), parts, points_at(link, None), points_anywhere, "point")


def penetration(gaps, tolerance) -> list[Part]:
    """The depth of the deepest pair, from signed distances (pairs, n); how clear of contact it is counts as size."""
    depth = -np.min(gaps, axis=0)
    return [Part(np.maximum(0.0, depth), depth[:, None], None if tolerance is None else (tolerance,))]


def distance(setting: Setting, rng) -> Wish | None:
    """A link or a ball on a frame keeps away from spheres in the world and from another frame."""
    links = solid_links(setting, ("sphere", "capsule", "box"))
    tolerance, count = (0.0, 1e-2, None)[rng.integers(3)], int(rng.integers(1, 4))
    radii = rng.uniform(0.0, 0.2, count)
    if links and rng.random() < 0.6:
        frame: str | Frame = links[rng.integers(len(links))]
        shapes, radius, others = setting.body.links[frame].shapes, None, []
    else:
        frame, radius = some_frame(setting, rng), float(rng.uniform(0.0, 0.1))
        elsewhere = [link for link in setting.body.links if link != link_of(frame)]
        shapes, others = (), [setting.body.frame(elsewhere[rng.integers(len(elsewhere))], random_origin(rng))]
    spheres = np.column_stack([np.zeros((count, 3)), radii])
    objective = Distance(frame, [*others, *spheres], radius=radius, tolerance=tolerance)

    def parts(postures, targets):
        T, gaps = postures.frame(frame), []
        for k in range(count):
            if shapes:
                gaps += [solids.beyond(shape, T, targets[:, k, :3]) - radii[k] for shape in shapes]
            else:
                gaps.append(naive.lengths(T[:, :3, 3] - targets[:, k, :3]) - radius - radii[k])
        gaps += [naive.lengths((T - postures.frame(other))[:, :3, 3]) - radius for other in others]
        return penetration(gaps, tolerance)

    def obstacles(middle):
        return np.concatenate([middle, np.tile(radii[:, None], (len(middle), 1, 1))], axis=2)

    def targets(rng, postures):
        beside = rng.normal(scale=0.5, size=(postures.count, count, 3))
        return obstacles(postures.frame(frame)[:, None, :3, 3] + beside)

    def astray(rng, n):
        return obstacles(rng.normal(scale=0.7, size=(n, count, 3)))

    return Wish(objective, moved_by(setting, frame, *others), parts, targets, astray, "obstacles")


def self_distance(setting: Setting, rng) -> Wish | None:
    links = [name for name, link in setting.body.links.items() if link.shapes]
    if not 2 <= len(links) <= 12 or not all(
        s.kind in solids.ROUND for n in links for s in setting.body.links[n].shapes
    ):
        return None
    tolerance = (0.0, 1e-2, None)[rng.integers(3)]
    try:
        objective = SelfDistance(setting.body, tolerance=tolerance)
    except ProblemError:  # no two links can collide
        return None
    pairs = [(a, b) for a, b in objective.pairs if setting.moving(a) ^ setting.moving(b)]
    if len(pairs) < len(objective.pairs):
        return None  # locked joints weld links together, which are left out then

    def parts(postures, _):
        gaps = [
            solids.between(one, postures.frame(a), other, postures.frame(b))
            for a, b in pairs
            for one in setting.body.links[a].shapes
            for other in setting.body.links[b].shapes
        ]
        return penetration(gaps, tolerance)

    return Wish(objective, moved_by(setting, *(link for pair in pairs for link in pair)), parts)


# ---- Joints -------------------------------------------------------------------------------------------------


def joint_value(setting: Setting, rng) -> Wish:
    joint = setting.free[rng.integers(len(setting.free))]
    tolerance = some_tolerance(rng, 1e-3, 0.1)
    objective = JointValue(joint, 0.0, tolerance=tolerance)

    def parts(postures, targets):
        return whole(np.abs(postures.value(joint) - targets), tolerance)

    return Wish(
        objective, frozenset([joint]), parts, lambda rng, postures: postures.value(joint).copy(),
        lambda rng, n: rng.normal(scale=3.0, size=n),
    )  # fmt: skip


def some_stiffness(setting: Setting, rng):
    """Weights of single joints, some of them zero; 1 for the rest."""
    chosen = [name for name in setting.body.joint_names if rng.random() < 0.2]
    return {name: float(rng.choice([0.0, rng.uniform(0.1, 3.0)])) for name in chosen}


def springs(objective: Objective, setting: Setting, names, low, high, stiffness, tolerance) -> Wish:
    """A wish about many joints with known rest intervals; names in `names` alone are pulled."""

    def parts(postures, _):
        values = np.array([postures.value(name) for name in names]).reshape(len(names), postures.count).T
        return whole(naive.stretch(values, low, high, stiffness), tolerance)

    return Wish(objective, frozenset(names), parts)


def displacement(setting: Setting, rng) -> Wish:
    weights, tolerance = some_stiffness(setting, rng), None if rng.random() < 0.7 else 0.5
    for joint in setting.body.joints.values():
        if joint.kind in ("spherical", "floating"):
            # With one weight for all three turns they count as one rotation, by its angle; the twin knows single values.
            weights[joint.variables[-1]] = float(rng.uniform(0.1, 3.0))
    names = [name for name in setting.free if weights.get(name, 1.0) > 0.0]
    stiffness = np.array([weights.get(name, 1.0) for name in names])
    if rng.random() < 0.5:
        reference = setting.body.sample(rng)
        rest = np.array([reference[setting.body.joint_names.index(name)] for name in names])
        return springs(
            Displacement(reference=reference, stiffness=weights, tolerance=tolerance),
            setting, names, rest, rest, stiffness, tolerance,
        )  # fmt: skip

    def parts(postures, others):
        """`others`: the variables that the other objectives read."""
        pulled = [k for k, name in enumerate(names) if name in others]
        rows = [setting.body.joint_names.index(names[k]) for k in pulled]
        rest = postures.start[rows].T
        return whole(naive.stretch(postures.q[rows].T, rest, rest, stiffness[pulled]), tolerance)

    return Wish(Displacement(stiffness=weights, tolerance=tolerance), frozenset(), parts)


def center_joints(setting: Setting, rng) -> Wish:
    weights, tolerance = some_stiffness(setting, rng), None if rng.random() < 0.7 else 0.3
    names, middle, stiffness = [], [], []
    for name in setting.free:
        k = setting.body.joint_names.index(name)
        low, high = setting.lower[k], setting.upper[k]
        if math.isfinite(high - low) and high > low and weights.get(name, 1.0) > 0.0:
            names.append(name)
            middle.append(0.5 * (low + high))
            stiffness.append(weights.get(name, 1.0) * 2.0 / (high - low))
    objective = CenterJoints(stiffness=weights, tolerance=tolerance)
    return springs(objective, setting, names, np.array(middle), np.array(middle), np.array(stiffness), tolerance)


def avoid_limits(setting: Setting, rng) -> Wish:
    weights, tolerance = some_stiffness(setting, rng), None if rng.random() < 0.7 else 0.2
    margin = float(rng.uniform(0.05, 0.4))
    names, lows, highs, stiffness = [], [], [], []
    for name in setting.free:
        k = setting.body.joint_names.index(name)
        low, high = setting.lower[k], setting.upper[k]
        if high > low and weights.get(name, 1.0) > 0.0:
            width = margin * (high - low) if math.isfinite(high - low) else margin
            names.append(name)
            lows.append(low + width)
            highs.append(high - width)
            stiffness.append(weights.get(name, 1.0) / width)
    objective = AvoidLimits(margin=margin, stiffness=weights, tolerance=tolerance)
    return springs(objective, setting, names, np.array(lows), np.array(highs), np.array(stiffness), tolerance)


# ---- The body as a whole, surfaces, functions ---------------------------------------------------------------


def balance(setting: Setting, rng) -> Wish | None:
    heavy = [name for name, link in setting.body.links.items() if link.mass > 0.0]
    if not heavy or len(heavy) > 30:
        return None
    somewhere = Postures(setting, setting.sample(rng, 1)).center_of_mass()[0]
    corners = int(rng.integers(3, 7))
    angles = 2.0 * math.pi / corners * (np.arange(corners) + rng.uniform(0.0, 0.7, corners))
    polygon = somewhere + 0.2 * np.stack([np.cos(angles), np.sin(angles)], axis=1) * rng.uniform(0.2, 1.0, 2)
    tolerance, margin = some_tolerance(rng, 1e-4, 1e-2), float(rng.choice([0.0, 1e-3]))
    objective = Balance(polygon, margin=margin, tolerance=tolerance)
    room = naive.shrunk(objective.polygon, margin)

    def parts(postures, _):
        return whole(naive.outside(room, postures.center_of_mass()), tolerance)

    return Wish(objective, moved_by(setting, *heavy), parts)


def manipulability(setting: Setting, rng) -> Wish:
    frame, axes = some_frame(setting, rng), ("all", "position", "rotation")[rng.integers(3)]
    least, tolerance = float(rng.uniform(0.05, 0.5)), some_tolerance(rng, 0.1, 0.5)
    free = moved_by(setting, frame)

    def parts(postures, _):
        """The Jacobian by complex steps, in which nothing cancels, and its singular values."""
        J = np.zeros((postures.count, 6, len(free)))
        R = postures.frame(frame)[:, :3, :3]
        for column, name in enumerate(sorted(free)):
            q = postures.q.astype(complex)
            q[setting.body.joint_names.index(name)] += 1e-30j
            change = Postures(setting, q).frame(frame).imag / 1e-30
            spin = change[:, :3, :3] @ R.transpose(0, 2, 1)
            J[:, :3, column] = change[:, :3, 3]
            J[:, 3:, column] = np.stack([spin[:, 2, 1], spin[:, 0, 2], spin[:, 1, 0]], axis=1)
        J = J[:, {"all": slice(0, 6), "position": slice(0, 3), "rotation": slice(3, 6)}[axes]]
        enough = J.shape[2] >= J.shape[1]  # columns, else w is zero
        w = np.linalg.svd(J, compute_uv=False).prod(axis=1) if enough else np.zeros(len(J))
        slack = 1e-6 * np.prod(1.0 + np.linalg.norm(J, axis=2), axis=1) / least  # a root of a difference of products
        return whole(np.maximum(0.0, 1.0 - w / least), tolerance, slack)

    return Wish(Manipulability(frame, least, axes=axes, tolerance=tolerance), free, parts)


def gravity_torque(setting: Setting, rng) -> Wish | None:
    heavy = [name for name, link in setting.body.links.items() if link.mass > 0.0]
    if not heavy or len(heavy) > 30:
        return None
    body = setting.body
    free = moved_by(setting, *heavy)
    motors = {name: float(rng.uniform(0.5, 20.0)) for name in sorted(free) if rng.random() < 0.7}
    if not motors:
        return None
    gravity, share = rng.normal(scale=5.0, size=3), float(rng.choice([0.0, 0.5, 1.0]))
    tolerance = some_tolerance(rng, 1e-3, 0.5)

    def parts(postures, _):
        """The slope of the potential energy - sum m g·c by complex steps."""
        over = np.zeros((postures.count, len(motors)))
        for column, (name, most) in enumerate(motors.items()):
            q = postures.q.astype(complex)
            q[body.joint_names.index(name)] += 1e-30j
            moved = Postures(setting, q)
            energy = sum(
                -body.links[link].mass * (moved.frame(link) @ (*body.links[link].center_of_mass, 1.0))[:, :3] @ gravity
                for link in heavy
            )
            over[:, column] = np.maximum(0.0, np.abs(np.imag(energy) / 1e-30) / most - share)
        return whole(np.linalg.norm(over, axis=1), tolerance, 1e-9 * (1.0 + np.abs(over).max(axis=1)))

    objective = GravityTorque(
        {**dict.fromkeys(body.joint_names, math.inf), **motors},
        effort_fraction=share,
        gravity=gravity,
        tolerance=tolerance,
    )
    return Wish(objective, free, parts)


def some_surface(rng):
    kind = rng.integers(3)
    if kind == 0:
        return Ground(rng.normal(scale=0.3, size=3), random_direction(rng))
    if kind == 1:
        heights = rng.uniform(-0.3, 0.3, (4, 5))
        # The points beside these corners lie on the edge between two facets, so the two must have one normal.
        heights[0, 0] = heights[0, 1] + heights[1, 0] - heights[1, 1]
        heights[-1, -1] = heights[-1, -2] + heights[-2, -1] - heights[-2, -2]
        return HeightField(heights, spacing=0.4, origin=(-0.6, -0.8))
    corners = rng.uniform(-0.7, 0.7, (8, 1, 3)) + rng.normal(scale=0.3, size=(8, 3, 3))
    return TriangleMesh(corners.reshape(-1, 3), np.arange(24).reshape(-1, 3))


def projection(setting: Setting, rng) -> Wish:
    frame, surface, direction = some_frame(setting, rng), some_surface(rng), random_direction(rng)
    near, upright = some_tolerance(rng, 1e-4, 1e-2), some_tolerance(rng, 1e-3, 0.1)
    align, lift = bool(rng.random() < 0.6), float(rng.uniform(0.05, 1.0))
    objective = Projection(
        frame, surface, direction=direction, lift=lift, align=align, position_tolerance=near,
        orientation_tolerance=upright,
    )  # fmt: skip
    miss = max(1e-3, 2.0 * (near or 0.0))

    def parts(postures, _):
        gap, turn = projection_gaps(surface, postures.frame(frame), direction, lift, miss)
        turn = turn if align else np.zeros(postures.count)
        return [*whole(gap, near), *whole(turn, upright if align else math.inf)]

    return Wish(objective, moved_by(setting, frame), parts)


def one_height(frame):
    return max(0.0, 0.4 - frame.position[2])


def two_angles(frame, value):
    return frame.axis_x[2] * value, frame.axis_y[0] - 0.3 * frame.position[1]


def undefined_behind(frame):
    return math.nan if frame.position[0] < -0.3 else 0.5 * frame.position[0]


def follow(value):
    return 0.3 - 0.5 * value


# Numba compiles each again for every objective, so few are made and shared by all bodies whose links have these names.
@functools.cache
def shared_custom(function, frames: tuple[str, ...], joints: tuple[str, ...], tolerance) -> Custom:
    return Custom(function, reads=frames, joints=joints, tolerance=tolerance)


@functools.cache
def shared_relation(joint: str, source: str, tolerance) -> FunctionalRelation:
    return FunctionalRelation(joint, follow, sources=[source], tolerance=tolerance)


def custom(setting: Setting, rng) -> Wish | None:
    function = (one_height, two_angles, undefined_behind)[rng.integers(3)]
    joints = ("joint0",) if function is two_angles else ()
    if "link3" not in setting.body.links or not readable(setting, *joints):
        return None
    sources = frozenset(map(setting.source, joints))
    tolerance = some_tolerance(rng, 1e-3)
    objective = shared_custom(function, ("link3",), joints, tolerance)

    def parts(postures, _):
        T, values = postures.frame("link3"), [postures.value(joint) for joint in joints]
        told = []
        for k in range(postures.count):
            R, p = T[k, :3, :3].tolist(), T[k, :3, 3].tolist()
            axis_x, axis_y, axis_z = zip(*R, strict=True)
            view = SimpleNamespace(position=p, axis_x=axis_x, axis_y=axis_y, axis_z=axis_z)
            told.append(np.atleast_1d(function(view, *(value[k] for value in values))))
        return whole(naive.lengths(np.array(told)), tolerance)

    return Wish(objective, (moved_by(setting, "link3") | sources) - setting.lock.keys(), parts)


def functional_relation(setting: Setting, rng) -> Wish | None:
    joint, source = rng.permutation(["joint0", "joint1", "joint2"])[:2].tolist()
    if not readable(setting, joint, source):
        return None
    tolerance = some_tolerance(rng, 1e-3)

    def parts(postures, _):
        return whole(np.abs(postures.value(joint) - follow(postures.value(source))), tolerance)

    reads = frozenset([setting.source(joint), setting.source(source)]) - setting.lock.keys()
    return Wish(shared_relation(joint, source, tolerance), reads, parts)


def readable(setting: Setting, *names: str) -> bool:
    """Whether these are joints of one degree of freedom."""
    body = setting.body
    return all(
        name in body.joint_names or (name in body.joints and body.joints[name].mimic is not None) for name in names
    )


FACTORIES: dict[type[Objective], Callable[[Setting, np.random.Generator], Wish | None]] = {
    AvoidLimits: avoid_limits,
    Balance: balance,
    CenterJoints: center_joints,
    Cone: functools.partial(aim, Cone),
    Custom: custom,
    Direction: functools.partial(aim, Direction),
    Displacement: displacement,
    Distance: distance,
    FunctionalRelation: functional_relation,
    GravityTorque: gravity_torque,
    JointValue: joint_value,
    Line: line,
    Manipulability: manipulability,
    LookAt: functools.partial(aim, LookAt),
    MaxDistance: functools.partial(distance_range, MaxDistance),
    MinDistance: functools.partial(distance_range, MinDistance),
    Orientation: orientation,
    Plane: plane,
    Pose: pose,
    Position: position,
    Projection: projection,
    SelfDistance: self_distance,
    Side: side,
    Touch: touch,
}
