"""Meshes covered by simple shapes: how much larger the covers are than hulls, and whether they miss a collision of the meshes."""

from __future__ import annotations

import importlib.metadata
import time
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import memetik as mk
from memetik.types import Array
from memetik_lab.harness import Report, Row, UnavailableError, percent, progress

SEED = 0
SAMPLED = 20  # points of each triangle that have to lie in a shape, beside its corners


class Robot(NamedTuple):
    """A model in a package of PyPI."""

    package: str
    model: str  # its path, from the right
    of: str = "collision"


ERD = "example-robot-data"
ROBOTS = {
    "panda": Robot(ERD, "panda_description/urdf/panda.urdf"),
    "ur5": Robot(ERD, "ur_description/urdf/ur5_robot.urdf"),
    "iiwa14": Robot("rtb-data", "kuka_lbr_iiwa/urdf/lbr_iiwa_14_r820.urdf"),
    "baxter": Robot(ERD, "baxter_description/urdf/baxter.urdf", "visual"),  # collision: mostly boxes
    "talos": Robot(ERD, "talos_data/robots/talos_full_v2.urdf"),
    "g1": Robot(ERD, "g1_description/urdf/g1_29dof_with_hand_rev_1_0.urdf"),
    "solo12": Robot(ERD, "solo_description/robots/solo12.urdf"),
    "allegro": Robot(ERD, "allegro_hand_description/urdf/allegro_right_hand.urdf", "visual"),  # collision: boxes
    "pr2": Robot(ERD, "pr2_description/urdf/pr2.urdf"),
    "tiago": Robot(ERD, "tiago_description/robots/tiago.urdf"),
}


def run(
    folder: Path,
    *,
    quick: bool = False,
    robots: Sequence[str] | None = None,
    postures: int | None = None,
    peers: Sequence[str] = ("coal",),
) -> Report:
    """Measure, print and save."""
    count = postures or (300 if quick else 10_000)
    names = robots or (("ur5", "panda") if quick else tuple(ROBOTS))
    report = Report(
        "covers",
        "Meshes of each link covered by one to four capsules, spheres and boxes, afresh. Ratio: volume of the shapes together "
        "over that of the convex hull of the link's meshes. Outside: how far a corner of the meshes, or one of "
        f"{SAMPLED} points in each triangle, lies outside all shapes of its link. Seconds: processor time of the cover, without "
        f"compiling. Then {count} postures drawn uniformly within the limits: pairs of links whose meshes collide by coal "
        "(triangles read by its own loader, of DAE files by trimesh), how many of these the shapes miss, and the share of "
        "postures without a collision by the meshes and by the shapes.",
    )
    for name in names:
        try:
            row = _measure(name, ROBOTS[name], count, "coal" in peers)
        except importlib.metadata.PackageNotFoundError:
            report.remarks.append(f"{name} was left out: pip install {ROBOTS[name].package}")
            continue
        report.rows.append(row)
        print(f"{name}: median {row['median']:.3f}, {row['seconds']:.1f} s, missed {row['missed']}", flush=True)
    if not report.rows:
        raise UnavailableError("none of the robots is installed. " + " ".join(report.remarks))
    return report.publish(folder)


def model_path(robot: Robot) -> Path:
    """The model file in the installed package."""
    for file in importlib.metadata.files(robot.package) or ():
        if str(file).replace("\\", "/").endswith(robot.model):
            return Path(str(file.locate())).resolve()
    raise UnavailableError(f"the package {robot.package} has no {robot.model}.")


def _measure(name: str, robot: Robot, count: int, judged: bool) -> Row:
    path = model_path(robot)
    with warnings.catch_warnings():  # about what the file has that does not matter here
        warnings.simplefilter("ignore", mk.MemetikWarning)
        body = mk.load(path)
    mk.collision.cover(body, of=robot.of, links=_first_link(body, robot), save=False, progress=False)  # compiles
    begin = time.process_time()
    cover = mk.collision.cover(body, of=robot.of, save=False)
    seconds = time.process_time() - begin
    ratios = np.array(list(cover.ratios().values()))
    return {
        "robot": name,
        "links": len(cover.links),
        "shapes": sum(len(link.shapes) for link in cover.links.values()),
        "median": float(np.median(ratios)),
        "mean": float(ratios.mean()),
        "worst": float(ratios.max()),
        "seconds": seconds,
        **_judge(cover, body, robot, count, judged),
    }


def _first_link(body: mk.Body, robot: Robot) -> list[str]:
    shapes = {name: link.visuals if robot.of == "visual" else link.shapes for name, link in body.links.items()}
    return [next(name for name, own in shapes.items() if any(shape.kind == "mesh" for shape in own))]


# ---- Judged by coal ----------------------------------------------------------------------------------------


class Judge:
    """The true meshes of the links as coal sees them."""

    def __init__(self, body: mk.Body, cover: mk.collision.Cover) -> None:
        try:
            import coal
        except ImportError as error:
            raise mk.errors.MissingExtraError("coal", "judging covers by the true meshes") from error
        self.coal, self.meshes, self.balls, self.corners = coal, {}, {}, {}
        loader = coal.MeshLoader()
        for name, found in cover.links.items():
            link = body.links[name]
            shapes = link.shapes if found.of == "collision" else link.visuals
            own, corners = [], []
            for shape in (shape for shape in shapes if shape.kind == "mesh"):
                mesh = self._mesh(loader, shape)
                turn, move = shape.link_from_shape[:3, :3], shape.link_from_shape[:3, 3]
                own.append((mesh, shape.link_from_shape))
                faces = np.array([[tri[0], tri[1], tri[2]] for tri in map(mesh.tri_indices, range(mesh.num_tris))])
                corners.append((np.asarray(mesh.vertices()) @ turn.T + move)[faces])
            points = np.concatenate(corners)
            middle = 0.5 * (points.min(axis=(0, 1)) + points.max(axis=(0, 1)))
            self.meshes[name], self.corners[name] = own, points
            self.balls[name] = middle, float(np.linalg.norm(points - middle, axis=2).max())

    def _mesh(self, loader: Any, shape: mk.Shape) -> Any:
        """By coal's own loader; it mixes up the corners of COLLADA files of several parts, so trimesh reads these."""
        if not shape.mesh.lower().endswith(".dae"):
            return loader.load(shape.mesh, np.array(shape.size))
        import trimesh

        coal, read = self.coal, trimesh.load_mesh(shape.mesh)
        mesh, corners, faces = coal.BVHModelOBBRSS(), coal.StdVec_Vec3s(), coal.StdVec_Triangle()
        corners.extend(np.asarray(read.vertices) * np.array(shape.size))
        faces.extend(coal.Triangle(*face) for face in read.faces.tolist())
        mesh.beginModel(len(faces), len(corners))
        mesh.addSubModel(corners, faces)
        mesh.endModel()
        return mesh

    def hit(self, one: str, other: str, pose_one: Array, pose_other: Array) -> bool:
        """Whether the meshes of two links collide."""
        coal = self.coal
        for mesh_a, place_a in self.meshes[one]:
            for mesh_b, place_b in self.meshes[other]:
                a, b = pose_one @ place_a, pose_other @ place_b
                found = coal.CollisionResult()
                placed = (coal.Transform3s(p[:3, :3], p[:3, 3]) for p in (a, b))
                first, second = placed
                coal.collide(mesh_a, first, mesh_b, second, coal.CollisionRequest(), found)
                if found.isCollision():
                    return True
        return False


def _judge(cover: mk.collision.Cover, body: mk.Body, robot: Robot, count: int, judged: bool) -> Row:
    """The columns that need the true meshes."""
    if not judged:
        return dict.fromkeys(("outside [um]", "pairs", "postures", "hits", "missed", "free [%]", "shapes free [%]"))
    judge = Judge(body, cover)
    outside = max(_outside(judge.corners[name], link.shapes) for name, link in cover.links.items())
    everything = mk.SelfDistance(cover.body, list(cover.links))
    pairs = everything.pairs
    poses, q = _postures(body, count)
    hits: dict[int, list[tuple[str, str]]] = {}
    near = _near(judge, pairs, poses)
    for row in progress(range(count), count, f"{body.name} by coal"):
        for k in np.flatnonzero(near[row]).tolist():
            one, other = pairs[k]
            if judge.hit(one, other, poses[one][row], poses[other][row]):
                hits.setdefault(row, []).append(pairs[k])
    problems: dict[tuple[str, str], mk.Problem] = {}
    missed = 0
    for row, found in hits.items():
        for pair in found:
            if pair not in problems:
                problems[pair] = mk.Problem(cover.body, mk.SelfDistance(cover.body, pair, tolerance=0.0))
            missed += mk.Solution.of(problems[pair], q[row]).success
    whole = mk.Problem(cover.body, everything)
    free = [mk.Solution.of(whole, each).success for each in q]
    return {
        "outside [um]": 1e6 * outside,
        "pairs": len(pairs),
        "postures": count,
        "hits": sum(map(len, hits.values())),
        "missed": missed,
        "free [%]": 100.0 - 100.0 * len(hits) / count,
        "shapes free [%]": percent(free),
    }


def _postures(body: mk.Body, count: int) -> tuple[mk.body.LinkPoses, Array]:
    random = np.random.default_rng(SEED)
    q = np.array([body.sample(random) for _ in range(count)])
    return body.forward(q), q


def _near(judge: Judge, pairs: Sequence[tuple[str, str]], poses: mk.body.LinkPoses) -> Any:
    """Which pairs (columns) have balls around them that meet, in each posture (rows)."""
    centers = {name: poses[name][:, :3, :3] @ ball[0] + poses[name][:, :3, 3] for name, ball in judge.balls.items()}
    reach = [judge.balls[one][1] + judge.balls[other][1] for one, other in pairs]
    gaps = [np.linalg.norm(centers[one] - centers[other], axis=1) for one, other in pairs]
    return np.stack(gaps, axis=1) <= np.array(reach)


def _outside(triangles: Array, shapes: Sequence[mk.Shape]) -> float:
    """How far the farthest point of triangles (n, 3, 3) lies outside all shapes [m]; at most 0 if they hold all."""
    random = np.random.default_rng(SEED)
    weights = np.concatenate([np.eye(3), random.dirichlet((1.0, 1.0, 1.0), SAMPLED)])
    worst = -np.inf
    for some in np.array_split(triangles, max(1, len(triangles) // 5_000)):
        points = np.einsum("wc,ncx->nwx", weights, some).reshape(-1, 3)
        worst = max(worst, float(np.min([_distance(shape, points) for shape in shapes], axis=0).max()))
    return worst


def _distance(shape: mk.Shape, points: Array) -> Array:
    """Of points from a shape: negative inside, and a lower bound of the distance outside [m]."""
    local = np.abs((points - shape.link_from_shape[:3, 3]) @ shape.link_from_shape[:3, :3])
    if shape.kind == "box":
        return np.asarray((local - 0.5 * np.array(shape.size)).max(axis=1))
    if shape.kind == "capsule":
        local[:, 2] = np.maximum(local[:, 2] - 0.5 * shape.size[1], 0.0)
    return np.asarray(np.linalg.norm(local, axis=1) - shape.size[0])
