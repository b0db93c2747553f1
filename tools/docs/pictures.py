"""The pictures of Start, Learn and How do I, each computed by the library (`python -m tools.docs pictures`).

Lines are drawn by Matplotlib from the numbers that `body.forward`, `body.jacobian` and the solvers give; bodies by `mk.draw`.
"""

from __future__ import annotations

import math
import re
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib import pyplot as plt
from tools.docs.bodies import arm_urdf

import memetik as mk

BLUE, ORANGE, GREEN, RED, GREY = "#0b57a4", "#c65d00", "#1a7f37", "#b3261e", "#8a94a0"
STYLE = {
    "svg.fonttype": "none", "svg.hashsalt": "memetik", "font.family": "sans-serif", "font.size": 11, "axes.spines.top": False,
    "axes.spines.right": False, "savefig.transparent": True, "axes.titlesize": 11, "figure.constrained_layout.use": True,
}  # fmt: skip

LINKS = [0.5, 0.4, 0.3]
BENCHMARKS = Path(__file__).parents[2] / "docs" / "benchmarks.md"
PICTURES: dict[str, Callable[[], Any]] = {}


def picture(function: Callable[[], Any]) -> Callable[[], Any]:
    """Put a picture on the list, under the name of its function."""
    PICTURES[function.__name__] = function
    return function


def write(folder: Path, drawn: Mapping[str, Callable[[], Any]] = PICTURES, names: Sequence[str] = ()) -> None:
    """Draw all pictures of a list, or some by name, as SVG."""
    mpl.use("svg")
    folder.mkdir(parents=True, exist_ok=True)
    for name, draw in drawn.items():
        if names and name not in names:
            continue
        with mpl.rc_context(STYLE):
            made = draw()
            if isinstance(made, str):
                (folder / f"{name}.svg").write_text(made)
            else:
                made.savefig(folder / f"{name}.svg", metadata={"Date": None}, bbox_inches="tight", pad_inches=0.05)
                plt.close(made)
        print(f"{name}.svg: {(folder / f'{name}.svg').stat().st_size / 1e3:.0f} kB")


# ---- Parts -------------------------------------------------------------------------------------------------------


def joints_of(body: mk.Body, q: Any) -> np.ndarray:
    """The joints of a planar chain and its tip, in the plane."""
    poses = body.forward(np.asarray(q, float))
    origins = [poses[name][:2, 3] for name in body.links]
    kept = [origins[0]]
    for point in origins[1:]:
        if np.linalg.norm(point - kept[-1]) > 1e-9:
            kept.append(point)
    return np.array(kept)


def arm(axes: Any, points: np.ndarray, color: str = BLUE, alpha: float = 1.0, width: float = 4.0) -> None:
    axes.plot(*points.T, "-", color=color, lw=width, alpha=alpha, solid_capstyle="round")
    axes.plot(*points[:-1].T, "o", color="white", mec=color, ms=width * 2, mew=1.5, alpha=alpha)
    axes.plot(*points[-1], "o", color=color, ms=width * 1.2, alpha=alpha)


def target(axes: Any, point: Sequence[float], text: str = "target") -> None:
    axes.plot(point[0], point[1], "x", color=RED, ms=10, mew=2.5)
    if text:
        axes.annotate(text, (point[0], point[1]), (6, 6), textcoords="offset points", color=RED)


def plane(axes: Any, x: tuple[float, float] = (-0.35, 1.25), y: tuple[float, float] = (-0.35, 1.05)) -> None:
    axes.set(aspect="equal", xlim=x, ylim=y, xticks=[], yticks=[])
    for spine in axes.spines.values():
        spine.set_visible(False)


def arrow(axes: Any, begin: np.ndarray, by: np.ndarray, color: str, width: float = 2.0) -> None:
    style = {"arrowstyle": "-|>", "color": color, "lw": width, "shrinkA": 0, "shrinkB": 0}
    axes.annotate("", begin + by, begin, arrowprops=style)


# ---- What inverse kinematics is ----------------------------------------------------------------------------------


@picture
def two_answers() -> Any:
    """The same point with the elbow on either side."""
    body = mk.build.planar_chain([0.6, 0.5])
    reach = mk.Position("tip", (0.6, 0.5, 0.0))
    figure, axes = plt.subplots(figsize=(4.6, 3.4))
    for solution, color in zip(mk.solve_all(mk.Problem(body, reach), count=2), (BLUE, ORANGE), strict=True):
        arm(axes, joints_of(body, solution.q), color)
    target(axes, reach.target)
    plane(axes, (-0.15, 0.95), (-0.15, 0.75))
    return figure


@picture
def frames() -> Any:
    """A frame on every link of a planar arm."""
    body, q = mk.build.planar_chain(LINKS), np.radians([35.0, 40.0, -55.0])
    points = joints_of(body, q)
    figure, axes = plt.subplots(figsize=(6.0, 4.2))
    arm(axes, points, GREY)
    turned, labels = np.cumsum([0.0, *q]), ["world", "link 1", "link 2", "link 3"]
    for k, (point, angle) in enumerate(zip([points[0], *points[:3]], turned, strict=True)):
        along = np.array([math.cos(angle), math.sin(angle)])
        size = 0.26 if k == 0 else 0.18
        arrow(axes, point, size * along, RED)
        arrow(axes, point, size * np.array([-along[1], along[0]]), GREEN)
        if k:
            before = turned[k - 1]
            arc = np.linspace(before, angle, 30)
            axes.plot(point[0] + 0.11 * np.cos(arc), point[1] + 0.11 * np.sin(arc), color=ORANGE, lw=2)
            middle = 0.5 * (before + angle)
            beside = point + 0.15 * np.array([math.cos(middle), math.sin(middle)])
            axes.text(*beside, f"$q_{k}$", color=ORANGE, va="center")
        axes.annotate(labels[k], point, (-8, -18) if k else (-46, -18), textcoords="offset points", color="#333333")
    axes.annotate("tip", points[-1], (8, -4), textcoords="offset points", color="#333333")
    plane(axes, (-0.35, 1.25), (-0.2, 0.95))
    return figure


@picture
def joint_kinds() -> Any:
    """What a rod does on a joint of each kind, from one limit to the other."""
    figure, panels = plt.subplots(1, 4, figsize=(8.4, 2.6))
    turn = mk.rpy(math.radians(20.0), 0.0, math.radians(-25.0))
    look = mk.rpy(math.radians(-65.0), 0.0, 0.0) @ turn
    rod = np.array([(0, 0, 0, 1), (0.5, 0, 0, 1), (0.5, 0.12, 0, 1)], float)
    kinds = [("revolute", 1), ("prismatic", 1), ("screw", 1), ("spherical", 3)]
    for axes, (kind, count) in zip(panels, kinds, strict=True):
        builder = mk.build.BodyBuilder(kind)
        options = {"pitch": 0.08} if kind == "screw" else {}
        limits = {"revolute": 1.0, "prismatic": 0.35, "screw": 2.6, "spherical": 0.5}[kind]
        builder.add("base", "joint", kind, "rod", axis=(0, 0, 1), lower=-limits, upper=limits, **options)
        body = builder.build()
        steps = np.linspace(-limits, limits, 9)
        values = steps[:, None] * np.ones(count) * ([1.0, -0.8, 1.4][:count])
        for k, q in enumerate(np.clip(values, -limits, limits)):
            points = (rod @ body.forward(q)["rod"].T)[:, :3] @ look.T
            axes.plot(points[:, 0], points[:, 1], color=BLUE, lw=3, alpha=0.15 + 0.1 * k, solid_capstyle="round")
        axis = np.array([(0, 0, -0.45), (0, 0, 0.45)]) @ look.T
        axes.plot(axis[:, 0], axis[:, 1], ":", color=RED, lw=1.5)
        axes.set_title(kind if count == 1 else f"{kind}: three turns")
        plane(axes, (-0.45, 0.75), (-0.55, 0.55))
    return figure


@picture
def forward_kinematics() -> Any:
    """One posture gives one tip; a thousand postures give the workspace."""
    body, rng = mk.build.planar_chain(LINKS, limits=(-1.6, 1.6)), np.random.default_rng(3)
    figure, (left, right) = plt.subplots(1, 2, figsize=(8.4, 3.8))
    q = np.radians([50.0, -60.0, -35.0])
    points = joints_of(body, q)
    arm(left, points)
    for k in range(3):
        middle = 0.5 * (points[k] + points[k + 1])
        left.annotate(f"$l_{k + 1}$", middle, (-2, 9), textcoords="offset points")
    left.annotate("$(x, y)$", points[-1], (8, 0), textcoords="offset points")
    plane(left, (-0.2, 1.2), (-0.3, 0.8))
    left.set_title("one posture, one tip")
    Q = rng.uniform(body.lower, body.upper, (4000, 3))
    tips = body.forward(Q, "tip")[:, :2, 3]
    right.plot(*tips.T, ".", color=BLUE, ms=1.6, alpha=0.5, rasterized=True)
    arm(right, joints_of(body, np.zeros(3)), ORANGE, width=3)
    plane(right, (-1.0, 1.3), (-1.25, 1.25))
    right.set_title("4,000 postures: where the tip can be")
    return figure


# ---- The Jacobian ------------------------------------------------------------------------------------------------


@picture
def jacobian() -> Any:
    """The columns of the Jacobian, and what unit joint speeds make of them, at three postures."""
    body = mk.build.planar_chain([0.6, 0.5])
    figure, panels = plt.subplots(1, 3, figsize=(9.0, 3.2))
    circle = np.linspace(0, 2 * np.pi, 100)
    postures = ((100.0, "far from singular"), (45.0, "stretching"), (4.0, "nearly straight"))
    for axes, (degrees, title) in zip(panels, postures, strict=True):
        q = np.radians([60.0 - 0.5 * degrees, degrees])
        points, J = joints_of(body, q), body.jacobian("tip", q)[:2]
        arm(axes, points)
        ellipse = points[-1] + 0.35 * (J @ np.array([np.cos(circle), np.sin(circle)])).T
        axes.fill(*ellipse.T, color=GREEN, alpha=0.18)
        axes.plot(*ellipse.T, color=GREEN, lw=1)
        for k, color in enumerate((RED, ORANGE)):
            arrow(axes, points[-1], 0.35 * J[:, k], color)
            axes.annotate(f"$J_{k + 1}$", points[-1] + 0.35 * J[:, k], (3, 3), textcoords="offset points", color=color)
        axes.set_title(f"{title}: $w$ = {math.sqrt(np.linalg.det(J @ J.T)):.3f}")
        plane(axes, (-0.25, 1.35), (-0.15, 1.35))
    return figure


@picture
def damping() -> Any:
    """The joint step for one centimetre outwards, by elbow angle: the pseudoinverse explodes, damping does not."""
    body = mk.build.planar_chain([0.6, 0.5])
    angles = np.geomspace(0.002, 2.0, 300)
    rows = []
    for angle in angles:
        q = np.array([0.0, angle])
        J, tip = body.jacobian("tip", q)[:2], body.forward(q)["tip"][:2, 3]
        step = 0.01 * tip / np.linalg.norm(tip)
        plain = np.linalg.pinv(J) @ step
        damped = J.T @ np.linalg.solve(J @ J.T + 0.05**2 * np.eye(2), step)
        rows.append((np.linalg.norm(plain), np.linalg.norm(damped)))
    plain, damped = np.array(rows).T
    figure, axes = plt.subplots(figsize=(6.0, 3.4))
    axes.loglog(np.degrees(angles), plain, color=RED, label="pseudoinverse")
    axes.loglog(np.degrees(angles), damped, color=BLUE, label="damped, λ = 0.05")
    axes.set(xlabel="elbow angle [degrees], 0 is straight", ylabel="joint step [rad]")
    axes.legend(frameon=False)
    return figure


# ---- Sweeps ------------------------------------------------------------------------------------------------------


@picture
def ccd() -> Any:
    """One sweep of CCD: each joint turns so that the tip comes nearest to the target."""
    body, goal = mk.build.planar_chain([0.35] * 4), np.array([0.2, 0.85])
    q = np.radians([10.0, 15.0, -20.0, 10.0])
    figure, panels = plt.subplots(1, 4, figsize=(9.6, 2.9))
    for axes, joint in zip(panels, (3, 2, 1, 0), strict=True):
        before = joints_of(body, q)
        pivot, tip = before[joint], before[-1]
        turn = math.atan2(*(goal - pivot)[::-1]) - math.atan2(*(tip - pivot)[::-1])
        q[joint] += (turn + math.pi) % (2 * math.pi) - math.pi
        arm(axes, before, GREY, 0.5, 3)
        arm(axes, joints_of(body, q), BLUE, 1.0, 3)
        axes.plot(*np.array([pivot, goal]).T, ":", color=ORANGE, lw=1.5)
        axes.plot(*pivot, "o", color=ORANGE, ms=7)
        target(axes, goal, "")
        axes.set_title(f"turn joint {joint + 1}")
        plane(axes, (-0.45, 1.4), (-0.25, 1.2))
    return figure


@picture
def fabrik() -> Any:
    """One round of FABRIK: points drawn from the target back to the base, then from the base to the tip."""
    body, goal = mk.build.planar_chain([0.35] * 4), np.array([0.2, 0.85])
    start = joints_of(body, np.radians([10.0, 15.0, -20.0, 10.0]))
    back, lengths = start.copy(), np.linalg.norm(np.diff(start, axis=0), axis=1)
    back[-1] = goal
    for k in range(3, -1, -1):
        back[k] = back[k + 1] + lengths[k] * (back[k] - back[k + 1]) / np.linalg.norm(back[k] - back[k + 1])
    forth = back.copy()
    forth[0] = start[0]
    for k in range(4):
        forth[k + 1] = forth[k] + lengths[k] * (forth[k + 1] - forth[k]) / np.linalg.norm(forth[k + 1] - forth[k])
    figure, panels = plt.subplots(1, 3, figsize=(8.4, 3.0))
    stages = (
        (start, None, "the start"),
        (back, start, "backward: the tip is on the target"),
        (forth, back, "forward: the base is back"),
    )
    for axes, (points, before, title) in zip(panels, stages, strict=True):
        if before is not None:
            arm(axes, before, GREY, 0.4, 3)
        arm(axes, points, BLUE, 1.0, 3)
        target(axes, goal, "")
        axes.plot(0, 0, "^", color=ORANGE, ms=9)
        axes.set_title(title)
        plane(axes, (-0.45, 1.4), (-0.3, 1.1))
    return figure


# ---- Optimisation ------------------------------------------------------------------------------------------------


def _two_links() -> tuple[mk.Body, np.ndarray, Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]]:
    body, goal = mk.build.planar_chain([0.6, 0.5]), np.array([0.45, 0.55])

    def measured(q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return body.forward(q)["tip"][:2, 3] - goal, body.jacobian("tip", q)[:2]

    return body, goal, measured


def _landscape(axes: Any, body: mk.Body, goal: np.ndarray) -> None:
    grid = np.linspace(-np.pi, np.pi, 161)
    Q = np.stack(np.meshgrid(grid, grid, indexing="ij"), axis=-1).reshape(-1, 2)
    error = np.linalg.norm(body.forward(Q, "tip")[:, :2, 3] - goal, axis=1).reshape(161, 161)
    levels = np.floor(error.T / 0.1)  # bands of 10 cm
    axes.imshow(levels, cmap="Blues_r", origin="lower", extent=(-np.pi, np.pi, -np.pi, np.pi), interpolation="nearest")
    axes.set(aspect="equal", xlabel="$q_1$ [rad]", ylabel="$q_2$ [rad]", xlim=(-np.pi, np.pi), ylim=(-np.pi, np.pi))


@picture
def landscape() -> Any:
    """The error of a two-link arm over its two joints, and the ways of three methods down to a solution."""
    body, goal, measured = _two_links()
    figure, axes = plt.subplots(figsize=(5.4, 4.8))
    _landscape(axes, body, goal)
    for name, color, style in (
        ("gradient", ORANGE, "-"),
        ("Gauss-Newton", RED, "--"),
        ("Levenberg-Marquardt", GREEN, "-"),
    ):
        q, damp, path = np.array([-1.6, 2.7]), 0.1, []
        for _ in range(60):
            path.append(q.copy())
            r, J = measured(q)
            if np.linalg.norm(r) < 1e-6:
                break
            if name == "gradient":
                q = q - 0.35 * J.T @ r
            elif name == "Gauss-Newton":
                q = q - np.linalg.pinv(J) @ r
            else:
                tried = q - np.linalg.solve(J.T @ J + damp * np.eye(2), J.T @ r)
                better = np.linalg.norm(measured(tried)[0]) < np.linalg.norm(r)
                q, damp = (tried, damp / 4) if better else (q, damp * 4)
        path = (np.array(path) + np.pi) % (2 * np.pi) - np.pi
        jumps = np.nonzero(np.abs(np.diff(path, axis=0)).max(axis=1) > np.pi)[0] + 1
        shown = np.insert(path, jumps, np.nan, axis=0)
        axes.plot(*shown.T, style, color=color, lw=1.8, marker="o", ms=3.5, label=f"{name}, {len(path) - 1} steps")
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, 1.18), ncols=2, frameon=False, fontsize=9)
    return figure


@picture
def convergence() -> Any:
    """The error of an arm's hand after so many evaluations, by method."""
    body = mk.load("panda")
    posture = {"panda_joint1": 0.8, "panda_joint2": 0.5, "panda_joint4": -1.2, "panda_joint6": 2.2}
    goal = body.forward(body.vector(posture))["panda_hand"]
    pose = mk.Pose("panda_hand", goal, position_tolerance=1e-9, orientation_tolerance=1e-9)
    problem = mk.Problem(body, pose)
    figure, axes = plt.subplots(figsize=(6.4, 3.8))
    names = ("transpose", "dls", "gauss_newton", "levenberg_marquardt", "memetic")
    for name, color in zip(names, (ORANGE, GREY, RED, GREEN, BLUE), strict=True):
        solver, spent, errors = mk.solver(name), [], []
        for evaluations in range(1, 61):
            error = mk.solve(problem, method=solver, budget=mk.Budget(evaluations=evaluations)).errors[pose]
            spent.append(evaluations)
            errors.append(min([error.position + error.orientation, *errors]))
        axes.semilogy(spent, errors, color=color, label=name)
    axes.set(xlabel="evaluations", ylabel="error of the hand [m + rad]", ylim=(1e-10, 10))
    axes.legend(frameon=False, loc="center left", bbox_to_anchor=(1.0, 0.5))
    return figure


# ---- Evolution ---------------------------------------------------------------------------------------------------


@picture
def evolution() -> Any:
    """A population of Bio IK over the same landscape, generation by generation."""
    body, goal, _ = _two_links()
    problem = mk.Problem(body, mk.Position("tip", (*goal, 0.0), tolerance=1e-6))
    solver = mk.solvers.BioIK(population=40, elites=2, seed=5, steps=1)
    _, history = solver.evolve(problem, np.array([-1.6, 2.7]))
    last = int(history.generation.max())
    figure, panels = plt.subplots(1, 4, figsize=(11.0, 3.0), sharey=True)
    for axes, generation in zip(panels, np.unique(np.linspace(0, last, 4).astype(int)), strict=False):
        _landscape(axes, body, goal)
        rows = history.generation == generation
        elite = rows & history.elite.astype(bool)
        axes.plot(*history.genes[rows & ~elite].T, "o", color="white", mec="#333333", ms=4, mew=0.6)
        axes.plot(*history.genes[elite].T, "o", color=ORANGE, mec="#333333", ms=7, mew=0.8)
        axes.set_title(f"generation {generation}")
        axes.label_outer()
    return figure


@picture
def two_valleys() -> Any:
    """Local searches from a grid of starts: which of them reach a target that limits make hard."""
    body = mk.build.planar_chain([0.6, 0.5, 0.35], limits=[(-1.2, 1.2), (-2.4, 0.6), (-2.0, 2.0)])
    goal = body.forward(np.array([-0.2, -2.2, 0.3]))["tip"]
    problem = mk.Problem(body, mk.Pose("tip", goal))
    local = mk.solver("levenberg_marquardt", restarts=False)
    first, second = np.linspace(-1.2, 1.2, 33), np.linspace(-2.4, 0.6, 33)
    reached = np.array([[mk.solve(problem, [a, b, 1.0], method=local).success for b in second] for a in first])
    figure, axes = plt.subplots(figsize=(5.2, 3.8))
    colors = mpl.colors.ListedColormap(["#f0c8b4", "#b9d4ef"])
    axes.pcolormesh(first, second, reached.T, cmap=colors, shading="nearest", rasterized=True)
    axes.set(xlabel="start of $q_1$ [rad]", ylabel="start of $q_2$ [rad]")
    axes.set_title(f"{reached.mean():.0%} of the starts lead to the target")
    return figure


# ---- Bodies ------------------------------------------------------------------------------------------------------


@picture
def start_arm() -> str:
    """The arm of the page Start, reaching, with the gripper down."""
    body = mk.load(_arm_file())
    tip = body.frame("gripper", offset=(0, 0, 0.1))
    reach = mk.Position(tip, (0.35, 0.15, 0.20))
    solution = mk.solve(mk.Problem(body, [reach, mk.Direction(tip, (0, 0, -1))]))
    return mk.draw(body, solution.q, targets=[reach.target], view=(-60, 18), size=(420, 320))


def _arm_file() -> Path:
    path = Path(tempfile.mkdtemp()) / "arm.urdf"
    path.write_text(arm_urdf())
    return path


@picture
def all_solutions() -> str:
    """Eight postures of a UR5 for one pose."""
    body = mk.load("ur5")
    start = body.vector({"shoulder_lift_joint": -1.2, "elbow_joint": 1.4, "wrist_1_joint": -1.0, "wrist_2_joint": -1.2})
    pose = mk.Pose("tool0", body.forward(start)["tool0"])
    found = mk.solve_all(mk.Problem(body, pose), start, count=8)
    return mk.write.draw_many(body, [each.q for each in found], view=(-50, 20), size=(560, 380), show_skeleton=False)


@picture
def free_axis() -> str:
    """One place, one direction, any turn about it."""
    body = mk.load("panda")
    hand, place = body.frame("panda_hand", offset=(0, 0, 0.10)), (0.5, 0.0, 0.2)
    wanted = [mk.Position(hand, place), mk.Direction(hand, (0, 0, -1))]
    postures = []
    for turn in (-1.5, 0.0, 1.5):
        guide = mk.JointValue("panda_joint7", turn, tolerance=None, weight=0.1)
        postures.append(mk.solve(mk.Problem(body, [*wanted, guide])).q)
    return mk.write.draw_many(body, postures, targets=[place], view=(-60, 20), size=(520, 380), show_skeleton=False)


@picture
def obstacles() -> str:
    """Around a post: what keeps off, and where it went without."""
    body = mk.load("panda")
    world = mk.World({"post": mk.Shape("cylinder", (0.05, 0.9), mk.translation(0.4, 0.0, 0.45))})
    hand = mk.Position("panda_hand", (0.55, 0.25, 0.4))
    solution = mk.solve(mk.Problem(body, [hand, mk.Distance(body, world, clearance=0.02), mk.SelfDistance(body)]))
    return mk.draw(
        body, solution.q, targets=[hand.target], world=world, view=(-60, 25), size=(480, 380), show_skeleton=False
    )


@picture
def along_surface() -> Any:
    """How fast the joints of a Panda are whose hand is led along a box and a sphere that it must not touch."""
    body = mk.load("panda").chain("panda_link0", "panda_hand")
    links = [link.name for link in body.links.values() if link.shapes][1:]
    box = mk.Shape("box", (0.5, 1.0, 0.3), mk.translation(0.55, 0.0, 0.15))
    ball = mk.Shape("sphere", (0.25,), mk.translation(0.5, 0.0, 0.2))
    s = np.linspace(0.0, 1.0, 1000)
    angle = -0.7 * np.cos(2.0 * np.pi * s)
    flat, deep = (
        np.stack([0.5 + 0.05 * np.cos(4 * np.pi * s), -0.35 * np.cos(2 * np.pi * s), np.full(s.size, height)], axis=1)
        for height in (0.27, 0.22)
    )
    over = np.stack([0.5 + 0.02 * np.cos(4 * np.pi * s), 0.22 * np.sin(angle), 0.2 + 0.22 * np.cos(angle)], axis=1)
    cases = (
        ("nothing in the way", None, flat), ("along a box", box, flat), ("along a box, targets out of reach", box, deep),
        ("over a sphere", ball, over),
    )  # fmt: skip
    figure, grid = plt.subplots(len(cases), 1, figsize=(7.6, 7.2), sharex=True)
    for axes, (title, shape, path) in zip(grid, cases, strict=True):
        tip = mk.Position(body.frame("panda_hand", offset=(0, 0, 0.1)), path[0])
        problem = mk.Problem(body, tip if shape is None else [tip, mk.Distance(links, [shape])])
        at_rest = mk.track(problem, {tip: np.repeat(path[:1], 20, axis=0)}, mk.solve(problem, body.home).q).q[-1]
        track = mk.track(problem, {tip: path}, at_rest)
        axes.plot(1e3 * np.diff(track.q, axis=0), linewidth=1.0)
        axes.set(title=title, ylabel="mrad a step", ylim=(-16, 16))
        for first, last in _runs(~track.reached):
            axes.axvspan(first, last, color=GREY, alpha=0.15, linewidth=0)
    grid[-1].set_xlabel("step")
    return figure


def _runs(flags: np.ndarray) -> list[tuple[int, int]]:
    """First and last of each run of true ones."""
    edges = np.flatnonzero(np.diff(np.concatenate([[0], flags.astype(int), [0]])))
    return [(int(first), int(last) - 1) for first, last in edges.reshape(-1, 2)]


@picture
def reach_and_look() -> str:
    """Both hands, both feet and the gaze of a humanoid."""
    body = mk.load("valkyrie", base="floating", base_lower=-1, base_upper=1)
    posed = body.forward(body.home)
    wanted = [mk.Pose(foot, posed[foot]) for foot in ("rightFoot", "leftFoot")]
    places = [posed["rightPalm"][:3, 3] + (0.25, 0.05, 0.2), posed["leftPalm"][:3, 3] + (0.15, -0.05, -0.1)]
    wanted += [
        mk.Position("rightPalm", places[0]),
        mk.Position("leftPalm", places[1]),
        mk.LookAt("head", (2.0, -1.0, 0.3)),
    ]
    solution = mk.solve(mk.Problem(body, [*wanted, mk.Displacement()]))
    return mk.draw(body, solution.q, targets=places, view=(35, 8), size=(420, 520), show_skeleton=False)


@picture
def stairs() -> str:
    """A walk made for flat ground, on stairs."""
    kyle = mk.load("kyle", base="floating")
    soles = [kyle.frame(f"{side}_midfoot", offset=(0.03, 0.0, -0.095)) for side in ("left", "right")]
    walk = mk.motion.gait(kyle, {soles[0]: 0.0, soles[1]: 0.5}, stride=0.6, cycles=2)
    x = np.arange(-0.5, 2.2, 0.05)
    heights = 0.06 * np.clip(np.floor((x - 0.2) / 0.3), 0, 5)
    terrain = mk.objectives.HeightField(np.tile(heights[:, None], (1, 13)), spacing=0.05, origin=(-0.5, -0.3))
    placed = mk.motion.place_feet(walk, terrain, soles, sole=(0.2, 0.094), follow=0.4)
    return mk.write.draw_motion(placed, frame_count=3, layout="path", terrain=terrain, view=(-75, 8), size=(720, 360))


@picture
def grasp() -> str:
    """A hand around a ball."""
    body = mk.load("shadow_hand")
    fingers = {f"rh_{f}J{j}": v for f in ("FF", "MF", "RF", "LF") for j, v in ((3, 0.9), (2, 0.7))}
    held = body.vector(fingers | {"rh_THJ4": 1.1, "rh_THJ2": 0.3, "rh_THJ1": 0.4})
    return mk.draw(body, held, view=(-20, 20), size=(420, 380), show_skeleton=False)


# ---- Clips -------------------------------------------------------------------------------------------------------


def _kyle() -> tuple[mk.Body, list[mk.Frame]]:
    """The character and the middles of its soles."""
    kyle = mk.load("kyle", base="floating")
    return kyle, [kyle.frame(f"{side}_midfoot", offset=(0.03, 0.0, -0.095)) for side in ("left", "right")]


def _bones(axes: Any, motion: mk.Motion, frame: int, color: str, across: tuple[int, int]) -> None:
    """The links of a frame as lines, seen along one of the axes."""
    poses = motion.body.forward(motion.q[frame])
    joints = [
        joint for joint in motion.body.joints.values() if joint.parent not in (motion.body.root, motion.root.child)
    ]
    ends = [[poses[link][:3, 3] for link in (joint.parent, joint.child)] for joint in joints]
    away = np.array([pair for pair in ends if np.linalg.norm(pair[0] - pair[1]) > 1e-3])
    axes.plot(*_strokes(away[..., across]), color=color, lw=1.6, solid_capstyle="round")


def _strokes(ends: np.ndarray) -> np.ndarray:
    """Separate lines (n, 2, 2) as one, with gaps."""
    return np.concatenate((ends, np.full((len(ends), 1, 2), np.nan)), axis=1).reshape(-1, 2).T


@picture
def transition() -> Any:
    """A walk that fades into a run: postures, the speed of the pelvis, and of points of soles that touch the ground."""
    kyle, feet = _kyle()
    phases = dict(zip(feet, (0.0, 0.5), strict=True))
    walk = mk.motion.gait(kyle, phases, stride=0.72, period=0.6, cycles=2)
    run = mk.motion.gait(kyle, phases, stride=1.36, period=0.4, cycles=3, duty=0.3, height=0.15, tilt=0.9, crouch=0.08)
    both = walk.joined(run, blend=0.4, feet=feet)
    figure, (above, below) = plt.subplots(2, 1, figsize=(8.0, 4.6), height_ratios=(1.1, 1.0))
    blend = walk.duration - 0.4, walk.duration
    for frame in range(0, len(both), 10):
        inside = blend[0] <= both.times[frame] <= blend[1]
        _bones(above, both, frame, ORANGE if inside else BLUE, (0, 2))
    above.set(aspect="equal", xticks=[], yticks=[])
    above.spines[:].set_visible(False)
    middles = 0.5 * (both.times[1:] + both.times[:-1])
    steps = np.diff(both.times)
    root = np.linalg.norm(np.diff(both.poses("pelvis")[:, :2, 3], axis=0), axis=1) / steps
    below.plot(middles, root, color=BLUE, label="pelvis")
    ground = min(float(both.poses(foot)[:, 2, 3].min()) for foot in feet)
    for k, foot in enumerate(feet):
        poses = both.poses(foot)
        ends = [poses[:, :3, 3] + poses[:, :3, :3] @ (x, 0.0, 0.0) for x in (-0.1, 0.1)]
        for n, way in enumerate(ends):
            touches = np.pad(way[:, 2] < ground + 0.004, 1, mode="edge")
            touching = (
                touches[:-3] & touches[1:-2] & touches[2:-1] & touches[3:]
            )  # without the first and last frame of a touch
            speed = np.where(touching, np.linalg.norm(np.diff(way[:, :2], axis=0), axis=1) / steps, np.nan)
            below.plot(middles, speed, color=GREEN, label="" if k or n else "heels and toes on the ground")
    below.axvspan(*blend, color=ORANGE, alpha=0.15, lw=0)
    below.set(xlabel="time [s]", ylabel="speed [m/s]", ylim=(0.0, 4.0))
    below.legend(frameon=False, loc="upper left")
    return figure


@picture
def raised_hand() -> Any:
    """A hand raised by 45 cm while the feet are held: as joints carry more they give less, and with all alike."""
    kyle, _ = _kyle()
    clip = mk.Motion(kyle, [0.0, 0.1], [kyle.home, kyle.home])
    span = mk.motion.Span(mk.Position("left_hand", (0, 0, 0), tolerance=1e-3), offset=(0.0, 0.0, 0.45))
    held = ("left_midfoot", "right_midfoot")
    figure, axes = plt.subplots(1, 3, figsize=(8.0, 3.6), sharey=True)
    ways = {"the clip": None, "edited": {}, "edited, all joints alike": dict.fromkeys(kyle.joint_names, 1.0)}
    for each, (title, stiffness) in zip(axes, ways.items(), strict=True):
        motion = clip if stiffness is None else mk.motion.edit(clip, span, hold=held, stiffness=stiffness or None)
        away = np.linalg.norm((motion.poses("head") - clip.poses("head"))[0, :3, 3])
        _bones(each, clip, 0, "#c8d0d8", (1, 2))
        _bones(each, motion, 0, BLUE if stiffness is None else GREEN if not stiffness else RED, (1, 2))
        each.set(aspect="equal", xticks=[], yticks=[])
        each.set_title(title if stiffness is None else f"{title}:\nthe head moves by {1e3 * away:.0f} mm")
        each.spines[:].set_visible(False)
        each.invert_xaxis()
    return figure


@picture
def soles_on_stairs() -> Any:
    """The soles of a walk made for flat ground, in every frame, before and after they are put on stairs of 12 cm."""
    kyle, feet = _kyle()
    walk = mk.motion.gait(kyle, dict(zip(feet, (0.0, 0.5), strict=True)), stride=0.6, cycles=3)
    walk = walk.moved((0.0, 0.0, -walk.poses(feet[0])[:, 2, 3].min()))
    corners, facets, outline = [(-2.0, y, 0.0) for y in (-1.0, 1.0)], [], [(-0.3, 0.0), (0.4, 0.0)]
    corners += [(0.4, y, 0.0) for y in (-1.0, 1.0)]
    facets += [(0, 2, 1), (1, 2, 3)]
    for i in range(6):
        for x, z in ((0.4 + 0.3 * i, 0.12 * (i + 1)), (0.7 + 0.3 * i, 0.12 * (i + 1))):
            k = len(corners)
            corners += [(x, -1.0, z), (x, 1.0, z)]
            facets += [(k - 2, k, k - 1), (k - 1, k, k + 1)]
            outline.append((x, z))
    placed = mk.motion.place_feet(
        walk, mk.objectives.TriangleMesh(corners, facets), ["left_midfoot", "right_midfoot"], follow=0.4
    )
    figure, axes = plt.subplots(1, 2, figsize=(8.6, 4.6), sharey=True)
    for each, motion, title in zip(axes, (walk, placed), ("the clip", "place_feet"), strict=True):
        each.fill_between(*np.array(outline).T, -0.05, color=GREY, alpha=0.35, lw=0)
        for foot, color in zip(feet, (BLUE, ORANGE), strict=True):
            poses = motion.poses(foot)
            ends = np.stack([poses[:, :3, 3] + poses[:, :3, :3] @ (x, 0.0, 0.0) for x in (-0.1, 0.1)], axis=1)
            each.plot(*_strokes(ends[..., (0, 2)]), color=color, lw=0.8, alpha=0.7)
        for frame in np.linspace(0, len(motion) - 1, 5)[:4].astype(int):
            _bones(each, motion, frame, "#5b6570", (0, 2))
        each.set(aspect="equal", title=title, xlim=(-0.3, 1.9), xticks=[], yticks=[])
        each.spines[:].set_visible(False)
    return figure


# ---- Benchmarks --------------------------------------------------------------------------------------------------


@picture
def benchmark_summary() -> Any:
    """The rows of the Panda in docs/benchmarks.md as bars."""
    section = BENCHMARKS.read_text().partition("## One pose on an arm")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| panda \| ([^|]+) \| \d+ \| ([\d.]+) \| ([\d.,]+) \|", section, re.MULTILINE)
    bars = sorted((float(mean.replace(",", "")), float(share), name) for name, share, mean in rows)
    means, solved, names = zip(*bars, strict=True)
    figure, axes = plt.subplots(figsize=(7.6, 3.6))
    places = np.arange(len(names))[::-1]
    axes.barh(places, means, color=[BLUE if name.startswith("memetik") else GREY for name in names])
    for place, mean, share in zip(places, means, solved, strict=True):
        axes.text(mean * 1.1, place, f"{mean:,.0f} µs, {share:g} % solved", va="center", fontsize=9)
    axes.set(
        xscale="log", xlim=(5, 40.0 * max(means)), yticks=places, yticklabels=names, xlabel="mean time of a pose [µs]"
    )
    return figure
