"""Pairs of links that meet: counted in many postures, or proved never to."""

from memetik.kernels.body.forward import forward, frame_pose
from memetik.kernels.collision.spread import spread
from memetik.kernels.compiler.jit import jit_free, jit_part, jit_shared
from memetik.kernels.math.pose import store
from memetik.kernels.terms.distance import balls_apart, nearest

# What is known of a pair after a search for contacts.
APART, OPEN, MET = 0, 1, 2


@jit_part
def place_frames(nodes, frames, x, poses, world):
    """The pose of every frame at a posture."""
    forward(nodes, x, poses)
    for k in range(frames.size):
        store(frame_pose(frames[k], poses), world, k, 0)


@jit_shared
def gap(data, world, first, second, enough):
    """The signed distance of two groups of solids [m], or `enough` if it is at least that."""
    if balls_apart(data, world, first, second, enough):
        return enough
    return nearest(data, world, first, second, enough)[0]


@jit_free
def count_contacts(nodes, frames, data, pairs, q, poses, world, counts):
    """In how many of the postures q (rows, variables) each pair of groups (pairs, 2) is in contact: added to counts (pairs,)."""
    for r in range(q.shape[0]):
        place_frames(nodes, frames, q[r], poses, world)
        for p in range(pairs.shape[0]):
            if gap(data, world, pairs[p, 0], pairs[p, 1], 0.0) < 0.0:
                counts[p] += 1


@jit_free
def search_contact(nodes, frames, data, pair, boxes, poses, world, box):
    """Whether two groups meet in any posture of a box: APART is proved, MET is found at box.middle, OPEN is neither.

    boxes (most, 2, variables): the first one is the box to search, its lower and its upper corner. In the middle of a box
    the distance of the groups is known; nowhere in it do their points move farther than `spread` says. Where that is not
    enough to keep them apart, the box is cut in two across the motion that moves them most. As many boxes are looked at
    as there is room for.
    """
    first, second, n = pair[0], pair[1], boxes.shape[2]
    count = 1
    for _ in range(boxes.shape[0]):
        if count == 0:
            return APART
        count -= 1
        for k in range(n):
            low, high = boxes[count, 0, k], boxes[count, 1, k]
            box.middle[k], box.half[k] = 0.5 * (low + high), 0.5 * (high - low)
        far = spread(nodes, frames, data, first, -1, box.middle, box.half, box.half, box.shares)[0]
        far += spread(nodes, frames, data, second, -1, box.middle, box.half, box.half, box.shares)[0]
        place_frames(nodes, frames, box.middle, poses, world)
        d = gap(data, world, first, second, far)
        if d < 0.0:
            return MET
        if d >= far:
            continue
        widest = 0
        for i in range(nodes.size):
            if box.shares[i] > box.shares[widest]:
                widest = i
        across = nodes[widest].variable
        if box.half[across] <= 0.0 or count + 2 > boxes.shape[0]:
            return OPEN
        for k in range(n):
            boxes[count + 1, 0, k], boxes[count + 1, 1, k] = boxes[count, 0, k], boxes[count, 1, k]
        boxes[count, 1, across] = boxes[count + 1, 0, across] = box.middle[across]
        count += 2
    return APART if count == 0 else OPEN
