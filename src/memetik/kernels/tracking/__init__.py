"""Targets over time: each step or frame is solved from the one before.

tracking               targets that move
minimum_tracking       targets that only guide, step by step
pieces                 pieces of a path from many postures, and chains of them
guided                 targets that only guide, over many frames
"""
