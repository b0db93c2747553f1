"""Compare: the same problem by several methods."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

import memetik as mk
from memetik import scenes
from memetik.errors import MemetikError
from memetik.studio.session import Session

LONGEST = 0.5  # s for each method


class Ghost(NamedTuple):
    """What a method made of the problem; `remark` says why if it could not begin."""

    method: str
    q: NDArray[np.float64]
    seconds: float
    evaluations: int
    success: bool
    remark: str = ""


def compare(session: Session, methods: Sequence[str]) -> list[Ghost]:
    """Each method from the start of the scene with the evaluations of a frame, on a problem of its own."""
    with session.lock:
        scene, body, start = session.scene, session.body, session.start.copy()
    budget = mk.Budget(scene.solving.evaluations, LONGEST)
    ghosts = []
    for method in methods:
        try:
            problem = scenes.problem(scene, body)
            solver = scenes.solver(replace(scene.solving, method=method, parameters={}))
            solver.solve(problem, start, budget)  # the first solve of a method also loads its machine code
            found = solver.solve(problem, start, budget)
            ghosts.append(Ghost(method, found.q, found.seconds, found.evaluations, found.success))
        except MemetikError as error:  # a method that cannot take this problem
            ghosts.append(Ghost(method, start, 0.0, 0, False, str(error)))
    return ghosts
