"""Sine and cosine against the C library."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memetik.kernels.compiler.jit import jit
from memetik.kernels.compiler.lanes import LANES, put, take
from memetik.kernels.math.sincos import FAR, sincos, sincos_lanes
from tests.kernels.compiler.test_lanes import aligned

ULP = 2.0**-52

pytestmark = pytest.mark.quick


@jit
def fill(angles, sines, cosines):
    for k in range(angles.size):
        sines[k], cosines[k] = sincos(angles[k])


@pytest.mark.parametrize("reach", [1e-3, 1.0, 7.0, 100.0, FAR, 100.0 * FAR])
def test_as_the_c_library(reach):
    angles = np.random.default_rng(1).uniform(-reach, reach, 2000)
    sines, cosines = np.empty_like(angles), np.empty_like(angles)
    fill(angles, sines, cosines)
    assert np.abs(sines - np.sin(angles)).max() <= ULP
    assert np.abs(cosines - np.cos(angles)).max() <= ULP


@jit
def fill_lanes(angles, sines, cosines):
    for k in range(angles.shape[0]):
        s, c = sincos_lanes(take(angles, k))
        put(sines, k, s)
        put(cosines, k, c)


@pytest.mark.parametrize("reach", [1e-3, 7.0, FAR])
def test_lanes_as_the_c_library(reach):
    angles, sines, cosines = aligned(250, LANES), aligned(250, LANES), aligned(250, LANES)
    angles[:] = np.random.default_rng(1).uniform(-reach, reach, angles.shape)
    fill_lanes(angles, sines, cosines)
    assert np.abs(sines - np.sin(angles)).max() <= ULP
    assert np.abs(cosines - np.cos(angles)).max() <= ULP


@given(st.integers(-4000, 4000), st.floats(-1e-9, 1e-9))
def test_around_quarter_turns(quarters, off):
    """Where one of the two is nearly zero, its relative error counts."""
    angle = quarters * 0.5 * math.pi + off
    s, c = sincos(angle)
    assert s == pytest.approx(math.sin(angle), rel=4e-16, abs=1e-30)
    assert c == pytest.approx(math.cos(angle), rel=4e-16, abs=1e-30)


def test_odd_and_even():
    for angle in np.linspace(0.0, 20.0, 101):
        s, c = sincos(angle)
        assert sincos(-angle) == (-s, c)


def test_what_is_no_angle():
    assert all(math.isnan(value) for value in sincos(math.nan))
    assert sincos(0.0) == (0.0, 1.0)
