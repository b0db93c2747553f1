"""The flagship method: a population of postures, the most promising exploited by damped Gauss-Newton steps.

all_solutions          distinct solutions of one problem
batch                  many rows of targets in one call
closed_form            closed forms of one pose, brought onto the body as it is
contact_search         solids that keep apart: solved without them, looked at, pushed out
descent                the local search: damped Gauss-Newton steps
entry                  from Python into the search, in one crossing
free_postures          postures to start from, in which a body keeps off itself
guided                 targets that only guide, over many frames
guide_descent          local searches for the minimum of the guides where all else is satisfied
lane_search            many rows of one pose, in the lanes of vector registers
lane_step              one step in every lane
levels                 one posture, rank by rank
population_poses       scores of the whole population at once
minimum_tracking       targets that only guide, step by step
pose_descent           the local search for one pose
pose_search            the whole search for one pose
pose_step              the damped step for one pose, in registers
priorities             what could not be had gives way, level by level
record                 the population, and the scratch of a solve
refine                 the best posture to a true minimum
restarts               the lowest cost where nothing can be missed
search                 attempts from the population until one satisfies all
slide                  the local search of a track, along surfaces
sliding_step           one step of it, with contacts as constraints
stages                 search, refinement, relaxation, priorities: the stages of a solve
stand                  feet on a surface, over many frames
tracking               targets that move
verify_pose            the judgement of one pose
"""
