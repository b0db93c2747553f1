"""Pick from a shelf: plans into it, out of it with a box in the hand, and with a cup that stays level, each proved to be free.

What the hand holds is part of the body, so a plan keeps it off the shelf like any link. Where objectives hold all along, each
step of a plan is projected onto the postures that satisfy them.
"""

import tempfile
from pathlib import Path

import numpy as np

import memetik as mk

FINGERS = {"panda_finger_joint1": 0.03}
FORWARD = mk.axis_angle((0, 1, 0), np.pi / 2)  # the hand points along x
out = Path(tempfile.mkdtemp())

body = mk.load("panda")
board = (0.3, 0.6, 0.02)
world = mk.World(
    {
        "shelf": [
            *(mk.Shape("box", board, mk.translation(0.65, 0.0, z)) for z in (0.2, 0.5, 0.8)),
            *(mk.Shape("box", (0.3, 0.02, 0.62), mk.translation(0.65, y, 0.5)) for y in (-0.31, 0.31)),
        ],
    }
)
grips = ["panda_leftfinger", "panda_rightfinger"]
box = mk.Shape("box", (0.05, 0.05, 0.12), mk.translation(0.62, 0.1, 0.575))
world.add("box", box, touching=grips)


def reaching(body, place, turn=FORWARD):
    """A problem: the hand at a place, all links apart from each other and from the world."""
    pose = mk.Pose("panda_hand", mk.transform(place, turn), position_tolerance=1e-3, orientation_tolerance=1e-2)
    return mk.Problem(body, [pose, mk.Distance(body, world), mk.SelfDistance(body)], lock=FINGERS)


def planned(name, problem, start, goal=None, **options):
    """A plan that was found, proved once more, and filmed."""
    plan = mk.plan(problem, start, goal, **options)
    assert plan, plan.explain()
    check = plan.check_motion()
    assert check, check
    moving = plan.retime(velocity=1.5, acceleration=4.0)
    print(f"{name}: {plan}; {check}; {moving.duration:.2f} s")
    frames = moving.sample(20)
    film = mk.Motion(problem.body, frames.times, frames.q)
    mk.write.draw_motion(
        film, out / f"{name}.svg", layout="film", frame_count=40, props=world.shapes, view=(-120, 25), size=(640, 480)
    )
    return plan


# Into the shelf, from a posture in front of it: the way in joint space leads through the boards.
start = mk.solve(reaching(body, (0.3, -0.3, 0.45))).q
into = planned("into_the_shelf", reaching(body, (0.5, 0.1, 0.56)), start)

# Out again with the box in the hand, which keeps off the shelf now like a link.
holding = world.attach("box", body, "panda_hand", into.q[-1], touching=grips)
carried = planned("out_with_the_box", reaching(holding, (0.3, -0.35, 0.35)), into.q[-1])

# On with a hand that stays level within 3 degrees, as with a cup, from one side to the other.
side = mk.Position("panda_hand", (0.3, 0.35, 0.35), tolerance=1e-3)
upright = mk.Direction("panda_hand", (0, 0, -1), axis=(1, 0, 0), tolerance=np.radians(3.0))
problem = mk.Problem(holding, [side, upright, mk.Distance(holding, world), mk.SelfDistance(holding)], lock=FINGERS)
across = planned("level_cup", problem, carried.q[-1], side, along=upright)
tilts = [np.degrees(np.arccos(-holding.forward(q, "panda_hand")[2, 0])) for q in across.sample(0.01)]
print(f"the box leans by {max(tilts):.2f} degrees at most; films in {out}")
assert max(tilts) <= 3.0
