"""The same kernels as device functions of a graphics card.

general                any problem, one a warp
pose                   one full pose, one a thread
record                 what a launch reads and writes
table                  records as one table, and arrays by their address
translate              kernels as device functions
warp                   what the lanes of a warp do together
"""
