"""Ways through the scenes of MotionBenchMaker, beside VAMP and OMPL on the same spheres, one core, one run.

The problems, and the spheres that cover the robots, come with the source archive of vamp-planner, which is not part of this
package: pip download --no-binary :all: --no-deps vamp-planner, then memetik bench planning --data vamp_planner-*.tar.gz.
Some of Fetch's joints turn without end and have values beyond the limits of the URDF: these are taken back by whole turns,
which is the same posture.
"""

from __future__ import annotations

import re
import tarfile
import tempfile
import time
import warnings
import xml.etree.ElementTree as ET
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import memetik as mk
from memetik.errors import MissingExtraError
from memetik.types import Array
from memetik_lab.coal_judge import Coal
from memetik_lab.harness import Report, Row, UnavailableError, solved

ROBOTS = ("panda", "ur5", "fetch", "baxter")
HOW = "Download it: pip download --no-binary :all: --no-deps vamp-planner, then --data vamp_planner-<version>.tar.gz."
SOME = 10  # coal and OMPL get one problem in so many
FINE = 0.05  # rad between the postures that coal looks at
DEEP = 1e-6  # m; coal's own tolerance
TURN = 2.0 * np.pi
ROUNDING = 1e-4  # rad; limits and values are given to five digits


class Scene(NamedTuple):
    """One problem of MotionBenchMaker."""

    kind: str
    number: int
    shapes: dict[str, mk.Shape]
    start: Array
    goal: Array


class Way(NamedTuple):
    """What a planner made of a problem."""

    seconds: float  # as the caller sees it
    own: float  # as the planner tells it
    path: Array | None


Planner = Callable[[Scene], Way]


def run(
    folder: Path, *, quick: bool = False, peers: Sequence[str] = ("vamp", "ompl"), data: Path | None = None
) -> Report:  # fmt: skip
    """Measure, print and save."""
    if data is None:
        raise UnavailableError(f"planning: no problems. {HOW}")
    report = Report(
        "planning",
        "MotionBenchMaker problems as vamp-planner has them, robots as its spheres, obstacles as spheres, capsules and boxes, "
        "as it takes them; problems whose start or goal is in contact are left out. Times [us] from the call to the shortened "
        "path, one thread, problem by problem in turns; memetik proves every motion, the others sample. 'own' is what the "
        "planner tells of itself. ompl is RRT-Connect with VAMP's check of a posture as a Python callback, one problem in "
        f"{SOME}. Length: sum of |dq|, median.",
    )
    with tempfile.TemporaryDirectory() as scratch:
        root = _unpacked(data, Path(scratch))
        for robot in ROBOTS:
            report.rows += _rows(root, robot, SOME if quick else 1, tuple(peers), report.remarks)
    return report.publish(folder)


def _rows(root: Path, robot: str, every: int, peers: tuple[str, ...], remarks: list[str]) -> list[Row]:
    body = _body(root, robot)
    joints = list(body.joint_names)
    vamp = _vamp(root) if "vamp" in peers or "ompl" in peers else None
    scenes = list(_scenes(root, robot, body))[::every]
    keep = mk.SelfDistance(body)
    places: dict[str, list[Way]] = {}
    found: list[tuple[Scene, mk.motion.Plan]] = []
    lost = blocked = unproved = wrong = 0
    deepest = -np.inf
    for k, scene in enumerate(scenes):
        world = mk.World(scene.shapes, capacity=len(scene.shapes))
        problem = mk.Problem(body, [mk.Distance(body, world), keep])
        mk.plan(problem, scene.start, scene.start, joints=joints)  # packs the problem
        if not found:
            mk.plan(problem, scene.start, scene.goal, joints=joints)  # compiles
        begin = time.perf_counter()
        plan = mk.plan(problem, scene.start, scene.goal, joints=joints)
        took = time.perf_counter() - begin
        if "in contact" in plan.explain():
            blocked += 1
            continue
        if not plan:
            lost += 1
            remarks.append(f"{robot}, {scene.kind} {scene.number}: {plan.explain()}")
            continue
        found.append((scene, plan))
        places.setdefault("memetik", []).append(Way(took, plan.seconds, plan.q))
        unproved += not plan.check_motion()
        if vamp is not None:
            environment = _environment(vamp, scene)
            module = getattr(vamp, robot)
            order = [body.index(name) for name in module.joint_names()]
            asked = scene._replace(start=scene.start[order], goal=scene.goal[order])
            pairs = zip(plan.q[:-1, order], plan.q[1:, order], strict=True)
            wrong += not all(module.validate_motion(one, two, environment, False) for one, two in pairs)
            if "vamp" in peers:
                places.setdefault("vamp", []).append(_by_vamp(vamp, robot, asked, environment))
            if "ompl" in peers and k % SOME == 0:
                places.setdefault("ompl", []).append(_by_ompl(module, body, asked, environment))
        if k % SOME == 0:
            coal = Coal(body, list(scene.shapes.values()), keep.pairs)
            deepest = max(deepest, max(coal.depth(q) for q in plan.sample(FINE)))
    remarks.append(
        f"{robot}: {blocked} of {len(scenes)} problems have a start or a goal in contact; of {len(found) + lost} others {lost} "
        f"are not solved, {unproved} paths are not proved by check_motion, "
        + (f"{wrong} are in collision by VAMP, " if vamp is not None else "")
        + f"and coal's deepest pair in one path of {SOME} is {deepest * 1e3:.3g} mm deep."
    )
    return [_row(robot, name, ways, len(scenes) - blocked) for name, ways in places.items()]


def _row(robot: str, name: str, ways: list[Way], count: int) -> Row:
    done = [way for way in ways if way.path is not None]
    times = np.array([way.seconds for way in ways]) * 1e6
    lengths = [float(np.linalg.norm(np.diff(way.path, axis=0), axis=1).sum()) for way in done if way.path is not None]
    asked = count if name == "memetik" else len(ways)
    return {
        "robot": robot,
        "planner": name,
        "problems": asked,
        **solved(len(done), asked),
        "median [us]": float(np.median(times)),
        "own median [us]": float(np.median([way.own for way in ways]) * 1e6),
        "mean [us]": float(times.mean()),
        "p95 [us]": float(np.percentile(times, 95.0)),
        "length [rad]": float(np.median(lengths)),
    }


# ---- Problems ------------------------------------------------------------------------------------------------------


def _unpacked(data: Path, scratch: Path) -> Path:
    """The folder of an archive."""
    if data.is_dir():
        root = data
    elif data.is_file() and tarfile.is_tarfile(data):
        with tarfile.open(data) as archive:
            archive.extractall(scratch, filter="data")
        root = next(iter(scratch.iterdir()))
    else:
        raise UnavailableError(f"planning: {data} is no archive and no folder. {HOW}")
    if not (root / "resources").is_dir():
        raise UnavailableError(f"planning: {data} has no folder 'resources'. {HOW}")
    return root


def _body(root: Path, robot: str) -> mk.Body:
    """A robot as VAMP's spheres, with the pairs of links that its SRDF lets touch and the URDF knows."""
    urdf = root / "resources" / robot / f"{robot}_spherized.urdf"
    links = {link.get("name") for link in ET.parse(urdf).getroot().findall("link")}
    tree = ET.parse(root / "resources" / robot / f"{robot}.srdf")
    for element in list(tree.getroot()):
        if element.tag != "disable_collisions" or not {element.get("link1"), element.get("link2")} <= links:
            tree.getroot().remove(element)
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of joints that are fixed and mimic
        srdf = Path(folder) / "pairs.srdf"
        tree.write(srdf)
        return mk.load(urdf, srdf=srdf)


def _scenes(root: Path, robot: str, body: mk.Body) -> Iterator[Scene]:
    """All problems, by kind and number."""
    try:
        import yaml
    except ImportError:
        raise MissingExtraError("pyyaml", "the problems of MotionBenchMaker") from None
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    files: dict[tuple[str, int], dict[str, Any]] = {}
    with tarfile.open(root / "resources" / robot / "problems.tar.bz2") as archive:
        for member in archive:
            file = archive.extractfile(member)
            if file is not None:
                _, kind, name = member.name.split("/")
                what, number = re.findall(r"([a-z]+)(\d+)", name)[0]
                files.setdefault((kind, int(number)), {})[what] = yaml.load(file.read(), loader)
    for (kind, number), parts in sorted(files.items()):
        state, wanted = parts["request"]["start_state"]["joint_state"], parts["request"]["goal_constraints"][0]
        start = dict(zip(state["name"], state["position"], strict=True))
        goal = {each["joint_name"]: each["position"] for each in wanted["joint_constraints"]}
        yield Scene(
            kind, number, _shapes(kind.startswith("box"), parts["scene"]), _inside(body, start), _inside(body, goal)
        )


def _inside(body: mk.Body, values: dict[str, float]) -> Array:
    """The joint vector, with angles beyond the limits taken back by a whole turn, and rounding cut off."""
    q = np.array([values[name] for name in body.joint_names])
    for turn in (TURN, -TURN):
        inside = (q + turn >= body.lower - ROUNDING) & (q + turn <= body.upper + ROUNDING)
        beyond = (q < body.lower - ROUNDING) | (q > body.upper + ROUNDING)
        q[beyond & inside] += turn
    near = np.clip(q, body.lower, body.upper)
    return np.where(np.abs(near - q) <= ROUNDING, near, q)


def _shapes(boxed: bool, scene: Any) -> dict[str, mk.Shape]:
    """The obstacles as VAMP takes them: cylinders as capsules of their length or, where a hand comes from above, as boxes."""
    found = {}
    for each in scene["world"]["collision_objects"]:
        solid, place = each["primitives"][0], _pose(each["primitive_poses"][0])
        if "pose" in each:
            place = _pose(each["pose"]) @ place
        size = solid["dimensions"]
        if solid["type"] == "box":
            shape = mk.Shape("box", tuple(size), place)
        elif solid["type"] == "sphere":
            shape = mk.Shape("sphere", (size[0],), place)
        elif boxed:
            shape = mk.Shape("box", (2.0 * size[1], 2.0 * size[1], size[0]), place)
        else:
            shape = mk.Shape("capsule", (size[1], size[0]), place)
        found[each["id"]] = shape
    return found


def _pose(pose: Any) -> Array:
    x, y, z, w = pose["orientation"]
    return mk.transform(pose["position"], (w, x, y, z))


# ---- Others --------------------------------------------------------------------------------------------------------


def _vamp(root: Path) -> Any:
    try:
        import vamp
    except ImportError as missing:
        raise MissingExtraError("vamp-planner", "the other planner, which is built from its archive") from missing
    return vamp


def _environment(vamp: Any, scene: Scene) -> Any:
    """The same obstacles for VAMP."""
    environment = vamp.Environment()
    for shape in scene.shapes.values():
        place = shape.link_from_shape
        center, turn = place[:3, 3].tolist(), _angles(place)
        if shape.kind == "box":
            environment.add_cuboid(vamp.Cuboid(center, turn, [0.5 * size for size in shape.size]))
        elif shape.kind == "sphere":
            environment.add_sphere(vamp.Sphere(center, shape.size[0]))
        else:
            environment.add_capsule(vamp.Cylinder(center, turn, shape.size[0], shape.size[1]))
    return environment


def _angles(place: Array) -> list[float]:
    """Turns about the fixed axes x, y and z, in this order."""
    turn = place[:3, :3]
    level = float(np.hypot(turn[0, 0], turn[1, 0]))
    pitch = float(np.arctan2(-turn[2, 0], level))
    if level < 1e-9:
        return [float(np.arctan2(-turn[1, 2], turn[1, 1])), pitch, 0.0]
    return [float(np.arctan2(turn[2, 1], turn[2, 2])), pitch, float(np.arctan2(turn[1, 0], turn[0, 0]))]


def _by_vamp(vamp: Any, robot: str, scene: Scene, environment: Any) -> Way:
    """RRT-Connect and its shortening as the package configures them."""
    module, planner, settings, simplify = vamp.configure_robot_and_planner_with_kwargs(robot, "rrtc")
    sampler = module.halton()
    begin = time.perf_counter()
    found = planner(scene.start, scene.goal, environment, settings, sampler)
    if not found.solved:
        return Way(time.perf_counter() - begin, found.nanoseconds * 1e-9, None)
    short = module.simplify(found.path, environment, simplify, sampler)
    took = time.perf_counter() - begin
    return Way(took, (found.nanoseconds + short.nanoseconds) * 1e-9, np.array(short.path.numpy(), dtype=np.float64))


def _by_ompl(module: Any, body: mk.Body, scene: Scene, environment: Any, seconds: float = 10.0) -> Way:
    """RRT-Connect and its simplification, with VAMP's check of a posture."""
    from ompl import base, geometric, util

    util.setLogLevel(util.LogLevel.LOG_NONE)
    n = scene.start.size
    space, bounds = base.RealVectorStateSpace(n), base.RealVectorBounds(n)
    for k in range(n):
        joint = body.index(module.joint_names()[k])
        bounds.setLow(k, float(body.lower[joint]))
        bounds.setHigh(k, float(body.upper[joint]))
    space.setBounds(bounds)
    setup = geometric.SimpleSetup(space)
    setup.setStateValidityChecker(lambda state: module.validate([state[k] for k in range(n)], environment))
    information = setup.getSpaceInformation()
    information.setStateValidityCheckingResolution(1.0 / module.resolution() / space.getMaximumExtent())
    start, goal = space.allocState(), space.allocState()
    for k in range(n):
        start[k], goal[k] = float(scene.start[k]), float(scene.goal[k])
    setup.setStartAndGoalStates(start, goal)
    setup.setPlanner(geometric.RRTConnect(information))
    begin = time.perf_counter()
    exact = setup.solve(seconds)
    if not exact or not setup.haveExactSolutionPath():
        took = time.perf_counter() - begin
        return Way(took, took, None)
    setup.simplifySolution()
    took = time.perf_counter() - begin
    states = setup.getSolutionPath().getStates()
    return Way(took, took, np.array([[state[k] for k in range(n)] for state in states]))
