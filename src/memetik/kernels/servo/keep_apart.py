"""The velocities of a tick that keep solids apart: nearest to those that are wanted, and such that the body can still stop.

First a quadratic program (quadratic_program.py). Its rows let no pair approach faster than it can stop (contacts.py), and what
it minimises is how far the tips leave the way they want, with the Jacobian J of all that has a tolerance, contacts apart:

    |J (v - ideal)|^2 + e |v - ideal|^2 + s |v - KEPT v_last|^2

so what the tips do not need makes room first, and joints without a limit on acceleration do not turn round at every touch. What
is ideal leads to the aim; where joints do not wait for each other, as if each could be as fast as it liked, so that others make
up for one that cannot. The rows are linear in the velocities and the path is not, so the answer is then tried: the posture after
the tick, and the way to a stop from there (stopping.py). If a pair comes too close on it, the row of the pair is tightened by
what lacked and the program solved again, and the last resort is to brake at once. That way was tried in the tick before and found
free. So a body that was free and could stop is free and can stop after every tick, as long as obstacles do what they are taken to
do.
"""

import math

from memetik.kernels.compiler.jit import jit_part
from memetik.kernels.problem.evaluate import linearise, measure, place
from memetik.kernels.problem.problem_record import Problem
from memetik.kernels.servo.contacts import AMPLE, add_close_pairs, is_late, look_around
from memetik.kernels.servo.quadratic_program import invert, solve_program
from memetik.kernels.servo.rows import are_surely_kept, write_rows
from memetik.kernels.servo.stopping import ALMOST, begin_way, is_too_close, list_suspects, worst_gap

# e and s, as shares of the mean of the diagonal of J^T J; s for joints without a limit on acceleration.
EASE, STEADY = 1e-3, 0.1
KEPT = 0.8  # of the last velocity: what s holds on to; with all of it, what the tips do not need would swing for ever
ATTEMPTS = 4  # solutions of the program that are tried, each with tighter rows
TIGHTER = 1.2  # times what lacked
ROUNDS = 4  # of the program, each with the pairs that its answer could bring too close; the rest is up to the looks


@jit_part
def write_wanted(own):
    """Put the wanted velocities into the program. Returns whether they miss one of its rows.

    The pairs that the velocities of the last tick could bring too close are looked at first. Where what is wanted misses a row of
    these, it is not what the joints will do, and which other pairs it could bring too close does not matter.
    """
    program, variables = own.contacts.program, own.memetic.solve.problem.variables
    for k in range(program.v.size):
        program.v[k] = own.velocity[variables[k].index]
    add_close_pairs(own, program.v, AMPLE)
    for k in range(program.v.size):
        program.v[k] = own.wanted[variables[k].index]
    if misses_rows(own):
        return True
    return add_close_pairs(own, program.v, 1.0) > 0 and misses_rows(own)


@jit_part
def misses_rows(own):
    """Whether the velocities in the program miss a row of a close pair; rows are written unless all are surely kept."""
    program = own.contacts.program
    if are_surely_kept(own):
        return False
    write_rows(own)
    for i in range(2 * own.contacts.state[0].count):
        total = -program.limits[i]
        for k in range(program.v.size):
            total += program.rows[i, k] * program.v[k]
        if total < 0.0:
            return True
    return False


@jit_part
def write_metric(own):
    """Write the inverse of J^T J + e + s, at the posture before this tick. Returns s."""
    program, work, p = own.contacts.program, own.reach.work, own.reach.problem
    n, m = work.jacobian.shape
    for k in range(n):
        work.x[k] = own.q[p.variables[k].index]
    # By the values of joints, also of those that the search turns by rotations.
    problem = Problem(
        p.nodes, p.frames, p.terms, p.variables, p.limits, p.data, p.affects, p.blocks, p.order, p.balls[:0], p.mounts
    )
    place(problem.nodes, problem.frames, work.x, work.poses, work.world)
    measure(problem.terms, problem.data, work.world, work.x, 0.0, work.residual)
    linearise(problem, work.x, 0.0, work)
    trace = 0.0
    for a in range(n):
        for b in range(a + 1):
            total = 0.0
            for i in range(m):
                total += work.jacobian[a, i] * work.jacobian[b, i]
            program.hessian[a, b] = total
        trace += program.hessian[a, a]
    mean, freedom = trace / n if trace > 0.0 else 1.0, 0.0
    for k in range(n):
        freedom += (program.high[k] - program.low[k]) / (2.0 * own.movers[p.variables[k].index].velocity * n)
    steady = STEADY * mean * min(freedom, 1.0)
    for a in range(n):
        program.hessian[a, a] += EASE * mean + steady
    invert(program.hessian, program.inverse)
    return steady


@jit_part
def write_minimum(own, steady):
    """Put the velocities with the least objective into the program."""
    program, variables = own.contacts.program, own.memetic.solve.problem.variables
    for k in range(program.v.size):
        total = 0.0
        for i in range(program.v.size):
            j = variables[i].index
            total += program.inverse[k, i] * (KEPT * own.velocity[j] - own.ideal[j])
        program.v[k] = own.ideal[variables[k].index] + steady * total


@jit_part
def solve_rows(own, steady):
    """Solve the program with the rows of all pairs that its answer could bring too close."""
    program, state = own.contacts.program, own.contacts.state[0]
    for _ in range(ROUNDS):
        write_rows(own)
        write_minimum(own, steady)
        solve_program(program, 2 * state.count)
        if add_close_pairs(own, program.v, 1.0) == 0:
            return


@jit_part
def brake(own, v):
    """The velocities with which all joints brake as hard as they may."""
    contacts, variables, tick = own.contacts, own.memetic.solve.problem.variables, own.pace[0].tick
    for k in range(v.size):
        mover, now = own.movers[variables[k].index], own.velocity[variables[k].index]
        slower = math.copysign(max(abs(now) - mover.acceleration * tick, 0.0), now)
        v[k] = min(max(slower, contacts.program.low[k]), contacts.program.high[k])


@jit_part
def tighten_rows(own, count):
    """Ask more of the rows of suspects whose way to a stop came too close, now and, less and less, in the next ticks.

    Of a pair that is too close already, it is the row that lets it come no nearer in this tick, and in this tick alone.
    """
    contacts = own.contacts
    for s in range(count):
        c = contacts.suspects[s]
        if contacts.least[c] >= 0.0:
            continue
        more, has_rows = TIGHTER * -contacts.least[c] + ALMOST, c < contacts.state[0].rows
        if is_too_close(contacts, c):
            if has_rows:
                contacts.program.limits[2 * c + 1] += more / own.pace[0].tick
            continue
        contacts.pairs[contacts.close[c]].bias += more
        if has_rows:
            contacts.program.limits[2 * c] += more


@jit_part
def choose(own, v, worst):
    """Take velocities if they are better than what was chosen before. Returns the worst gap of what is chosen."""
    contacts = own.contacts
    add_close_pairs(own, v, 1.0)
    if contacts.state[0].late or contacts.state[0].overflow:
        return worst
    begin_way(own)
    count, longest = list_suspects(own, v)
    gap, soon = worst_gap(own, v, count, longest)
    if gap < 0.0:
        tighten_rows(own, count)
    if not gap > worst:
        return worst
    contacts.state[0].soon = soon
    for k in range(v.size):
        contacts.chosen[k] = v[k]
    return gap


@jit_part
def take_chosen(own):
    """Make the chosen velocities those of this tick."""
    variables = own.memetic.solve.problem.variables
    for k in range(own.contacts.chosen.size):
        own.wanted[variables[k].index] = own.contacts.chosen[k]


@jit_part
def brake_at_once(own):
    """Brake, which leads along a way that was tried in the tick before."""
    contacts = own.contacts
    contacts.state[0].limited, contacts.state[0].braking, contacts.state[0].soon = 1, 1, -math.inf
    for k in range(contacts.chosen.size):
        contacts.chosen[k] = contacts.stopping[k]
    take_chosen(own)


@jit_part
def gives_up(own):
    """Whether there is no time left to try velocities, or more is close than can be listed."""
    return own.contacts.state[0].overflow != 0 or is_late(own)


@jit_part
def keep_apart(own):
    """Change own.wanted, the velocities of this tick, so that no pair comes too close, now or before the body stops."""
    contacts = own.contacts
    state, program = contacts.state[0], contacts.program
    look_around(own)
    state.limited, state.braking, state.soon = 0, 0, math.inf
    if state.candidates == 0:
        return
    state.soon = -math.inf
    brake(own, contacts.stopping)
    worst, prepared, steady = -math.inf, False, 0.0
    misses = write_wanted(own)
    for _ in range(ATTEMPTS):
        if misses:
            if not prepared:
                steady, prepared = write_metric(own), True
            solve_rows(own, steady)
            state.limited = 1
        worst = choose(own, program.v, worst)
        if worst >= 0.0 or gives_up(own):
            break
        misses = True
    if worst < 0.0 and not gives_up(own):
        for k in range(program.v.size):
            contacts.trial[k] = 0.5 * (contacts.stopping[k] + program.v[k])
        worst = choose(own, contacts.trial, worst)
    if worst < 0.0 and not gives_up(own):
        state.limited, state.braking = 1, 1
        choose(own, contacts.stopping, worst)
    if worst < 0.0 and gives_up(own):
        brake_at_once(own)
    take_chosen(own)
