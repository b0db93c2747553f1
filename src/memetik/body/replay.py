"""Many queries of forward kinematics in one compiled loop, so that their cost can be measured without that of Python."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from memetik.body.body import Body
from memetik.body.link import Frame
from memetik.kernels.body.replay import replay_cached, replay_plain, replay_predicted

WORLD_FROM_ROOT = (1.0, 0.0, 0.0, 0.0, 0.1, 0.2, 0.3)


def replay(
    body: Body,
    edits: NDArray[np.int64],
    count: int,
    way: Literal["plain", "jacobian", "ofkt", "predicted"] = "plain",
    tips: Iterable[str | Frame] = (),
) -> Callable[[], float]:
    """A call that answers `count` queries, from the body's home: where `tips` are, or with none where all links are.

    Before query k the joints in row k of `edits` (rows, joints) move a little, -1 for none; rows are repeated as needed.
    way: "plain" places the whole body for each query, "jacobian" does so and adds that of the last link, "ofkt" places
    what changed, "predicted" says where the tips would be if the first joint in the row had another value.
    """
    tips = list(tips)
    flat, frames = body.flatten(tips or None)
    frames, nodes = frames[: len(tips)], flat.nodes
    if way == "predicted":
        moved = np.array([np.flatnonzero(nodes["variable"] == k)[0] for k in edits[:, 0]])
        return lambda: float(replay_predicted(nodes, frames, body.home.copy(), moved, count, WORLD_FROM_ROOT))
    if way == "ofkt":
        return lambda: float(replay_cached(nodes, frames, body.home.copy(), edits, count, WORLD_FROM_ROOT))
    jacobian = way == "jacobian"
    return lambda: float(replay_plain(nodes, frames, body.home.copy(), edits, count, WORLD_FROM_ROOT, jacobian))
