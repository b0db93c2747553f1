"""How kernels are compiled, cached and called, and what they need besides: time, signals, threads, random numbers.

atomics                integers that threads share
cache                  machine code on disk, verified before it is used
cancel                 Ctrl-C and cancellation of a run
clock                  the time inside kernels
compile_time           what a thread has spent on compilation
flags                  flags of a compilation that are compared quickly
foreign_array          arrays that kernels read by their address
function_pointers      calls of kernels by address
interruptible          compilation while the main thread can be interrupted
jit                    the ways kernels are compiled
lanes                  several numbers at once in a vector register
local_array            arrays on the stack of a kernel
only_load              kernels from disk or not at all
operators              the types of arithmetic, worked out once
part                   kernels as other kernels see them, without machine code
passes                 what Numba does with a function, without what no kernel needs
prebuilt               kernels that were compiled when the package was built
processor              the level of processors that they are for
random                 counter-based random streams
record                 named tuples of arrays and numbers, declared once, as one argument
second_compiler        a second process that compiles at the same time
second_process         what it does
wakeup                 threads that sleep until they are woken
yield_thread           let other threads run
"""
