"""Clips: joint vectors over time, and what is done with them.

contacts               when feet stand
files                  read_motion: clips from files
mirror                 left for right
motion                 Motion itself: slices, blends, poses, velocities
turns                  rotations of many frames at once
"""
