"""A compiled problem without its contacts, for searches that look at these last (kernels/contacts/contact_search.py)."""

from __future__ import annotations

import dataclasses

import numpy as np
from numpy.typing import NDArray

from memetik.kernels.terms.records import CONTACT, HYPERBOLA
from memetik.problem.blocks import split_residuals
from memetik.problem.compile import Compiled, is_one_pose, write_row_ranges


def blocking_contacts(terms: NDArray[np.void]) -> NDArray[np.bool_]:
    """Return which terms are contacts that can block."""
    return np.asarray(np.isin(terms["loss"], (CONTACT, HYPERBOLA)) & (terms["soft"] == 0))


def without_contacts(c: Compiled) -> Compiled | None:
    """The same joints, numbers and other terms; None if it has no contact that can block, or nothing else that can.

    Motions and frames that only contacts read are left out, so that it is as quick as if it had never had any.
    """
    contacts = blocking_contacts(c.terms)
    rest: list[int] = np.flatnonzero(~contacts).tolist()
    if not contacts.any() or c.calls_python or c.terms["soft"][rest].all():
        return None
    terms, affects = c.terms[rest].copy(), np.ascontiguousarray(c.affects[rest])
    nodes, frames = c.nodes, c.frames
    rows = {int(row) for t in rest for row in (c.terms[t]["frame"], c.terms[t]["other"]) if row >= 0}
    if not (c.balls.size or c.mounts.size) and {row for t in rest for row in c.reads[t]} <= rows:
        nodes, frames = _pruned(c, terms, sorted(rows))
    split = split_residuals(terms, affects)
    variables = c.variables.copy()
    variables["row_begin"] = variables["row_end"] = 0
    write_row_ranges(variables, terms, affects)
    one_pose = is_one_pose(terms, c.data, nodes) and nodes.size == variables.size
    return dataclasses.replace(
        c, nodes=nodes, frames=frames, terms=terms, variables=variables, affects=affects, split=split,
        kernels=[c.kernels[t] for t in rest], reads=[c.reads[t] for t in rest], owners=(),
        priorities=c.priorities[rest], one_pose=one_pose,
    )  # fmt: skip


def _pruned(c: Compiled, terms: NDArray[np.void], rows: list[int]) -> tuple[NDArray[np.void], NDArray[np.void]]:
    """The frames in these rows and the motions that carry them; gives the terms the new rows of their frames."""
    frames, nodes = c.frames[rows].copy(), c.nodes
    carries = np.zeros(nodes.size + 1, dtype=bool)
    for node in frames["node"]:
        while node >= 0:
            carries[node], node = True, nodes["parent"][node]
    kept = np.flatnonzero(carries)
    number = np.full(nodes.size + 1, -1, dtype=np.int64)  # the last stands for no node, -1
    number[kept] = np.arange(kept.size)
    nodes = nodes[kept].copy()
    nodes["last"] = [np.flatnonzero(kept <= last)[-1] for last in nodes["last"]]
    nodes["parent"], frames["node"] = number[nodes["parent"]], number[frames["node"]]
    new = {row: k for k, row in enumerate(rows)} | {-1: -1}
    for name in ("frame", "other"):
        terms[name] = [new.get(int(row), int(row)) for row in terms[name]]
    return nodes, frames
