"""Genetic algorithm, differential evolution, particle swarm and their hybrid, on what they share in base.py."""
