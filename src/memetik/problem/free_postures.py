"""Postures to start from in which a body keeps off itself, for problems with contacts."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from memetik.kernels.contacts.free_postures import free_postures
from memetik.kernels.runtime.random import seed_stream
from memetik.kernels.terms.distance import (
    CONTACT_DATA,
    DISTANCE_CONTACTS,
    DISTANCE_FOUND,
    DISTANCE_LISTS,
    DISTANCE_MARGIN,
    GROUP_FRAME,
    LIST_COUNT,
    LIST_FIRST,
    LIST_GROUP,
    LIST_OTHERS,
    LIST_SECOND,
)
from memetik.kernels.terms.records import CONTACT
from memetik.problem.compile import Compiled
from memetik.problem.scratch import Scratch
from memetik.types import Array


def set_free(c: Compiled, genes: Array, seed: int) -> None:
    """Draw parts of random postures (rows, variables) again, in place, until no links of the body touch each other.

    Obstacles do not count: they move, and the same call shall give the same answer wherever they were before.
    """
    terms, data = _contacts_of_body(c)
    if not terms.size:
        return
    arrays = Scratch(c).arrays
    seed_stream(arrays.state, seed, 0)
    free_postures(arrays.problem._replace(terms=terms, data=data), genes, arrays.state, arrays.work)


def _contacts_of_body(c: Compiled) -> tuple[NDArray[np.void], Array]:
    """The terms of pairs of links that can block, and numbers for them: with no margin, and with room for what is found."""
    data = list[float](c.data)
    terms = c.record.terms[(c.terms["loss"] == CONTACT) & (c.terms["soft"] == 0)].copy()
    for term in terms:
        lists = _lists_of_body(c.data, int(term["numbers"]) + DISTANCE_LISTS, int(term["count"]))
        head = c.data[term["numbers"] : term["numbers"] + DISTANCE_LISTS].copy()
        head[DISTANCE_MARGIN], head[DISTANCE_CONTACTS] = 0.0, -1.0
        term["numbers"], term["count"] = len(data), len(lists)
        head[DISTANCE_FOUND] = len(data) + DISTANCE_LISTS + sum(map(len, lists))
        data += [*head, *(number for each in lists for number in each)]
        data += [0.0] * (DISTANCE_LISTS + CONTACT_DATA * int(term["rows"]))
    return terms[terms["count"] > 0], np.array(data)


def _lists_of_body(data: Array, k: int, count: int) -> list[list[float]]:
    """Of the lists of pairs at data[k:], what is between links."""
    found = []
    for _ in range(count):
        end = k + LIST_OTHERS + int(data[k + LIST_COUNT])
        group, others = data[k + LIST_GROUP], data[k + LIST_OTHERS : end]
        others = others[data[others.astype(int) + GROUP_FRAME] >= 0.0]
        if data[int(group) + GROUP_FRAME] >= 0.0 and others.size:
            head = np.zeros(LIST_OTHERS)
            head[LIST_FIRST], head[LIST_SECOND] = data[k + LIST_FIRST], data[k + LIST_SECOND]
            head[LIST_GROUP], head[LIST_COUNT] = group, others.size
            found.append([*head, *others])
        k = end
    return found
