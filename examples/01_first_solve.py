"""Reach a pose with an arm: load, say what is wanted, solve, look at the answer, move the target, solve again."""

import memetik as mk

body = mk.load("panda")
hand = body.frame("panda_hand", offset=(0, 0, 0.10))

reach = mk.Position(hand, target=(0.5, 0.1, 0.4), tolerance=1e-4)
face = mk.Orientation(hand, target=mk.euler(180, 0, 0, degrees=True), tolerance=1e-3)
problem = mk.Problem(body, [reach, face], lock={"panda_finger_joint1": 0.04})

solution = mk.solve(problem, start=body.home)
print(solution)
assert solution.success

reach.target = (0.4, 0.2, 0.5)
again = mk.solve(problem, start=solution.q)
print(f"\nand then to {reach.target}: {again!r}")
assert again.success
