"""Bio IK, the memetic evolutionary algorithm of the thesis, a file for each of its phases.

bio_ik_record          settings and arrays
breed                  a fresh population, and offspring
elites                 elites exploited by one or several threads
exploit                L-BFGS-B on one elite
function_pointers      parts that are called by address
gradient               the gradient of the fitness
objective              from genes to poses to fitness, and termination
reproduce              initialisation, recombination, mutation, adoption
search                 Algorithm 3
select                 selection by rank, elites, niching
weights                weight interpolation, and terms that yield
wrench                 the gradient of poses as forces on joints
"""
