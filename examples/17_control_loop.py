"""A control loop: the hand stays above a box on a belt, a thousand steps a second, as long as the arm can follow."""

import time

import numpy as np

import memetik as mk

RATE, BELT = 1_000, 0.25  # steps a second; m/s
FASTEST = 2.0  # rad/s that a joint may turn

body = mk.load("panda")
q = body.home
above = body.forward(q)["panda_hand"]  # over the box when it comes by
pose = mk.Pose("panda_hand", above)
problem = mk.Problem(body, pose)
step = mk.bind(problem, pose, budget=mk.Budget(evaluations=500))  # a step that misses must end in time, too

spent, end = [], "the box came to the end of the belt"
for cycle in range(10 * RATE):
    box = above.copy()  # what a camera would say
    box[1, 3] += BELT * cycle / RATE
    begin = time.perf_counter()
    command = step(box, q)
    spent.append(time.perf_counter() - begin)
    if not step.success:
        end = f"the box is out of reach by {1e3 * step.errors[pose].position:.2f} mm"
        break
    if np.abs(command - q).max() > FASTEST / RATE:
        end = "the arm would have to swing round to another posture"
        break
    q = command  # a robot would go there; what came before a break is where it holds still

print(
    f"followed the box for {BELT * cycle / RATE:.2f} m, {cycle} steps of {1e6 * np.median(spent):.0f} us, until {end}"
)
error = np.linalg.norm(body.forward(q)["panda_hand"][:3, 3] - box[:3, 3])
assert cycle > 1_000 and error < 2 * BELT / RATE
