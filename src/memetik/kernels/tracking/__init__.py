"""Targets over time: each step or frame is solved from the one before.

tracking               targets that move
minimum_tracking       targets that only guide, step by step
guided                 targets that only guide, over many frames
"""
