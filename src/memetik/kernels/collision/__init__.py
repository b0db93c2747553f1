"""Solids over many postures: which pairs of links ever meet, and whether a motion is free from one posture to the next.

solids_record  the solids of a body and of the world, and what is said of a motion
spread         how far the points of a solid can move while the joints do
pairs          contacts in many postures, and proofs that there are none
between        conservative advancement along a motion
sampling       distances of many points from triangles, and from grids of distances
"""
