"""How kernels are compiled, cached and called: all that reaches into Numba and LLVM, but for records (runtime/record.py).

From a function to machine code on disk:

cache                  machine code on disk, verified before it is used
compile_time           what a thread has spent on compilation
flags                  flags of a compilation that are compared quickly
interruptible          compilation while the main thread can be interrupted
jit                    the ways kernels are compiled
only_load              kernels from disk or not at all
operators              the types of arithmetic, worked out once
part                   kernels as other kernels see them, without machine code
passes                 what Numba does with a function, without what no kernel needs
prebuilt               kernels that were compiled when the package was built
processor              the level of processors that they are for
second_compiler        a second process that compiles at the same time
second_process         what it does

What kernels can do that Numba does not know:

atomics                integers that threads share
foreign_array          arrays that kernels read by their address
function_pointers      calls of kernels by address
lanes                  several numbers at once in a vector register
local_array            arrays on the stack of a kernel
"""
