"""Solids that keep apart: searches that look at contacts last, and steps that slide along surfaces.

contact_search         solved without them, looked at, pushed out
free_postures          postures to start from, in which a body keeps off itself
slide                  the local search of a track, along surfaces
sliding_step           one step of it, with contacts as constraints
"""
