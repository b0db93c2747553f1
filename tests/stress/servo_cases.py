"""Servos where it is tight, and where the world, the root and limits change under them:

    python -m tests.stress.servo_cases [--ticks 2000] [--case NAME] [--rate 1000] [--jerk 300] [--seed 0]

Every posture that is returned is judged by coal in the world of its tick, every tick and every pair. What counts is a pair that
was apart in the tick before in the same world and overlaps now; so an obstacle that is put into the robot is none, and one that
the robot moves into is. Limits are judged on the whole path. Prints a line for each case.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[2]))

import memetik as mk
from memetik_lab.contact_judge import ContactJudge
from tests.stress.servo import broken

CLEARANCE = 0.01


class Case:
    """A robot in a world, and what happens before each tick."""

    def __init__(self, name: str, given: argparse.Namespace, **settings) -> None:
        self.rng, self.rate, self.ticks = np.random.default_rng(given.seed), given.rate, given.ticks
        self.settings = {"jerk": given.jerk, "rate": given.rate, "budget": mk.Budget(evaluations=50)} | settings
        self.body, self.tips = ROBOT[name]()
        self.world = mk.World(capacity=64)
        self.before: Callable[[int], bool] = lambda k: False  # returns whether shapes changed
        self.clearance, self.root = CLEARANCE, False
        self.home = self.body.forward(self.body.home)

    def target(self, k: int, tip: str):
        """A pose that jumps about where the tip is at home."""
        if k % int(0.4 * self.rate) == 0:
            self.at = {t: self.home[t].copy() for t in self.tips}
            for each in self.at.values():
                each[:3, 3] += self.rng.uniform(-0.3, 0.3, 3)
        return self.at[tip]

    def judge(self):
        """A judge of the world as it is now."""
        judge = ContactJudge(self.body, self.world, mk.SelfDistance(self.body, ignore="always").pairs, exhaustive=True)
        judge.check(self.q)
        return judge

    def run(self) -> dict[str, int]:
        """Contacts and limits broken."""
        body, q = self.body, self.body.home
        self.wanted = {tip: mk.Pose(tip, self.home[tip]) for tip in self.tips}
        apart = [
            mk.Distance(body, self.world, clearance=self.clearance),
            mk.SelfDistance(body, ignore="always", clearance=min(self.clearance, 0.002)),
        ]
        root = {"root": np.eye(4)} if self.root else {}
        self.problem = mk.Problem(body, [*self.wanted.values(), *apart], **root)
        self.servo = mk.Servo(self.problem, start=q, **self.settings)
        self.q, path, contacts, moving, outside = q, [q], 0, 0, 0
        judge = self.judge() if len(self.world) else None
        for k in range(self.ticks):
            if self.before(k):
                judge = self.judge()
            at = {self.wanted[tip]: self.target(k, tip) for tip in self.tips}
            self.q = self.servo.step(at)
            moving += int(np.abs(self.q - path[-1]).max() * self.rate > 1e-3)
            path.append(self.q)
            outside += int(((self.q < self.problem.lower) | (self.q > self.problem.upper)).any())
            if judge is not None:
                contacts += len(judge.check(self.q))
        limits = self.servo.velocity_limit, np.minimum(self.servo.acceleration_limit, 1e12)
        jerk = self.servo.jerk_limit if np.isfinite(self.servo.jerk_limit).all() else None
        found = broken(np.array(path), body.lower, body.upper, *limits, jerk, rate=self.rate)
        return {"contacts": contacts, "outside": outside, "moving": moving, **found}


def panda():
    return mk.load("panda").fix({"panda_finger_joint1": 0.035}), ("panda_hand",)


def baxter():
    return mk.load("baxter"), ("left_gripper_base", "right_gripper_base")


ROBOT = {"panda": panda, "baxter": baxter}


def inside(given):
    """The target goes into obstacles and waits there."""
    case = Case("panda", given)
    at = case.home["panda_hand"][:3, 3]
    for k, way in enumerate(((0.15, 0.2, -0.1), (0.1, -0.25, 0.0), (0.0, 0.0, -0.3))):
        kind, size = (("sphere", (0.08,)), ("box", (0.1, 0.2, 0.3)), ("cylinder", (0.1, 0.1)))[k]
        case.world.add(f"o{k}", mk.Shape(kind, size, mk.translation(*(at + way))))
    middles = [each.placed[0].link_from_shape[:3, 3] for each in case.world.values()]

    def target(k, tip):
        pose = case.home[tip].copy()
        pose[:3, 3] = middles[int(k / (0.5 * given.rate)) % 3]
        return pose

    case.target = target
    return case


def plates(given):
    """Plates of a millimetre between the hand and where it shall be."""
    case = Case("panda", given)
    at = case.home["panda_hand"][:3, 3]
    for k in range(3):
        place = at + np.array((0.0, (0.16, -0.16, 0.3)[k], 0.0))
        case.world.add(f"plate {k}", mk.Shape("box", (0.4, 0.001, 0.4), mk.translation(*place)))
    return case


def needles(given):
    """Thin posts everywhere, and no limit on acceleration."""
    case = Case("panda", given, **({} if given.jerk else {"acceleration": math.inf}))
    at = case.home["panda_hand"][:3, 3]
    while len(case.world) < 20:
        place = at + case.rng.uniform(-0.4, 0.4, 3)
        shape = mk.Shape("cylinder", (0.002, 0.5), mk.transform(place, mk.euler(*case.rng.uniform(-3, 3, 3))))
        judge = ContactJudge(case.body, mk.World({"new": shape}), [])
        if judge.distance(case.body.home) > 0.03:
            case.world.add(f"needle {len(case.world)}", shape)
    return case


def sluggish(given):
    """Hardly any acceleration: the way to a stop is long."""
    case = plates(given)
    case.settings |= {"acceleration": 0.5} | ({"jerk": 10.0} if given.jerk else {})
    return case


def in_a_box(given):
    """The hand is in a box that is open above."""
    case = Case("panda", given)
    at = case.home["panda_hand"][:3, 3] + (0.0, 0.0, -0.12)
    for k, (x, y) in enumerate(((0.2, 0.0), (-0.2, 0.0), (0.0, 0.2), (0.0, -0.2))):
        size = (0.02, 0.42, 0.2) if x else (0.42, 0.02, 0.2)
        case.world.add(f"wall {k}", mk.Shape("box", size, mk.translation(*(at + np.array((x, y, 0.0))))))
    case.world.add("floor", mk.Shape("box", (0.42, 0.42, 0.02), mk.translation(*(at - (0.0, 0.0, 0.11)))))
    return case


def comes_and_goes(given):
    """Obstacles are added, reshaped, moved by leaps and removed near the body while it moves."""
    case = Case("panda", given)

    def before(k):
        if k % int(0.05 * given.rate):
            return False
        what, name = case.rng.integers(4), f"o{case.rng.integers(4)}"
        place = case.body.forward(case.q)["panda_hand"][:3, 3] + case.rng.normal(0.0, 0.25, 3)
        shape = mk.Shape("box", tuple(case.rng.uniform(0.03, 0.12, 3)))
        if what == 0:
            case.world[name] = mk.Shape("sphere", (float(case.rng.uniform(0.02, 0.08)),), mk.translation(*place))
        elif what == 1:
            case.world.add(name, shape, mk.translation(*place)) if name not in case.world else None
        elif what == 2 and name in case.world:
            case.world.remove(name)
        elif name in case.world:
            case.world.move(name, mk.translation(*place))
        return True

    case.world.add("always", mk.Shape("sphere", (0.05,), mk.translation(0.3, 0.5, 0.4)))
    case.before = before
    return case


def limits_change(given):
    """Position limits are narrowed and widened again on the way, not beyond where the joints can stop."""
    case = plates(given)
    lower, upper = case.body.lower.copy(), case.body.upper.copy()

    def before(k):
        if k % int(0.2 * given.rate) == 0 and k:
            wide = case.rng.random() < 0.5
            j = case.rng.integers(case.body.dof)
            case.problem.limits = (
                {}
                if wide
                else {case.body.joint_names[j]: (max(lower[j], case.q[j] - 1.0), min(upper[j], case.q[j] + 1.0))}
            )
        return False

    case.before = before
    return case


def root_moves(given):
    """The base of the robot creeps towards a wall and back, which the judge sees as a wall that moves.

    Nobody tells the servo how fast its base is, so the clearance has to cover the way of the base while joints brake.
    """
    case = Case("panda", given)
    at = case.home["panda_hand"][:3, 3]
    wall = mk.Shape("box", (0.05, 1.0, 0.6), mk.translation(*(at + np.array((0.25, 0.0, 0.0)))))
    case.world.add("wall", wall)
    case.root = True

    def before(k):
        case.problem.root = mk.translation(0.05 * math.sin(0.2 * k / given.rate), 0.0, 0.0)
        return False

    case.before = before
    seen = case.judge

    def judge():
        case.judged = seen()
        return case.judged

    case.judge = judge

    def target(k, tip):
        case.judged.place("wall", np.linalg.inv(mk.translation(0.05 * math.sin(0.2 * k / given.rate), 0.0, 0.0)))
        return Case.target(case, k, tip)

    case.target = target
    return case


def two_hands(given):
    """Both hands want to be where the other one is."""
    case = Case("baxter", given)
    case.world.add("far", mk.Shape("sphere", (0.05,), mk.translation(5.0, 0.0, 0.0)))
    left, right = case.tips

    def target(k, tip):
        pose = case.home[tip].copy()
        share = 0.5 + 0.8 * math.sin(2.0 * k / given.rate)
        one, other = case.home[left][:3, 3], case.home[right][:3, 3]
        pose[:3, 3] = (1.0 - share) * one + share * other if tip == left else (1.0 - share) * other + share * one
        return pose

    case.target = target
    return case


def crowd(given):
    """More than 128 pairs are close: a cage of 60 balls around the arm."""
    case = Case("panda", given)
    k = 0
    while len(case.world) < 60:
        k += 1
        place = case.home["panda_hand"][:3, 3] + case.rng.uniform(-0.35, 0.35, 3)
        shape = mk.Shape("sphere", (0.02,), mk.translation(*place))
        if ContactJudge(case.body, mk.World({"new": shape}), []).distance(case.body.home) > 0.02:
            case.world.add(f"ball {len(case.world)}", shape)
    return case


def no_clearance(given):
    """Clearance zero: only what is touched counts."""
    case = inside(given)
    case.clearance = 0.0
    return case


CASES = [
    inside, plates, needles, sluggish, in_a_box, comes_and_goes, limits_change, root_moves, two_hands, crowd,
    no_clearance,
]  # fmt: skip


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ticks", type=int, default=2000)
    parser.add_argument("--case", choices=[case.__name__ for case in CASES])
    parser.add_argument("--rate", type=float, default=1000.0)
    parser.add_argument("--jerk", type=float)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    bad = 0
    for make in CASES:
        if given.case in (None, make.__name__):
            case = make(given)
            found = case.run()
            bad += sum(count for what, count in found.items() if what != "moving")
            where = f"{case.servo.status.name}, {1e3 * case.servo.distance:.2f} mm"
            print(f"{make.__name__:15} {case.ticks} ticks: {found}; in the end {where}", flush=True)
    print(f"{bad} broken")
    return int(bad > 0)


if __name__ == "__main__":
    sys.exit(main())
