"""A joint path in time: when each posture is due, how fast it is passed, and what is in between."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from memetik.errors import ProblemError
from memetik.export import joint_trajectory
from memetik.geometry.checks import real_array, real_number, several, text
from memetik.motion.spline import Spline
from memetik.types import Array

if TYPE_CHECKING:
    from memetik.motion.moving_average import MovingAverage

MOST = 10_000_000  # rows of a sampled trajectory


class Timing(NamedTuple):
    """How a spline is run through: between two grid points its parameter s accelerates evenly."""

    spline: Spline
    s: Array  # (g,) grid of the parameter
    times: Array  # (g,) when each is passed [s]
    speed: Array  # (g,) ds/dt there
    lower: Array  # (dof,) the least value that each joint may take, and the greatest;
    upper: Array  # (dof,) the spline keeps them but for rounding

    @property
    def deviation(self) -> float:
        """How far joints may be from the spline."""
        return 0.0

    def at(self, times: Array) -> tuple[Array, Array, Array]:
        """q, its velocity and acceleration (n, dof) at times (n,); at rest before the start and after the end."""
        i = np.clip(np.searchsorted(self.times, times, side="right") - 1, 0, len(self.s) - 2)
        length = self.times[i + 1] - self.times[i]
        acceleration = (self.speed[i + 1] - self.speed[i]) / length
        t = np.clip(times - self.times[i], 0.0, length)
        s = np.clip(self.s[i] + t * (self.speed[i] + 0.5 * t * acceleration), self.s[i], self.s[i + 1])
        moving = (times >= 0.0) & (times <= self.times[-1])
        speed = np.where(moving, self.speed[i] + t * acceleration, 0.0)[:, None]
        q, first, second = self.spline.at(s, self.spline.pieces(self.s[i]))
        q = np.clip(q, self.lower, self.upper)
        return q, first * speed, second * speed**2 + first * np.where(moving, acceleration, 0.0)[:, None]


@dataclass(frozen=True)
class Trajectory:
    """Postures in time, at rest at both ends: `trajectory.sample(250)` gives them at 250 Hz, `trajectory.at(t)` at any time.

    As `Track.retime` gives it there is a row for each step of the track, when it is due; as `sample` gives it the rows are
    evenly spaced in time.
    """

    times: Array  # (n,) [s]
    q: Array  # (n, dof) joint vectors
    qd: Array  # (n, dof) their velocities [rad/s or m/s]
    qdd: Array  # (n, dof) their accelerations [rad/s^2 or m/s^2]
    timing: Timing | MovingAverage

    @property
    def duration(self) -> float:
        """How long it takes [s]."""
        return float(self.timing.times[-1])

    def at(self, times: ArrayLike) -> tuple[Array, Array, Array]:
        """Joint vectors, velocities and accelerations at a time [s] (dof,), or at many of them (n, dof)."""
        asked = real_array(times, ProblemError, "times of a trajectory are numbers")
        if asked.ndim > 1 or not np.isfinite(asked).all():
            raise ProblemError(
                f"times of a trajectory have shape {asked.shape} and must be finite. Give one, or a list."
            )
        q, qd, qdd = self.timing.at(np.atleast_1d(asked))
        return (q, qd, qdd) if asked.ndim else (q[0], qd[0], qdd[0])

    def sample(self, rate: float) -> Trajectory:
        """The same at `rate` rows a second, from the first posture to the last."""
        rate = real_number(rate, ProblemError, "rate")
        if not 0.0 < rate < math.inf:
            raise ProblemError(f"rate is {rate}; it must be above zero, in rows per second.")
        if self.duration * rate > MOST:
            raise ProblemError(f"{self.duration:g} s at {rate:g} rows a second are too many; {MOST} rows are allowed.")
        times = np.arange(math.ceil(self.duration * rate - 1e-9) + 1) / rate
        return Trajectory(times, *self.timing.at(times), self.timing)

    def to_joint_trajectory(self, joint_names: Sequence[str]) -> dict[str, Any]:
        """In the shape of ROS's trajectory_msgs/JointTrajectory, as plain dicts; give `body.joint_names`."""
        names = several(joint_names, ProblemError, "joint_names", "body.joint_names")
        for name in names:
            text(name, ProblemError, "the name of a joint")
        if len(names) != self.q.shape[1]:
            raise ProblemError(f"{len(names)} names for {self.q.shape[1]} joints. Give body.joint_names.")
        return joint_trajectory(names, self.times, self.q, self.qd, self.qdd)

    def __repr__(self) -> str:
        return f"<Trajectory: {len(self.times)} postures in {self.duration:.3f} s>"
