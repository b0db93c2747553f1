"""Genetic algorithm, differential evolution, particle swarm and their hybrid.

adaptive               differential evolution whose factors adapt
evolve                 the loop that all share: populations, patience, fading guides
fitness                how fit a posture is
generations            genetic algorithm, differential evolution, particle swarm
hgsa                   the hybrid genetic swarm algorithm
lesson                 the local search of memetic methods
"""
