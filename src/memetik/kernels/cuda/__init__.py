"""The same kernels as device functions of a graphics card.

bodies                 whole bodies in large batches, one a thread
closed_form            one full pose of six joints in closed form, one a thread
contacts               what touches at an answer to all else, one a thread
general                any problem, one for two warps
guided                 clips in windows, one a thread
inputs                 arrays on the device as rows of numbers
launch_record          what a launch reads and writes
pose                   one full pose, one a thread
rounds                 what is kept of a launch, and which rows are left for the next
straight_line          one problem as straight-line code
straight_line_functions  the functions in C that it consists of
table                  records as one table, and arrays by their address
terms                  the kernels of terms, by kind
trace                  kernels with symbols in place of numbers
translate              kernels as device functions
warp                   what the lanes of a warp do together
warp_messages          how the leader of a search has the lanes of the other warp work for it
warp_step              a damped step by the lanes of a warp
"""
