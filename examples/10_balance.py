"""A humanoid reaches far ahead and low without falling: its centre of mass stays over its feet.

The feet are held where they stand by two poses, the right palm goes to a point in front of the shins, and Balance keeps
the centre of mass of all links at least 2 cm inside the soles. Without it the same reach would tip the robot over.
"""

import numpy as np

from memetik.objectives import Balance, Displacement, Pose, Position
from memetik.problem import Problem
from memetik.read import load
from memetik.solvers import Memetic

body = load("valkyrie", base="floating", base_lower=-1.5, base_upper=1.5)
standing = body.forward(body.home)

# The soles: 27 x 15 cm, seen from the ankle of each foot.
corners = np.array([(0.045 + sx * 0.135, sy * 0.075, -0.078, 1.0) for sx in (-1, 1) for sy in (-1, 1)])
soles = np.concatenate([corners @ standing[foot].T for foot in ("leftFoot", "rightFoot")])[:, :3]

feet = [Pose(foot, standing[foot], name=foot) for foot in ("leftFoot", "rightFoot")]
reach = Position("rightPalm", (0.75, -0.1, -0.45))
balance = Balance(soles, margin=0.02)

for wishes in ([*feet, reach, Displacement()], [*feet, reach, balance, Displacement()]):
    problem = Problem(body, wishes)
    Memetic().solve(problem, body.home)  # the first solve of a process also loads the machine code
    solution = Memetic().solve(problem, body.home)
    x, y, _ = body.center_of_mass(solution.q)
    title = "with balance" if balance in wishes else "without balance"
    print(f"{title}: success {solution.success}, in {1e3 * solution.seconds:.2f} ms")
    print(f"  centre of mass at x = {x:.3f} m, y = {y:.3f} m; the soles end at x = {soles[:, 0].max():.3f} m")
    for objective, error in solution.errors.items():
        print(f"  {objective!r}: {error}")
