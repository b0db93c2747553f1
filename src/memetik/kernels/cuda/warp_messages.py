"""How the leader of a search (warp.py) has the lanes of the other warp do something: an order, and two meetings."""

from typing import Any

import numba.cuda
import numpy as np

from memetik.kernels.cuda.launch_record import SIMULATED, WORDS

cuda: Any = numba.cuda  # it has no types

INTEGER, FLOAT = np.dtype(np.int64), np.dtype(np.float64)
WHOLE_WARP = 0xFFFFFFFF

# Shared memory begins with words: what is to be done, with which vector, number and row.
WORK, VECTOR, NUMBER, ROW, PANEL = 0, 1, 2, 3, 4
TARGET = 5  # then a pose
SLOTS = 12  # then a number and an index for each lane
TERMS = WORDS  # then a squared error and a verdict for each term, and a number for each variable

DONE, BEGIN, PLACE, MEASURE, LINEAR_MODEL, STEP = 0, 1, 2, 3, 4, 5
SHORTEN, TAKE_STEP, REMEMBER, RANK, BEST, END = 6, 7, 8, 9, 10, 11
DISTANCES, ANGLES, BOUNDED_STEP = 12, 13, 14


@cuda.jit(device=True)
def meet():
    """All lanes meet, and see what the others wrote."""
    if not SIMULATED:
        cuda.syncwarp(WHOLE_WARP)


@cuda.jit(device=True)
def order(work, vector, number):
    """Have the lanes do something, and wait until it is done."""
    words, numbers = cuda.shared.array(0, INTEGER), cuda.shared.array(0, FLOAT)
    words[WORK], words[VECTOR], numbers[NUMBER] = work, vector, number
    cuda.syncthreads()
    cuda.syncthreads()
