"""What must not happen comes first: a hand whose target lies inside a wall stops at the wall.

Nothing satisfies both wishes. Distance has a higher priority unless told otherwise, so it holds, and the hand comes as near as it
can. With one priority for all, both are weighed against each other, and the hand goes into the wall.
"""

import memetik as mk

body = mk.load("panda")
hand = body.frame("panda_hand")
reach = mk.Position(hand, (0.75, 0.0, 0.4))
wall = mk.Shape("box", (0.2, 2.0, 2.0), mk.transform((0.75, 0.0, 0.4)))  # from x = 0.65 m on
keep_off = mk.Distance(hand, [wall], radius=0.05)
problem = mk.Problem(body, [reach, keep_off])

solution = mk.solve(problem, budget=mk.Budget(evaluations=4_000))
print(
    f"{solution.errors[reach] * 1e3:.0f} mm from its target, {solution.errors[keep_off] * 1e3:.0f} mm deep in the wall"
)
assert solution.errors[keep_off] == 0.0 and abs(solution.errors[reach] - 0.15) < 2e-3

keep_off.priority = 0
weighed = mk.solve(problem, budget=mk.Budget(evaluations=4_000))
print(f"{weighed.errors[keep_off] * 1e3:.0f} mm deep in the wall with one priority for all")
assert weighed.errors[keep_off] > 0.01
