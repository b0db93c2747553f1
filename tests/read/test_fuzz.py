"""Whatever a file holds, the readers answer with a body or with an error of memetik's own."""

import warnings

from hypothesis import given, settings
from hypothesis import strategies as st

from memetik.errors import MemetikError, MemetikWarning
from memetik.read import apply_srdf, parse_srdf, parse_urdf
from tests.read.accidents import ACTIONS, mutate
from tests.read.samples import SRDF, URDF

fuzz = settings(deadline=None, derandomize=True, max_examples=200)

ARM = parse_urdf(URDF)
mutation = st.tuples(
    st.sampled_from(ACTIONS),
    st.integers(0, 10_000),
    st.integers(0, 10_000),
)
mutations = st.lists(mutation, min_size=1, max_size=4)


def survives(read, data):
    """True if there was a body; every error but memetik's own, and every warning of numpy, fails the test."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", MemetikWarning)
        try:
            body = read(data)
            body.forward(body.home)
        except MemetikError as error:
            assert str(error), "an error must say something"
            return False
    return True


def read_urdf_text(data):
    return parse_urdf(data, soft_limits=True)


def read_srdf_text(data):
    return apply_srdf(ARM, parse_srdf(data))


def test_the_samples_survive_untouched():
    assert survives(read_urdf_text, mutate(URDF, [])) and survives(read_srdf_text, mutate(SRDF, []))


@fuzz
@given(st.binary(max_size=200) | st.text(max_size=200))
def test_noise(data):
    assert not survives(read_urdf_text, data)
    assert not survives(read_srdf_text, data)


@fuzz
@given(mutations)
def test_accidents_in_urdf(steps):
    survives(read_urdf_text, mutate(URDF, steps))


@fuzz
@given(mutations)
def test_accidents_in_srdf(steps):
    survives(read_srdf_text, mutate(SRDF, steps))


@fuzz
@given(st.integers(0, len(URDF)), st.binary(max_size=4))
def test_bytes_in_the_middle(place, noise):
    data = URDF.encode()
    survives(read_urdf_text, data[:place] + noise + data[place + len(noise) :])
