"""Stopping and following tick by tick, the slow way: brake and see."""

import math


def stopping_distance(velocity, acceleration, tick):
    """How far a joint gets that has this velocity in the next tick and then brakes as hard as it may."""
    distance = 0.0
    while velocity > 0.0:
        distance += velocity * tick
        velocity -= acceleration * tick
    return distance


def fastest_to_stop(distance, acceleration, tick):
    """By bisection."""
    low, high = 0.0, distance / tick
    for _ in range(200):
        middle = 0.5 * (low + high)
        if stopping_distance(middle, acceleration, tick) <= distance:
            low = middle
        else:
            high = middle
    return low


def trapezoid_seconds(distance, velocity, acceleration):
    """How long a motion from rest to rest takes at least that speeds up, cruises and brakes."""
    if distance < velocity**2 / acceleration:
        return 2.0 * math.sqrt(distance / acceleration)
    return distance / velocity + velocity / acceleration
