"""How near does `memetic` come to targets inside a wall, where distances come first (Fig. 5.17 of the thesis)?

    python -m tests.stress.wall [--targets 1000] [--first 0] [--evaluations 20000] [--starts 24]

The scene is that of `memetik bench obstacles`. The answers are compared with the least that another method finds, which shares no
code with the library: forward kinematics from the URDF in NumPy, and Levenberg-Marquardt with a penalty on collisions that grows
to 1e8, from the start, from random postures, and from the answer itself, so that it is polished, too. Both minimise
(scale |p - p*|)^2 + angle^2 and keep all balls apart; differences of the root of that are printed in millimetres.
"""

from __future__ import annotations

import argparse
import sys
import xml.etree.ElementTree as ET
from itertools import islice
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[2]))

import memetik as mk
from memetik_lab.queries import pose_of
from memetik_lab.thesis import obstacles

BASE, TIP = "torso_lift_link", "r_gripper_tool_frame"
POINTS = (  # centres of the arm's balls
    ("r_elbow_flex_link", 0.0), ("r_forearm_link", 0.12), ("r_forearm_link", 0.22), ("r_wrist_roll_link", 0.0),
    ("r_gripper_palm_link", 0.08), (TIP, 0.0),
)  # fmt: skip
PENALTIES = (1e2, 1e4, 1e6, 1e8)  # 1/m^2
ITERATIONS = (40, 40, 40, 60)
TOUCHING = 2e-5  # m; what the largest penalty leaves
NEAR = 2.0  # mm
CHUNK = 50  # targets that are compared at once


def numbers(element, name):
    return np.array([float(v) for v in ((element.get(name) if element is not None else None) or "0 0 0").split()])


def rotation(angles):
    c, s = np.cos(angles), np.sin(angles)
    x = np.array([[1, 0, 0], [0, c[0], -s[0]], [0, s[0], c[0]]])
    y = np.array([[c[1], 0, s[1]], [0, 1, 0], [-s[1], 0, c[1]]])
    return np.array([[c[2], -s[2], 0], [s[2], c[2], 0], [0, 0, 1]]) @ y @ x


class Arm:
    """The chain in the file: for each joint whether it turns, its origin, axis, child and limits."""

    def __init__(self, urdf):
        joints = {joint.find("child").get("link"): joint for joint in ET.parse(urdf).getroot().findall("joint")}
        self.chain, link = [], TIP
        while link != BASE:
            joint = joints[link]
            origin, limit = joint.find("origin"), joint.find("limit")
            ends = [float(limit.get(e)) for e in ("lower", "upper")] if joint.get("type") == "revolute" else (-9e9, 9e9)
            moves, turn = joint.get("type") != "fixed", rotation(numbers(origin, "rpy"))
            self.chain.insert(0, (moves, numbers(origin, "xyz"), turn, numbers(joint.find("axis"), "xyz"), link, ends))
            link = joint.find("parent").get("link")
        self.lower, self.upper = np.array([ends for moves, *_, ends in self.chain if moves]).T

    def place(self, q):
        """Rotation and position of the tip, axes and places of joints, and the centres with how many joints move each."""
        R, p, axes, places, links = np.tile(np.eye(3), (len(q), 1, 1)), np.zeros((len(q), 3)), [], [], {}
        for moves, xyz, turn, axis, link, _ in self.chain:
            p, R = p + R @ xyz, R @ turn
            if moves:
                cross = np.cross(np.eye(3), axis)
                angle = q[:, len(axes), None, None]
                axes.append(R @ axis)
                places.append(p)
                R = R @ (np.eye(3) + np.sin(angle) * cross + (1 - np.cos(angle)) * (cross @ cross))
            links[link] = R, p, len(axes)
        centers = [(links[link][1] + links[link][0][:, :, 0] * x, links[link][2]) for link, x in POINTS]
        return R, p, np.stack(axes, 1), np.stack(places, 1), centers

    def model(self, q, targets, balls, scale, penalty):
        """Cost, error of the pose, deepest collision, Hessian of Gauss-Newton and half the gradient."""
        R, p, axes, places, centers = self.place(q)
        off, turn = (p - targets[:, :3, 3]) * scale, rotation_vector(R @ targets[:, :3, :3].transpose(0, 2, 1))
        pose = (off**2).sum(1) + (turn**2).sum(1)
        cost, deepest = pose.copy(), np.zeros(len(q))
        moved = np.cross(axes, p[:, None] - places) * scale
        H = moved @ moved.transpose(0, 2, 1) + axes @ axes.transpose(0, 2, 1)
        g = np.einsum("nij,nj->ni", moved, off) + np.einsum("nij,nj->ni", axes, turn)
        for center, k in centers:
            way = center[:, None] - balls[:, :3]
            distance = np.linalg.norm(way, axis=2)
            depth = np.maximum(balls[:, 3] + obstacles.RADIUS - distance, 0.0)
            cost += penalty * (depth**2).sum(1)
            deepest = np.maximum(deepest, depth.max(1))
            outward = way / np.maximum(distance, 1e-9)[:, :, None] * (depth > 0.0)[:, :, None]
            G = outward @ np.cross(axes[:, :k], center[:, None] - places[:, :k]).transpose(0, 2, 1)
            H[:, :k, :k] += penalty * G.transpose(0, 2, 1) @ G
            g[:, :k] -= penalty * np.einsum("nbk,nb->nk", G, depth)
        return cost, pose, deepest, H, g

    def descend(self, q, targets, balls, scale):
        """Many postures at once; where each ends, the error of its pose and its deepest collision."""
        for penalty, iterations in zip(PENALTIES, ITERATIONS, strict=True):
            damping, here = np.full(len(q), 1e-2), self.model(q, targets, balls, scale, penalty)
            for _ in range(iterations):
                H, g = here[3:]
                free = ~(((q <= self.lower) & (g > 0.0)) | ((q >= self.upper) & (g < 0.0)))
                A = H * free[:, :, None] * free[:, None, :]
                ridge = damping[:, None] * (np.einsum("nii->ni", A) + 1e-6) + ~free
                step = np.linalg.solve(A + ridge[:, :, None] * np.eye(q.shape[1]), (g * free)[:, :, None])[:, :, 0]
                trial = np.clip(q - step, self.lower, self.upper)
                there = self.model(trial, targets, balls, scale, penalty)
                better = there[0] < here[0]
                q = np.where(better[:, None], trial, q)
                here = tuple(
                    np.where(better.reshape(-1, *[1] * (a.ndim - 1)), a, b) for a, b in zip(there, here, strict=True)
                )
                damping = np.clip(np.where(better, damping / 4.0, damping * 8.0), 1e-9, 1e8)
        return q, here[1], here[2]


def rotation_vector(R):
    angle = np.arccos(np.clip((np.trace(R, axis1=1, axis2=2) - 1.0) / 2.0, -1.0, 1.0))
    v = np.stack([R[:, 2, 1] - R[:, 1, 2], R[:, 0, 2] - R[:, 2, 0], R[:, 1, 0] - R[:, 0, 1]], 1) / 2.0
    s = np.sin(angle)
    return v * np.where(s > 1e-6, angle / np.maximum(s, 1e-12), 1.0)[:, None]


def batched(several, size):
    several = iter(several)
    while chunk := list(islice(several, size)):
        yield chunk


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--targets", type=int, default=1_000)
    parser.add_argument("--first", type=int, default=0, help="leave out the targets before this one")
    parser.add_argument("--evaluations", type=int, default=mk.Budget().evaluations)
    parser.add_argument("--starts", type=int, default=24)
    given = parser.parse_args()
    scene, balls = obstacles.box_scene(obstacles.SOLID), obstacles.box_balls()
    arm = Arm(Path(mk.__file__).parent / "bodies" / "pr2.urdf")
    low, high = np.maximum(arm.lower, -np.pi), np.minimum(arm.upper, np.pi)
    pose = pose_of(scene.tip, scene.task)
    problem = mk.Problem(scene.body, [pose, scene.keep_off(balls)])
    scale = float(problem.compiled.terms["scale"][0])
    inside, worse, number = 0, [], given.first
    queries = obstacles._box_queries(scene, given.targets, in_wall=True)
    for together in batched(islice(queries, given.first, None), CHUNK):
        answers, targets = [], np.array([query.targets[0] for query in together])
        for query, pose.target in zip(together, targets, strict=True):
            answers.append(mk.solve(problem, query.start, budget=mk.Budget(evaluations=given.evaluations)).q)
        starts = [
            np.vstack([answer, query.start, np.random.default_rng((0, k)).uniform(low, high, (given.starts, len(low)))])
            for k, (answer, query) in enumerate(zip(answers, together, strict=True), number)
        ]
        _, errors, deepest = arm.descend(np.vstack(starts), np.repeat(targets, given.starts + 2, axis=0), balls, scale)
        errors[deepest >= TOUCHING] = np.inf  # none of few starts may end free
        least = np.sqrt(errors.reshape(len(together), -1).min(axis=1))
        _, error, depth, *_ = arm.model(np.array(answers), targets, balls, scale, 0.0)
        inside += int((depth > 1e-9).sum())
        worse += list((np.sqrt(error) - least) / scale * 1e3)
        number += len(together)
        off = np.array(worse)
        print(
            f"{given.first} to {number - 1} of the targets in the wall: {inside} answers touch it, {(off <= NEAR).sum()} within "
            f"{NEAR:g} mm of the least found, worse by {np.median(off):.3f} mm in the median, {off.max():.1f} at most",
            flush=True,
        )
    print("more than that off: " + (", ".join(str(given.first + k) for k in np.flatnonzero(off > NEAR)) or "none"))
    return int(inside > 0 or bool((off > NEAR).any()))


if __name__ == "__main__":
    sys.exit(main())
