"""Many postures at once: the same as one by one, and as Pinocchio and NumPy say."""

from importlib.resources import files

import numpy as np
import pinocchio as pin
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import memetik as mk
from memetik.body import rows
from memetik.errors import BodyError
from memetik.parallel import cores
from tests.naive.bodies import random_body
from tests.timing import ratio

EXACT = {"rtol": 0.0, "atol": 1e-12}


@pytest.fixture(scope="module")
def panda():
    return mk.load("panda")


def postures(body, count, seed=1):
    return np.random.default_rng(seed).uniform(body.lower, body.upper, (count, body.dof))


@pytest.mark.quick
@pytest.mark.parametrize("seed", range(3))
def test_rows_are_what_single_calls_give(seed):
    rng = np.random.default_rng(seed)
    body = random_body(rng, 8)
    q = np.array([body.sample(rng) for _ in range(7)])
    frame = body.frame("link8", offset=(0.1, 0.2, 0.3))
    poses, tips = body.forward(q), body.forward(q, frame)
    assert poses.array.shape == (7, len(body.links), 4, 4) and tips.shape == (7, 4, 4)
    for k, row in enumerate(q):
        assert_array_equal(poses["link5"][k], body.forward(row)["link5"])
        assert_allclose(tips[k], body.forward(row)[frame], **EXACT)
        assert_allclose(tips[k], poses[frame][k], **EXACT)
        assert_allclose(body.forward(row, frame), tips[k], **EXACT)
        assert_allclose(body.jacobian(frame, q)[k], body.jacobian(frame, row), **EXACT)
        assert_allclose(body.center_of_mass(q)[k], body.center_of_mass(row), **EXACT)


def test_against_pinocchio(panda):
    model = pin.buildModelFromXML((files("memetik.bodies") / "panda.urdf").read_text())
    data = model.createData()
    q = postures(panda, 20)
    columns = [panda.index(name) for name in model.names[1:] if name in panda.joint_names]
    wrist = model.getFrameId("panda_hand")
    tips, jacobians = panda.forward(q, "panda_hand"), panda.jacobian("panda_hand", q)
    many = panda.manipulability("panda_hand", q)
    for k, row in enumerate(q):
        given = np.zeros(model.nq)
        for name, value in zip(panda.joint_names, row, strict=True):
            given[model.joints[model.getJointId(name)].idx_q] = value
        pin.framesForwardKinematics(model, data, given)
        assert_allclose(tips[k], data.oMf[wrist].homogeneous, rtol=0.0, atol=1e-9)
        theirs = pin.computeFrameJacobian(model, data, given, wrist, pin.LOCAL_WORLD_ALIGNED)
        places = [model.joints[model.getJointId(panda.joint_names[c])].idx_v for c in columns]
        assert_allclose(jacobians[k][:, columns], theirs[:, places], rtol=0.0, atol=1e-9)
        assert many[k] == pytest.approx(np.sqrt(np.linalg.det(theirs @ theirs.T)), rel=1e-6)


@pytest.mark.quick
@pytest.mark.parametrize(("axes", "part"), [("all", slice(0, 6)), ("position", slice(0, 3)), ("rotation", slice(3, 6))])
def test_singular_values_are_those_of_numpy(panda, axes, part):
    q = postures(panda, 10)
    w, condition = panda.manipulability("panda_hand", q, axes=axes), panda.condition_number("panda_hand", q, axes=axes)
    for k, row in enumerate(q):
        sigma = np.linalg.svd(panda.jacobian("panda_hand", row)[part], compute_uv=False)
        assert w[k] == pytest.approx(np.prod(sigma), rel=1e-9)
        assert condition[k] == pytest.approx(sigma[0] / sigma[-1], rel=1e-9)
        assert panda.manipulability("panda_hand", row, axes=axes) == pytest.approx(w[k], rel=1e-12)


@pytest.mark.quick
def test_singular_postures():
    arm = mk.build.planar_chain((0.6, 0.4))
    assert arm.manipulability("tip", (0.3, 0.0)) == 0.0, "two joints cannot move a pose in six directions"
    assert arm.condition_number("tip", (0.3, 0.0)) == np.inf
    ur5 = mk.load("ur5")
    straight = np.zeros(ur5.dof)
    bent = np.array([0.3, -1.2, 1.5, -0.8, 1.1, 0.2])
    assert ur5.manipulability("tool0", straight) < 1e-12 < 1e-3 < ur5.manipulability("tool0", bent)


@pytest.mark.quick
def test_what_is_wrong_is_said(panda):
    with pytest.raises(BodyError, match=r"9 free joints|8 free joints"):
        panda.forward(np.zeros((4, 3)))
    bad = np.zeros((4, panda.dof))
    bad[2, 1] = np.nan
    with pytest.raises(BodyError, match="joint vector 2 is not finite at panda_joint2"):
        panda.jacobian("panda_hand", bad)
    with pytest.raises(BodyError, match="'rotation'"):
        panda.manipulability("panda_hand", panda.home, axes="yaw")
    assert panda.forward(np.zeros((0, panda.dof)), "panda_hand").shape == (0, 4, 4)


def test_threads_give_the_same(panda, monkeypatch):
    q = postures(panda, 64)
    alone = panda.forward(q, "panda_hand"), panda.manipulability("panda_hand", q)
    monkeypatch.setattr(rows, "LEAST", 8)
    assert_array_equal(panda.forward(q, "panda_hand"), alone[0])
    assert_array_equal(panda.manipulability("panda_hand", q), alone[1])


def test_input_is_left_alone(panda):
    q = postures(panda, 5)
    for given in (np.asfortranarray(q), q[::-1], q.tolist()):
        assert panda.forward(given, "panda_hand").shape == (5, 4, 4)
    frozen = q.copy()
    frozen.setflags(write=False)
    assert_array_equal(panda.forward(frozen, "panda_hand"), panda.forward(q, "panda_hand"))


@pytest.mark.timed
def test_rows_take_a_fraction_of_single_calls(panda):
    q = postures(panda, 4000)  # too few for a second thread, whose time would not count
    panda.forward(q, "panda_hand")
    assert ratio(lambda: panda.forward(q, "panda_hand"), lambda: [panda.forward(row) for row in q], 5) < 0.5


def test_many_rows_are_worked_on_in_rounds(monkeypatch):
    """In between, an interrupt is answered: a million rows would keep it waiting for seconds."""
    rounds, in_parts = [], rows.in_parts

    def counted(work, count, least):
        rounds.append(count)
        return in_parts(work, count, least)

    monkeypatch.setattr(rows, "in_parts", counted)
    body = mk.load("panda")
    q = np.random.default_rng(0).uniform(body.lower, body.upper, (50_000, body.dof))
    assert_array_equal(body.forward(q, "panda_hand")[-1], body.forward(q[-1], "panda_hand"))
    assert_array_equal(body.jacobian("panda_hand", q)[40_000], body.jacobian("panda_hand", q[40_000]))
    assert sum(rounds) == 2 * len(q) and max(rounds) <= rows.LEAST * max(cores(), 2)
