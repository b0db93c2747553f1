"""An arm holds a heavy box: postures in which every motor bears it, as far out as they can, and one that rests easily."""

import numpy as np

import memetik as mk

arm = mk.load("ur5").attach_shape("box", "tool0", mk.Shape("box", (0.15, 0.15, 0.15)), mass=25.0)
reach = mk.Position("box", (0.4, 0.1, 0.5), tolerance=1e-3)
bear, easy = (
    mk.GravityTorque(effort_fraction=0.9),
    mk.GravityTorque(effort_fraction=0.0, tolerance=None, weight=0.1, name="rest easily"),
)


def load(q: np.ndarray) -> float:
    """The largest share of its effort that a motor needs."""
    return float((abs(arm.gravity_torque(q)) / arm.effort).max())


rng = np.random.default_rng(0)
starts = [arm.sample(rng) for _ in range(40)]
for title, wishes in (
    ("reach alone", [reach]),
    ("and bear it", [reach, bear]),
    ("and rest easily", [reach, bear, easy]),
):
    problem = mk.Problem(arm, wishes)
    solutions = [mk.solve(problem, start) for start in starts]
    loads = [load(solution.q) for solution in solutions]
    print(
        f"{title}: {sum(s.success for s in solutions)} of 40 reached, the busiest motor at {min(loads):.0%} to {max(loads):.0%}"
    )
    assert all(s.success for s in solutions)
assert max(loads) <= 0.9 + 1e-6

far = mk.Position("box", (0.9, 0.0, 0.2), tolerance=1e-3)
solution = mk.solve(mk.Problem(arm, [far, bear]), budget=mk.Budget(5000))
print(
    f"90 cm out: {solution.status.name}, {solution.errors[far]:.2f} m off and {solution.errors[bear]:.2f} of an effort too much"
)
