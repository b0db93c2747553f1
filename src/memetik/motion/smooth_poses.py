"""Smoothing in space: segments between where they were in the last frame and where they are in this one."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from memetik.errors import ProblemError, UnknownNameError
from memetik.geometry import TransformLike, interpolate
from memetik.geometry.checks import mapping, real_number
from memetik.types import Array


def smooth_poses(
    last: Mapping[str, TransformLike], current: Mapping[str, TransformLike], smoothing: float
) -> dict[str, Array]:
    """Poses of segments between the last frame and the current one, as 4.7.2 of the thesis smooths motion.

        p = (1 - s) p_current + s p_last        R = slerp(R_current, R_last, s)

    last, current: pose of each segment by name, such as body.forward(q). A segment that is new in `current` is where it
    is now.
    smoothing: s, a share in [0, 1]; 0 is the current frame, 1 the last one. What is returned is `last` for the next frame.

    Segments are smoothed one by one, so their distances may change a little meanwhile: this is for what is shown. Joint
    values are smoothed by `Follower(smoothing=...)`.
    """
    share = real_number(smoothing, ProblemError, "smooth_poses: smoothing")
    if not 0.0 <= share <= 1.0:
        raise ProblemError(
            f"smooth_poses: smoothing is {share}. Give a share from 0 (the current frame) to 1 (the last)."
        )
    example = "{link: 4x4 transform}, or body.forward(q)"
    now = mapping(current, ProblemError, "smooth_poses: current", example)
    before = mapping(last, ProblemError, "smooth_poses: last", example)
    for name in before:
        if name not in now:
            raise UnknownNameError("segment", name, map(str, now), "the current frame")
    return {name: np.asarray(interpolate(pose, before.get(name, pose), share)) for name, pose in now.items()}
