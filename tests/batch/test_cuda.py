"""The code for graphics cards, in Numba's simulator: device functions as plain Python, one thread after the other."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import memetik as mk
from memetik.batch.cuda import require_cuda


def test_batches_in_the_simulator():
    """In a process of its own, because the simulator must be chosen before Numba is imported."""
    environment = {**os.environ, "NUMBA_ENABLE_CUDASIM": "1", "NUMBA_DISABLE_JIT": "1", "PYTHONWARNINGS": "ignore"}
    run = subprocess.run(
        [sys.executable, "-m", "tests.batch.simulated"],
        env=environment,
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    lines = run.stdout.splitlines()
    assert len(lines) >= 20
    assert [line for line in lines if not line.startswith("ok ")] == []


def test_without_a_card_the_error_says_what_to_do():
    with pytest.raises(mk.ProblemError, match=r"nvidia-smi.*device='cpu'"):
        require_cuda()
