"""Motion: a clip. Joint vectors of a body over time, the root among them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from memetik.body import Body, Frame, Joint, LinkPoses
from memetik.errors import ProblemError, shown, warn
from memetik.export import by_name, data_frame, joint_trajectory
from memetik.geometry import TransformLike, as_transform, axis_angle, transform
from memetik.geometry.checks import (
    flag,
    frozen,
    instance,
    mapping,
    real_array,
    real_number,
    several,
    three_finite,
    whole_number,
)
from memetik.motion.clips.blend import matched, mixed, require_same_body, timing
from memetik.motion.clips.contacts import checked_above_zero, standing, without_short
from memetik.motion.clips.filtering import low_pass, monotone
from memetik.motion.clips.lock import SHORT, Contact, bearing, lock_feet
from memetik.motion.clips.mirror import mirrored
from memetik.motion.clips.root_path import along, floating_joint, moved_roots, path_of, require_floating
from memetik.motion.clips.soles import contact_frame, feet_of, lowest, sole_points
from memetik.motion.clips.turns import (
    balls_of,
    blended,
    endless_of,
    inverse,
    product,
    quaternions,
    quaternions_of_matrices,
    rotation_vectors,
)
from memetik.objectives.terrain import Surface
from memetik.rich import Rich
from memetik.types import Array

if TYPE_CHECKING:
    from memetik.motion.retargeting import Retargeted, RetargetPlan
    from memetik.progress import Report

HOP = 0.08  # s; flights in a blend that are shorter are none
MINOR = 0.2  # share of a blend; a clip with a smaller one does not decide whether a foot stands
UNEVEN = 0.03  # m; feet that stand at heights which differ by more do not stand on one floor
MOST = 10_000_000  # frames
CLOSE = 1e-9  # s; velocities between frames that are closer are none
HIGH = 0.05  # m; a foot that stands is lower
LOW = 5.0  # percent; of all heights of a foot, that of the ground
SAME = 1e-9  # a share of the way between two frames that is nearer to one of them is that frame
SLOWEST = 0.01  # times the duration in Hz: the lowest cutoff of a filter
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
        if not (np.abs(moments) < 1e150).all() or not (moments[1:] > moments[:-1]).all():
            raise ProblemError("times of a motion must be finite, each after the one before.")
        if (np.diff(moments) < CLOSE).any():
            raise ProblemError(f"times of a motion must be {CLOSE:g} s apart at least. Are they in another unit?")
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
        written by `write`."""
        return data_frame({"time": self.times, **by_name(self.body.joint_names, self.q)})

    def write(
        self, path: str | PathLike[str], *, format: str | None = None, up: str | None = None, scale: float = 1.0,
        digits: int = 6, into: str | PathLike[str] | None = None,
    ) -> Path:  # fmt: skip
        """Write the motion as .bvh, .csv, .npz or .glb (glTF 2.0), by the ending of the path, or into a character; return
        the path.

        format: "bvh", "csv", "npz" and "glb" say the same; "qpos" writes MuJoCo's qpos instead of joint values, as .csv or
            .npz with the arrays times and qpos (see Body.to_qpos).
        up: the vertical axis of a .bvh; that of the skeleton unless given, "y" for other bodies.
        scale: the length of a unit of a .bvh [m].
        digits: behind the point, of numbers in a .bvh [degrees or units]. Tables hold all digits.

        into: a .glb, .gltf or .vrm whose skeleton is the body of the motion: the motion was read from it, or retargeted to
            `mk.load(into)`. What is written is that file with one animation more, the first, in place of one with the name of the
            motion. Meshes, skins, materials, extensions and all other content stay as they are, buffers bit for bit.

        A skeleton from a .bvh is written as it was read. Any other body is written as bones that turn from its posture at home,
        each where its link is. Links that stand at the same place are one bone, named after the last. A .glb has these bones in
        single precision, with a skin and a mesh of the simple shapes of the links, so that Blender imports it as one
        armature with one action.
        """
        from memetik.write.motion_file import write_motion  # files are written from motions, of which they know

        return write_motion(self, path, format=format, up=up, scale=scale, digits=digits, into=into)

    def retarget(
        self, body: Body, *, plan: RetargetPlan | None = None, contacts: str | None = "auto", floor: float = 0.0,
        self_collision: bool = False, velocity_limits: str | None = "keep", device: str = "cpu", threads: int | None = None,
        progress: Report = None,
    ) -> Retargeted:  # fmt: skip
        """The motion on another body: see `mk.retarget`, which explains the options."""
        from memetik.motion.retargeting import retarget  # which makes motions

        return retarget(
            self, body, plan=plan, contacts=contacts, floor=floor, self_collision=self_collision,
            velocity_limits=velocity_limits, device=device, threads=threads, progress=progress,
        )  # fmt: skip

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
        return require_floating(self.body)

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

    def between(self, start_time: float, end_time: float) -> Motion:
        """The part from one time to another [s], both included: frames in between stay, the ends are interpolated."""
        first, last = (
            real_number(t, ProblemError, f"between: {w}")
            for t, w in ((start_time, "start_time"), (end_time, "end_time"))
        )
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
        change = as_transform(world_from_world)
        return self.with_q(moved_roots(self.body, self.q, np.broadcast_to(change, (len(self), 4, 4))))

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

    def joined(
        self, other: Motion, *, blend: float = 0.2, align: bool = True, feet: Iterable[str | Frame] | None = None
    ) -> Motion:
        """This motion, then another of the same body; for `blend` seconds they overlap and one fades into the other.

        align: `other` is moved along the ground and turned, so that its root goes on where this one's is then, and begins at the
            step that fits: while both overlap their steps keep time, and the root has a velocity between those of both. Frames
            before the overlap are those of this motion. Without a floating base there is nothing to align.
        feet: links, or frames at their contact points, whose steps tell the phase and that do not slide while they stand;
            those of a figure are found by themselves. [] blends postures only.

        Frames keep this motion's rate.
        """
        following = instance(other, Motion, ProblemError, "a motion. Give mk.read_motion(...).")
        require_same_body(self.body, following.body, "joined")
        overlap = real_number(blend, ProblemError, "joined: blend")
        if not 0.0 <= overlap <= min(self.duration, following.duration):
            raise ProblemError(
                f"joined: blend is {overlap:g} s; give from 0 to {min(self.duration, following.duration):g} s, the "
                "length of the shorter motion."
            )
        meet = self.end - overlap
        step = 1.0 / (self.rate or following.rate or 30.0)
        aligned = flag(align, ProblemError, "joined: align") and self._floats()
        if aligned and overlap:
            return self._stepped_into(following, overlap, step, self._feet(feet, "joined: feet"))
        if aligned:
            following = following._beginning_at(self.body.forward(self.at(meet), self.root.child))
        following = following.delayed((meet if overlap else self.end + step) - following.start)
        times = np.arange(math.floor((following.end - self.start) / step + 1e-6) + 1) * step + self.start
        if not overlap:
            kept = self.resampled(1.0 / step) if len(self) > 1 else self
            later = following.at(times[len(kept) :])
            return Motion(self.body, times, np.concatenate([kept.q, later]), name=self.name)
        share = np.clip((times - meet) / overlap, 0.0, 1.0)
        share = share * share * (3.0 - 2.0 * share)
        return Motion(self.body, times, blended(self.body, self.at(times), following.at(times), share), name=self.name)

    def _stepped_into(self, following: Motion, overlap: float, step: float, feet: tuple[Frame, ...]) -> Motion:
        """The two motions with their steps in time with each other, and standing feet that do not slide."""
        both = self, following
        (first, low), (second, other) = (motion._steps(feet) for motion in both)
        stands = first, second
        floor = 0.5 * (low + other) if low is not None and other is not None and abs(low - other) < UNEVEN else None
        phases = matched((self.times, following.times), stands)
        plan = timing(self.times, following.times, overlap, step, phases)
        q = mixed(self.body, self._upright(), (self.at(plan.first), following.at(plan.second)), plan.share)
        times = self.start + step * np.arange(len(q))
        found = Motion(self.body, times, q, name=self.name)
        on = [
            [each[motion._nearest(moments)] for each in flags]
            for motion, flags, moments in zip(both, stands, (plan.first, plan.second), strict=True)
        ]
        standing_now = [  # while both count, a foot stands where it does so in both
            without_short(found.times, (a | (plan.share > 1.0 - MINOR)) & (b | (plan.share < MINOR)), False, HOP)
            for a, b in zip(*on, strict=True)
        ]
        sliding = (plan.share > 0.0) & (plan.share < 1.0)
        return found._locked(feet, standing_now, sliding, floor, "joined")

    def blended(self, other: Motion, ratio: float | ArrayLike) -> Motion:
        """Frame by frame between this motion (ratio 0) and another of the same body (ratio 1), at this one's times.

        Places are blended, not velocities: where the ratio changes over time, the root also moves from one to the other.
        `joined` is for a transition.
        """
        mixed_in = instance(other, Motion, ProblemError, "a motion. Give mk.read_motion(...).")
        require_same_body(self.body, mixed_in.body, "blended")
        shares = real_array(ratio, ProblemError, "blended: ratio")
        if shares.shape not in ((), (len(self),)) or not ((shares >= 0.0) & (shares <= 1.0)).all():
            raise ProblemError(f"blended: ratio is {shown(ratio)}. Give one from 0 to 1, or one for each frame.")
        return self.with_q(blended(self.body, self.q, mixed_in.at(self.times), shares))

    def looped(self, count: int, *, blend: float = 0.2, feet: Iterable[str | Frame] | None = None) -> Motion:
        """The motion several times in a row, each time going on from where the one before ends, as `joined` does it.

        count: how often. blend: seconds in which the end of one and the beginning of the next overlap. feet: as for `joined`.
        """
        times = whole_number(count, ProblemError, "looped: count", least=1, most=10_000)
        found = self
        for _ in range(times - 1):
            found = found.joined(self, blend=blend, feet=feet)
        return found

    def warped(self, time_map: Mapping[float, float]) -> Motion:
        """The motion with another course of time: {0.5: 1.0} shows at 1 s what it showed at 0.5 s.

        time_map: moments of this motion [s] and when they are to be [s], both in order. The start and the end stay as far
            from the nearest of them as they are, unless they are given. Between moments time runs smoothly, never backwards
            (a monotone cubic), so that there are no jumps of velocity. Frames keep the rate.
        """
        given = mapping(time_map, ProblemError, "warped: time_map", "{0.5: 1.0}")
        pairs = [
            (real_number(a, ProblemError, "warped: a time"), real_number(b, ProblemError, "warped: a time"))
            for a, b in given.items()
        ]
        if not pairs or not np.isfinite(pairs).all():
            raise ProblemError(
                "warped: time_map has no moments, or one that is not finite. Give for example {0.5: 1.0}."
            )
        if pairs[0][0] > self.start:
            pairs.insert(0, (self.start, self.start + pairs[0][1] - pairs[0][0]))
        if pairs[-1][0] < self.end:
            pairs.append((self.end, self.end + pairs[-1][1] - pairs[-1][0]))
        old, new = np.array(pairs).T
        if (
            len(pairs) < 2
            or (np.diff(old) <= 0.0).any()
            or (np.diff(new) <= 0.0).any()
            or old[0] < self.start
            or old[-1] > self.end
        ):
            raise ProblemError(
                f"warped: moments must be in order, before and after, and from {self.start:g} to {self.end:g} s, not {given}."
            )
        moments = new[0] + np.arange(math.floor((new[-1] - new[0]) * self.rate + 1e-6) + 1) / self.rate
        return Motion(self.body, moments, self.at(monotone(new, old, moments)), name=self.name)

    def filtered(self, cutoff: float) -> Motion:
        """The motion without what is faster than a frequency [Hz], such as the noise of a recording: about 6 for people.

        The filter is a Gaussian without delay: its response at the cutoff is 1/sqrt(2), and it never overshoots. Rotations are
        filtered as such. Frames must be evenly spaced; `resampled` makes them so.
        """
        frequency = checked_above_zero(cutoff, "filtered: cutoff", "Hz")
        steps = np.diff(self.times)
        if len(steps) and np.ptp(steps) > 1e-3 * steps.mean():
            raise ProblemError("filtered: frames are not evenly spaced. Write motion.resampled(rate).filtered(...).")
        if frequency * self.duration < SLOWEST:
            raise ProblemError(
                f"filtered: cutoff is {frequency:g} Hz, which leaves nothing of a motion of {self.duration:g} s. Give at least "
                f"{SLOWEST / self.duration:.3g} Hz."
            )
        return self.with_q(low_pass(self.body, self.q, self.rate, frequency)) if len(steps) else self

    def root_path(self) -> Array:
        """The way of the root over the ground (frames, 3): x, y [m] and the heading [rad], followed through whole turns."""
        return path_of(self.poses(self.root.child), self._upright())

    def in_place(self) -> Motion:
        """The motion on the spot: the root keeps the place and the heading of the first frame, and still rises and leans.

        `root_path` is what was taken out, and `with_root_path` puts it back, or another one.
        """
        path = self.root_path()
        return self.with_q(along(self.body, self.q, path, np.broadcast_to(path[0], path.shape)))

    def with_root_path(self, root_path: ArrayLike) -> Motion:
        """The motion with another way of the root over the ground: x, y [m] and heading [rad] for each frame (frames, 3)."""
        rows = real_array(root_path, ProblemError, "with_root_path: root_path is numbers")
        if rows.shape != (len(self), 3) or not np.isfinite(rows).all():
            raise ProblemError(
                f"with_root_path: path has shape {rows.shape}. Give x, y and heading for {len(self)} frames."
            )
        return self.with_q(along(self.body, self.q, self.root_path(), rows))

    def locked(self, feet: Iterable[str | Frame] | None = None, *, height: float = HIGH, speed: float = FAST) -> Motion:
        """The motion with feet that do not slide while they stand, as recordings let them.

        A foot that stands keeps the points that bear it, and goes on to roll from heel to toes; what has added up goes away while
        it is in the air. Legs are solved for it, near the clip; where one is too short, the root gives way.

        feet: links, or frames at their contact points; those of a figure are found by themselves.
        height, speed: below which a foot stands [m, m/s]; see `contacts`.
        """
        frames = self._feet(feet, "locked: feet")
        if not frames:
            raise ProblemError(f"locked: body {self.body.name!r} has no feet that are found by themselves. Name them.")
        stands, floor = self._steps(frames, height=height, speed=speed)
        return self._locked(frames, stands, np.ones(len(self), dtype=bool), floor, "locked")

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

    def forward(self) -> LinkPoses:
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
        ground: its height [m], or a surface such as mk.objectives.HeightField; where each foot is in its lowest
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

    def _nearest(self, times: Array) -> NDArray[np.int64]:
        """The frames nearest to some times."""
        return np.asarray(np.abs(self.times[None, :] - times[:, None]).argmin(axis=1))

    def _feet(self, feet: Iterable[str | Frame] | None, what: str) -> tuple[Frame, ...]:
        """Frames of feet: those that are given, or those that a figure has."""
        if feet is not None:
            single = isinstance(feet, (str, Frame))
            given = (feet,) if single else several(feet, ProblemError, what, "['left_foot', 'right_foot']")
            return tuple(self.body.frame(foot) for foot in given)
        return feet_of(self.body)

    def _steps(self, feet: tuple[Frame, ...], **limits: Any) -> tuple[list[NDArray[np.bool_]], float | None]:
        """When the soles of feet are down, and the height of the ground if it is the same for all [m]."""
        lows = [lowest(self.poses(foot), sole_points(self.body, foot)) for foot in feet]
        middles = [contact_frame(self.body, foot) for foot in feet]
        flags = [self.contacts([foot], **limits)[str(foot)] for foot in middles]
        flags = [bearing(on, low) for on, low in zip(flags, lows, strict=True)]
        levels = np.concatenate([low[on] for low, on in zip(lows, flags, strict=True)]) if feet else np.zeros(0)
        if not len(levels) or np.ptp(np.quantile(levels, (0.1, 0.9))) > UNEVEN:
            return flags, None
        return flags, float(np.median(levels))

    def _locked(
        self, feet: tuple[Frame, ...], stands: list[Any], sliding: Any, floor: float | None, who: str
    ) -> Motion:
        """With feet that do not slide in some of the frames in which they stand."""
        contacts = [Contact(foot, sole_points(self.body, foot), on) for foot, on in zip(feet, stands, strict=True)]
        if not any(on.any() for on in stands):
            return self
        q, off = lock_feet(self.body, self.times, self.q, contacts, sliding, floor)
        if off > SHORT:
            warn(
                f"{who}: a foot is up to {1e3 * off:.0f} mm off where it stands: its leg is too short, or limits stop it."
            )
        return self.with_q(q)

    def _upright(self) -> Array:
        """How the root is turned when the body is at home (3, 3)."""
        return self.body.forward(self.body.home, self.root.child)[:3, :3]

    def _floats(self) -> bool:
        return floating_joint(self.body) is not None

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
