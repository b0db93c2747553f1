"""Ways around obstacles, for joints that these keep from their goal.

Joints are blocked when contacts leave little of the velocity that leads to the goal, or when what they miss does not become less,
for a while. Then an alternative goal (alternative.py) is looked for that satisfies the whole problem, contacts as well, and a way
there on which postures a step apart are free: straight, or by way of one other posture, which is drawn between both or from the
population. Each tick looks at a few of them. While the joints are on a way, the alternative goal goes on following the targets.
Motions on it are kept safe as all others are (keep_apart.py), so a way that an obstacle closes meanwhile is given up.
"""

from memetik.kernels.compiler.jit import jit
from memetik.kernels.problem.budget import EVALUATIONS, spent
from memetik.kernels.problem.evaluate import place
from memetik.kernels.problem.limits import clamp
from memetik.kernels.problem.verify import REACHED
from memetik.kernels.runtime.random import uniform
from memetik.kernels.servo.alternative import pursue_alternative
from memetik.kernels.servo.contacts import BUFFER
from memetik.kernels.terms.distance import balls_apart, nearest

NO_DETOUR, TO_VIA, TO_RIVAL = 0, 1, 2  # what the joints are on their way to, if not to the goal
LITTLE = 0.3  # of the wanted velocity: what blocked joints have left of it
LESS = 0.8  # of the squared error: what counts as progress
VAIN = 0.25  # s without progress after which joints count as blocked
HINDERED = 0.05  # s after contacts changed velocities in which the goal is looked for from where the joints are
BLOCKED = 0.5  # s
GIVE_UP = 0.5  # s of being blocked on a detour
MOST_PATIENCE = 2.0  # s of being blocked after detours in vain
STEP = 0.05  # rad or m between two looks on a way, for the joint that moves most
MOST_BITS = 6  # 2^6 looks at most; steps are longer on long ways
LOOKS_A_TICK = 2
NO_LEG, STRAIGHT, TO_THE_VIA, FROM_THE_VIA = 0, 1, 2, 3  # what part of a way is being looked at
ARRIVED = 0.05  # rad or m


@jit
def is_free(own):
    """Whether the whole body at the posture in contacts.x keeps all that it has to keep apart."""
    contacts, solve = own.contacts, own.memetic.solve
    problem, work = solve.problem, solve.work
    place(problem.nodes, problem.frames, contacts.x, work.poses, work.world)
    for p in range(contacts.pairs.size):
        pair = contacts.pairs[p]
        enough = pair.required + BUFFER
        if balls_apart(problem.data, work.world, pair.first, pair.second, enough):
            continue
        if nearest(problem.data, work.world, pair.first, pair.second, enough)[0] < enough:
            return False
    return True


@jit
def bit_reversed(i, bits):
    """A whole number below 2^bits with its bits in reverse order."""
    found = 0
    for _ in range(bits):
        found = 2 * found + i % 2
        i //= 2
    return found


@jit
def leg_is_free(own, begin, end, run):
    """Look at the next postures of a straight way. Returns 1 if all are free, but for its beginning, 0 if one is not, and -1 as
    long as some have to be looked at in the next ticks.

    The end first, then the middle and the middles of halves: a way that is blocked mostly is so far from its ends.
    """
    state, longest = own.state[0], 0.0
    for k in range(end.size):
        longest = max(longest, abs(end[k] - begin[k]))
    bits = 0
    while bits < MOST_BITS and 2**bits * STEP < longest:
        bits += 1
    for _ in range(LOOKS_A_TICK):
        if spent(run):
            break
        share = 1.0 - bit_reversed(state.look, bits) / 2**bits
        for k in range(end.size):
            own.contacts.x[k] = begin[k] + share * (end[k] - begin[k])
        run.outcome[EVALUATIONS] += 1.0
        if not is_free(own):
            return 0
        state.look += 1
        if state.look == 2**bits:
            return 1
    return -1


@jit
def draw_via(own, run):
    """Write a posture to go by into own.via: one between the joints, in own.x, and the alternative goal, or an individual."""
    state, variables, genes = own.state[0], own.memetic.solve.problem.variables, own.memetic.population.genes
    state.ways += 1
    chosen = int(uniform(run.state) * genes.shape[0]) % genes.shape[0]
    width = min(0.05 + 0.01 * state.ways, 0.5) * uniform(run.state)
    for k in range(own.x.size):
        if state.ways % 2:
            middle = 0.5 * (own.x[k] + own.alternative[k])
            reach = width * (variables[k].sample_upper - variables[k].sample_lower)
            own.via[k] = clamp(middle + reach * (2.0 * uniform(run.state) - 1.0), variables[k])
        else:
            own.via[k] = own.x[k] + width * 2.0 * (genes[chosen, k] - own.x[k])


@jit
def find_way(own, run):
    """Look at one way to the alternative goal from the posture in own.x. Returns what the joints are to go to."""
    state = own.state[0]
    for k in range(own.x.size):
        if abs(own.alternative[k] - own.leg_end[k]) > STEP:
            state.leg = NO_LEG
    if state.leg == NO_LEG:
        state.leg, state.look = STRAIGHT if state.ways % 8 == 0 else TO_THE_VIA, 0
        draw_via(own, run)
        for k in range(own.x.size):
            own.leg_begin[k], own.leg_end[k] = own.x[k], own.alternative[k]
    begin = own.via if state.leg == FROM_THE_VIA else own.leg_begin
    end = own.via if state.leg == TO_THE_VIA else own.leg_end
    free = leg_is_free(own, begin, end, run)
    if free == 0:
        state.leg = NO_LEG
    elif free == 1 and state.leg == TO_THE_VIA:
        state.leg, state.look = FROM_THE_VIA, 0
    elif free == 1:
        found = TO_RIVAL if state.leg == STRAIGHT else TO_VIA
        state.leg = NO_LEG
        return found
    return NO_DETOUR


@jit
def looks_for_way(own, run):
    """Whether this tick goes on looking at a way to the alternative goal, which still satisfies all."""
    state = own.state[0]
    if state.leg == NO_LEG or not state.has_alternative:
        return False
    pursue_alternative(own, run)
    if state.alternative_status != REACHED:
        state.leg = NO_LEG
    return state.leg != NO_LEG


@jit
def start_at_joints(own):
    """Write into own.x where the joints are."""
    variables = own.memetic.solve.problem.variables
    for k in range(own.x.size):
        own.x[k] = own.q[variables[k].index]


@jit
def try_detour(own, run):
    """Go on with a way to the alternative goal, or try one, and take it if it is free."""
    state = own.state[0]
    start_at_joints(own)
    state.detour = find_way(own, run)
    if state.detour != NO_DETOUR:
        state.blocked, state.ways = 0.0, 0
        state.switches += 1


@jit
def end_detour(own, patience):
    """Go after the targets again, from where the joints are."""
    state, variables = own.state[0], own.memetic.solve.problem.variables
    for k in range(own.x.size):
        own.goal[variables[k].index] = own.q[variables[k].index]
    state.detour, state.has_alternative, state.waited, state.blocked, state.patience = NO_DETOUR, 0, 0.0, 0.0, patience
    state.leg, state.vain = NO_LEG, 0.0


@jit
def follow_detour(own, run):
    """The goal of a tick on a detour."""
    state, variables = own.state[0], own.memetic.solve.problem.variables
    pursue_alternative(own, run)
    if state.blocked > GIVE_UP:
        end_detour(own, min(2.0 * max(state.patience, BLOCKED), MOST_PATIENCE))
        return
    left = 0.0
    for k in range(own.x.size):
        own.x[k] = own.via[k] if state.detour == TO_VIA else own.alternative[k]
        own.goal[variables[k].index] = own.x[k]
        left = max(left, abs(own.x[k] - own.q[variables[k].index]))
    state.goal_status = state.alternative_status
    if left < ARRIVED:
        if state.detour == TO_VIA:
            state.detour = TO_RIVAL
        else:
            end_detour(own, BLOCKED)


@jit
def watch_progress(own):
    """How long the joints have been blocked, from the velocities that they wanted before contacts changed them, and from what
    they miss."""
    state, variables = own.state[0], own.memetic.solve.problem.variables
    along, square = 0.0, 0.0
    for k in range(own.x.size):
        j = variables[k].index
        weight = 1.0 / (own.movers[j].velocity * own.movers[j].velocity)
        along += weight * own.wanted[j] * own.unhindered[k]
        square += weight * own.unhindered[k] * own.unhindered[k]
    tick = own.pace[0].tick
    state.hindered = HINDERED if own.contacts.state[0].limited else max(state.hindered - tick, 0.0)
    misses = own.contacts.state[0].limited and state.detour == NO_DETOUR and state.goal_status != REACHED
    if not misses or state.vain == 0.0 or state.missed < LESS * state.least_missed:
        state.vain, state.least_missed = 0.0, state.missed
    state.vain += tick if misses else 0.0
    if own.contacts.state[0].limited and (along < LITTLE * square or state.vain > VAIN):
        state.blocked += tick
    else:
        state.blocked = max(state.blocked - tick, 0.0)
