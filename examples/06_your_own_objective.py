"""An objective in three lines: a function of frames and joints, compiled and called from the solver like any other."""

import memetik as mk

body = mk.load("panda")
hand = body.frame("panda_hand", offset=(0, 0, 0.10))


@mk.objective(reads=[hand, "panda_link4"], tolerance=1e-3)
def elbow_high(hand, elbow):
    """The elbow stays at least 20 cm above the hand."""
    return max(0.0, 0.20 - (elbow.position[2] - hand.position[2]))


@mk.objective(reads=[hand], joints=["panda_joint7"], tolerance=None, weight=0.1)
def wrist_follows(hand, wrist):
    """The last joint would like to turn with the hand's height."""
    return wrist - hand.position[2]


reach = mk.Position(hand, target=(0.45, 0.0, 0.35))
solution = mk.solve(mk.Problem(body, [reach, elbow_high, wrist_follows]))
print(solution)
assert solution.success
