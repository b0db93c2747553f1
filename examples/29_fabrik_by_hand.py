"""FABRIK by hand on the arm of a NAO: points first, then the angles that they mean, beside memetik's.

FABRIK on bare points (mk.geometry.fabrik_points) forgets about joints: shoulder, elbow and hand are points at fixed
distances. From where they end, two pairs of angles follow (mk.geometry.elbow_angles). Nothing in between knows of limits;
the method "fabrik" moves real joints within theirs, so its points need no way back.
"""

import numpy as np

import memetik as mk

UPPER, LOWER = 0.105, 0.1137  # m, the links of the arm
arm = (
    mk.build.BodyBuilder("arm")
    .add("base", "pitch", "revolute", "shoulder", axis=(1, 0, 0), lower=-2.0, upper=2.0)
    .add("shoulder", "roll", "revolute", "upper_arm", axis=(0, 0, 1), lower=-0.3, upper=1.3)
    .add("upper_arm", "elbow_yaw", "revolute", "elbow", origin=(0, UPPER, 0), axis=(0, 1, 0), lower=-2.0, upper=2.0)
    .add("elbow", "elbow_roll", "revolute", "forearm", axis=(0, 0, 1), lower=-1.5, upper=-0.03)
    .add("forearm", "to_hand", "fixed", "hand", origin=(0, LOWER, 0))
    .build()
)
straight = np.array([(0, 0, 0), (0, UPPER, 0), (0, UPPER + LOWER, 0)])
generator = np.random.default_rng(1)
within = 0
for k in range(100):
    target = arm.forward(arm.sample(generator), "hand")[:3, 3]
    points = mk.geometry.fabrik_points(straight, target, tolerance=1e-5)
    assert np.linalg.norm(points[-1] - target) < 1e-5
    q = mk.geometry.elbow_angles(points[1], points[2])
    assert np.allclose(arm.forward(q, "hand")[:3, 3], points[2], atol=1e-12)
    within += bool(np.all((arm.lower <= q) & (q <= arm.upper)))
    solution = mk.solve(mk.Problem(arm, mk.Position("hand", target, tolerance=1e-5)), method="fabrik")
    assert solution.success, solution.explain()
    if k == 0:
        print("target            ", np.round(target, 4))
        print("elbow by points   ", np.round(points[1], 4))
        print("angles from points", np.round(q, 4), "[rad]")
        print("fabrik on joints  ", np.round(solution.q, 4), "[rad]")
print(
    f"by points all 100 targets are reached, {within} of them within the limits; on joints all are, within the limits"
)
