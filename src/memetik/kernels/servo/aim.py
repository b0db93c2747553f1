"""Where the joints go: the goal, or its mean where it trembles."""

from memetik.kernels.compiler.jit import jit
from memetik.kernels.servo.pace import slow_down_lead

TREMBLING = 0.02  # s over which it is judged whether the goal trembles
FAINTEST = 1e-6  # rad or m; turning round by less is no trembling
OUTRUN = 10.0  # times as much as a goal trembles in a tick: a trend above hides it
CALM = 0.02  # s over which a goal that trembles is averaged


@jit
def smooth_goal(own):
    """Write the aim of the joints, which is the goal, averaged twice where it trembles.

    How much it does is the mean of the steps by which it turns round from tick to tick, beside that of all its steps. What only
    moves does not tremble, and is not averaged, nor is a leap.
    """
    tick = own.pace[0].tick
    new = min(tick / TREMBLING, 1.0)
    for j in range(own.goal.size):
        goal, step, before = own.goal[j], own.goal[j] - own.goal_last[j], own.goal_step[j]
        back = min(abs(step), abs(before)) if step * before < 0.0 else 0.0
        own.tremble[j] += new * (back - own.tremble[j])
        own.trend[j] += new * (step - own.trend[j])
        own.goal_last[j], own.goal_step[j] = goal, step
        if own.tremble[j] <= FAINTEST:
            own.halfway[j] = own.aim[j] = goal
            continue
        share = (own.tremble[j] - FAINTEST) / (own.tremble[j] + OUTRUN * abs(own.trend[j]))
        weight = tick / (tick + share * CALM)
        own.halfway[j] += weight * (goal - own.halfway[j])
        own.aim[j] += weight * (own.halfway[j] - own.aim[j])


@jit
def lead_by_goal(own):
    """The velocity of the aim: the smaller of its last two steps, none where they differ in direction.

    An aim that leaps now and then, as with targets that come less often than ticks, leads nobody.
    """
    tick = own.pace[0].tick
    for j in range(own.goal.size):
        step = own.aim[j] - own.aim_before[j]
        before = own.aim_step[j]
        alike = step * before > 0.0
        own.lead[j] = (step if abs(step) < abs(before) else before) / tick if alike else 0.0
        own.aim_before[j], own.aim_step[j] = own.aim[j], step
    slow_down_lead(own.movers, own.lead)


@jit
def aim_at_goal(own):
    """Let the joints go to the goal from now on, whatever it was before: it has neither trembled nor moved."""
    for k in range(own.drift.size):
        own.drift[k] = 0.0
    for j in range(own.goal.size):
        own.aim_before[j] = own.goal_last[j] = own.halfway[j] = own.aim[j] = own.goal[j]
        own.aim_step[j] = own.goal_step[j] = own.tremble[j] = own.trend[j] = own.lead[j] = 0.0


@jit
def come_to_rest(own):
    """Nothing is wanted: the goal is where the joints are, and they brake."""
    for j in range(own.q.size):
        own.goal[j] = own.q[j]
    aim_at_goal(own)
