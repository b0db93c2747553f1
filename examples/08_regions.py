"""Regions in place of points: a pen may be anywhere on a line of the table, tilted by up to 30 degrees.

The line, a cone for the tilt, distances from two spots and the forearm high above the table hold at once; what they
leave free, the solver chooses. Then the line turns, and the pen follows.
"""

import math

import memetik as mk

body = mk.load("panda")
table = 0.10  # m
pen = body.frame("panda_hand", offset=(0.0, 0.0, 0.15))

line = mk.Line(pen, point=(0.4, 0.0, table), direction=(1.0, 1.0, 0.0))
upright = mk.Cone(pen, (0.0, 0.0, -1.0), math.radians(30.0))  # the pen's z axis points down
near = mk.MaxDistance(pen, (0.5, 0.1, table), 0.15)
clear = mk.MinDistance(pen, (0.45, 0.05, table), 0.05)  # not on this spot
forearm = mk.Touch("panda_link5", (0.0, 0.0, table + 0.1), side="above")
elbow = mk.Side("panda_link4", (0.0, 0.0, -1.0), axis=(0.0, 1.0, 0.0))  # the forearm does not hang down
problem = mk.Problem(body, [line, upright, near, clear, forearm, elbow, mk.Displacement()])

for degrees in (45, 30, 15, 0):
    line.direction = (math.cos(math.radians(degrees)), math.sin(math.radians(degrees)), 0.0)
    solution = mk.solve(problem)
    tip = (body.forward(solution.q)["panda_hand"] @ pen.link_from_frame)[:3, 3]
    print(f"line at {degrees:2d} degrees: {solution.status.name}, pen at", tip.round(3), "m")
    assert solution.success

print(solution)
