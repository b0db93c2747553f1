"""The same kernels as device functions of a graphics card.

general                any problem, one a warp
orders                 how a leader has lanes work for it
pose                   one full pose, one a thread
record                 what a launch reads and writes
table                  records as one table, and arrays by their address
translate              kernels as device functions
warp                   what the lanes of a warp do together
warp_step              a damped step by the lanes of a warp
"""
