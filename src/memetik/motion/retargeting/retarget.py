"""Retargeting: the motion of a skeleton on another body, with feet that stand where the source's do."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any, NamedTuple, overload

import numpy as np
from numpy.typing import ArrayLike

from memetik.body import Body
from memetik.errors import BodyError, ProblemError, shown
from memetik.geometry.checks import flag, instance, real_array, real_number, several
from memetik.motion.clips.motion import Motion
from memetik.motion.retargeting.figure import find_parts
from memetik.motion.retargeting.job import Job, Retargeted
from memetik.motion.retargeting.many import each, each_on_device
from memetik.motion.retargeting.plan import RetargetPlan, make_plan
from memetik.motion.retargeting.structure import Tree
from memetik.progress import Report

LIMITS = ("keep", "stretch")
CANDIDATES = 200  # frames that calibration looks at
KEPT = 8  # bodies that are kept for the next clip


def retarget_plan(
    skeleton: Body | Motion, body: Body, *, posture: ArrayLike | None = None, bone_map: Mapping[str, str] | None = None,
    link_map: Mapping[str, str] | None = None,
) -> RetargetPlan:  # fmt: skip
    """Which bone leads which link, found by names and structure; scales and rotations from one posture of the skeleton.

    skeleton: a body, or a motion of one, which is better: of its frames the one that stands most upright is calibrated with,
        whatever the skeleton's own rest pose is.
    posture: calibrate with this joint vector of the skeleton [rad and m], in which it stands upright.
    bone_map, link_map: parts whose names do not tell: {"left_hand": "Bone.017"}; parts are those of the VRM humanoid, as
        `print(plan)` lists them.

    The plan prints as a table; `edit`, `weighted`, `without`, `save` change and keep it.
    """
    if isinstance(skeleton, Motion):
        step = max(1, len(skeleton) // CANDIDATES)
        figure, postures = skeleton.body, np.vstack((skeleton.body.home, skeleton.q[::step]))
    else:
        figure = instance(skeleton, Body, ProblemError, "a skeleton. Give a body or a motion.")
        postures = figure.home[None]
    if posture is not None:
        postures = np.atleast_2d(real_array(posture, ProblemError, "posture is a joint vector of the skeleton"))
        if postures.shape[1:] != (figure.dof,):
            raise ProblemError(
                f"posture has {postures.shape[-1]} numbers; skeleton {figure.name!r} has {figure.dof} joint values."
            )
    return make_plan(
        figure, floating(instance(body, Body, ProblemError, "a body. Give mk.load(...).")), postures, bone_map, link_map
    )


@overload
def retarget(
    motion: Motion, body: Body, *, plan: RetargetPlan | None = None, contacts: str | None = "auto", floor: float = 0.0,
    self_collision: bool = False, velocity_limits: str | None = "keep", device: str = "cpu", threads: int | None = None,
    progress: Report = None,
) -> Retargeted: ...  # fmt: skip


@overload
def retarget(
    motion: Iterable[Motion], body: Body, *, plan: RetargetPlan | None = None, contacts: str | None = "auto",
    floor: float = 0.0, self_collision: bool = False, velocity_limits: str | None = "keep", device: str = "cpu",
    threads: int | None = None, progress: Report = None,
) -> list[Retargeted]: ...  # fmt: skip


def retarget(
    motion: Motion | Iterable[Motion], body: Body, *, plan: RetargetPlan | None = None, contacts: str | None = "auto",
    floor: float = 0.0, self_collision: bool = False, velocity_limits: str | None = "keep", device: str = "cpu",
    threads: int | None = None, progress: Report = None,
) -> Retargeted | list[Retargeted]:  # fmt: skip
    """The motion on another body: a figure of any proportions, a robot or a character.

    motion: of a skeleton, z up, in metres (`mk.read_motion`); several are shared out over all cores, with the same results as
        one by one. `mk.motion.retarget_each` takes and gives them one after another, for more than memory holds.
    body: its base is freed if it is fixed.
    plan: from `mk.motion.retarget_plan` unless given.
    contacts: "auto" finds when feet stand and holds them there, flat on the floor or on their toes, with a clearance in
        between; None leaves feet where the plan puts them.
    floor: its height [m].
    self_collision: links keep apart (mk.SelfDistance); several times slower.
    velocity_limits: "keep" keeps the body's limits of velocity and acceleration in every frame, so that a joint arrives later
        where the source is faster; "stretch" leaves the postures and gives frames as much more time as their joints need; None
        leaves both alone. With self_collision, "keep" only reports. `report` says how many are beyond limits and by how much.
    device: "cuda" follows the frames of many clips on a graphics card; clips are followed together where they have the same
        plan and the same rate. Joints differ from those of "cpu" by about 1e-6 rad, where limits of velocity hold them back by
        thousandths.
    threads: for several clips, as many as there are cores unless given.
    progress: a function that is told (frames done, frames in all); None draws a line on the terminal if it takes long, False
        is quiet.

    Every frame is the least-squares balance of the plan's targets and of the joints' speeds, within the joint limits. It is
    the same for every heading, and through rolls: the base has no singular posture.

    ```python
    import memetik as mk

    kyle = mk.load("kyle", base="floating")
    clip = mk.Motion(kyle, [0.0, 0.5], [kyle.home, kyle.vector({"base.x": 0.3})])
    found = mk.retarget(clip, mk.load("g1"))
    print(found.report)
    ```
    """
    one = [motion] if isinstance(motion, Motion) else None
    clips = one or several(motion, ProblemError, "retarget: motion", "[clip]")
    given = _checked(body, plan, contacts, floor, self_collision, velocity_limits, device, threads, progress)
    if one and given.device == "cpu":
        return given.begin(clips[0]).solved()
    done = list(given.each(clips))
    return done[0] if one else done


def retarget_each(
    clips: Iterable[Motion], body: Body, *, plan: RetargetPlan | None = None, contacts: str | None = "auto",
    floor: float = 0.0, self_collision: bool = False, velocity_limits: str | None = "keep", device: str = "cpu",
    threads: int | None = None, progress: Report = None,
) -> Iterator[Retargeted]:  # fmt: skip
    """`mk.retarget` for any number of clips, one after another: an iterator, in the order of the clips.

    Clips are taken when a thread is free, two for each at most before the first result is asked for, so neither all clips nor
    all results are in memory at once; a graphics card takes half a million frames at a time. Parameters are those of
    `mk.retarget`, floor [m] among them. An error says which clip it is about, counted from 0.

    ```python
    import memetik as mk

    kyle = mk.load("kyle", base="floating")
    clip = mk.Motion(kyle, [0.0, 0.5], [kyle.home, kyle.vector({"base.x": 0.3})])
    plan = mk.motion.retarget_plan(clip, mk.load("g1"))
    for found in mk.motion.retarget_each((clip.turned(0.1 * k) for k in range(3)), mk.load("g1"), plan=plan):
        found.report.sliding
    ```
    """
    given = _checked(body, plan, contacts, floor, self_collision, velocity_limits, device, threads, progress)
    if not _is_iterable(clips) or isinstance(clips, Motion | str | bytes | Mapping):
        raise ProblemError(f"retarget: clips are {shown(clips)}. Give a list or an iterator of motions.")
    return given.each(clips)


def _is_iterable(value: object) -> bool:
    """Whether a loop can go over it: of NumPy's arrays, not those without dimensions."""
    try:
        iter(value)  # type: ignore[call-overload]
    except Exception:
        return False
    return True


class _Given(NamedTuple):
    """The arguments of `retarget`, checked."""

    body: Body
    plan: RetargetPlan | None
    hold: bool
    floor: float
    self_collision: bool
    velocity_limits: str | None
    device: str
    threads: int | None
    progress: Report

    def begin(self, clip: Motion) -> Job:
        """The job of a clip."""
        instance(clip, Motion, ProblemError, "a motion. Give mk.read_motion(...).")
        plan = self.plan or retarget_plan(clip, self.body)
        return Job(clip, self.body, plan, self.hold, self.floor, self.self_collision, self.velocity_limits)

    def each(self, clips: Iterable[Motion]) -> Iterator[Retargeted]:
        """All clips, one after another."""
        return (each_on_device if self.device == "cuda" else each)(self.begin, clips, self.threads, self.progress)


def _checked(
    body: Any,
    plan: Any,
    contacts: Any,
    floor: Any,
    self_collision: Any,
    velocity_limits: Any,
    device: Any,
    threads: Any,
    progress: Any,
) -> _Given:
    from memetik.batch.solve import require_report, threads_of  # which most motions do without

    onto = floating(instance(body, Body, ProblemError, "a body. Give mk.load(...)."))
    ground = real_number(floor, ProblemError, "retarget: floor")
    if contacts is not None and not (isinstance(contacts, str) and contacts == "auto"):
        raise ProblemError(f'retarget: contacts is {shown(contacts)}. Give "auto" or None.')
    apart = flag(self_collision, ProblemError, "retarget: self_collision")
    if velocity_limits is not None and not (isinstance(velocity_limits, str) and velocity_limits in LIMITS):
        raise ProblemError(f'retarget: velocity_limits is {shown(velocity_limits)}. Give "keep", "stretch" or None.')
    if plan is not None:
        instance(plan, RetargetPlan, ProblemError, "a plan. Give mk.motion.retarget_plan(...), or None.")
    many = threads_of(threads, "retarget")
    require_report(progress, "retarget")
    if not isinstance(device, str) or device not in ("cpu", "cuda"):
        raise ProblemError(f'retarget: device is {shown(device)}. Give "cpu" or "cuda".')
    if device == "cuda" and apart:
        raise ProblemError(
            'retarget: self_collision is searched for on the processor only. Use device="cpu", or leave it out.'
        )
    return _Given(onto, plan, contacts is not None, ground, apart, velocity_limits, device, many, progress)


@lru_cache(maxsize=KEPT)
def floating(body: Body) -> Body:
    """The body with a base that floats, unless it has arms and no legs: what such a machine stands on stays where it is."""
    first = [joint for joint in body.joints.values() if joint.parent == body.root]
    if len(first) == 1 and first[0].kind == "floating":
        return body
    try:
        parts = find_parts(body)
    except BodyError:  # it is reported where a plan is made, unless parts are named there
        parts = {}
    if parts and Tree(body).base(parts["hips"].link):
        return body
    return body if parts and "left_upper_leg" not in parts else body.with_base("floating")
