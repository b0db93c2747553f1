"""Pick and place: a world of obstacles, a cup that the hand takes and puts down, and motions that are proved to be free.

What the hand holds is part of the body: it keeps off the shelf like any link. Between two postures nothing is sampled:
check_motion proves that the way is free, or says what it meets and where.
"""

import tempfile
from pathlib import Path

import memetik as mk

DOWN = mk.euler(180, 0, 0, degrees=True)
ENOUGH = mk.Budget(evaluations=20_000)

body = mk.load("panda")
body = body.with_touching(mk.collision.find_collision_pairs(body, 2_000, progress=False).touching)
world = mk.World({
    "shelf": [
        mk.Shape("box", (0.3, 0.4, 0.02), mk.translation(0.55, 0.3, 0.55)),
        mk.Shape("box", (0.3, 0.02, 0.55), mk.translation(0.55, 0.5, 0.275)),
    ],
    "post": mk.Shape("cylinder", (0.03, 0.6), mk.translation(0.45, -0.08, 0.3)),
})  # fmt: skip
fingers = ["panda_leftfinger", "panda_rightfinger"]
world.add("cup", mk.Shape("cylinder", (0.03, 0.12), mk.translation(0.5, -0.3, 0.06)), touching=fingers)
world.add("table", mk.Shape("box", (1.1, 1.2, 0.04), mk.translation(0.25, 0.0, -0.03)), touching=["panda_link0"])


def reach(body, place, start):
    """A posture with the hand above a place, free of contact."""
    wanted = [mk.Pose("panda_hand", mk.transform(place, DOWN)), mk.Distance(body, world), mk.SelfDistance(body)]
    problem = mk.Problem(body, [*wanted, mk.Displacement(weight=0.01)], lock={"panda_finger_joint1": 0.04})
    solution = mk.solve(problem, start, budget=ENOUGH)
    assert solution.success, solution.explain()
    return problem, solution.q


def go(problem, *postures):
    """Say whether a way is free; the check that a controller would insist on."""
    check = mk.motion.check_motion(problem, postures)
    print(f"  {check}")
    return bool(check)


# Take the cup: the fingers are on both sides of it.
above, at = (0.5, -0.3, 0.35), (0.5, -0.3, 0.20)
problem, home = reach(body, (0.4, -0.3, 0.5), None)
_, over = reach(body, above, home)
_, grasp = reach(body, at, over)
print("to the cup:")
assert go(problem, home, over, grasp)

holding = world.attach("cup", body, "panda_hand", grasp)
print(f"taken: {world}, and {'cup' in holding.links = }")

# Carry it to the shelf. The straight way in joint space hits the post, so it goes by way of a posture in front of it.
problem, lifted = reach(holding, above, grasp)
_, target = reach(holding, (0.5, 0.25, 0.205), lifted)
print("straight to the shelf:")
free = go(problem, lifted, target)
problem, drawn_in = reach(holding, (0.25, -0.25, 0.4), lifted)
_, passed = reach(holding, (0.25, 0.25, 0.4), drawn_in)
print("around the post:")
assert go(problem, lifted, drawn_in, passed, target)

picture = Path(tempfile.mkdtemp()) / "pick_and_place.svg"
mk.write.draw_many(
    holding, [lifted, drawn_in, passed, target], picture, world=world, view=(-50, 25), show_skeleton=False
)

# Put it down: the cup stands in the world again, where the hand let it go.
body = world.release("cup", holding, target)
print(f"put down at {world['cup'].pose[:3, 3].round(3)} m: {world}; see {picture}")
assert "cup" in world and "cup" not in body.links
