"""What the second process does (second_compiler.py): it compiles kernels, which go to the cache on disk.

Each message on stdin names a kernel, says whether its part is wanted or its machine code, and has the types of its arguments.
Before the first and after each, a line on stdout says that it is ready for the next. What fails is left to the first process,
which will fail as well and say why.
"""

import _thread
import contextlib
import importlib
import os
import pickle
import queue
import signal
import sys
import threading
import time
from typing import Any

from numba.core.registry import cpu_target

PATIENCE = 0.3  # s to come to an end; one function may keep the compiler for seconds


def work() -> None:
    """Compile what is asked for until the first process ends, or says that this is all."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the first process
    signal.signal(signal.SIGTERM, _exit)
    wanted: queue.SimpleQueue[tuple[str, str, bool, Any]] = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(wanted,), daemon=True).start()
    answers, sys.stdout = sys.stdout, sys.stderr  # nobody else may print there
    cpu_target.typing_context.refresh()
    cpu_target.target_context.refresh()  # as its first compilation would: takes a while
    while True:
        print(file=answers, flush=True)
        module, name, is_part, arguments = wanted.get()
        with contextlib.suppress(Exception):
            kernel = getattr(importlib.import_module(module), name)
            (kernel.part if is_part else kernel).compile(arguments)


def _listen(wanted: Any) -> None:
    """Pass on what is asked for. The system closes stdin when the first process ends, however it does."""
    with contextlib.suppress(EOFError):
        while True:
            wanted.put(pickle.load(sys.stdin.buffer))
    _thread.interrupt_main(signal.SIGTERM)  # a file that is being written is removed
    time.sleep(PATIENCE)
    os._exit(1)


def _exit(number: int, frame: object) -> None:
    raise SystemExit
