"""The step of a whole body in blocks, against numpy."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import memetik as mk
from memetik.kernels.compiler.jit import jit
from memetik.kernels.problem.blocks import gather_blocks, step_by_blocks
from tests.kernels.flat import Flat
from tests.naive.steps import damped_step

pytestmark = pytest.mark.quick

FINGERS = ("ThumbPitch3", "IndexFingerPitch3", "MiddleFingerPitch3", "PinkyPitch3")


@jit
def step(problem, damping, work):
    gather_blocks(problem, work)
    step_by_blocks(problem, damping, work)


def bodies():
    """Limbs on a trunk that slides; limbs without a trunk; fingers on an arm, one link of which is wanted, too; a chain."""
    valkyrie = mk.load("valkyrie").with_base("xyz", lower=-1.0, upper=1.0)
    wrists = [mk.Pose(link, np.eye(4)) for link in ("rightPalm", "leftPalm", "rightFoot", "leftFoot")]
    yield valkyrie, [*wrists, mk.LookAt("head", (1, 0, 0), axis=(1, 0, 0))]
    yield mk.load("valkyrie"), [mk.Pose("rightFoot", np.eye(4)), mk.Position("leftFoot", np.zeros(3))]
    fingers = [mk.Position(f"right{name}Link", np.zeros(3)) for name in FINGERS]
    yield mk.load("valkyrie"), [mk.Orientation("rightPalm", np.eye(3)), *fingers]
    yield mk.load("panda"), [mk.Position("panda_hand", np.zeros(3)), mk.Position("panda_link4", np.zeros(3))]


@pytest.mark.parametrize("which", range(4))
@pytest.mark.parametrize("damping", [0.5, 1e-3])
def test_the_step_is_that_of_numpy(which, damping, rng):
    body, objectives = list(bodies())[which]
    guides = [mk.Displacement(weight=0.1), mk.JointValue(body.joint_names[-1], 0.3)]
    for wanted in (objectives, [*objectives, *guides]):
        flat = Flat(mk.Problem(body, wanted))
        w, x = flat.work, flat.sample(rng)
        for held in (0.0, 0.3, 1.0):
            flat.linearise(x, 1.0)
            w.free[:] = rng.random(x.size) >= held
            step(flat.problem, damping, w)
            expected = damped_step(w.jacobian, w.residual, w.gradient, w.diagonal, w.free, damping)
            assert_allclose(w.step, expected, rtol=0.0, atol=1e-10 * max(1.0, np.abs(expected).max()) / damping)
            assert_array_equal(w.step[w.free == 0.0], 0.0)


def test_the_next_step_reads_the_jacobian_again(rng):
    body, objectives = next(bodies())
    flat = Flat(mk.Problem(body, objectives))
    for _ in range(3):
        flat.linearise(flat.sample(rng))
        flat.work.free[:] = 1.0
        step(flat.problem, 0.1, flat.work)
        w = flat.work
        expected = damped_step(w.jacobian, w.residual, w.gradient, w.diagonal, w.free, 0.1)
        assert_allclose(w.step, expected, rtol=0.0, atol=1e-10)
