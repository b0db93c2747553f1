"""The code for graphics cards, in Numba's simulator: device functions as plain Python, one thread after the other.

Where there is a device, it is compared with the processor.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from numba import cuda

import memetik as mk
from memetik.batch.device import require_cuda
from memetik_lab.claims import walker

CARD = cuda.is_available()


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


@pytest.mark.only_if(not CARD, "machines without a graphics card")
def test_without_a_card_the_error_says_what_to_do():
    with pytest.raises(mk.errors.ProblemError, match=r"nvidia-smi.*device='cpu'"):
        require_cuda()
    kyle = mk.load("kyle", base="floating")
    clip = mk.Motion(kyle, [0.0], [kyle.home])
    with pytest.raises(mk.errors.ProblemError, match=r"nvidia-smi.*device='cpu'"):
        mk.retarget(clip, kyle, device="cuda")


@pytest.mark.only_if(CARD, "machines with a graphics card")
def test_a_card_follows_clips_as_the_processor_does():
    walk = walker.walk(10.0, 30.0)
    clips, body = [walk, walk[17:200].turned(2.0), walk.mirrored()], mk.load("g1")
    plan = mk.motion.retarget_plan(walk, body)
    card, processor = (mk.retarget(clips, body, plan=plan, device=device) for device in ("cuda", "cpu"))
    for one, other in zip(card, processor, strict=True):
        np.testing.assert_allclose(one.q, other.q, atol=2e-5)
        assert (one.report.reached == other.report.reached).all()


@pytest.mark.only_if(CARD, "machines with a graphics card")
def test_a_card_judges_as_the_processor_does(rng):
    body = mk.load("panda")
    pose = mk.Pose("panda_hand", np.eye(4))
    problem = mk.Problem(body, pose)
    targets = np.array([body.forward(body.sample(rng))["panda_hand"] for _ in range(200)])
    targets[::20, 0, 3] += 3.0  # out of reach
    starts = np.array([body.sample(rng) for _ in targets])
    card, processor = (mk.solve_batch(problem, {pose: targets}, starts, device=device) for device in ("cuda", "cpu"))
    assert card.device == "a graphics card"
    assert (card.status == processor.status).all() and card.success.sum() == 190
    assert ((card.q >= body.lower) & (card.q <= body.upper)).all()
    for q, target in zip(card.q[card.success], targets[card.success], strict=True):
        np.testing.assert_allclose(body.forward(q)["panda_hand"], target, atol=2e-3)


@pytest.mark.only_if(CARD, "machines with a graphics card")
def test_arrays_on_the_card_give_what_numpy_arrays_do(rng):
    body = mk.load("panda")
    pose = mk.Pose("panda_hand", np.eye(4))
    problem = mk.Problem(body, pose)
    targets = np.array([body.forward(body.sample(rng))["panda_hand"] for _ in range(200)])
    starts = np.array([body.sample(rng) for _ in targets])
    usual = mk.solve_batch(problem, {pose: targets}, starts, device="cuda")
    card = mk.solve_batch(problem, {pose: cuda.to_device(targets)}, cuda.to_device(starts), device="cuda")
    assert isinstance(card, mk.batch.DeviceBatchSolution)
    np.testing.assert_allclose(card.numpy().q, usual.q, atol=1e-9)
    np.testing.assert_array_equal(cuda.as_cuda_array(card.success).copy_to_host(), usual.success)
    np.testing.assert_allclose(cuda.as_cuda_array(card.errors[pose]).copy_to_host(), usual.errors[pose], atol=1e-9)
