"""The scenes of the gallery: each a body, postures over time, and what stands or moves around it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import memetik as mk

RATE = 20  # frames a second
Array = np.ndarray


@dataclass
class Show:
    """What a scene shows: postures (frames, dof), and points and shapes that stand still or have a place for each frame."""

    body: mk.Body
    q: Array
    marks: Sequence[Any] = ()  # points (3,) or (frames, 3) [m]
    props: Sequence[mk.Shape] = ()  # where their link_from_shape says
    moving: dict[int, Array] = field(default_factory=dict)  # poses (frames, 4, 4) of a prop, by its number
    terrain: mk.objectives.HeightField | None = None


SCENES: dict[str, tuple[str, str, Callable[[], Show]]] = {}


def scene(title: str, source: str) -> Callable[[Callable[[], Show]], Callable[[], Show]]:
    """Put a scene on the list; `source` is the page or example that tells its story."""

    def add(function: Callable[[], Show]) -> Callable[[], Show]:
        SCENES[function.__name__] = (title, source, function)
        return function

    return add


def through(body: mk.Body, postures: Sequence[Array], seconds: float = 1.0) -> Array:
    """From posture to posture and back to the first, with ease."""
    stops = [*postures, postures[0]]
    return mk.Motion(body, np.arange(len(stops)) * seconds, np.array(stops)).resampled(RATE, ease=True).q


def followed(body: mk.Body, objectives: Any, targets: dict[mk.Objective, Array], start: Array | None = None) -> Array:
    """The postures of a track, which must be reached: a scene that misses its targets teaches nothing."""
    track = mk.track(mk.Problem(body, objectives), targets, start, rate=RATE)
    assert track.success, f"{body.name}: {track}"
    return track.q


def circle(centre: Sequence[float], radius: float, frames: int = 80, normal: int = 0) -> Array:
    angle = np.linspace(0, 2 * np.pi, frames)
    flat = np.stack([np.zeros(frames), np.cos(angle), np.sin(angle)], axis=1)
    return np.asarray(centre) + radius * np.roll(flat, normal, axis=1)


def posed(body: mk.Body, link: str, path: Array) -> Array:
    """Poses along a path with the rotation that a link has at home."""
    poses = np.tile(body.forward(body.home)[link], (len(path), 1, 1))
    poses[:, :3, 3] = path
    return poses


# ---- Arms --------------------------------------------------------------------------------------------------------


@scene("A hand goes round a circle", "examples/11_follow_a_path.py")
def arm_circle() -> Show:
    body = mk.load("panda")
    path = circle(body.forward(body.home)["panda_hand"][:3, 3], 0.15)
    pose = mk.Pose("panda_hand", np.eye(4))
    return Show(body, followed(body, pose, {pose: posed(body, "panda_hand", path)}, body.home), [path])


@scene("Eight ways to one pose", "howto/all_solutions.md")
def eight_ways() -> Show:
    body = mk.load("ur5")
    start = body.vector({"shoulder_lift_joint": -1.2, "elbow_joint": 1.4, "wrist_1_joint": -1.0, "wrist_2_joint": -1.2})
    pose = mk.Pose("tool0", body.forward(start)["tool0"])
    found = mk.solve_all(mk.Problem(body, pose), start, count=8)
    return Show(body, through(body, [each.q for each in found]), [pose.target[:3, 3]])


@scene("A drill may turn about itself", "howto/free_axis.md")
def free_axis() -> Show:
    body = mk.load("panda")
    hand, place = body.frame("panda_hand", offset=(0, 0, 0.10)), (0.5, 0.0, 0.2)
    wanted = [mk.Position(hand, place), mk.Direction(hand, (0, 0, -1))]
    turns = [mk.JointValue("panda_joint7", turn, tolerance=None, weight=0.1) for turn in (-2.0, -0.7, 0.7, 2.0)]
    return Show(body, through(body, [mk.solve(mk.Problem(body, [*wanted, turn])).q for turn in turns]), [place])


@scene("Elbow up, elbow down", "howto/elbow_up.md")
def elbow() -> Show:
    body = mk.load("ur5")
    pose = mk.Pose("tool0", mk.transform((0.4, 0.2, 0.3), mk.euler(180, 0, 0, degrees=True)))
    sides = [
        mk.Plane("forearm_link", (0, 0, z), (0, 0, n), side="above", tolerance=None) for z, n in ((0.8, 1), (0.0, -1))
    ]
    found = [mk.solve(mk.Problem(body, pose), prefer=side).q for side in sides]
    return Show(body, through(body, found, 1.5), [pose.target[:3, 3]])


@scene("Around a ball that moves", "examples/07_around_a_sphere.py")
def around_a_ball() -> Show:
    body = mk.load("panda")
    posture = body.vector({"panda_joint1": 0.6, "panda_joint2": 0.4, "panda_joint4": -1.6})
    pose = mk.Pose("panda_hand", body.forward(posture)["panda_hand"])
    centre = body.forward(mk.solve(mk.Problem(body, pose)).q)["panda_link4"][:3, 3]
    ball, frames = mk.Shape("sphere", (0.10,)), 60
    poses = np.array([mk.translation(*p) for p in circle(np.add(centre, (0.1, 0.12, 0.05)), 0.12, frames)])
    world, q, rows = mk.World({"ball": ball}), None, []
    problem = mk.Problem(body, [pose, mk.Distance(body, world), mk.SelfDistance(body)])
    for place in poses:
        world.move("ball", place)
        q = mk.solve(problem, q).q
        rows.append(q)
    return Show(body, np.array(rows), [pose.target[:3, 3]], [ball], {0: poses})


@scene("A target behind a wall", "examples/19_priorities.py")
def wall() -> Show:
    body = mk.load("panda")
    solid = mk.Shape("box", (0.04, 0.8, 0.8), mk.translation(0.62, 0.0, 0.4))
    reach = mk.Position("panda_hand", (0, 0, 0))
    problem = mk.Problem(body, [reach, mk.Distance(body.frame("panda_hand"), [solid], radius=0.05), mk.Displacement()])
    rows, q, path = [], None, circle((0.55, 0.0, 0.45), 0.2, 60, normal=2)
    for point in path:
        reach.target = point
        q = mk.solve(problem, q, budget=mk.Budget(evaluations=2_000)).q
        rows.append(q)
    return Show(body, np.array(rows), [path], [solid])


@scene("A servo and a target that jumps", "servo.md")
def servo() -> Show:
    body = mk.load("panda")
    pose = mk.Pose("panda_hand", body.forward(body.home)["panda_hand"])
    loop = mk.Servo(mk.Problem(body, pose), start=body.home, rate=200, budget=mk.Budget(evaluations=50))
    rows, marks = [], []
    for tick in range(1_000):
        target = pose.target.copy()
        target[:3, 3] += ((0, 0.25, 0), (0, -0.25, 0.1), (0.15, 0, -0.3), (0.9, 0, 0), (0, 0, 0))[tick // 200]
        q = loop.step({pose: target})
        if tick % (200 // RATE) == 0:
            rows.append(q)
            marks.append(target[:3, 3])
    return Show(body, np.array(rows), [np.array(marks)])


@scene("Both arms hold one box", "howto/two_arms.md")
def two_arms() -> Show:
    body = mk.load("baxter")
    left = mk.Pose("left_gripper", np.eye(4))
    facing = mk.transform((0, 0, 0.40), mk.euler(180, 0, 0, degrees=True))
    right = mk.Pose("right_gripper", facing, relative_to="left_gripper")
    held = mk.transform((0.0, 0.2, 0.0), mk.euler(90, 0, 0, degrees=True))
    boxes = np.array([mk.translation(*p) for p in circle((0.7, 0.0, 0.25), 0.1, 60)])
    q = followed(body, [left, right, mk.Displacement()], {left: boxes @ held})
    return Show(body, q, props=[mk.Shape("box", (0.2, 0.3, 0.2))], moving={0: boxes})


@scene("The base drives, too", "howto/mobile_base.md")
def mobile_base() -> Show:
    body = mk.load("panda", base="planar", base_lower=(-3, -3, -3.14), base_upper=(3, 3, 3.14))
    reach = mk.Position("panda_hand", (0, 0, 0))
    path = circle((0.8, 0.0, 0.6), 0.8, 100, normal=1)
    path[:, 2] = 0.5
    guide = mk.Displacement(stiffness={"base.x": 10.0, "base.y": 10.0, "base.turn": 3.0})
    return Show(body, followed(body, [reach, guide], {reach: path}), [path])


@scene("A SCARA arm fills a tray", "howto/build_in_python.md")
def scara() -> Show:
    body = mk.load("scara")
    tip = list(body.links)[-1]
    rng = np.random.default_rng(2)
    postures = [body.sample(rng) for _ in range(6)]
    marks = [body.forward(q)[tip][:3, 3] for q in postures]
    return Show(body, through(body, postures, 0.8), marks)


# ---- Chains and loops --------------------------------------------------------------------------------------------


@scene("A snake of thirty joints", "howto/build_in_python.md")
def snake() -> Show:
    body = mk.build.snake(30, length=2.4)
    reach = mk.Position("tip", (0, 0, 0))
    path = circle((1.2, 0.0, 0.0), 0.8, 80)
    return Show(body, followed(body, [reach, mk.Displacement()], {reach: path}), [path])


@scene("A five-bar linkage stays closed", "examples/05_closed_loop.py")
def five_bar() -> Show:
    builder = mk.build.BodyBuilder("five_bar")
    for side, x in (("left", -0.15), ("right", 0.15)):
        turn = {"axis": (0, 0, 1), "lower": -3, "upper": 3}
        builder.add("base", f"{side}_motor", "revolute", f"{side}_crank", origin=(x, 0, 0), **turn)
        builder.add(f"{side}_crank", f"{side}_elbow", "revolute", f"{side}_rod", origin=(0.3, 0, 0), **turn)
        builder.add(f"{side}_rod", f"{side}_end", "fixed", f"{side}_tip", origin=(0.35, 0, 0))
    body = builder.build()
    closed = mk.Position("left_tip", (0, 0, 0), relative_to="right_tip", tolerance=1e-6)
    reach = mk.Position("left_tip", (0, 0.45, 0))
    start = body.vector({"left_motor": 2.0, "left_elbow": -1.0, "right_motor": 1.0, "right_elbow": 1.0})
    path = circle((0.0, 0.45, 0.0), 0.08, 80, normal=2)
    return Show(body, followed(body, [closed, reach], {reach: path}, start), [path])


@scene("Bio IK, generation by generation", "bio_ik.md")
def evolution() -> Show:
    body = mk.load("iiwa14")
    pose = mk.Pose("tool0", mk.transform((0.4, -0.4, 0.6), mk.euler(180, 0, 0, degrees=True)))
    _, history = mk.solvers.BioIK(population=40, elites=2, seed=3, steps=2).evolve(mk.Problem(body, pose))
    best = []
    for generation in range(int(history.generation.max()) + 1):
        rows = np.nonzero(history.generation == generation)[0]
        best.append(history.postures(rows[np.argsort(history.fitness[rows])[:1]])[0])
    return Show(body, through(body, best, 0.5), [pose.target[:3, 3]])


@scene("Fingers close", "examples/04_coupled_fingers.py")
def grasp() -> Show:
    body = mk.load("shadow_hand")
    fingers = {f"rh_{f}J{j}": v for f in ("FF", "MF", "RF", "LF") for j, v in ((3, 0.9), (2, 0.7))}
    closed = body.vector(fingers | {"rh_THJ4": 1.1, "rh_THJ2": 0.3, "rh_THJ1": 0.4})
    tips = [
        mk.Position(f"rh_{f}tip", body.forward(closed)[f"rh_{f}tip"][:3, 3]) for f in ("ff", "mf", "rf", "lf", "th")
    ]
    return Show(body, through(body, [body.home, mk.solve(mk.Problem(body, tips)).q], 1.5), [t.target for t in tips])


# ---- Whole bodies ------------------------------------------------------------------------------------------------


def _valkyrie() -> tuple[mk.Body, Any, list[mk.Objective]]:
    body = mk.load("valkyrie", base="floating", base_lower=-1.5, base_upper=1.5)
    stands = body.forward(body.home)
    return body, stands, [mk.Pose(foot, stands[foot]) for foot in ("leftFoot", "rightFoot")]


@scene("Hands, feet and gaze of a humanoid", "examples/02_whole_body.py")
def whole_body() -> Show:
    body, stands, feet = _valkyrie()
    right, gaze = mk.Position("rightPalm", (0, 0, 0)), mk.LookAt("head", (1, 0, 0))
    left = mk.Position("leftPalm", stands["leftPalm"][:3, 3] + (0.1, 0.0, 0.1))
    path = circle(stands["rightPalm"][:3, 3] + (0.2, 0.0, 0.15), 0.15, 80)
    q = followed(
        body, [*feet, right, left, gaze, mk.Displacement()], {right: path, gaze: np.add(path, (0.5, 0, 0))}, body.home
    )
    return Show(body, q, [path, left.target])


@scene("Reaching low without falling", "examples/10_balance.py")
def balance() -> Show:
    body, stands, feet = _valkyrie()
    corners = np.array([(0.045 + sx * 0.135, sy * 0.075, -0.078, 1.0) for sx in (-1, 1) for sy in (-1, 1)])
    soles = np.concatenate([corners @ stands[foot].T for foot in ("leftFoot", "rightFoot")])[:, :3]
    reach = mk.Position("rightPalm", (0.75, -0.1, -0.45))
    low = mk.solve(mk.Problem(body, [*feet, reach, mk.Balance(soles, margin=0.02), mk.Displacement()])).q
    middle = mk.solve(mk.Problem(body, [*feet, mk.Displacement(reference=0.5 * (low + body.home))]), low).q
    return Show(body, through(body, [body.home, middle, low, middle]), [reach.target])


@scene("Lifting a box", "examples/18_lift_a_box.py")
def lift() -> Show:
    body, _, feet = _valkyrie()
    beside = {
        "leftPalm": mk.transform((-0.07, 0.17, 0.05), [(0, 1, 0), (-1, 0, 0), (0, 0, 1)]),
        "rightPalm": mk.transform((-0.07, -0.17, 0.05), [(0, -1, 0), (1, 0, 0), (0, 0, 1)]),
    }
    box = mk.translation(0.45, 0.0, -0.05)
    palms = {link: mk.Pose(link, box @ place, orientation_tolerance=0.01) for link, place in beside.items()}
    gaze = mk.LookAt("head", box[:3, 3], tolerance=2e-3)
    stops = [box, mk.translation(0, 0, -0.35) @ box, mk.translation(0, 0, 0.25) @ box, box]
    way = mk.motion.waypoints(stops, speed=0.4, tip_acceleration=1.0, rate=RATE)
    targets = {palms[link]: way @ place for link, place in beside.items()} | {gaze: way[:, :3, 3]}
    problem = [*palms.values(), *feet, gaze, mk.Displacement(weight=0.1)]
    start = mk.solve(mk.Problem(body, problem)).q
    return Show(
        body, followed(body, problem, targets, start), props=[mk.Shape("box", (0.3, 0.3, 0.3))], moving={0: way}
    )


@scene("A quadruped sways, its feet stay", "studio.md")
def quadruped() -> Show:
    body = mk.load("go2", base="floating", base_lower=-1, base_upper=1)
    stands = body.forward(body.home)
    feet = [mk.Position(name, stands[name][:3, 3]) for name in body.links if name.endswith("_foot")]
    trunk = mk.Pose(_trunk(body), np.eye(4), position_tolerance=0.01)
    angles = np.linspace(0, 2 * np.pi, 80)
    sway = [(np.sin(a), np.cos(a)) for a in angles]
    poses = np.array(
        [mk.transform((0.05 * s, 0.05 * c - 0.05, -0.03), mk.euler(0.2 * s, 0.15 * c, 0.2 * s)) for s, c in sway]
    )
    return Show(
        body, followed(body, [*feet, trunk], {trunk: stands[trunk.frame] @ poses}, body.home), [f.target for f in feet]
    )


def _trunk(body: mk.Body) -> str:
    """The link that the floating base carries."""
    return next(joint.child for joint in body.joints.values() if joint.kind == "floating")


@scene("NAO looks after a ball", "howto/look_at.md")
def gaze() -> Show:
    body = mk.load("nao")
    look = mk.LookAt("Head", (1, 0, 0), axis=(1, 0, 0))
    path = circle((0.8, 0.0, 0.2), 0.3, 80)
    ball = np.array([mk.translation(*p) for p in path])
    return Show(body, followed(body, look, {look: path}), props=[mk.Shape("sphere", (0.03,))], moving={0: ball})


# ---- Clips -------------------------------------------------------------------------------------------------------


def _walk() -> tuple[mk.Motion, dict[str, float]]:
    wolf = mk.load("wolf", base="floating")
    legs = ("front_left", "front_right", "hind_left", "hind_right")
    phases = {f"{leg}_paw": phase for leg, phase in zip(legs, (0.25, 0.75, 0.0, 0.5), strict=True)}
    shape = {"stride": 0.5, "period": 1.0, "duty": 0.65, "height": 0.07, "crouch": 0.03, "tilt": 0.0}
    return mk.motion.gait(wolf, phases, cycles=2, rate=RATE, **shape), phases


@scene("A wolf walks", "examples/24_edit_a_walk.py")
def wolf_walks() -> Show:
    walk, _ = _walk()
    return Show(walk.body, walk.q)


@scene("The same wolf sneaks", "examples/24_edit_a_walk.py")
def wolf_sneaks() -> Show:
    walk, phases = _walk()
    lower = {"pelvis": -0.06, "withers": -0.07, "tail_tip": 0.12}
    spans = [
        mk.motion.Span(mk.Position(link, (0, 0, 0), tolerance=0.01), offset=(0, 0, dz)) for link, dz in lower.items()
    ]
    return Show(walk.body, mk.motion.edit(walk, spans, hold=list(phases)).q)


@scene("... and looks at a box", "examples/24_edit_a_walk.py")
def wolf_looks() -> Show:
    walk, _ = _walk()
    box = np.array([1.8, -0.7, 0.3])
    front = [name for name in walk.body.joint_names if name.split("_")[0] in ("spine", "neck", "head", "front")]
    look = mk.motion.Span(mk.LookAt("head_look", box, tolerance=0.02), start=0.0, end=2.0, ease=0.3)
    edited = mk.motion.edit(walk, look, hold=["front_left_paw", "front_right_paw"], joints=front)
    return Show(walk.body, edited.q, props=[mk.Shape("box", (0.14, 0.14, 0.14), mk.translation(*box))])


def _kyle(stride: float, **shape: Any) -> tuple[mk.Motion, list[mk.Frame]]:
    kyle = mk.load("kyle", base="floating")
    soles = [kyle.frame(f"{side}_midfoot", offset=(0.03, 0.0, -0.095)) for side in ("left", "right")]
    return mk.motion.gait(kyle, {soles[0]: 0.0, soles[1]: 0.5}, stride=stride, rate=30.0, **shape), soles


@scene("A run over hills", "examples/25_foot_placement.py")
def hills() -> Show:
    run, soles = _kyle(1.1, period=0.8, duty=0.35, height=0.15, tilt=0.9, cycles=3)
    x, y = np.meshgrid(np.linspace(-1.0, 5.0, 61), np.linspace(-0.8, 0.8, 17), indexing="ij")
    terrain = mk.objectives.HeightField(
        0.03 + 0.06 * np.sin(3.0 * x) * np.cos(4.0 * y), spacing=0.1, origin=(-1.0, -0.8)
    )
    placed = mk.motion.place_feet(run, terrain, soles, sole=(0.2, 0.094))
    return Show(run.body, placed.resampled(RATE).q, terrain=terrain)


@scene("Up the stairs", "howto/stairs.md")
def stairs() -> Show:
    walk, soles = _kyle(0.6, cycles=2)
    x = np.arange(-0.5, 2.2, 0.05)
    heights = 0.06 * np.clip(np.floor((x - 0.2) / 0.3), 0, 5)
    terrain = mk.objectives.HeightField(np.tile(heights[:, None], (1, 13)), spacing=0.05, origin=(-0.5, -0.3))
    placed = mk.motion.place_feet(walk, terrain, soles, sole=(0.2, 0.094), follow=0.4)
    return Show(walk.body, placed.resampled(RATE).q, terrain=terrain)


@scene("The character's walk on a G1", "retargeting.md")
def retarget() -> Show:
    walk, _ = _kyle(0.6, cycles=2)
    found = mk.retarget(walk, mk.load("g1"))
    return Show(found.body, found.resampled(RATE).q)


@scene("A Stewart platform tilts on six legs", "examples/30_parallel_robots.py")
def stewart() -> Show:
    body = mk.build.stewart_platform()
    pose = mk.Pose("platform", np.eye(4))
    angle = np.linspace(0, 2 * np.pi, 80)
    way = np.array(
        [
            mk.transform((0.1 * np.cos(a), 0.1 * np.sin(a), 0.65), mk.euler(0.3 * np.sin(a), 0.3 * np.cos(a), 0.0))
            for a in angle
        ]
    )
    return Show(body, followed(body, [pose, *mk.objectives.close_loops(body)], {pose: way}), [way[:, :3, 3]])


@scene("A delta robot draws a circle, its platform stays level", "examples/30_parallel_robots.py")
def delta() -> Show:
    body = mk.build.delta_robot()
    reach = mk.Position("platform", (0, 0, -0.45))
    path = circle((0.0, 0.0, -0.45), 0.13, 80, normal=2)
    return Show(body, followed(body, [reach, *mk.objectives.close_loops(body)], {reach: path}), [path])


@scene("Two people shake hands", "examples/31_shake_hands.py")
def shake_hands() -> Show:
    person = mk.load("mannequin", base="xyz", base_lower=-0.4, base_upper=0.4)
    group = mk.body.Group(
        {"ann": person, "ben": person}, placements={"ben": mk.transform((1, 0, 0), mk.euler(0, 0, np.pi))}
    )
    stands = group.body.forward(group.body.home)
    palm = {name: group.frame(name, "right_hand", (0.0, 0.0, -0.09)) for name in group.bodies}
    grip = mk.Pose(palm["ann"], mk.transform((0, 0.04, 0), mk.euler(np.pi, 0, 0)), relative_to=palm["ben"])
    feet = [mk.Pose(link, stands[link]) for link in stands if link.endswith("midfoot")]
    eyes = [
        mk.LookAt(f"{one}/head_look", (0, 0, 0), axis=(1, 0, 0), relative_to=f"{other}/head_look", tolerance=0.02)
        for one, other in (("ann", "ben"), ("ben", "ann"))
    ]
    height = mk.Position(palm["ann"], (0.5, 0, 1), tolerance=1e-3)
    path = np.stack([np.full(61, 0.5), np.zeros(61), 1.0 + 0.06 * np.sin(np.linspace(0, 4 * np.pi, 61))], axis=1)
    wishes = [grip, height, *feet, *eyes, mk.Displacement(weight=0.01)]
    start = mk.solve(mk.Problem(group.body, wishes)).q
    return Show(group.body, followed(group.body, wishes, {height: path}, start))


@scene("Two robots carry one beam", "examples/32_two_arms_one_object.py")
def carry() -> Show:
    link = mk.build.Link("beam", shapes=(mk.Shape("box", (0.9, 0.05, 0.05)),))
    beam = mk.Body("beam", [link], []).with_base("floating", lower=-2, upper=2)
    cell = mk.body.Group(
        {"left": mk.load("panda"), "right": mk.load("panda"), "beam": beam},
        placements={"left": (0, 0.55, 0), "right": (0, -0.55, 0)},
    )
    across, down = mk.euler(0, 0, 90, degrees=True), mk.euler(180, 0, 0, degrees=True)
    carried = mk.Pose("beam/beam", mk.transform((0.45, 0, 0.4), across))
    grips = [
        mk.Pose(f"{arm}/panda_hand", mk.transform((x, 0, 0.13), down), relative_to="beam/beam")
        for arm, x in (("left", 0.35), ("right", -0.35))
    ]
    tilted = mk.transform((0.5, 0, 0.6), mk.euler(0, 10, 75, degrees=True))
    stops = [mk.transform((0.45, 0, 0.4), across), tilted, mk.transform((0.45, 0, 0.4), across)]
    way = mk.motion.waypoints(stops, speed=0.25, turn_speed=0.4, tip_acceleration=1.0, rate=RATE)
    wishes = [carried, *grips, mk.Displacement(weight=0.01)]
    start = mk.solve(mk.Problem(cell.body, wishes)).q
    return Show(cell.body, followed(cell.body, wishes, {carried: way}, start))


@scene("An arm lifts what it can hold", "examples/33_gravity_torque.py")
def bear() -> Show:
    box = mk.Shape("box", (0.15, 0.15, 0.15))
    body = mk.load("ur5").attach_shape("box", "tool0", box, pose=(0.0, 0.0, 0.08), mass=20.0)
    reach, weight = mk.Position("box", (0, 0, 0), tolerance=1e-3), mk.GravityTorque(effort_fraction=0.9)
    problem = mk.Problem(body, [reach, weight, mk.Displacement(weight=0.01)])
    postures, marks = [], [(0.4, 0.1, 0.2), (0.35, 0.1, 0.5), (0.3, 0.1, 0.8)]
    for reach.target in marks:
        solution = mk.solve(problem, postures[-1] if postures else None)
        assert solution.success, solution
        postures.append(solution.q)
    return Show(body, through(body, [*postures, postures[1]]), marks)


@scene("Feet stay while a hand reaches too far", "examples/34_balanced_weights.py")
def too_far() -> Show:
    body, stands, _ = _valkyrie()
    feet = [mk.Pose(foot, stands[foot], position_tolerance=1e-3) for foot in ("leftFoot", "rightFoot")]
    palm = mk.Position("rightPalm", (2.2, -0.3, 0.2), tolerance=0.05)
    far = mk.solve(mk.Problem(body, [*feet, palm, mk.Displacement(weight=1e-4)], weighting="balanced")).q
    middle = mk.solve(mk.Problem(body, [*feet, mk.Displacement(reference=0.5 * (far + body.home))]), far).q
    return Show(body, through(body, [body.home, middle, far, middle]), [palm.target])


@scene("A welder follows a seam on a curved sheet", "examples/35_welder.py")
def welder() -> Show:
    tool = mk.build.Link("torch", shapes=(mk.Shape("capsule", (0.012, 0.2), mk.translation(0, 0, 0.1)),))
    body = mk.load("m10ia").attach(mk.Body("torch", [tool], []), "tool0")
    y = np.linspace(-0.35, 0.35, 100)
    seam = np.stack([0.8 + 0.06 * np.sin(12.0 * y), y, 0.35 + 0.06 * np.cos(6.0 * y)], axis=1)
    normals = np.stack([np.zeros(100), 0.36 * np.sin(6.0 * y), np.ones(100)], axis=1)
    into = [mk.geometry.look_rotation(-normal, (1, 0, 0))[:, [1, 2, 0]] for normal in normals]
    poses = np.array([mk.transform(point, turn) for point, turn in zip(seam, into, strict=True)])
    weld = mk.Pose(body.frame("torch", offset=(0, 0, 0.25)), poses[0], mask=(1, 1, 1, 1, 1, 0))
    wishes = [weld, mk.Displacement(weight=0.01)]
    start = mk.solve(mk.Problem(body, wishes), body.vector({"joint_2": 0.3, "joint_5": -1.0})).q
    return Show(body, followed(body, wishes, {weld: poses}, start), [seam])


@scene("Posing a character for a photo, bone by bone", "examples/38_holographer.py")
def holographer() -> Show:
    body = mk.load("mannequin", base="floating", base_lower=-1.0, base_upper=1.0)
    stands = body.forward(body.home)
    feet = [mk.Pose(foot, stands[foot]) for foot in ("left_midfoot", "right_midfoot")]
    drags = {"left_hand": (0.35, 0.10, 0.45), "right_forearm": (0.02, -0.12, 0.06), "pelvis": (0.0, 0.02, -0.06)}
    shots, placed = [body.home], []
    for bone, by in drags.items():
        placed.append(mk.Position(bone, body.forward(shots[-1])[bone][:3, 3] + by, tolerance=0.01))
        wishes = [*placed, *feet, mk.Displacement(weight=1.0)]
        solution = mk.solve(mk.Problem(body, wishes, weighting="balanced"), shots[-1])
        assert solution.success, solution
        shots.append(solution.q)
    return Show(body, through(body, shots), [each.target for each in placed])


@scene("A practitioner is led to the trainer's posture", "examples/39_posture_training.py")
def posture_training() -> Show:
    body = mk.load("mannequin")
    recorded = body.vector({"left_shoulder_y": -1.3, "left_elbow": -0.6, "right_shoulder_x": -0.5, "right_elbow": -1.0})
    live = body.vector({"left_shoulder_y": -0.6, "left_elbow": -1.1, "right_shoulder_x": -0.1, "right_elbow": -0.5})
    links = [f"{side}_{part}" for side in ("left", "right") for part in ("upper_arm", "forearm", "hand", "midfoot")]
    points = [mk.Position(link, (0, 0, 0), tolerance=0.02) for link in ("pelvis", "chest", "head", *links)]
    problem, lessons = mk.Problem(body, [*points, mk.Displacement(weight=1e-4)]), [recorded]
    for k in range(5):  # as a camera sees the practitioner, who gives way by half each time
        seen = body.forward(recorded + 0.5**k * (live - recorded))
        for point in points:
            point.target = seen[point.frame][:3, 3]
        solution = mk.solve(problem, lessons[-1])
        assert solution.success, solution
        lessons.append(solution.q)
    lessons = lessons[1:]
    hands = [body.forward(recorded)[f"{side}_hand"][:3, 3] for side in ("left", "right")]
    return Show(body, through(body, lessons, 0.8), hands)
