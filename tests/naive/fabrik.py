"""Textbook FABRIK on bare points: Algorithm 1 of the paper on the NAO's arm, with the distances of the second stage
taken again, and the centroid of Aristidou and Lasenby where branches meet.
"""

from __future__ import annotations

import math

import numpy as np


def towards(start, end, length):
    """The point at this distance from `start` on the line to `end`."""
    gap = end - start
    return start + gap * (length / math.sqrt(gap @ gap))


def sweep(points, parents, targets):
    """One forward and one backward stage on a tree.

    `points` (n, 3) stand parents first, `parents` has -1 for the root, `targets` is {point: place}.
    """
    old, root = np.array(points), np.array(points[0])
    length = [math.dist(old[i], old[p]) if p >= 0 else 0.0 for i, p in enumerate(parents)]
    asked = {i: [np.asarray(place)] for i, place in targets.items()}
    new = old.copy()
    for i in range(len(parents) - 1, -1, -1):
        new[i] = np.mean(asked[i], axis=0)
        if parents[i] >= 0:
            asked.setdefault(parents[i], []).append(towards(new[i], old[parents[i]], length[i]))
    final = new.copy()
    final[0] = root
    for i in range(1, len(parents)):
        final[i] = towards(final[parents[i]], new[i], length[i])
    return final


def lay_out(points, target):
    """The rule for a target out of reach of a chain: every point on the line to it."""
    line = [points[0]]
    for i in range(1, len(points)):
        line.append(towards(line[-1], np.asarray(target), math.dist(points[i], points[i - 1])))
    return np.array(line)


def nao_angles(elbow, hand, upper, lower):
    """Joint values of the arm Rx(a) Rz(b) Tr(0, upper, 0) Ry(c) Rz(d) Tr(0, lower, 0) from two points, with d <= 0.

    The elbow is at (-l sin b, l cos b cos a, l cos b sin a), the hand, seen from the elbow, at
    (-l cos c sin d, l cos d, l sin c sin d). Equations 17, 18, 23 and 24 of the paper, mended: the
    divisions belong into the inverse functions, and atan2 takes the place of asin.
    """
    a = math.atan2(elbow[2], elbow[1])
    b = -math.asin(elbow[0] / upper)
    about_x = np.array([[1, 0, 0], [0, math.cos(a), -math.sin(a)], [0, math.sin(a), math.cos(a)]])
    about_z = np.array([[math.cos(b), -math.sin(b), 0], [math.sin(b), math.cos(b), 0], [0, 0, 1]])
    seen = (about_x @ about_z).T @ (np.asarray(hand) - elbow)
    return np.array([a, b, math.atan2(-seen[2], seen[0]), -math.acos(seen[1] / lower)])
