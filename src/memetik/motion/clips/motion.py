"""Motion: a clip. Joint vectors of a body over time, the root among them."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from memetik.body import Body, Frame, Joint, Poses
from memetik.errors import ProblemError, shown
from memetik.export import by_name, data_frame, joint_trajectory
from memetik.geometry import TransformLike, as_transform, axis_angle, invert, transform
from memetik.geometry.checks import flag, frozen, instance, real_array, real_number, several, three_finite, whole_number
from memetik.motion.clips.contacts import checked_above_zero, standing
from memetik.motion.clips.mirror import mirrored
from memetik.motion.clips.turns import (
    balls_of,
    blended,
    endless_of,
    inverse,
    product,
    quaternions,
    quaternions_of_matrices,
    rotation_vectors,
    steady_turns,
)
from memetik.objectives.terrain import Surface
from memetik.rich import Rich
from memetik.types import Array

MOST = 10_000_000  # frames
HIGH = 0.05  # m; a foot that stands is lower
LOW = 5.0  # percent; of all heights of a foot, that of the ground
SAME = 1e-9  # a share of the way between two frames that is nearer to one of them is that frame
FAST = 0.4  # m/s; a foot that stands is slower


class Motion(Rich):
    """A clip: the postures q (frames, dof) of a body at times [s]. It never changes; what alters it returns a new one.

    body: the body that moves. Where its root travels, it has a floating base, whose values are the first of q:
        `mk.load("kyle", base="floating")`; skeletons of animation files have one by themselves.
    times: (frames,) [s], each after the one before.
    q: (frames, dof), a joint vector of the body for each time.
    name: what it is called in print and pictures.

    Between frames, spherical and floating joints turn about one axis (slerp); slides and single turns go straight.

    ```python
    import memetik as mk

    body = mk.load("kyle", base="floating")
    clip = mk.Motion(body, [0.0, 0.5], [body.home, body.vector({"base.x": 0.4})])
    clip.at(0.25)[0]  # 0.2 m: halfway
    ```
    """

    def __init__(self, body: Body, times: ArrayLike, q: ArrayLike, *, name: str = "") -> None:
        self.body = instance(body, Body, ProblemError, "a body. Give mk.load(...).")
        moments = np.array(real_array(times, ProblemError, "times of a motion are numbers"))
        rows = np.array(real_array(q, ProblemError, "the joint vectors of a motion are numbers"), order="C")
        if moments.ndim != 1 or rows.shape != (len(moments), self.body.dof) or not 1 <= len(moments) <= MOST:
            raise ProblemError(
                f"a motion has times (n,) and joint vectors (n, {self.body.dof}), n from 1 to {MOST}, but their shapes "
                f"are {moments.shape} and {rows.shape}."
            )
        if not np.isfinite(moments).all() or not (np.diff(moments) > 0.0).all():
            raise ProblemError("times of a motion must be finite, each after the one before.")
        if not (np.abs(rows) < 1e150).all():
            frame, k = np.argwhere(~(np.abs(rows) < 1e150))[0]
            raise ProblemError(f"frame {frame} is not finite at {self.body.joint_names[k]}.")
        self.times, self.q = frozen(moments), frozen(rows)
        if not isinstance(name, str):
            raise ProblemError(f"the name of a motion is {shown(name)}. Give a text.")
        self.name = name

    # What it is

    def __len__(self) -> int:
        return len(self.times)

    def to_frame(self) -> Any:
        """A row for each frame as a data frame of pandas, or of polars: its time [s] and the value of every joint. Files are
        written by mk.write_motion."""
        return data_frame({"time": self.times, **by_name(self.body.joint_names, self.q)})

    def to_joint_trajectory(self) -> dict[str, Any]:
        """In the shape of ROS's trajectory_msgs/JointTrajectory, as plain dicts."""
        return joint_trajectory(self.body.joint_names, self.times, self.q)

    def __repr__(self) -> str:
        name = f" {self.name!r}" if self.name else ""
        rate = f" at {self.rate:g} Hz" if len(self) > 1 else ""
        read_as = f", {self.body.read_as}" if self.body.read_as else ""
        frames = "1 frame" if len(self) == 1 else f"{len(self)} frames"
        return f"<Motion{name}: {frames} in {self.duration:.3f} s{rate}, body {self.body.name!r}{read_as}>"

    @property
    def start(self) -> float:
        """When it begins [s]."""
        return float(self.times[0])

    @property
    def end(self) -> float:
        """When it ends [s]."""
        return float(self.times[-1])

    @property
    def duration(self) -> float:
        """From the first frame to the last [s]."""
        return self.end - self.start

    @property
    def rate(self) -> float:
        """Frames per second, on average; 0 for a single frame."""
        return round((len(self) - 1) / self.duration, 6) if len(self) > 1 else 0.0

    @property
    def root(self) -> Joint:
        """The floating joint that carries the whole body."""
        moving = next((joint for joint in self.body.joints.values() if joint.dof), None)
        if moving is None or moving.kind != "floating":
            raise ProblemError(
                f"body {self.body.name!r} has no floating base, so its root stays. Load it with base='floating'."
            )
        return moving

    # Parts of it

    @overload
    def __getitem__(self, frame: int) -> Array: ...

    @overload
    def __getitem__(self, frame: slice) -> Motion: ...

    def __getitem__(self, frame: int | slice) -> Array | Motion:
        """The joint vector of a frame, or the motion of a slice of frames; times stay as they are."""
        if isinstance(frame, slice):
            try:
                times, q = self.times[frame], self.q[frame]
            except (TypeError, ValueError):
                raise ProblemError(f"{shown(frame)} is no slice of frames. Write motion[10:20].") from None
            if len(times) == 0 or (len(times) > 1 and times[1] < times[0]):
                raise ProblemError(f"{shown(frame)} of {len(self)} frames holds none, or goes backwards.")
            return Motion(self.body, times, q, name=self.name)
        if not isinstance(frame, (int, np.integer)) or not -len(self) <= frame < len(self):
            raise ProblemError(f"frame {shown(frame)} is not in 0 to {len(self) - 1}. Give a whole number or a slice.")
        return np.array(self.q[frame])

    def at(self, times: ArrayLike) -> Array:
        """The posture at a time [s] (dof,), or at many (n, dof); before the start and after the end, the first and last."""
        asked = real_array(times, ProblemError, "times of a motion are numbers")
        if asked.ndim > 1 or not np.isfinite(asked).all():
            raise ProblemError(f"times have shape {asked.shape} and must be finite. Give one, or a list.")
        moments = np.clip(np.atleast_1d(asked), self.start, self.end)
        if len(self) == 1:
            found = np.repeat(self.q, len(moments), axis=0)
        else:
            i, share = self._shares(moments)
            found = blended(self.body, self.q[i], self.q[i + 1], share)
        return found if asked.ndim else found[0]

    def between(self, start: float, end: float) -> Motion:
        """The part from one time to another [s], both included: frames in between stay, the ends are interpolated."""
        first, last = (real_number(t, ProblemError, f"between: {w}") for t, w in ((start, "start"), (end, "end")))
        if not self.start <= first < last <= self.end:
            raise ProblemError(
                f"between {first:g} and {last:g} s: give two times from {self.start:g} to {self.end:g} s, in order."
            )
        slack = 1e-9 * max(1.0, abs(self.start), abs(self.end))
        inner = self.times[(self.times > first + slack) & (self.times < last - slack)]
        times = np.concatenate([[first], inner, [last]])
        return Motion(self.body, times, self.at(times), name=self.name)

    def resampled(self, rate: float, *, ease: bool = False) -> Motion:
        """The same at `rate` frames a second; the last frame is the last multiple of 1/rate within the motion.

        ease: every frame of this motion is a keyframe at which the body comes to rest: in between the share from one to
        the next is 3 s² - 2 s³. Without it, joints move evenly between frames.
        """
        each = checked_above_zero(rate, "resampled: rate", "frames/s")
        smooth = flag(ease, ProblemError, "resampled: ease")
        if self.duration * each > MOST:
            raise ProblemError(f"{self.duration:g} s at {each:g} frames a second are too many; {MOST} are allowed.")
        times = self.start + np.arange(math.floor(self.duration * each + 1e-6) + 1) / each
        times = np.minimum(times, self.end)
        if not smooth or len(self) == 1:
            return Motion(self.body, times, self.at(times), name=self.name)
        i, share = self._shares(times)
        share = share * share * (3.0 - 2.0 * share)
        return Motion(self.body, times, blended(self.body, self.q[i], self.q[i + 1], share), name=self.name)

    # Changed as a whole

    def with_q(self, q: ArrayLike) -> Motion:
        """The same times with other joint vectors."""
        return Motion(self.body, self.times, q, name=self.name)

    def delayed(self, seconds: float) -> Motion:
        """The same, later by some seconds."""
        return Motion(
            self.body, self.times + real_number(seconds, ProblemError, "delayed: seconds"), self.q, name=self.name
        )

    def transformed(self, world_from_world: TransformLike) -> Motion:
        """The whole motion moved by a rigid transform of the world: every link's pose T becomes world_from_world @ T."""
        joint = self.root
        here = self.body.forward(self.body.home, joint.parent) @ joint.origin
        change = invert(here) @ as_transform(world_from_world) @ here
        first = self.body.index(joint.variables[0])
        ball = next(each for each in balls_of(self.body) if each.joint == joint.name)
        q = self.q.copy()
        q[:, first : first + 3] = q[:, first : first + 3] @ change[:3, :3].T + change[:3, 3]
        turn = quaternions_of_matrices(change[None, :3, :3])
        q[:, ball.columns] = steady_turns(ball.order, product(turn, quaternions(ball, self.q)), self.q[0, ball.columns])
        return self.with_q(q)

    def moved(self, offset: ArrayLike) -> Motion:
        """The whole motion moved by an offset [m], in world axes."""
        return self.transformed(transform(three_finite(offset, ProblemError, "moved: offset")))

    def turned(self, heading: float, *, about: ArrayLike | None = None) -> Motion:
        """The whole motion turned by a heading [rad], anticlockwise as seen from above, about a vertical line.

        about: a point of the line [m]; where the root is in the first frame unless given.
        """
        angle = real_number(heading, ProblemError, "turned: heading")
        if not math.isfinite(angle):
            raise ProblemError(f"turned: heading is {angle}. Give an angle in radians.")
        if about is None:
            point = self.body.forward(self.q[0], self.root.child)[:3, 3]
        else:
            point = three_finite(about, ProblemError, "turned: about")
        turn = axis_angle((0.0, 0.0, 1.0), angle)
        return self.transformed(transform(point - turn @ point, turn))

    def mirrored(self, normal: ArrayLike | None = None) -> Motion:
        """The mirror image: left limbs do what right ones did, in the vertical plane through the origin.

        normal: of the plane, from right to left; from the links that are named as left and right unless given.
        Left and right are told by the names of joints: Left and Right, l_ and r_, .L and .R, and the like.
        """
        return self.with_q(mirrored(self.body, self.q, normal))

    def joined(self, other: Motion, *, blend: float = 0.2, align: bool = True) -> Motion:
        """This motion, then another of the same body; for `blend` seconds they overlap and one fades into the other.

        align: `other` is first moved along the ground and turned, so that its root begins where this one's is then, with
        the same heading. Without a floating base there is nothing to align. Frames keep this motion's rate.
        """
        following = instance(other, Motion, ProblemError, "a motion. Give mk.read_motion(...).")
        if following.body.joint_names != self.body.joint_names:
            raise ProblemError("joined: the motions are of different bodies. Retarget one to the other's body first.")
        overlap = real_number(blend, ProblemError, "joined: blend")
        if not 0.0 <= overlap <= min(self.duration, following.duration):
            raise ProblemError(
                f"joined: blend is {overlap:g} s; give from 0 to {min(self.duration, following.duration):g} s, the "
                "length of the shorter motion."
            )
        meet = self.end - overlap
        if flag(align, ProblemError, "joined: align") and self._floats():
            following = following._beginning_at(self.body.forward(self.at(meet), self.root.child))
        step = 1.0 / (self.rate or following.rate or 30.0)
        following = following.delayed((meet if overlap else self.end + step) - following.start)
        times = np.arange(math.floor((following.end - self.start) / step + 1e-6) + 1) * step + self.start
        if not overlap:
            kept = self.resampled(1.0 / step) if len(self) > 1 else self
            later = following.at(times[len(kept) :])
            return Motion(self.body, times, np.concatenate([kept.q, later]), name=self.name)
        share = np.clip((times - meet) / overlap, 0.0, 1.0)
        share = share * share * (3.0 - 2.0 * share)
        return Motion(self.body, times, blended(self.body, self.at(times), following.at(times), share), name=self.name)

    def blended(self, other: Motion, share: float | ArrayLike) -> Motion:
        """Frame by frame between this motion (share 0) and another of the same body (share 1), at this one's times."""
        mixed = instance(other, Motion, ProblemError, "a motion. Give mk.read_motion(...).")
        if mixed.body.joint_names != self.body.joint_names:
            raise ProblemError("blended: the motions are of different bodies. Retarget one to the other's body first.")
        shares = real_array(share, ProblemError, "blended: share")
        if shares.shape not in ((), (len(self),)) or not ((shares >= 0.0) & (shares <= 1.0)).all():
            raise ProblemError(f"blended: share is {shown(share)}. Give one from 0 to 1, or one for each frame.")
        return self.with_q(blended(self.body, self.q, mixed.at(self.times), shares))

    def keyframes(self, every: int | Iterable[int] = 10) -> Motion:
        """Some of the frames, as keyframes: each `every`-th and the last, or those that are numbered in a list."""
        if isinstance(every, (int, np.integer)):
            step = whole_number(every, ProblemError, "keyframes: every", least=1)
            chosen = sorted({*range(0, len(self), step), len(self) - 1})
        else:
            numbers = several(every, ProblemError, "keyframes: every", "[0, 12, 30]")
            most = len(self) - 1
            chosen = sorted({whole_number(k, ProblemError, "keyframes: a frame", least=0, most=most) for k in numbers})
            if not chosen:
                raise ProblemError("keyframes: the list is empty. Give the numbers of some frames.")
        return Motion(self.body, self.times[chosen], self.q[chosen], name=self.name)

    # Where its links are, and how fast

    def forward(self) -> Poses:
        """The poses of all links in all frames: `motion.forward()["hand"]` is (frames, 4, 4)."""
        return self.body.forward(self.q)

    def poses(self, frame: str | Frame) -> Array:
        """The poses of a link or frame in all frames of the clip (frames, 4, 4), as targets for editing."""
        return self.body.forward(self.q, frame)

    def velocities(self) -> Array:
        """How fast the joints move (frames, dof) [rad/s or m/s], by central differences.

        The three numbers of a spherical or floating joint's rotation are its angular velocity in the joint's frame, along
        x, y and z: R(t + dt) = exp(w dt) R(t). Values of the angles themselves would jump where their writing does.
        """
        q = self.q.copy()
        endless = endless_of(self.body)
        q[:, endless] = np.unwrap(q[:, endless], axis=0)
        rates = _rates(self.times, q)
        for ball in balls_of(self.body):
            rates[:, ball.columns] = _spins(self.times, quaternions(ball, self.q))
        return rates

    def frame_velocities(self, frame: str | Frame) -> Array:
        """The velocity of a link or frame (frames, 6): of its origin [m/s], then angular [rad/s], both in world axes."""
        poses = self.poses(frame)
        linear = _rates(self.times, poses[:, :3, 3])
        return np.concatenate([linear, _spins(self.times, quaternions_of_matrices(poses[:, :3, :3]))], axis=1)

    def contacts(
        self,
        feet: str | Frame | Iterable[str | Frame],
        *,
        height: float = HIGH,
        speed: float = FAST,
        ground: float | Surface | None = None,
    ) -> dict[str, NDArray[np.bool_]]:
        """In which frames each foot stands: low and slow at the same time.

        A foot touches down where it is less than `height` [m] above the ground and slower than `speed` [m/s], and lifts
        off above 1.5 times one of both. Contacts and flights of less than 0.05 s do not count.

        feet: links, or frames such as soles; the keys of the result are their names.
        ground: its height [m], or a surface such as mk.HeightField; where each foot is in its lowest
            twentieth of frames unless given: single frames, such as a first one in a T pose, do not decide.
        """
        high, fast = checked_above_zero(height, "contacts: height", "m"), checked_above_zero(speed, "speed", "m/s")
        found = {}
        single = isinstance(feet, (str, Frame))
        for foot in (feet,) if single else several(feet, ProblemError, "contacts: feet", "['left_foot']"):
            where = self.body.frame(foot)
            points = self.poses(where)[:, :3, 3]
            if ground is None:
                heights = points[:, 2] - np.percentile(points[:, 2], LOW)
            elif isinstance(ground, Surface):
                heights = points[:, 2] - np.array([ground.beside(point)[0][2] for point in points])
            else:
                heights = points[:, 2] - real_number(ground, ProblemError, "contacts: ground")
            speeds = np.linalg.norm(_rates(self.times, points), axis=1)
            found[str(where)] = standing(self.times, heights, speeds, height=high, speed=fast)
        return found

    # Helpers

    def _shares(self, times: Array) -> tuple[NDArray[np.int64], Array]:
        """The frame before each time, and the share of the way to the next; at frames, but for rounding, 0 or 1."""
        i = np.clip(np.searchsorted(self.times, times, side="right") - 1, 0, len(self) - 2)
        share = (times - self.times[i]) / (self.times[i + 1] - self.times[i])
        return i, np.where(share < SAME, 0.0, np.where(share > 1.0 - SAME, 1.0, share))

    def _floats(self) -> bool:
        moving = next((joint for joint in self.body.joints.values() if joint.dof), None)
        return moving is not None and moving.kind == "floating"

    def _beginning_at(self, pose: Array) -> Motion:
        """Moved along the ground and turned about the vertical, so that the root begins at a pose as well as can be."""
        first = self.body.forward(self.q[0], self.root.child)
        w, _, _, z = quaternions_of_matrices((pose[:3, :3] @ first[:3, :3].T)[None])[0]
        gone = pose[:3, 3] - first[:3, 3]
        return self.turned(2.0 * math.atan2(z, w)).moved((gone[0], gone[1], 0.0))


def _rates(times: Array, rows: Array) -> Array:
    """Central differences of rows (n, k); those at the ends are one-sided."""
    return np.asarray(np.gradient(rows, times, axis=0)) if len(times) > 1 else np.zeros_like(rows)


def _spins(times: Array, rotations: Array) -> Array:
    """Angular velocities (n, 3) [rad/s] of rotations (n, 4), in the axes before them."""
    if len(times) == 1:
        return np.zeros((1, 3))
    halves = np.concatenate([rotations[:1], rotations, rotations[-1:]])
    moments = np.concatenate([times[:1], times, times[-1:]])
    span = (moments[2:] - moments[:-2])[:, None]
    return np.asarray(rotation_vectors(product(halves[2:], inverse(halves[:-2]))) / span)
