"""The same kernels as device functions of a graphics card, one problem a thread.

general                any problem
pose                   one full pose
record                 what a launch reads and writes
translate              kernels as device functions
"""
