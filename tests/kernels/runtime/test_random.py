"""Random numbers: SplitMix64 by its published values, streams that have nothing to do with each other."""

import numpy as np
import pytest

from memetik.kernels.runtime.random import mix, seed_stream, uniform

pytestmark = pytest.mark.quick

GOLDEN = 0x9E3779B97F4A7C15
# The first outputs of SplitMix64 for the seed 1234567, as published with the generator's description.
PUBLISHED = (
    6457827717110365317,
    3203168211198807973,
    9817491932198370423,
    4593380528125082431,
    16408922859458223821,
)


def splitmix(state):
    """SplitMix64 in Python's own integers: the next state and the number that belongs to it."""
    state = (state + GOLDEN) % 2**64
    z = ((state ^ (state >> 30)) * 0xBF58476D1CE4E5B9) % 2**64
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) % 2**64
    return state, z ^ (z >> 31)


def stream(seed, number, count):
    state = np.zeros(1, dtype=np.uint64)
    seed_stream(state, seed, number)
    return np.array([uniform(state) for _ in range(count)])


def test_the_twin_is_splitmix():
    state, numbers = 1234567, []
    for _ in PUBLISHED:
        state, number = splitmix(state)
        numbers.append(number)
    assert tuple(numbers) == PUBLISHED


def test_uniform_takes_the_upper_53_bits_of_splitmix():
    state = np.array([1234567], dtype=np.uint64)
    for number in PUBLISHED:
        assert uniform(state) == (number >> 11) / 2**53


@pytest.mark.parametrize("seed", [0, 1, 2, 20170601, 2**63 - 1])
def test_mix(seed):
    assert int(mix(np.uint64(seed) + np.uint64(GOLDEN))) == splitmix(seed)[1]


@pytest.mark.parametrize(("seed", "number"), [(0, 0), (0, 1), (7, 0), (7, 2), (2**62, 5)])
def test_where_a_stream_begins(seed, number):
    state = np.zeros(1, dtype=np.uint64)
    seed_stream(state, seed, number)
    first = splitmix(seed)[1] + number * GOLDEN
    assert int(state[0]) == splitmix((first - GOLDEN) % 2**64)[1]


def test_a_stream_starts_again_at_its_beginning():
    assert np.array_equal(stream(5, 1, 50), stream(5, 1, 50))


def test_numbers_fill_the_unit_interval_evenly():
    numbers = stream(0, 0, 4000)
    assert numbers.min() >= 0.0 and numbers.max() < 1.0
    counts = np.histogram(numbers, bins=20, range=(0.0, 1.0))[0]
    # Chi squared with 19 degrees of freedom stays below 43.8 in 999 of 1000 cases.
    assert ((counts - 200.0) ** 2 / 200.0).sum() < 43.8
    assert numbers.mean() == pytest.approx(0.5, abs=0.02)
    assert abs(np.corrcoef(numbers[:-1], numbers[1:])[0, 1]) < 0.05


def test_streams_and_seeds_differ():
    """Neighbouring seeds and streams share no number and are not correlated."""
    made = [stream(seed, number, 500) for seed in range(4) for number in range(4)]
    assert len(np.unique(np.concatenate(made))) == 16 * 500
    correlations = np.corrcoef(made)[np.triu_indices(16, 1)]
    assert np.abs(correlations).max() < 0.2
