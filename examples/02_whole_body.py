"""A humanoid with both hands and both feet at poses of their own, looking at a point; the pelvis may move by a metre."""

import numpy as np

import memetik as mk

body = mk.load("valkyrie", base="xyz", base_lower=-1, base_upper=1)
posed = body.forward(body.home)


def moved(link, by):
    """The link's pose at home, shifted."""
    return mk.translation(*by) @ posed[link]


objectives = [
    mk.Pose("rightFoot", posed["rightFoot"]),
    mk.Pose("leftFoot", posed["leftFoot"]),
    mk.Pose("rightPalm", moved("rightPalm", (0.25, 0.05, 0.20))),
    mk.Pose("leftPalm", moved("leftPalm", (0.15, -0.05, -0.10))),
    mk.LookAt("head", (2.0, -1.0, 0.3)),
]
solution = mk.solve(mk.Problem(body, objectives))
print(solution.explain())
assert solution.success
assert np.all(body.lower <= solution.q) and np.all(solution.q <= body.upper)
