"""Random numbers as a counter: stream k of a seed gives the same numbers on every machine and thread."""

import numpy as np

from memetik.kernels.compiler.jit import jit

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX_2 = np.uint64(0x94D049BB133111EB)
_S30, _S27, _S31, _S11 = np.uint64(30), np.uint64(27), np.uint64(31), np.uint64(11)
_UNIT = 1.0 / 9007199254740992.0  # 2 ** -53


@jit
def mix(z):
    """SplitMix64's finaliser: neighbouring integers become unrelated ones."""
    z = (z ^ (z >> _S30)) * _MIX_1
    z = (z ^ (z >> _S27)) * _MIX_2
    return z ^ (z >> _S31)


@jit
def seed_stream(state, seed, stream):
    """Set `state` (uint64 array of one) to the beginning of a stream."""
    state[0] = mix(mix(np.uint64(seed) + _GOLDEN) + np.uint64(stream) * _GOLDEN)


@jit
def uniform(state):
    """The next number in [0, 1)."""
    state[0] += _GOLDEN
    return (mix(state[0]) >> _S11) * _UNIT
