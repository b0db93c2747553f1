"""The flagship method: a population of postures, the most promising exploited by damped Gauss-Newton steps.

Any problem:

search                 attempts from the population until one satisfies all
population_poses       scores of the whole population at once
descent                the local search: damped Gauss-Newton steps
guide_descent          local searches for the minimum of the guides where all else is satisfied
refine                 the best posture to a true minimum
restarts               the lowest cost where nothing can be missed
levels                 one posture, rank by rank
priorities             what could not be had gives way, level by level

One full pose:

pose_search            the whole search for one pose
pose_descent           the local search for one pose
pose_error             the residual of one pose, its error, and the judgement
pose_step              the damped step for one pose, in registers
lane_search            many rows of one pose, in the lanes of vector registers
lane_step              one step in every lane
closed_form_attempt    closed forms of one pose, brought onto the body as it is
verify_pose            the end of a search for one pose

The way in and out:

search_record          the population, and the scratch of a solve
entry                  from Python into the search, in one crossing
stages                 search, refinement, relaxation, priorities: the stages of a solve
batch                  many rows of targets in one call
all_solutions          distinct solutions of one problem
"""
