"""Bio IK, the memetic evolutionary algorithm of the thesis, a file for each of its phases.

breed                  a fresh population, and offspring
elites                 elites exploited by one or several threads
exploit                L-BFGS-B on one elite
function_pointers      parts that are called by address
gradient               the gradient of the fitness
history                every individual of every generation
objective              from genes to fitness, and termination
place                  forward kinematics, whole or by OFKT
reproduce              initialisation, recombination, mutation, adoption
scratch                parameters and scratch
search                 Algorithm 3
select                 selection by rank, elites, niching
weights                weight interpolation, and terms that yield
wrench                 the gradient of poses as forces on joints
"""
