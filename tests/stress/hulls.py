"""Distances of convex hulls against coal and SciPy, by hand:

    python -m tests.stress.hulls pairs 10000 [KIND ...]
    python -m tests.stress.hulls time
    python -m tests.stress.hulls cloud
    python -m tests.stress.hulls solve 1000 [URDF FOLDER_OF_MESHES]

`pairs`: of each kind of solid so many at random beside a hull of 4 to 60 points, every second one moved towards it. The largest
difference to coal, for one pair in ten to the hull of all differences of corners by SciPy, and for all to the gap between two
planes square to the normal, which proves a distance, and of a depth that it is enough. Where coal differs then, it is wrong.
`time`: microseconds for a pair of hulls of 20, 50, 200 and 1000 points by neighbours and by a look at every point, and coal's
from Python, less those of its call for two spheres.
`cloud`: a Panda within a round wall of points, by the most points in a group: time of an evaluation and of a solve.
`solve`: a robot with the hulls of its collision meshes, by default the Panda of example_robot_data; poses of postures that are
free by coal, to be reached without any two links in contact. How many are, and how many of these are free by coal.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path
from unittest import mock

import coal as library
import numpy as np

import memetik as mk
from memetik.collision import solids
from memetik.collision.solids import solid, stack
from memetik.geometry import random_rotation
from memetik.kernels.compiler.jit import jit
from memetik.kernels.geometry.hulls import hull_apart
from memetik.kernels.geometry.solids import SOLID_DATA
from tests.kernels.geometry.test_hulls import KINDS, apart, corners, random_shape, shifted
from tests.naive import coal
from tests.naive.distance import hull_distance


def farthest(shape: mk.Shape, u) -> float:
    """How far a shape in the world reaches along a unit vector, by the plain formula of each kind."""
    own, middle = u @ shape.link_from_shape[:3, :3], u @ shape.link_from_shape[:3, 3]
    if shape.kind in ("hull", "box"):
        return float((corners(shape) @ u).max())
    long = 0.0 if shape.kind == "sphere" else shape.size[1] / 2.0 * abs(own[2])
    return middle + long + shape.size[0] * (np.hypot(own[0], own[1]) if shape.kind == "cylinder" else 1.0)


def pairs(count: int, kinds: list[str]) -> None:
    for kind in kinds or KINDS:
        rng = np.random.default_rng(0)
        gaps, depths, proofs, by_scipy, wrong, none = [0.0], [0.0], [0.0], [0.0], 0, 0
        for k in range(count):
            one, other = random_shape(rng, "hull"), random_shape(rng, kind)
            if k % 2:
                other = shifted(other, 0.75 * (one.link_from_shape - other.link_from_shape)[:3, 3])
            d, *_, n = apart(one, other)
            # No distance is less than the gap between two planes square to n, no depth more: equal to d, it proves it apart.
            proofs.append(abs(d + farthest(one, -n) + farthest(other, n)))
            wanted = coal.distance(one, other)[0]
            if np.isnan(wanted):
                none += 1
            elif abs(d - wanted) > 1e-9 and proofs[-1] <= 1e-9 and (d > 0.0 or wanted < d):
                wrong += 1
            else:
                (gaps if d > 0.0 else depths).append(abs(d - wanted))
            if d < 0.0 and k % 10 == 1 and kind in ("hull", "box"):
                by_scipy.append(abs(d - hull_distance(corners(one), corners(other))))
        print(
            f"{kind:9} to coal: {len(gaps) - 1} apart, off by {max(gaps):.1e} m; {len(depths) - 1} in each other, off by "
            f"{max(depths):.1e} m\n"
            f"          to SciPy: {len(by_scipy) - 1} in each other, off by {max(by_scipy):.1e} m; to the gap along n: "
            f"{max(proofs):.1e} m\n"
            f"          coal finds none: {none}, another distance or a larger depth than the gap proves: {wrong}",
            flush=True,
        )


@jit
def distances(data, poses, out):
    for i in range(len(poses)):
        r = poses[i]
        q = (r[0], r[1], r[2], r[3], r[4], r[5], r[6])
        out[i] = hull_apart(data, (1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0), 0, q, SOLID_DATA, np.inf)[0]


def best_of(times: int, run) -> float:
    """Processor time of the fastest of several runs [s]."""
    best = np.inf
    for _ in range(times):
        begin = time.thread_time()
        run()
        best = min(best, time.thread_time() - begin)
    return best


def by_coal(one, other, places) -> float:
    """Seconds for all places of the other one, as coal's user would ask: default tolerances, signed distances."""
    request, result, still = library.DistanceRequest(), library.DistanceResult(), library.Transform3s()
    request.enable_signed_distance = True
    compute = library.ComputeDistance(one, other)

    def run():
        for place in places:
            result.clear()
            compute(still, place, request, result)

    return best_of(3, run)


def centred_hull(rng, count: int) -> mk.Shape:
    """One that has the middle of the box around it at its origin, where the kernels put that."""
    points = random_shape(rng, "hull", count).points
    return mk.collision.hull(points - 0.5 * (points.min(axis=0) + points.max(axis=0)))


def timing() -> None:
    rng = np.random.default_rng(0)
    many = 2000
    out = np.empty(many)
    print("points  distance     contacts   neighbours  every point   coal [us]")
    for count in (20, 50, 200, 1000):
        for what, nearest, farthest in (("apart", 0.45, 0.6), ("near", 0.2, 0.4), ("deep", 0.0, 0.1)):
            one, other = centred_hull(rng, count), centred_hull(rng, count)
            ways = rng.normal(size=(many, 3))
            ways *= rng.uniform(nearest, farthest, (many, 1)) / np.linalg.norm(ways, axis=1, keepdims=True)
            places = [mk.transform(way, random_rotation(rng)) for way in ways]
            poses = np.array([[*mk.geometry.to_quaternion(place[:3, :3]), *place[:3, 3]] for place in places])
            ours = []
            for linked in (0, 10**9):
                solids.LINKED = linked
                data = stack([solid(one, "one"), solid(other, "other")])
                distances(data, poses, out)
                ours.append(best_of(5, lambda data=data, poses=poses: distances(data, poses, out)) / many * 1e6)
            moved = [coal.pose(place) for place in places]
            call = by_coal(library.Sphere(0.01), library.Sphere(0.01), moved)
            theirs = (by_coal(coal.geometry(one), coal.geometry(other), moved) - call) / many * 1e6
            print(
                f"{count:6}  {what:10}  {np.mean(out < 0.0):8.0%}  {ours[0]:10.2f}  {ours[1]:11.2f}  {theirs:10.2f}",
                flush=True,
            )


def cloud() -> None:
    body = mk.load("panda")
    links = [name for name, link in body.links.items() if link.shapes and name != body.root]
    print("points  in a group  evaluation [us]   solve [ms]   reached")
    for count in (100, 1000, 10_000, 100_000):
        rng = np.random.default_rng(0)
        starts = [body.sample(rng) for _ in range(100)]
        angle, height = rng.uniform(0.0, 2.0 * np.pi, count), rng.uniform(0.0, 1.0, count)
        points = np.stack([0.9 * np.cos(angle), 0.9 * np.sin(angle), height], axis=1)  # a round wall
        usual = mk.objectives.PointCloud(points, 0.02).leaf
        for leaf in (usual // 4, usual, 4 * usual):
            with mock.patch.object(mk.objectives.PointCloud, "leaf", leaf):
                problem = mk.Problem(
                    body,
                    [
                        mk.Position("panda_hand", (0.5, 0.2, 0.4)),
                        mk.Distance(links, mk.objectives.PointCloud(points, 0.02)),
                    ],
                )
                solved = [mk.solve(problem, start=q) for q in starts]
                spent = best_of(3, lambda problem=problem, starts=starts: [mk.solve(problem, start=q) for q in starts])
            evaluations = sum(solution.evaluations for solution in solved)
            reached = sum(solution.success for solution in solved)
            print(
                f"{count:6}  {leaf:10}  {1e6 * spent / evaluations:15.1f}  {10.0 * spent:11.2f}  {reached:6} of 100",
                flush=True,
            )


class Judge:
    """Whether links of a body are in contact, by coal."""

    def __init__(self, body: mk.Body, links: list[tuple[str, str]]) -> None:
        names = {name for pair in links for name in pair}
        self.pairs = links
        self.shapes = {
            name: [(coal.geometry(shape), shape.link_from_shape) for shape in body.links[name].shapes] for name in names
        }
        self.request = library.CollisionRequest()

    def contact(self, poses: mk.body.LinkPoses) -> bool:
        for one, other in self.pairs:
            for a, place in self.shapes[one]:
                for b, elsewhere in self.shapes[other]:
                    p, q = coal.pose(poses[one] @ place), coal.pose(poses[other] @ elsewhere)
                    if library.collide(a, p, b, q, self.request, library.CollisionResult()):
                        return True
        return False


def panda() -> tuple[Path, Path]:
    """Its model and the folder of its meshes: the package example_robot_data has no module, only files beside coal's."""
    share = Path(library.__file__).parents[4] / "share"
    return share / "example-robot-data/robots/panda_description/urdf/panda.urdf", share


def solve(count: int, urdf: Path, folder: Path) -> None:
    body = mk.load(urdf, roots=[folder]).with_hulls()
    rng = np.random.default_rng(0)
    # Pairs that are in contact in every posture stand too close for their hulls, such as neighbours but one.
    judges = {pair: Judge(body, [pair]) for pair in mk.SelfDistance(body).pairs}
    samples = [body.forward(body.sample(rng)) for _ in range(100)]
    always = [pair for pair, judge in judges.items() if all(judge.contact(poses) for poses in samples)]
    apart = mk.SelfDistance(body, ignore=always)
    judge = Judge(body, list(apart.pairs))
    tip = next(name for name in body.links if name.endswith("hand"))
    pose = mk.Pose(tip, np.eye(4))
    problem = mk.Problem(body, [pose, apart])
    print(f"{len(apart.pairs)} pairs, always in contact: {always or 'none'}", flush=True)
    reached, free, spent = 0, 0, []
    for _ in range(count):
        wanted = body.forward(body.sample(rng))
        while judge.contact(wanted):
            wanted = body.forward(body.sample(rng))
        pose.target = wanted[tip]
        begin = time.thread_time()
        solution = mk.solve(problem, start=body.sample(rng))
        spent.append(time.thread_time() - begin)
        reached += solution.success
        free += solution.success and not judge.contact(body.forward(solution.q))
    ms = 1e3 * np.array(spent[1:])
    print(
        f"{reached} of {count} reached, {free} of these free by coal; processor time {np.median(ms):.2f} ms (median), "
        f"{np.percentile(ms, 95):.2f} ms (95 %)"
    )


def main() -> None:
    match sys.argv[1:]:
        case ["pairs", count, *kinds]:
            pairs(int(count), kinds)
        case ["time"]:
            timing()
        case ["cloud"]:
            cloud()
        case ["solve", count]:
            solve(int(count), *panda())
        case ["solve", count, urdf, folder]:
            solve(int(count), Path(urdf), Path(folder))
        case _:
            print(__doc__)


if __name__ == "__main__":
    main()
