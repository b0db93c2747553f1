"""A posture that follows a goal at once, or within the velocity, acceleration and jerk that joints allow."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike

from memetik.body import Body
from memetik.errors import ProblemError, shown
from memetik.geometry.checks import flag, instance, real_array, real_number
from memetik.kernels.runtime.record import allocate, table_of
from memetik.kernels.servo.follow import follow
from memetik.kernels.servo.record import MOVER, PACE, FollowerArrays
from memetik.motion.rate_limits import AT_ONCE, Limits, rate_limits, windows_of
from memetik.types import Array

FRAME = 1.0 / 60.0  # s; smoothing is given for frames of this length
MOST_TICKS = 10_000_000  # at once, hours at a thousand a second


class Follower:
    """A joint vector that follows a goal, tick by tick.

        follower = mk.motion.Follower(body, rate=1000)
        q = follower.step(goal)  # a thousand times a second

    Every joint speeds up, cruises and brakes so that it stops at the goal and never passes it, as long as it can:

        v_k = (q_k - q_k-1) rate          |v_k| <= velocity
        a_k = (v_k - v_k-1) rate          |a_k| <= acceleration
        j_k = (a_k - a_k-1) rate          |j_k| <= jerk

    hold for the vectors that are returned, whatever the goal does, and so do the limits of the body. The goal may
    change at any time. Only a joint that is too fast to stop at a new goal passes it and comes back.

    start: where it begins, at rest (the body's home unless given).
    rate: ticks a second [1/s].
    velocity, acceleration, jerk: one number for all joints, some by name, or an array [rad/s or m/s, and so on]. What
    is not given is the body's own; where that has none either, pi rad/s or 1 m/s, the acceleration that reaches the
    velocity in 0.2 s, and any jerk. A limit on jerk averages the motion over 2 acceleration / jerk seconds, by which it
    arrives later.
    realistic: False for joints that are at the goal at once, for all or some by name.
    synchronise: all joints arrive together: each keeps to the pace of the slowest.
    smoothing: the share of the way that is left after a sixtieth of a second, in [0, 1), after all limits.
    """

    def __init__(
        self,
        body: Body,
        start: ArrayLike | None = None,
        *,
        rate: float = 1000.0,
        velocity: Limits = None,
        acceleration: Limits = None,
        jerk: Limits = None,
        realistic: bool | Mapping[str, bool] = True,
        synchronise: bool = False,
        smoothing: float = 0.0,
    ) -> None:
        self.body = instance(body, Body, ProblemError, "a body to follow with. Give mk.load(...) and the like.")
        self.rate = checked_rate(rate, "Follower")
        self._movers = np.zeros(body.dof, dtype=MOVER)
        self._movers["lower"], self._movers["upper"] = body.lower, body.upper
        self._pace = np.zeros(1, dtype=PACE)
        self._pace["tick"] = 1.0 / self.rate
        self._late = 0.0  # s that `advance` has not moved yet
        self._arrays: FollowerArrays | None = None
        self._moving = False
        self.limit(velocity=velocity, acceleration=acceleration, jerk=jerk)
        self.move(realistic=realistic, synchronise=synchronise, smoothing=smoothing)
        self.reset(start)

    def limit(self, *, velocity: Limits = None, acceleration: Limits = None, jerk: Limits = None) -> None:
        """Set all limits again, as when it was made. A joint that is too fast then brakes.

        One that cannot stop before a limit of the body any more with its new acceleration brakes evenly with the least that is
        enough, which is no more than the acceleration that it had before.
        """
        limits = rate_limits(self.body, velocity, acceleration, jerk, "Follower")
        windows = windows_of(limits, self.rate, "Follower")
        self.velocity_limit, self.acceleration_limit, self.jerk_limit = limits
        self._movers["velocity"] = limits.velocity
        self._movers["acceleration"] = np.minimum(limits.acceleration, AT_ONCE)
        self._windows = windows
        self._set_windows()

    def move(
        self, *, realistic: bool | Mapping[str, bool] = True, synchronise: bool = False, smoothing: float = 0.0
    ) -> None:
        """Set again how joints move, as when it was made."""
        smoothing = real_number(smoothing, ProblemError, "Follower: smoothing")
        if not 0.0 <= smoothing < 1.0:
            raise ProblemError(f"Follower: smoothing is {smoothing}. Give a share of the way from 0 to below 1.")
        self._movers["realistic"] = _flags(self.body, realistic)
        self._pace["together"] = flag(synchronise, ProblemError, "Follower: synchronise")
        self._pace["left"] = smoothing ** (1.0 / (self.rate * FRAME)) if smoothing > 0.0 else 0.0
        self._set_windows()

    def reset(self, q: ArrayLike | None = None) -> None:
        """Be there at once, at rest (at the body's home unless given)."""
        start = self._vector(self.body.home if q is None else q, "the start")
        own = self._own
        for each in (own.q, own.goal, own.aim, own.mean):
            each[:] = start
        own.history[:] = start
        own.velocity[:] = own.aim_velocity[:] = 0.0
        own.counts[:] = 0
        self._late, self._moving = 0.0, False

    def step(self, goal: ArrayLike) -> Array:
        """One tick towards a goal; where the joints are then. A goal out of limits counts as the limit."""
        return self._follow(goal, 1)

    def advance(self, goal: ArrayLike, seconds: float) -> Array:
        """As many ticks as have passed in this time; what is left of it counts next time."""
        seconds = real_number(seconds, ProblemError, "Follower: seconds")
        if not 0.0 <= seconds < math.inf:
            raise ProblemError(f"Follower: seconds is {seconds}. Give how much time has passed, zero or more.")
        late = self._late + seconds
        if late * self.rate > MOST_TICKS:
            raise ProblemError(
                f"Follower: {seconds:g} s are more than {MOST_TICKS:,} ticks. Give the time since the last call [s], or "
                "less at once."
            )
        ticks = math.floor(late * self.rate * (1.0 + 1e-9) + 1e-9)
        self._late = max(late - ticks / self.rate, 0.0)
        return self._follow(goal, ticks)

    @property
    def q(self) -> Array:
        """Where the joints are."""
        return np.array(self._own.q)

    @property
    def velocity(self) -> Array:
        """How fast they were in the last tick [rad/s or m/s]."""
        return np.array(self._own.velocity)

    @property
    def moving(self) -> bool:
        """Whether a joint moves or is not at the goal."""
        return self._moving

    def __repr__(self) -> str:
        return f"<Follower of {self.body.name}: {'moving' if self.moving else 'at rest'}, {self.rate:g} ticks a second>"

    @property
    def _own(self) -> FollowerArrays:
        assert self._arrays is not None
        return self._arrays

    def _follow(self, goal: ArrayLike, ticks: int) -> Array:
        own = self._own
        np.clip(self._vector(goal, "the goal"), self.body.lower, self.body.upper, out=own.goal)
        if ticks:
            self._moving = not follow(self._table, ticks)
        else:
            self._moving = self._moving or bool(np.any(own.goal != own.q))
        return np.array(own.q)

    def _vector(self, q: ArrayLike, what: str) -> Array:
        vector = real_array(q, ProblemError, f"Follower: {what} is not a joint vector")
        if vector.shape != (self.body.dof,):
            raise ProblemError(
                f"Follower: {what} has shape {vector.shape}, but body {self.body.name!r} has {self.body.dof} free joints. "
                "Give one number for each of body.joint_names."
            )
        if not np.isfinite(vector).all():
            raise ProblemError(f"Follower: {what} has an entry that is NaN or infinite: {shown(q)}.")
        return vector

    def _set_windows(self) -> None:
        """The windows of all joints; those that arrive together are averaged over the same time."""
        together = bool(self._pace["together"][0])
        windows = np.full_like(self._windows, self._windows.max(initial=1)) if together else self._windows
        before, self._movers["window"] = self._movers["window"].copy(), windows
        longest = max(int(windows.max(initial=1)), 1)
        if self._arrays is not None and np.array_equal(before, windows):
            return
        if self._arrays is not None and self._moving:
            self._movers["window"] = before
            raise ProblemError(
                "Follower: the limit on jerk can change at rest only. Wait until it has arrived, or reset it."
            )
        at = None if self._arrays is None else self._arrays.q
        sizes = {"dof": self.body.dof, "window": longest}
        self._arrays = allocate(FollowerArrays, sizes, movers=self._movers, pace=self._pace)
        self._table = table_of(self._arrays)
        if at is not None:
            self.reset(at)


def checked_rate(rate: float, who: str) -> float:
    """Ticks a second, if it is a rate."""
    number = real_number(rate, ProblemError, f"{who}: rate")
    if not 0.0 < number < math.inf:
        raise ProblemError(f"{who}: rate is {number}. Give ticks a second, above zero.")
    return number


def _flags(body: Body, realistic: bool | Mapping[str, bool]) -> Array:
    if not isinstance(realistic, Mapping):
        return np.full(body.dof, flag(realistic, ProblemError, "Follower: realistic"))
    flags = np.ones(body.dof)
    for name, value in realistic.items():
        flags[body.index(name)] = flag(value, ProblemError, f"Follower: realistic of joint {name!r}")
    return flags
