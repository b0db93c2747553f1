"""Steps of a track along surfaces: what shall not touch is a constraint of each step, not an error to be pushed out.

A descent that meets a surface only after it has passed it goes in and is pushed out, in one step and not in the next: it
chatters. Here each step s of the posture minimises, with the errors r of all else and their Jacobian J,

    |r + J s|^2 + lambda |s|^2        with  gap_i + grad gap_i · s >= a little        for pairs that are close

within the limits of the joints. The answer depends continuously on posture and target, so frames follow each other smoothly.
Where targets cannot be met, lambda is as large as the error that is left: the curvature of the errors, which J does not know
and which the tangent of the surface is left to, grows with it, and steps of a smaller lambda overshoot.

The distance of two flat solids has one pair of nearest points, which jumps from corner to corner as they tilt. So points of
what keeps away that were nearest are kept, fixed to it, and their own distances from the other side are constraints, too.
"""

import math
from typing import NamedTuple

from memetik.kernels.body.balls import write_ball_axes
from memetik.kernels.body.motion import write_axes
from memetik.kernels.compiler.jit import jit, jit_fast, jit_part
from memetik.kernels.geometry.solids import SOLID_DATA, moved, three
from memetik.kernels.math.linear import factorise, substitute
from memetik.kernels.math.rotation import turn_back
from memetik.kernels.runtime.record import Array, floats, integers
from memetik.kernels.terms.distance import (
    BALL_CENTER,
    BALL_FRAME,
    BALL_RADIUS,
    CONTACT_A,
    CONTACT_B,
    CONTACT_DATA,
    CONTACT_DISTANCE,
    CONTACT_GROUP,
    CONTACT_N,
    CONTACT_OTHER,
    DISTANCE_CLEARANCE,
    DISTANCE_CONTACTS,
    DISTANCE_FOUND,
    DISTANCE_LISTS,
    DISTANCE_MARGIN,
    GROUP_BOX,
    GROUP_COUNT,
    GROUP_FRAME,
    GROUP_SOLIDS,
    add_row,
    group_pose,
    nearest,
)
from memetik.kernels.terms.function_pointers import call_jacobian
from memetik.kernels.terms.records import CONTACT

ROWS = 48  # pairs of points that a step keeps apart, at most
POINTS = 32  # points that are kept
ACTIVE = 32  # of the rows and of the limits, how many can hold a step
# A row: the groups that its points are on, how much farther apart these are than they must be [m], the points, and the unit
# vector from the second to the first.
ROW_GROUP, ROW_OTHER, ROW_GAP, ROW_A, ROW_B, ROW_N, ROW_DATA = 0, 1, 2, 3, 6, 9, 12
# A point: the group it is fixed to, the one it keeps away from, where it is on the frame of the first, and if it still counts.
POINT_GROUP, POINT_OTHER, POINT_PLACE, POINT_STAYS, POINT_DATA = 0, 1, 2, 5, 6
OF_ROWS, OF_POINTS = 0, 1  # entries of Slide.count
POINT_ROOM = GROUP_SOLIDS + SOLID_DATA  # numbers of a group that is a point
SAME = 5e-3  # m; a point so near to the one that is nearest now is where that was
AHEAD = 0.97  # cosine between the normals of a point and of the nearest one
SOFT, SOFT_SHARE = 1e-8, 1e-11  # how far constraints that contradict each other give way
VIOLATED = 1e-9  # m or rad


class Slide(NamedTuple):
    """What a step along surfaces needs, and what it keeps for the next frame."""

    contacts: Array = floats(ROWS, ROW_DATA)  # the rows
    count: Array = integers(2)  # OF_ROWS and OF_POINTS
    points: Array = floats(POINTS, POINT_DATA)
    left: Array = floats(1)  # the error that the last step could not take away
    stiff: Array = floats(1)  # by how much more than that error steps are damped
    last_step: Array = floats("variables")
    rows: Array = floats("variables", ROWS)  # the negative gradients of the gaps
    system: Array = floats("variables", "variables")  # H = J^T J + lambda
    solved: Array = floats(ACTIVE, "variables")  # H^-1 a for every active constraint a·s <= b
    gram: Array = floats(ACTIVE, ACTIVE)  # a·H^-1 a
    factor: Array = floats(ACTIVE, ACTIVE)
    force: Array = floats(ACTIVE)  # multipliers of the active constraints
    wanted: Array = floats(ACTIVE)  # the same, if none had to be above zero
    excess: Array = floats(ACTIVE)  # a·s - b for the step without constraints
    active: Array = integers(ACTIVE)  # a row, or ROWS + 2 k for the lower limit of variable k, and 1 more for the upper
    free_step: Array = floats("variables")  # without constraints


@jit_part
def on_frame(pose, p):
    """A point of the world as seen from a frame."""
    return turn_back(pose, p[0] - pose[4], p[1] - pose[5], p[2] - pose[6])


@jit_part
def put(data, place, v):
    """Write a vector."""
    data[place], data[place + 1], data[place + 2] = v[0], v[1], v[2]


@jit_part
def onward(a, share, n):
    """The point at `share` from a along n."""
    return a[0] + share * n[0], a[1] + share * n[1], a[2] + share * n[2]


@jit_part
def square_between(a, b):
    """The squared distance of two points."""
    return (a[0] - b[0]) ** 2 + (a[1] - b[1]) ** 2 + (a[2] - b[2]) ** 2


@jit
def from_point(data, world, group, place, other, enough):
    """The nearest solid of another group to a point fixed to a group: signed distance, a, b, n, as of `nearest`.

    The last numbers of the data become a group with this point alone.
    """
    spare = data.size - POINT_ROOM
    for k in range(spare, data.size):
        data[k] = 0.0
    data[spare + BALL_FRAME] = data[group + GROUP_FRAME]
    put(data, spare + BALL_CENTER, place)
    wide = 0.0 if data[group + GROUP_FRAME] < 0.0 else math.sqrt(square_between(place, (0.0, 0.0, 0.0)))
    data[spare + BALL_RADIUS], data[spare + GROUP_COUNT] = wide, 1.0
    put(data, spare + GROUP_BOX, (abs(place[0]), abs(place[1]), abs(place[2])))
    data[spare + GROUP_SOLIDS] = 1.0
    put(data, spare + GROUP_SOLIDS + 4, place)
    return nearest(data, world, spare, other, enough)


@jit
def add_contact(slide, group, other, least, found):
    """One more row, if there is room."""
    if slide.count[OF_ROWS] == ROWS:
        return
    contact = slide.contacts[slide.count[OF_ROWS]]
    slide.count[OF_ROWS] += 1
    d, a, b, n = found
    contact[ROW_GROUP], contact[ROW_OTHER], contact[ROW_GAP] = group, other, d - least
    put(contact, ROW_A, a)
    put(contact, ROW_B, b)
    put(contact, ROW_N, n)


@jit
def keep_points(slide, data, world, pair, seen, n, limits):
    """The rows of all points of a group but the one that is seen now as the nearest to another one, which is kept for later.

    n: from the other group to the point that is seen. A point that is seen from another side, such as one beyond the edge of a
    box, says nothing: the linear model of its distance would be an obstacle that is not there.
    limits: the gap that is asked for, and how far apart nothing counts.
    """
    group, other = pair
    least, enough = limits
    pose = group_pose(data, world, group)
    is_new = True
    for k in range(slide.count[OF_POINTS]):
        point = slide.points[k]
        if int(point[POINT_GROUP]) != group or int(point[POINT_OTHER]) != other:
            continue
        if square_between(moved(pose, three(point, POINT_PLACE)), seen) < SAME * SAME:
            point[POINT_STAYS] = 1.0 if is_new else 0.0
            put(point, POINT_PLACE, on_frame(pose, seen))
            is_new = False
            continue
        found = from_point(data, world, group, three(point, POINT_PLACE), other, enough)
        if found[0] < enough:
            point[POINT_STAYS] = 1.0
            if found[3][0] * n[0] + found[3][1] * n[1] + found[3][2] * n[2] > AHEAD:
                add_contact(slide, group, other, least, found)
    if is_new and slide.count[OF_POINTS] < POINTS:
        point = slide.points[slide.count[OF_POINTS]]
        slide.count[OF_POINTS] += 1
        point[POINT_GROUP], point[POINT_OTHER], point[POINT_STAYS] = group, other, 1.0
        put(point, POINT_PLACE, on_frame(pose, seen))


@jit
def take_contacts(slide, terms, data, world, along):
    """The rows of a posture that was just measured: of all pairs that are close, and of points that were nearest before."""
    slide.count[OF_ROWS] = 0
    for k in range(slide.count[OF_POINTS]):
        slide.points[k, POINT_STAYS] = 0.0
    for t in range(terms.size):
        if terms[t].loss != CONTACT:
            continue
        close = int(data[terms[t].numbers + DISTANCE_FOUND])
        margin, clearance = data[terms[t].numbers + DISTANCE_MARGIN], data[terms[t].numbers + DISTANCE_CLEARANCE]
        limits = clearance + along * margin, clearance + margin
        for i in range(int(data[close + DISTANCE_CONTACTS])):
            c = close + DISTANCE_LISTS + i * CONTACT_DATA
            group, other, d = int(data[c + CONTACT_GROUP]), int(data[c + CONTACT_OTHER]), data[c + CONTACT_DISTANCE]
            a, b, n = three(data, c + CONTACT_A), three(data, c + CONTACT_B), three(data, c + CONTACT_N)
            add_contact(slide, group, other, limits[0], (d, a, b, n))
            # Of round solids a and b are inside; the surface of the first is a part of the way from the one to the other.
            way = (a[0] - b[0]) * n[0] + (a[1] - b[1]) * n[1] + (a[2] - b[2]) * n[2] - d
            first = 0.0
            if way > SAME * SAME:
                place = on_frame(group_pose(data, world, group), a)
                first = min(max(from_point(data, world, group, place, other, d + way + 1.0)[0] - d, 0.0), way)
            keep_points(slide, data, world, (group, other), onward(a, -first, n), n, limits)
    kept = 0
    for k in range(slide.count[OF_POINTS]):
        if slide.points[k, POINT_STAYS] != 0.0:
            for i in range(POINT_DATA):
                slide.points[kept, i] = slide.points[k, i]
            kept += 1
    slide.count[OF_POINTS] = kept


@jit
def linearise_gaps(slide, data, problem, work):
    """The negative gradients of the gaps of all rows, with the axes of the posture in the workspace."""
    for k in range(slide.rows.shape[0]):
        for c in range(slide.count[OF_ROWS]):
            slide.rows[k, c] = 0.0
    for c in range(slide.count[OF_ROWS]):
        row = slide.contacts[c]
        contact = 0.0, three(row, ROW_A), three(row, ROW_B), three(row, ROW_N)
        pair = int(row[ROW_GROUP]), int(row[ROW_OTHER])
        add_row(data, pair, contact, c, problem.nodes, problem.frames, work.poses, work.axes, 1.0, slide.rows)


@jit
def linearise_rest(problem, x, work):
    """Scale the residuals of all terms but contacts, and write their Jacobian. Returns their squared error."""
    terms, data, jacobian, residual = problem.terms, problem.data, work.jacobian, work.residual
    write_axes(problem.nodes, work.poses, work.axes)
    write_ball_axes(problem.balls, work.axes)
    total = 0.0
    for t in range(terms.size):
        term = terms[t]
        if term.loss == CONTACT:
            continue
        for i in range(term.row, term.row + term.rows):
            residual[i] *= term.scale
            total += residual[i] * residual[i]
            for k in range(x.size):
                jacobian[k, i] = 0.0
        call_jacobian(
            term.jacobian, term, data, work.world, x, problem.nodes, problem.frames, work.poses, work.axes, term.scale,
            jacobian,
        )  # fmt: skip
    return total


@jit_fast
def write_system(slide, terms, damping, work):
    """H and, in free_step, the step without constraints."""
    n, jacobian, residual, system = work.step.size, work.jacobian, work.residual, slide.system
    for k in range(n):
        slide.free_step[k] = 0.0
        for j in range(k + 1):
            system[k, j] = 0.0
        system[k, k] = damping
    for t in range(terms.size):
        if terms[t].loss == CONTACT:
            continue
        for i in range(terms[t].row, terms[t].row + terms[t].rows):
            for k in range(n):
                a = jacobian[k, i]
                if a != 0.0:
                    slide.free_step[k] -= a * residual[i]
                    for j in range(k + 1):
                        system[k, j] += a * jacobian[j, i]
    factorise(system, n)
    substitute(system, n, slide.free_step)


@jit_part
def along_constraint(slide, row, v):
    """The product of a constraint with a vector of variables."""
    if row >= ROWS:
        value = v[(row - ROWS) // 2]
        return value if (row - ROWS) % 2 else -value
    total = 0.0
    for k in range(v.size):
        total += slide.rows[k, row] * v[k]
    return total


@jit
def most_violated(slide, variables, x, count, step):
    """The constraint that a step violates most; -1 for none."""
    worst, row = VIOLATED, -1
    for c in range(slide.count[OF_ROWS]):
        excess = along_constraint(slide, c, step) - slide.contacts[c, ROW_GAP]
        if excess > worst and not is_active(slide, c, count):
            worst, row = excess, c
    for k in range(x.size):
        if variables[k].ball:
            continue
        low, high = variables[k].lower - x[k] - step[k], x[k] + step[k] - variables[k].upper
        if low > worst and not is_active(slide, ROWS + 2 * k, count):
            worst, row = low, ROWS + 2 * k
        if high > worst and not is_active(slide, ROWS + 2 * k + 1, count):
            worst, row = high, ROWS + 2 * k + 1
    return row


@jit_part
def is_active(slide, row, count):
    """Whether a constraint is among the active ones."""
    found = False
    for i in range(count):
        found = found or slide.active[i] == row
    return found


@jit
def activate(slide, variables, x, row, count):
    """Make a constraint the last of the active ones."""
    solved = slide.solved[count]
    slide.active[count], slide.force[count] = row, 0.0
    if row >= ROWS:
        k = (row - ROWS) // 2
        for j in range(x.size):
            solved[j] = 0.0
        upper = (row - ROWS) % 2 != 0
        solved[k] = 1.0 if upper else -1.0
        bound = variables[k].upper - x[k] if upper else x[k] - variables[k].lower
    else:
        for j in range(x.size):
            solved[j] = slide.rows[j, row]
        bound = slide.contacts[row, ROW_GAP]
    slide.excess[count] = along_constraint(slide, row, slide.free_step) - bound
    substitute(slide.system, x.size, solved)
    for i in range(count + 1):
        slide.gram[count, i] = slide.gram[i, count] = along_constraint(slide, slide.active[i], solved)
    slide.gram[count, count] += SOFT + SOFT_SHARE * slide.gram[count, count]


@jit
def balance(slide, count):
    """The multipliers of the active constraints; those that would pull are given up. Returns how many are left."""
    while count > 0:
        for i in range(count):
            slide.wanted[i] = slide.excess[i]
            for j in range(i + 1):
                slide.factor[i, j] = slide.gram[i, j]
        factorise(slide.factor, count)
        substitute(slide.factor, count, slide.wanted)
        share, worst = 1.0, -1
        for i in range(count):
            if slide.wanted[i] <= 0.0:
                now = slide.force[i] / (slide.force[i] - slide.wanted[i]) if slide.force[i] > 0.0 else 0.0
                if now < share or worst < 0:
                    share, worst = now, i
        for i in range(count):
            slide.force[i] += share * (slide.wanted[i] - slide.force[i])
        if worst < 0:
            return count
        count -= 1
        for i in range(worst, count):
            slide.force[i], slide.excess[i] = slide.force[i + 1], slide.excess[i + 1]
            slide.active[i] = slide.active[i + 1]
            for k in range(slide.solved.shape[1]):
                slide.solved[i, k] = slide.solved[i + 1, k]
        for i in range(count):
            for j in range(count):
                slide.gram[i, j] = slide.gram[i + (i >= worst), j + (j >= worst)]
    return 0


@jit
def constrained_step(slide, variables, x, work):
    """The step of the linear model that keeps all constraints, in work.step, by Lawson and Hanson's method on its dual.

    Returns how many constraints hold it.
    """
    count = 0
    for _ in range(3 * ACTIVE):
        for k in range(x.size):
            work.step[k] = slide.free_step[k]
            for i in range(count):
                work.step[k] -= slide.force[i] * slide.solved[i, k]
        row = most_violated(slide, variables, x, count, work.step)
        if row < 0 or count == ACTIVE:
            break
        activate(slide, variables, x, row, count)
        count = balance(slide, count + 1)
    return count


@jit_fast
def error_left(terms, work):
    """The scaled error that the linear model leaves after work.step, but for contacts."""
    total = 0.0
    for t in range(terms.size):
        if terms[t].loss == CONTACT:
            continue
        for i in range(terms[t].row, terms[t].row + terms[t].rows):
            r = work.residual[i]
            for k in range(work.step.size):
                r += work.jacobian[k, i] * work.step[k]
            total += r * r
    return math.sqrt(total)
