"""The questions a user asks of a body, and the answers when the question is wrong."""

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from memetik import Body, Frame
from memetik.body import OFKT, Chain
from memetik.build import Joint, Link
from memetik.errors import BodyError, GeometryError, MemetikError, UnknownNameError
from tests.naive.bodies import random_body

pytestmark = pytest.mark.quick


def arm(**fields):
    return Body(
        "arm",
        [Link("base"), Link("upper"), Link("hand", mass=1.5)],
        [
            Joint("shoulder", "revolute", "base", "upper", lower=0.5, upper=2.0),
            Joint("wrist", "spherical", "upper", "hand", lower=-1.0, upper=(1.0, 1.0, -0.25)),
        ],
        **fields,
    )


def test_names_and_places():
    body = arm()
    assert body.joint_names == ("shoulder", "wrist.rz", "wrist.rx", "wrist.ry")
    assert [body.index(name) for name in body.joint_names] == [0, 1, 2, 3]
    assert body.dof == 4 and body.root == "base" and body.mass == 1.5
    assert repr(body) == "<Body 'arm': 4 degrees of freedom, 3 links>"


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("sholder", "no free joint named 'sholder' in body 'arm'. Did you mean 'shoulder'?"),
        ("wrist", "Did you mean 'wrist.r"),
        ("x", "There are: shoulder, wrist.rz, wrist.rx, wrist.ry."),
    ],
)
def test_unknown_joint(name, message):
    with pytest.raises(UnknownNameError) as caught:
        arm().index(name)
    assert message in str(caught.value)
    assert isinstance(caught.value, KeyError) and isinstance(caught.value, MemetikError)


def test_unknown_name_in_an_empty_or_a_long_list():
    with pytest.raises(UnknownNameError, match="There are none"):
        Body("stone", [Link("stone")], []).index("x")
    with pytest.raises(UnknownNameError, match="joint11 and 8 more"):
        Body(
            "comb",
            [Link("base"), *(Link(f"link{k}") for k in range(20))],
            [Joint(f"joint{k}", "revolute", "base", f"link{k}") for k in range(20)],
        ).index("#")


# ---- Joint vectors ----------------------------------------------------------------------------------------


def test_home_is_zero_or_the_limit_nearest_to_it():
    assert_array_equal(arm().home, [0.5, 0.0, 0.0, -0.25])
    assert_array_equal(arm(home={"shoulder": 1.0, "wrist.rx": -0.5}).home, [1.0, 0.0, -0.5, -0.25])


@pytest.mark.parametrize("value", [0.4, 2.1, np.nan, np.inf])
def test_home_outside_the_limits(value):
    with pytest.raises(BodyError, match=r"home of joint 'shoulder' is .*, outside its limits 0.5 to 2"):
        arm(home={"shoulder": value})


def test_home_of_an_unknown_joint():
    with pytest.raises(UnknownNameError, match="no free joint named 'elbow'"):
        arm(home={"elbow": 0.0})


def test_home_beside_a_limit_by_rounding_is_put_on_it():
    assert arm(home={"shoulder": 0.5 - 1e-12}).home[0] == 0.5


def test_vector():
    body = arm()
    assert_array_equal(body.vector({}), body.home)
    assert_array_equal(body.vector({"wrist.ry": -0.5, "shoulder": 1.0}), [1.0, 0.0, 0.0, -0.5])
    assert_array_equal(body.vector({"shoulder": 1.0}, default=[2, 0.1, 0.2, -0.3]), [1.0, 0.1, 0.2, -0.3])
    with pytest.raises(UnknownNameError, match="Did you mean 'shoulder'"):
        body.vector({"sholder": 1.0})
    with pytest.raises(BodyError, match="has 4 free joints"):
        body.vector({}, default=[1.0])


def test_clip():
    assert_array_equal(arm().clip([9.0, -9.0, 0.3, 9.0]), [2.0, -1.0, 0.3, -0.25])


@given(seed=st.integers(0, 2**32 - 1), joints=st.integers(0, 10))
def test_home_samples_and_clipped_vectors_are_within_the_limits(seed, joints):
    rng = np.random.default_rng(seed)
    body = random_body(rng, joints)
    for q in (body.home, body.sample(rng), body.clip(rng.normal(scale=9.0, size=body.dof))):
        assert np.all((body.lower <= q) & (q <= body.upper)) and np.isfinite(q).all()
    assert_array_equal(body.sample(np.random.default_rng(7)), body.sample(np.random.default_rng(7)))


QUESTIONS = {
    "forward": lambda body, q: body.forward(q),
    "jacobian": lambda body, q: body.jacobian("hand", q),
    "center_of_mass": lambda body, q: body.center_of_mass(q),
    "OFKT": lambda body, q: OFKT(body).update(q),
    "clip": lambda body, q: body.clip(q),
    "vector": lambda body, q: body.vector({}, default=q),
}


@pytest.mark.filterwarnings("ignore:overflow")
@pytest.mark.parametrize("ask", QUESTIONS.values(), ids=QUESTIONS)
@pytest.mark.parametrize(
    ("q", "message"),
    [
        ([0.0] * 3, r"body 'arm' has 4 free joints, but the joint vector has shape \(3,\)"),
        ([[[0.0] * 4]], r"has shape \(1, 1, 4\). Give one number for each of body.joint_names"),
        (1.0, r"has shape \(\)"),
        ([0.0, np.nan, 0.0, np.nan], "the joint vector is not finite at wrist.rz, wrist.ry"),
        ([np.inf, 0.0, 0.0, 0.0], "not finite at shoulder"),
        ([np.inf, -np.inf, 0.0, 0.0], "not finite at shoulder, wrist.rz"),
        ([1e200, 0.0, 0.0, 0.0], "not finite at entries that are too large"),
        (["a", 0.0, 0.0, 0.0], "a joint vector of body 'arm' holds numbers"),
        ({"shoulder": 0.0}, "a joint vector of body 'arm' holds numbers"),
        ([[0.0], [1.0, 2.0], 0.0, 0.0], "a joint vector of body 'arm' holds numbers"),
    ],
)
def test_bad_joint_vectors(ask, q, message):
    with pytest.raises(BodyError, match=message):
        ask(arm(), q)


def test_any_sequence_of_numbers_is_a_joint_vector():
    body = arm()
    expected = body.forward(np.array([1.0, 0.0, 0.0, 0.0])).array
    for q in (
        [1, 0, 0, 0],
        (1.0, 0, 0, 0),
        np.array([1, 0, 0, 0], np.float32),
        np.array([1.0, 9, 0, 9, 0, 9, 0])[::2],
    ):
        assert_array_equal(body.forward(q).array, expected)


# ---- Frames, chains, pairs --------------------------------------------------------------------------------


def test_frames():
    body = arm()
    assert body.frame("hand").link == "hand"
    frame = body.frame("hand", (0, 0, 0.1))
    assert body.frame(frame) is frame
    assert_array_equal(body.frame(frame, (0, 0, 0.1)).link_from_frame[:3, 3], [0, 0, 0.2])
    with pytest.raises(UnknownNameError, match=r"no link named 'hnd' in body 'arm'. Did you mean 'hand'"):
        body.frame("hnd")
    with pytest.raises(UnknownNameError, match="no link named 'foot'"):
        body.jacobian(Frame("foot"), body.home)
    with pytest.raises(GeometryError):
        body.frame("hand", (0, 0))


def test_chains_and_touching_pairs_name_links_that_exist():
    body = arm(chains={"all": Chain("base", ("hand",))}, touching=[("hand", "base")])
    assert body.touching == {frozenset(("base", "hand"))}
    assert list(body.chains) == ["all"]
    with pytest.raises(UnknownNameError, match="no link named 'foot'"):
        arm(chains={"leg": Chain("base", ("foot",))})
    with pytest.raises(UnknownNameError, match="no link named 'foot'"):
        arm(touching=[("hand", "foot")])


# ---- It never changes -------------------------------------------------------------------------------------


def test_nobody_can_write_into_a_body():
    body = arm()
    variables = body.variables
    for array in (
        body.home,
        body.lower,
        body.upper,
        variables.velocity,
        variables.acceleration,
        variables.turns,
    ):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1


def test_answers_are_fresh(rng):
    """Writing into an answer changes neither the body nor the next answer."""
    body = random_body(rng, 6)
    q = body.sample(rng)
    given_q, poses, J = q.copy(), body.forward(q).array, body.jacobian("link6", q)
    kept = poses.copy(), J.copy()
    for answer in (poses, J, body.clip(q), body.vector({}, default=q), body.vector({}), body.sample(rng)):
        answer[:] = 7.0
    assert_array_equal(q, given_q)
    assert_array_equal(body.forward(q).array, kept[0])
    assert_array_equal(body.jacobian("link6", q), kept[1])


def test_a_body_can_be_sent_to_another_process(rng):
    body = random_body(rng, 6)
    copy = pickle.loads(pickle.dumps(body))
    q = body.sample(rng)
    assert copy.joint_names == body.joint_names
    assert_array_equal(copy.forward(q).array, body.forward(q).array)
