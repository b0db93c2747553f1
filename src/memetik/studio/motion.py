"""Motion towards a posture: at once, or within the velocity and acceleration that joints allow."""

from __future__ import annotations

import numpy as np

import memetik as mk
from memetik.scenes import Motion
from memetik.types import Array

FRAME = 1.0 / 60.0  # s; the smoothing is given for steps of this length
REST = 1e-5  # rad or m; nearer than this is there


class Follower:
    """A posture that follows a goal.

    Realistic: each joint speeds up and slows down within its acceleration a, never faster than v, and so that it can
    stop at the goal: |speed| <= sqrt(2 a |rest of the way|). Smoothing then leaves a share of the way for the next
    frame, so that a larger change of the goal is not jerky.
    """

    def __init__(self, body: mk.Body, q: Array) -> None:
        self.q = q.copy()
        self._aim = q.copy()  # where the joints are before smoothing
        self._speed = np.zeros_like(q)
        limits = {
            variable: (joint.velocity[k], joint.acceleration[k])
            for joint in body.joints.values()
            for k, variable in enumerate(joint.variables)
        }
        own = np.array([limits[name] for name in body.joint_names]).reshape(-1, 2)
        self._velocity, self._acceleration = own[:, 0], own[:, 1]

    def jump(self, q: Array) -> None:
        """Be there at once, at rest."""
        self.q, self._aim, self._speed = q.copy(), q.copy(), np.zeros_like(q)

    def step(self, goal: Array, motion: Motion, seconds: float) -> bool:
        """Move on for some time; False when the goal is reached."""
        if not motion.realistic and motion.smoothing == 0.0:
            self.jump(goal)
            return False
        if motion.realistic:
            self._accelerate(goal, motion, seconds)
        else:
            self._aim, self._speed = goal.copy(), np.zeros_like(goal)
        left = motion.smoothing ** (seconds / FRAME)
        self.q = self._aim + left * (self.q - self._aim)
        if np.abs(self.q - goal).max(initial=0.0) < REST and np.abs(self._speed).max(initial=0.0) < 1e-3:
            self.jump(goal)
            return False
        return True

    def _accelerate(self, goal: Array, motion: Motion, seconds: float) -> None:
        fastest = np.where(np.isfinite(self._velocity) & (self._velocity > 0.0), self._velocity, motion.velocity)
        fastest = np.minimum(fastest, motion.velocity)
        hardest = np.minimum(self._acceleration, motion.acceleration)
        way = goal - self._aim
        # Braking counts the way of this step too, or the last step would overshoot.
        brake = hardest * seconds
        can_stop = np.sqrt(0.25 * brake**2 + 2.0 * hardest * np.abs(way)) - 0.5 * brake
        wanted = np.sign(way) * np.minimum.reduce([fastest, can_stop, np.abs(way) / seconds])
        self._speed = self._speed + np.clip(wanted - self._speed, -brake, brake)
        self._aim = self._aim + self._speed * seconds
