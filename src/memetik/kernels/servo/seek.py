"""What a tick has of the search for a better goal, or for a way around what keeps the joints from theirs."""

from memetik.kernels.compiler.jit import jit
from memetik.kernels.problem.verify import REACHED
from memetik.kernels.servo.aim import aim_at_goal
from memetik.kernels.servo.alternative import attempt_slice, challenge, is_due, pursue_alternative
from memetik.kernels.servo.detour import BLOCKED, NO_LEG, looks_for_way, start_at_joints, try_detour

TURNS = 4  # of slices: one for the alternative goal, two for ways to it, and attempts


@jit
def take_alternative(own):
    """The alternative goal becomes the goal; nothing is led by the leap."""
    state, variables = own.state[0], own.memetic.solve.problem.variables
    for k in range(own.x.size):
        own.x[k] = own.goal[variables[k].index] = own.alternative[k]
    aim_at_goal(own)
    state.goal_status, state.has_alternative, state.waited = state.alternative_status, 0, 0.0
    state.switches += 1


@jit
def seek_slice(own, run):
    """One step of the alternative goal or of an attempt, or a look at a way: no tick takes much longer than others."""
    state = own.state[0]
    state.turn = (state.turn + 1) % TURNS
    due = is_due(own)
    if state.alternative_status != REACHED:
        state.leg = NO_LEG
    if state.turn == 0 and state.has_alternative:
        pursue_alternative(own, run)
    elif state.turn % 2 == 1 and (due or state.leg != NO_LEG):
        try_detour(own, run)
    else:
        attempt_slice(own, run)


@jit
def seek_better(own, run):
    """Look for a better goal where this one misses something, or for a way around where contacts keep the joints from it."""
    state = own.state[0]
    blocked = state.blocked > max(state.patience, BLOCKED)
    if not own.reconfigures:
        return
    if (state.goal_status == REACHED or state.hindered > 0.0) and not blocked:
        state.has_alternative, state.waited, state.attempted = 0, 0.0, 0
        return
    if blocked:  # what an alternative goal has to be better than is where the joints are
        start_at_joints(own)
    if own.slices:
        seek_slice(own, run)
    elif looks_for_way(own, run):
        try_detour(own, run)
    elif challenge(own, run):
        if own.contacts.pairs.size > 0:
            try_detour(own, run)
        else:
            take_alternative(own)
