"""Clips: joint vectors over time, and what is done with them.

contacts               when feet stand
edit                   objectives over spans of a clip
feet                   soles on a terrain
files                  read_motion: clips from files
gait                   walks and runs out of nothing
mirror                 left for right
motion                 Motion itself: slices, blends, poses, velocities
tables                 joint values as .csv and .npz, rotations as SMPL has them
turns                  rotations of many frames at once
"""
