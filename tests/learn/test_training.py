"""RPROP on real errors: it lowers them, stops when it should, and shows its progress to people only."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from memetik.learn.training import CHECK, FeedForwardError, first_weights, train


@pytest.fixture
def task(rng):
    """A smooth function of two numbers to learn, and fresh points of it to check with."""
    inputs = rng.random((400, 2))
    wanted = 0.5 + 0.4 * np.sin(3.0 * inputs[:, :1]) * np.cos(4.0 * inputs[:, 1:])
    sizes = [2, 8, 1]
    learn = FeedForwardError(sizes, inputs[:200], wanted[:200])
    check = FeedForwardError(sizes, inputs[200:], wanted[200:])
    return first_weights(sizes, rng), learn, check


def test_training_lowers_the_error(task):
    weights, learn, check = task
    before = check.value(weights)
    lesson = train(weights, learn.slope, check.value, epochs=300, patience=300, label="test")
    assert lesson.validation_error < before / 50.0
    assert lesson.validation_error == check.value(weights)  # what is kept is what was reported
    assert lesson.training_error == pytest.approx(learn.value(weights))
    assert 0 < lesson.epochs <= 300


def test_training_ends_when_nothing_is_gained():
    calls = []

    def slope(weights, gradient):
        calls.append(None)
        gradient[:] = 1.0
        return 0.0

    weights = np.array([5.0])
    lesson = train(weights, slope, lambda w: 1.0 + abs(w[0] - 5.0), epochs=1000, patience=3 * CHECK, label="test")
    assert len(calls) == 3 * CHECK + 1
    assert lesson == (0.0, 1.0, 0)
    assert weights[0] == 5.0  # the best weights were the first


@pytest.mark.parametrize("terminal", [False, True])
def test_progress_is_shown_on_a_terminal_only(task, monkeypatch, capsys, terminal):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: terminal, raising=False)
    weights, learn, check = task
    train(weights, learn.slope, check.value, epochs=20, patience=20, label="learning test")
    shown = capsys.readouterr().err
    assert ("learning test: epoch" in shown) is terminal
    assert shown.endswith("\r\033[K") is terminal  # and wiped off at the end
