"""The pictures of the reference: what an objective measures, drawn from what it measures.

A probe that slides in a plane and turns in it stands for a frame. The shade at a point is the error that the objective has with
the probe there, by `mk.Solution.of`; where there is no shade, it is satisfied (`python -m tools.docs pictures`).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from matplotlib import pyplot as plt
from tools.docs.pictures import BLUE, GREEN, GREY, ORANGE, RED, arm, arrow, joints_of

import memetik as mk

DARK = "#333333"
DIAGRAMS: dict[str, tuple[str, Callable[[], Any]]] = {}  # a public name, its alt text, and what draws it


def diagram(name: str, alt: str) -> Callable[[Callable[[], Any]], Callable[[], Any]]:
    """Put a picture on the list, under the public name that it explains."""

    def listed(function: Callable[[], Any]) -> Callable[[], Any]:
        DIAGRAMS[name] = (alt, function)
        return function

    return listed


# ---- Parts -------------------------------------------------------------------------------------------------------


def probe(radius: float = 0.0) -> mk.Body:
    """A frame that slides along x and z and turns between them, with a ball around it if a radius is given."""
    builder = mk.build.BodyBuilder("probe", root_link="world")
    slides = {"lower": -3.0, "upper": 3.0}
    builder.add("world", "x", "prismatic", "slide", axis=(1, 0, 0), **slides)
    builder.add("slide", "z", "prismatic", "lift", axis=(0, 0, 1), **slides)
    shapes = [mk.Shape("sphere", (radius,))] if radius else []
    turn = {"lower": -4.0, "upper": 4.0}
    builder.add("lift", "turn", "revolute", "probe", axis=(0, -1, 0), shapes=shapes, mass=1.0, **turn)
    return builder.build()


def error(objective: mk.Objective, body: mk.Body, q: Sequence[float]) -> float:
    """What an objective lacks in a posture; of a pose, the length."""
    found = mk.Solution.of(mk.Problem(body, objective), q).errors[objective]
    return found.position if isinstance(found, mk.objectives.PoseErrors) else float(found)


def field(axes: Any, objective: mk.Objective, body: mk.Body) -> None:
    """Shade the plane by the error of an objective, with lines of equal error."""
    problem = mk.Problem(body, objective)
    (left, right), (low, high) = axes.get_xlim(), axes.get_ylim()
    x, z = np.linspace(left, right, 61), np.linspace(low, high, 49)
    errors = np.array([[float(mk.Solution.of(problem, [a, b, 0.0]).errors[objective]) for a in x] for b in z])
    axes.contourf(x, z, errors, levels=np.linspace(1e-3, errors.max() + 1e-6, 9), cmap="Blues", alpha=0.55)
    lines = axes.contour(x, z, errors, levels=[0.1, 0.2, 0.3], colors=BLUE, linewidths=0.7)
    axes.clabel(lines, fmt="%g m", fontsize=8)


def panel(count: int = 1, width: float = 3.3) -> Any:
    """A figure with panels of the x-z plane."""
    figure, panels = plt.subplots(1, count, figsize=(width * count, 2.7), squeeze=False)
    for axes in panels[0]:
        axes.set(aspect="equal", xlim=(-0.5, 0.5), ylim=(-0.4, 0.4), xticks=[], yticks=[])
        for spine in axes.spines.values():
            spine.set_visible(False)
    return (figure, *panels[0])


def cross(axes: Any, x: float, z: float, text: str = "target", by: tuple[float, float] = (6, 6)) -> None:
    axes.plot(x, z, "x", color=RED, ms=9, mew=2.2)
    said(axes, text, (x, z), by, RED)


def said(axes: Any, text: str, at: Sequence[float], by: tuple[float, float] = (5, 4), color: str = DARK) -> None:
    axes.annotate(text, tuple(at), by, textcoords="offset points", color=color, fontsize=9)


def along(angle: float, length: float = 1.0) -> np.ndarray:
    return length * np.array([math.cos(angle), math.sin(angle)])


def triad(axes: Any, at: Sequence[float], angle: float, size: float = 0.16, alpha: float = 1.0) -> None:
    """A frame in the plane: x red, z blue."""
    begin = np.asarray(at, float)
    for turn, color in ((angle, RED), (angle + math.pi / 2, BLUE)):
        style = {"arrowstyle": "-|>", "color": color, "lw": 2.2, "shrinkA": 0, "shrinkB": 0, "alpha": alpha}
        axes.annotate("", begin + along(turn, size), begin, arrowprops=style)


def arc(
    axes: Any, at: Sequence[float], begin: float, end: float, radius: float, text: str, color: str = ORANGE
) -> None:
    """An angle with what it is called."""
    turns = np.linspace(begin, end, 40)
    axes.plot(at[0] + radius * np.cos(turns), at[1] + radius * np.sin(turns), color=color, lw=2)
    middle = 0.5 * (begin + end)
    axes.text(*(np.asarray(at) + along(middle, radius + 0.04)), text, color=color, fontsize=9, ha="left", va="center")


def length(
    axes: Any, begin: Sequence[float], end: Sequence[float], text: str, by: tuple[float, float], color: str = ORANGE
) -> None:
    """A measure between two points."""
    style = {"arrowstyle": "<|-|>", "color": color, "lw": 1.4, "shrinkA": 0, "shrinkB": 0}
    axes.annotate("", tuple(end), tuple(begin), arrowprops=style)
    said(axes, text, 0.5 * (np.asarray(begin) + np.asarray(end)), by, color)


def fan(axes: Any, objective: mk.Objective, at: Sequence[float], axis: float = math.pi / 2, size: float = 0.3) -> None:
    """Where an axis of a frame may point: an arrow for each turn, green where it satisfies, paler the worse it is."""
    body = probe()
    for turn in np.linspace(-math.pi, math.pi, 33)[:-1]:
        lack = error(objective, body, [at[0], at[1], turn])
        fine = lack <= (objective.tolerance or 0.0) + 1e-9
        style = {"arrowstyle": "-|>", "color": GREEN if fine else BLUE, "shrinkA": 0, "shrinkB": 0}
        style |= {"lw": 2.2 if fine else 1.3, "alpha": 1.0 if fine else max(0.12, 0.75 - 0.22 * lack)}
        begin = np.asarray(at, float)
        axes.annotate("", begin + along(turn + axis, size), begin, arrowprops=style)


# ---- Points ------------------------------------------------------------------------------------------------------


@diagram("Position", "The error of Position around its target: for all axes, for x alone, for an axis that is turned")
def position() -> Any:
    figure, *panels = panel(3)
    wanted = [
        ("all axes", {}),
        ("mask=(1, 1, 0): z is free", {"mask": (1, 1, 0)}),
        ("the same, axes turned by 30°", {"mask": (1, 1, 0), "mask_axes": mk.euler(0, 30, 0, degrees=True)}),
    ]
    for axes, (text, given) in zip(panels, wanted, strict=True):
        field(axes, mk.Position("probe", (0, 0, 0), **given), probe())
        cross(axes, 0, 0)
        axes.set_title(text)
    return figure


@diagram("Line", "The error of Line: the distance from a line through a point along a direction")
def line() -> Any:
    figure, axes = panel()
    field(axes, mk.Line("probe", (-0.1, 0, -0.1), (2, 0, 1)), probe())
    axes.axline((-0.1, -0.1), slope=0.5, color=GREEN, lw=2)
    cross(axes, -0.1, -0.1, "point", (2, -14))
    arrow(axes, np.array([-0.1, -0.1]), np.array([0.2, 0.1]), RED)
    said(axes, "direction", (0.1, 0.0), (2, -12), RED)
    return figure


@diagram("Plane", "The error of Plane: the distance from a plane, or from the side that the normal points to")
def plane() -> Any:
    figure, *panels = panel(2)
    for axes, side in zip(panels, ("on", "above"), strict=True):
        field(axes, mk.Plane("probe", (0, 0, -0.05), (0, 0, 1), side=side), probe())
        axes.axhline(-0.05, color=GREEN, lw=2)
        cross(axes, 0, -0.05, "point", (6, -14))
        arrow(axes, np.array([0, -0.05]), np.array([0, 0.2]), RED)
        said(axes, "normal", (0, 0.15), (6, -4), RED)
        axes.set_title(f'side="{side}"')
    return figure


@diagram("MinDistance", "The error of MinDistance: zero outside a ball around a point, growing inwards")
def min_distance() -> Any:
    return _ball(mk.MinDistance("probe", (0, 0, 0), 0.25))


@diagram("MaxDistance", "The error of MaxDistance: zero inside a ball around a point, growing outwards")
def max_distance() -> Any:
    return _ball(mk.MaxDistance("probe", (0, 0, 0), 0.25))


def _ball(objective: Any) -> Any:
    figure, axes = panel()
    field(axes, objective, probe())
    axes.add_patch(plt.Circle((0, 0), 0.25, fill=False, color=GREEN, lw=2))
    cross(axes, 0, 0, "target", (-14, -16))
    length(axes, (0, 0), along(0.6, 0.25), "distance", (-8, 8))
    return figure


@diagram(
    "Distance", "Around a box: contact, the clearance that is judged, and the margin that the search aims at beyond it"
)
def distance() -> Any:
    figure, axes = panel(width=4.4)
    box, radius, clearance, margin = mk.Shape("box", (0.3, 0.3, 0.2)), 0.05, 0.08, 0.06
    world = mk.World({"box": box})
    field(axes, mk.Distance("probe", world, clearance=clearance), probe(radius))
    axes.add_patch(plt.Rectangle((-0.15, -0.1), 0.3, 0.2, color=GREY))
    body = probe(radius)
    x, z = np.linspace(-0.5, 0.5, 61), np.linspace(-0.4, 0.4, 49)
    for width, color, text in ((clearance, RED, "clearance"), (clearance + margin, GREEN, "+ margin")):
        keeps = mk.Distance("probe", world, clearance=width + 0.2)
        problem = mk.Problem(body, keeps)
        lacks = np.array([[float(mk.Solution.of(problem, [a, b, 0]).errors[keeps]) for a in x] for b in z])
        axes.contour(x, z, lacks, levels=[0.2], colors=color, linewidths=2)
        said(axes, text, (-0.2, 0.1 + radius + width), (-18, 3), color)
    ball = (0.15 + radius + clearance, 0.0)
    axes.add_patch(plt.Circle(ball, radius, fill=False, color=DARK, lw=1.5))
    length(axes, (0.15, 0), (0.15 + clearance, 0), "d", (-2, 4))
    said(axes, "link", ball, (-10, -26))
    return figure


@diagram(
    "SelfDistance", "A chain folded back on itself: the closest points of two links, and the distance between them"
)
def self_distance() -> Any:
    body = mk.build.planar_chain([0.6, 0.4, 0.35])
    points = joints_of(body, np.radians([10.0, 115.0, 100.0]))
    figure, axes = panel(width=3.8)
    for begin, end in itertools.pairwise(points):
        axes.plot(*np.array([begin, end]).T, "-", color=BLUE, lw=17, alpha=0.35, solid_capstyle="round")
    arm(axes, points, BLUE, width=2.5)
    tip, (first, second) = points[-1], points[:2]
    share = np.clip((tip - first) @ (second - first) / ((second - first) @ (second - first)), 0, 1)
    length(axes, first + share * (second - first), tip, "d + r + r", (8, 2))
    axes.set(xlim=(-0.15, 0.8), ylim=(-0.15, 0.6))
    return figure


# ---- Directions --------------------------------------------------------------------------------------------------


@diagram("Frame", "A frame with an offset from its link, and the error of an orientation between two frames")
def frame() -> Any:
    figure, axes = panel(width=4.4)
    link, turn, offset = np.array([-0.3, -0.15]), 0.35, np.array([0.38, 0.12])
    rotation = np.array([along(turn), along(turn + math.pi / 2)]).T
    tip = link + rotation @ offset
    rod = np.array([link - rotation @ (0.15, 0), link + rotation @ (0.2, 0)])
    axes.plot(*rod.T, color=GREY, lw=12, alpha=0.5, solid_capstyle="round")
    triad(axes, link, turn)
    triad(axes, tip, turn - 0.6)
    arrow(axes, link, tip - link, ORANGE, 1.4)
    said(axes, "link", link, (-12, -16))
    said(axes, "frame", tip, (6, -14))
    said(axes, "offset", 0.5 * (link + tip), (8, -12), ORANGE)
    return figure


@diagram("Orientation", "The turn that is left from the axes of a frame to those of its target")
def orientation() -> Any:
    figure, axes = panel()
    body, turn = probe(), 0.7
    wanted = mk.Orientation("probe", np.eye(3))
    angle = error(wanted, body, [0, 0, turn])
    triad(axes, (-0.15, -0.1), 0.0, 0.34, alpha=0.35)
    triad(axes, (-0.15, -0.1), turn, 0.34)
    arc(axes, (-0.15, -0.1), 0.0, turn, 0.24, f"|e| = {angle:.1f} rad")
    said(axes, "target A", (0.19, -0.1), (2, -12), GREY)
    said(axes, "frame R", np.array([-0.15, -0.1]) + along(turn, 0.34), (2, 2))
    return figure


@diagram("Pose", "Both errors of a pose: the distance of the origins and the turn that is left")
def pose() -> Any:
    figure, axes = panel(width=4.0)
    goal, here, turn = np.array([0.15, 0.05]), np.array([-0.3, -0.12]), 0.6
    found = mk.Pose("probe", mk.translation(goal[0], 0, goal[1]))
    errors = mk.Solution.of(mk.Problem(probe(), found), [*here, turn]).errors[found]
    triad(axes, goal, 0.0, 0.24, alpha=0.45)
    triad(axes, here, turn, 0.24)
    length(axes, here, goal, f"position {errors.position:.2f} m", (6, -18))
    axes.plot([here[0], here[0] + 0.2], [here[1]] * 2, color=GREY, lw=1, ls=":")
    arc(axes, here, 0.0, turn, 0.14, "", GREEN)
    said(axes, f"orientation {errors.orientation:.1f} rad", here + np.array([0.12, 0.0]), (0, -16), GREEN)
    said(axes, "target", goal, (-30, 8), GREY)
    return figure


@diagram("Direction", "Where an axis may point: along one direction only; the turn about it is free")
def direction() -> Any:
    figure, axes = panel()
    fan(axes, mk.Direction("probe", (1, 0, 1)), (0, 0))
    said(axes, "direction", along(math.pi / 4, 0.3), (2, 2), GREEN)
    return figure


@diagram("Cone", "Where an axis may point: within half_angle of a direction")
def cone() -> Any:
    figure, axes = panel()
    fan(axes, mk.Cone("probe", (0, 0, 1), math.radians(35)), (0, -0.1), size=0.36)
    arc(axes, (0, -0.1), math.pi / 2, math.pi / 2 - math.radians(35), 0.4, "half_angle")
    axes.axvline(0, 0.35, 0.97, color=ORANGE, lw=1, ls=":")
    return figure


@diagram("Side", "Where an axis may point: anywhere in the half space away from a direction")
def side() -> Any:
    figure, axes = panel()
    fan(axes, mk.Side("probe", (0, 0, 1)), (0, 0))
    arrow(axes, np.array([0.38, 0.0]), np.array([0, 0.25]), RED)
    said(axes, "direction", (0.38, 0.25), (-26, 3), RED)
    return figure


@diagram("LookAt", "An axis of a frame, the ray to the point that it should look at, and the angle between them")
def look_at() -> Any:
    figure, axes = panel(width=4.4)
    goal, here, turn = np.array([0.45, 0.2]), np.array([-0.2, -0.25]), 1.05
    look = mk.LookAt("probe", (goal[0], 0, goal[1]))
    angle = error(look, probe(), [*here, turn])
    triad(axes, here, turn, 0.3)
    axes.plot(*np.array([here, goal]).T, color=GREEN, lw=1.5, ls="--")
    cross(axes, *goal)
    towards = math.atan2(*(goal - here)[::-1])
    arc(axes, here, towards, turn, 0.22, f"angle {angle:.2f} rad")
    said(axes, "frame", here, (4, -12))
    said(axes, "axis", here + along(turn, 0.3), (4, -2), RED)
    return figure


# ---- Surfaces and balance ----------------------------------------------------------------------------------------


@diagram("Touch", "A turned box above a plane: its lowest point along the normal, and the distance that is left")
def touch() -> Any:
    figure, axes = panel(width=4.0)
    builder = mk.build.BodyBuilder("foot", root_link="world")
    builder.add("world", "z", "prismatic", "lift", axis=(0, 0, 1), lower=-1, upper=1)
    size = (0.36, 0.1, 0.14)
    builder.add("lift", "turn", "revolute", "foot", axis=(0, -1, 0), lower=-3, upper=3, shapes=[mk.Shape("box", size)])
    body, q, touch = builder.build(), [0.12, 0.4], mk.Touch("foot", (0, 0, -0.25))
    gap = float(mk.Solution.of(mk.Problem(body, touch), q).errors[touch])
    corners = np.array([(x * size[0] / 2, z * size[2] / 2) for x, z in ((-1, -1), (1, -1), (1, 1), (-1, 1))])
    corners = corners @ np.array([along(q[1]), along(q[1] + math.pi / 2)]) + (0, q[0])
    axes.add_patch(plt.Polygon(corners, color=BLUE, alpha=0.35))
    axes.axhline(-0.25, color=GREEN, lw=2)
    lowest = corners[corners[:, 1].argmin()]
    axes.plot(*lowest, "o", color=ORANGE)
    length(axes, lowest, lowest - (0, gap), f"{gap:.2f} m", (6, -4))
    arrow(axes, np.array([0.3, -0.25]), np.array([0, 0.2]), RED)
    said(axes, "normal", (0.3, -0.05), (6, -4), RED)
    return figure


@diagram(
    "Projection", "A ray from behind a frame along its direction meets a terrain: the hit, its normal, lift and length"
)
def projection() -> Any:
    figure, axes = panel(width=4.8)
    x = np.linspace(-0.6, 0.6, 49)
    heights = -0.22 + 0.12 * np.sin(4.0 * x)
    field_ = mk.objectives.HeightField(np.tile(heights[:, None], (1, 3)), spacing=(0.025, 0.1), origin=(-0.6, -0.1))
    here, turn, lift = np.array([0.02, 0.02]), -0.25, 0.22
    wanted = mk.Projection("probe", field_, lift=lift)
    away = mk.Solution.of(mk.Problem(probe(), wanted), [*here, turn]).errors[wanted]
    down = -along(turn + math.pi / 2)
    hit = here + away.position * down
    axes.fill_between(x, heights, -0.4, color=GREY, alpha=0.4)
    triad(axes, here, turn, 0.14)
    axes.plot(*np.array([here - lift * down, hit]).T, color=ORANGE, lw=1.5, ls="--")
    axes.plot(*hit, "o", color=GREEN)
    slope = 0.48 * math.cos(4.0 * hit[0])
    arrow(axes, hit, np.array([-slope, 1.0]) / math.hypot(slope, 1.0) * 0.15, GREEN)
    said(axes, "n", hit + np.array([-slope, 1.0]) * 0.13, (-12, 2), GREEN)
    beside = np.array([0.05, 0.0])
    length(axes, here - lift * down + beside, here + beside, "lift", (5, 4))
    said(axes, "the ray starts here", here - lift * down, (-104, -2), ORANGE)
    said(axes, "V", here + 0.08 * down, (-14, -2), ORANGE)
    said(axes, "hit", hit, (8, -2), GREEN)
    return figure


@diagram(
    "Balance", "From above: the polygon of the soles, the margin inside it, and the error of a centre of mass outside"
)
def balance() -> Any:
    builder = mk.build.BodyBuilder("mass", root_link="world")
    slides = {"lower": -3.0, "upper": 3.0}
    builder.add("world", "x", "prismatic", "slide", axis=(1, 0, 0), mass=1e-9, **slides)
    builder.add("slide", "y", "prismatic", "lift", axis=(0, 1, 0), mass=1e-9, **slides)
    builder.add("lift", "turn", "revolute", "mass", axis=(0, 0, 1), lower=-3, upper=3, mass=1.0)
    corners = np.array([(-0.3, -0.25), (0.05, -0.28), (0.3, 0.05), (0.28, 0.25), (-0.05, 0.25)])
    figure, axes = panel(width=4.0)
    keep = mk.Balance(corners, margin=0.06)
    field(axes, keep, builder.build())
    axes.add_patch(plt.Polygon(corners, fill=False, color=GREEN, lw=2))
    said(axes, "polygon", (-0.3, -0.25), (-22, -14), GREEN)
    length(axes, (0.29, 0.15), (0.23, 0.15), "margin", (10, -3))
    axes.plot(0.0, 0.0, "+", color=DARK, ms=10, mew=2)
    said(axes, "centre of mass", (0.0, 0.0), (-38, -16))
    return figure


@diagram(
    "GravityTorque",
    "The same weight held by an arm that is stretched, whose shoulder is overloaded, and by one that is bent, which bears it",
)
def gravity_torque() -> Any:
    lengths, pull, motors = (0.4, 0.35), (0.0, -9.81, 0.0), {"shoulder": 12.0, "elbow": 8.0}
    builder = mk.build.BodyBuilder("arm", root_link="base")
    turns = {"axis": (0, 0, 1), "lower": -3.0, "upper": 3.0}
    builder.add("base", "shoulder", "revolute", "upper", **turns)
    builder.add("upper", "elbow", "revolute", "lower", origin=(lengths[0], 0, 0), **turns)
    builder.add("lower", "grip", "fixed", "load", origin=(lengths[1], 0, 0), mass=2.0)
    body, bear = builder.build(), mk.GravityTorque(motors, gravity=pull)
    figure, *panels = panel(2)
    for axes, degrees in zip(panels, ((15.0, 5.0), (80.0, -110.0)), strict=True):
        q = np.radians(degrees)
        points, torques = joints_of(body, q), np.abs(body.gravity_torque(q, gravity=pull))
        arm(axes, points, GREY)
        for (name, effort), point, torque in zip(motors.items(), points, torques, strict=False):
            color = RED if torque > effort else GREEN
            axes.plot(*point, "o", color=color, ms=9)
            said(
                axes,
                f"{name}: {torque:.1f} of {effort:g} N m",
                point,
                (-34, -20) if name == "shoulder" else (-90, 14),
                color,
            )
        arrow(axes, points[-1], np.array([0.0, -0.16]), ORANGE)
        said(axes, "m g", points[-1] - (0.0, 0.16), (-9, -12), ORANGE)
        axes.set(xlim=(-0.2, 0.95), ylim=(-0.25, 0.67), title=f"error {error(bear, body, q):.2f}")
    return figure


# ---- Joints ------------------------------------------------------------------------------------------------------


@diagram(
    "Manipulability",
    "Where joint velocities of length one take a tip: a wide ellipse when bent, a flat one when stretched",
)
def manipulability() -> Any:
    body = mk.build.planar_chain([0.35, 0.3])
    figure, *panels = panel(2)
    for axes, degrees in zip(panels, ((40.0, 80.0), (30.0, 10.0)), strict=True):
        q = np.radians(degrees)
        points, jacobian = joints_of(body, q), body.jacobian("tip", q)[:2]
        turns = np.linspace(0, 2 * math.pi, 90)
        ring = points[-1] + 0.35 * (jacobian @ np.array([np.cos(turns), np.sin(turns)])).T
        arm(axes, points, GREY)
        axes.plot(*ring.T, color=GREEN, lw=2)
        w = math.sqrt(max(0.0, np.linalg.det(jacobian @ jacobian.T)))
        axes.set(xlim=(-0.15, 0.95), ylim=(-0.15, 0.73), title=f"w = {w:.3f}")
    return figure


@diagram(
    "AvoidLimits",
    "Errors over the range of a joint: AvoidLimits grows in the margin, CenterJoints from the middle, JointValue from its target",
)
def joint_guides() -> Any:
    builder = mk.build.BodyBuilder("one", root_link="base")
    builder.add("base", "q", "revolute", "arm", lower=-2.0, upper=2.0)
    body, values = builder.build(), np.linspace(-2, 2, 161)
    figure, axes = plt.subplots(figsize=(5.6, 2.8))
    guides = [
        ("AvoidLimits(margin=0.1)", mk.AvoidLimits(margin=0.1), RED),
        ("CenterJoints()", mk.CenterJoints(), BLUE),
        ("JointValue(target=0.8) [rad]", mk.JointValue("q", 0.8, tolerance=None), GREEN),
    ]
    for text, guide, color in guides:
        axes.plot(values, [error(guide, body, [value]) for value in values], color=color, lw=2, label=text)
    axes.axvspan(-2.0, -1.6, color=GREY, alpha=0.2)
    axes.axvspan(1.6, 2.0, color=GREY, alpha=0.2)
    axes.set(xlabel="joint value [rad], limits ±2", ylabel="error", ylim=(0, 3))
    axes.legend(frameon=False, fontsize=9)
    return figure


# ---- Shapes and ways ---------------------------------------------------------------------------------------------


@diagram("Shape", "The simple shapes with the numbers of their size: sphere, capsule, cylinder and box")
def shapes() -> Any:
    figure, *panels = panel(4, width=2.0)
    r, l_ = 0.12, 0.3
    for axes, kind in zip(panels, ("sphere (r)", "capsule (r, l)", "cylinder (r, l)", "box (x, y, z)"), strict=True):
        axes.set(xlim=(-0.3, 0.3), ylim=(-0.38, 0.38), title=kind)
    sphere, capsule, cylinder, box = panels
    sphere.add_patch(plt.Circle((0, 0), r, color=BLUE, alpha=0.35))
    length(sphere, (0, 0), along(0.7, r), "r", (8, 6))
    capsule.add_patch(plt.Rectangle((-r, -l_ / 2), 2 * r, l_, color=BLUE, alpha=0.35, lw=0))
    for z in (-1, 1):
        turns = np.linspace(0, z * math.pi, 40)
        capsule.fill(r * np.cos(turns), z * l_ / 2 + r * np.sin(turns), color=BLUE, alpha=0.35, lw=0)
    length(capsule, (0.18, -l_ / 2), (0.18, l_ / 2), "l", (6, 0))
    length(capsule, (0, l_ / 2), (r, l_ / 2), "r", (-2, 6))
    cylinder.add_patch(plt.Rectangle((-r, -l_ / 2), 2 * r, l_, color=BLUE, alpha=0.35, lw=0))
    length(cylinder, (0.18, -l_ / 2), (0.18, l_ / 2), "l", (6, 0))
    length(cylinder, (0, l_ / 2 + 0.04), (r, l_ / 2 + 0.04), "r", (-2, 4))
    box.add_patch(plt.Rectangle((-0.16, -0.1), 0.32, 0.2, color=BLUE, alpha=0.35, lw=0))
    length(box, (-0.16, -0.15), (0.16, -0.15), "x", (-2, -14))
    length(box, (0.2, -0.1), (0.2, 0.1), "z", (6, -2))
    return figure


@diagram("waypoints", "A way through three waypoints: with blend=0 it has a corner, with a blend it cuts it")
def waypoints() -> Any:
    figure, *panels = panel(2)
    places = [(-0.4, 0.0, -0.25), (0.1, 0.0, 0.25), (0.4, 0.0, -0.15)]
    for axes, blend in zip(panels, (0.0, 0.2), strict=True):
        way = mk.motion.waypoints([mk.translation(*place) for place in places], speed=0.25, blend=blend, rate=25)
        axes.plot(way[:, 0, 3], way[:, 2, 3], ".", color=BLUE, ms=4)
        for place in places:
            axes.plot(place[0], place[2], "x", color=RED, ms=8, mew=2)
        axes.set_title(f"blend={blend:g}")
    corner, back = np.array([0.1, 0.25]), np.array([-0.4, -0.25]) - np.array([0.1, 0.25])
    corner += np.array([-0.03, 0.03])
    length(panels[1], corner, corner + 0.2 * back / np.linalg.norm(back), "blend [m]", (-50, 8))
    return figure


@diagram(
    "euler", "A frame, then turned by 40 degrees about the fixed x axis, then by 60 degrees about the fixed z axis"
)
def euler() -> Any:
    figure = plt.figure(figsize=(7.2, 2.6))
    for k, (a, c) in enumerate(((0, 0), (40, 0), (40, 60))):
        text, rotation = f"euler({a}, 0, {c})", mk.euler(a, 0, c, degrees=True)
        axes = figure.add_subplot(1, 3, k + 1, projection="3d")
        for axis, color, name in zip(np.asarray(rotation).T, (RED, GREEN, BLUE), "xyz", strict=True):
            axes.quiver(0, 0, 0, *axis, color=color, lw=2)
            axes.text(*(1.15 * axis), name, color=color)
        axes.set(xlim=(-1, 1), ylim=(-1, 1), zlim=(-1, 1), title=text)
        axes.view_init(22, 35)
        axes.set_axis_off()
    return figure
