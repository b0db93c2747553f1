"""GravityTorque: torques as Pinocchio has them, and arms that can bear their own weight."""

import numpy as np
import pinocchio
import pytest
from scipy.optimize import minimize

import memetik as mk
from memetik import bodies
from tests.naive.bodies import random_body


def arm():
    """Two heavy links, the second longer than the first can hold out, and a hand."""
    builder = mk.build.BodyBuilder("arm")
    builder.add("base", "turn", "revolute", "column", axis=(0, 0, 1), lower=-3, upper=3, mass=2.0)
    builder.add("column", "shoulder", "revolute", "upper", origin=(0, 0, 0.4), axis=(0, 1, 0), lower=-2, upper=2, effort=10.0,
                shapes=[mk.Shape("capsule", (0.03, 0.4), mk.translation(0, 0, 0.2))], mass=2.0)  # fmt: skip
    builder.add("upper", "elbow", "revolute", "lower", origin=(0, 0, 0.4), axis=(0, 1, 0), lower=-2.5, upper=2.5, effort=8.0,
                shapes=[mk.Shape("capsule", (0.03, 0.4), mk.translation(0, 0, 0.2))], mass=1.5)  # fmt: skip
    builder.add("lower", "wrist", "revolute", "hand", origin=(0, 0, 0.4), axis=(0, 1, 0), lower=-2, upper=2, mass=0.5)
    return builder.build()


@pytest.mark.parametrize("name", ["ur5", "baxter", "valkyrie"])
@pytest.mark.parametrize("floating", [False, True])
def test_torques_are_those_of_pinocchio(name, floating):
    """A fixed base, and one that floats, whose six numbers are forces and torques there and angles here."""
    path = str(bodies.path(name))
    model = pinocchio.buildModelFromUrdf(path, *([pinocchio.JointModelFreeFlyer()] if floating else []))
    body = mk.load(name, base="floating" if floating else "fixed")
    data, rng = model.createData(), np.random.default_rng(1)
    mimics = {joint.mimic.source for joint in body.joints.values() if joint.mimic is not None}
    names = [joint for joint in body.joint_names if joint in model.names and joint not in mimics]
    assert len(names) >= 6 and body.mass > 5.0
    for _ in range(5):
        q = body.sample(rng)
        expected = pinocchio.computeGeneralizedGravity(model, data, body.to_pinocchio(q, model))
        torque = body.gravity_torque(q)
        assert np.abs(expected).max() > 1.0
        for joint in names:
            v = model.joints[model.getJointId(joint)].idx_v
            assert torque[body.index(joint)] == pytest.approx(expected[v], abs=1e-10)


def test_a_tilted_root_turns_gravity():
    body, rng = mk.load("ur5"), np.random.default_rng(2)
    root = mk.transform((1, 2, 3), mk.geometry.random_rotation(rng))
    q = np.array([body.sample(rng) for _ in range(4)])
    turned = body.gravity_torque(q, gravity=root[:3, :3].T @ (0, 0, -9.81))
    assert np.abs(turned).max() > 1.0
    np.testing.assert_allclose(body.gravity_torque(q, root=root), turned, rtol=0, atol=1e-12)
    np.testing.assert_allclose(body.gravity_torque(q[1], root=root), turned[1], rtol=0, atol=1e-12)


@pytest.mark.quick
@pytest.mark.parametrize("share", [0.0, 0.4])
def test_error_is_that_of_the_body_over_its_efforts(share):
    body, rng = arm(), np.random.default_rng(3)
    wish = mk.GravityTorque({"turn": np.inf, "wrist": 1.0}, effort_fraction=share)
    problem = mk.Problem(body, [wish, mk.Displacement()])
    efforts = np.array([10.0, 8.0, 1.0])
    for _ in range(5):
        q = body.sample(rng)
        over = np.maximum(0.0, np.abs(body.gravity_torque(q)[1:]) / efforts - share)
        assert mk.Solution.of(problem, q).errors[wish] == pytest.approx(np.linalg.norm(over), abs=1e-12)


def test_mimic_joints_weigh_on_the_joint_they_follow():
    """The torque is the slope of the potential energy along what the variable moves."""
    rng = np.random.default_rng(4)
    body = random_body(rng, 8, ["revolute", "prismatic", "screw"])
    body = mk.Body("coupled", body.links.values(), [
        joint if k != 5 else mk.build.Joint(joint.name, "revolute", joint.parent, joint.child, joint.origin, joint.axis,
                                      mimic=mk.build.Mimic(body.joint_names[1], -0.7, 0.2))
        for k, joint in enumerate(body.joints.values())
    ])  # fmt: skip
    q, step = body.sample(rng), 1e-6
    energy = [9.81 * body.mass * body.center_of_mass(q + sign * step * np.eye(body.dof))[:, 2] for sign in (1, -1)]
    np.testing.assert_allclose(body.gravity_torque(q), (energy[0] - energy[1]) / (2 * step), rtol=1e-6, atol=1e-6)
    wish = mk.GravityTorque(dict.fromkeys(body.joint_names, 1.0), effort_fraction=0.0)
    error = mk.Solution.of(mk.Problem(body, wish), q).errors[wish]
    assert error == pytest.approx(np.linalg.norm(body.gravity_torque(q)), rel=1e-12)


def test_an_arm_reaches_where_its_motors_can_hold_it():
    body = arm()
    reach, bear = mk.Position("hand", (0.35, 0.0, 0.75)), mk.GravityTorque()
    limits = {"shoulder": 10.0, "elbow": 8.0}
    weak = strong = 0
    rng = np.random.default_rng(5)
    for _ in range(50):
        start = body.sample(rng)
        careless, careful = (mk.solve(mk.Problem(body, wishes), start) for wishes in ([reach], [reach, bear]))
        assert careless.success and careful.success
        for joint, most in limits.items():
            k = body.index(joint)
            weak += abs(body.gravity_torque(careless.q)[k]) > most
            strong += abs(body.gravity_torque(careful.q)[k]) > most * (1 + 1e-6)
    assert strong == 0 < weak


def test_out_of_reach_of_the_motors_it_says_so():
    solution = mk.solve(
        mk.Problem(arm(), [mk.Position("hand", (0.79, 0.0, 0.41)), mk.GravityTorque()]), budget=mk.Budget(2000)
    )
    assert not solution.success
    assert "GravityTorque" in str(solution)


def test_as_a_guide_it_finds_the_posture_that_rests_most_easily():
    """Of those that SciPy finds by quasi-Newton steps from many starts."""
    body = arm()
    efforts = {"shoulder": 10.0, "elbow": 8.0, "wrist": 5.0}
    wish = mk.GravityTorque(efforts, effort_fraction=0.0, tolerance=None)
    columns, most = [body.index(joint) for joint in efforts], np.array(list(efforts.values()))
    q = mk.solve(mk.Problem(body, wish), body.home + 0.5).q
    rng = np.random.default_rng(6)
    bounds = list(zip(body.lower, body.upper, strict=True))
    least = min(
        minimize(lambda q: np.sum((body.gravity_torque(q)[columns] / most) ** 2), body.sample(rng), bounds=bounds).fun
        for _ in range(5)
    )
    assert np.sum((body.gravity_torque(q)[columns] / most) ** 2) <= least + 1e-8


def test_gravity_and_share_change_in_place():
    body, wish = arm(), mk.GravityTorque(effort_fraction=0.0)
    problem = mk.Problem(body, wish)
    before = problem.compiled
    q = body.home + 0.3
    earth = mk.Solution.of(problem, q).errors[wish]
    wish.gravity = (0.0, 0.0, -1.62)
    assert mk.Solution.of(problem, q).errors[wish] == pytest.approx(earth * 1.62 / 9.81, rel=1e-12)
    wish.effort_fraction = 10.0
    assert mk.Solution.of(problem, q).errors[wish] == 0.0
    assert problem.compiled is before


def test_locked_joints_do_not_count():
    wish = mk.GravityTorque(effort_fraction=0.0)
    body = arm()
    problem = mk.Problem(body, wish, lock={"shoulder": 0.7})
    q = problem.start(None)
    q[body.index("elbow")] = 0.4
    expected = abs(body.gravity_torque(q)[body.index("elbow")]) / 8.0
    assert mk.Solution.of(problem, q).errors[wish] == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize(
    ("effort", "body", "match"),
    [
        ({"nobody": 1.0}, arm, "nobody"),
        ({"wrist": 0.0}, arm, "positive"),
        (None, lambda: mk.build.planar_chain(3), "nobody says|no mass"),
    ],
)
def test_what_makes_no_sense_is_refused(effort, body, match):
    with pytest.raises(mk.MemetikError, match=match):
        mk.Problem(body(), mk.GravityTorque(effort))
