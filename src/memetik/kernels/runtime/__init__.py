"""What kernels need while they run: time, cancellation, random numbers, threads, and records, by which arguments cross.

cancel                 Ctrl-C and cancellation of a run
clock                  the time inside kernels
random                 counter-based random streams
record                 named tuples of arrays and numbers, declared once, as one argument
wakeup                 threads that sleep until they are woken
yield_thread           let other threads run
"""
