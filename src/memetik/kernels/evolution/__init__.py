"""Genetic algorithm, differential evolution, particle swarm and their hybrid.

de                     differential evolution
fitness                how fit a posture is
ga                     a genetic algorithm
hgsa                   the hybrid genetic swarm algorithm
pso                    particle swarm
"""
