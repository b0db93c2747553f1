"""Motion planning: motions that are proved free in lanes, trees that grow towards each other, shorter paths.

proof            whether a motion keeps all pairs apart, eight postures at a time
planning_record  what the kernels read and write
trees            RRT-Connect
shortcuts        shorter paths
"""
