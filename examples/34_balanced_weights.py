"""Weights that nobody has to find: a humanoid reaches for what is too far, and its feet stay where they are.

Soles have to stay within a millimetre, the palm may be off by centimetres. With plain weights a centimetre is a centimetre,
and the feet slide towards the target. One can work out a weight, the squared ratio of the tolerances, (0.05 / 0.001)^2 = 2500;
weighting="balanced" does so for all objectives.
"""

import memetik as mk

body = mk.load("valkyrie", base="floating", base_lower=-1.5, base_upper=1.5)
stands = body.forward(body.home)


def wishes(weight: float) -> list[mk.Objective]:
    feet = [
        mk.Pose(foot, stands[foot], position_tolerance=1e-3, orientation_tolerance=5e-3, weight=weight, name=foot)
        for foot in ("leftFoot", "rightFoot")
    ]
    return [
        *feet,
        mk.Position("rightPalm", (2.2, -0.3, 0.2), tolerance=0.05, name="palm"),
        mk.Displacement(weight=1e-4),
    ]


slips = {}
for title, weight, weights in (
    ("plain", 1.0, "given"),
    ("worked out", 2500.0, "given"),
    ("balanced", 1.0, "balanced"),
):
    objectives = wishes(weight)
    solution = mk.solve(mk.Problem(body, objectives, weighting=weights))
    slips[title] = max(solution.errors[foot].position for foot in objectives[:2])
    print(
        f"{title}: the feet slip by {1e3 * slips[title]:.2f} mm, the palm is {100 * solution.errors[objectives[2]]:.1f} cm short"
    )
assert slips["balanced"] < 0.1 * slips["plain"]
