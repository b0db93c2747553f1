"""Bells: who waits is woken, by another thread, and by what was rung before."""

from __future__ import annotations

import threading
import time

import pytest

from memetik.kernels.compiler.wakeup import await_bell, new_bell, ring

pytestmark = pytest.mark.quick


def test_what_was_rung_before_is_not_lost():
    bell = new_bell()
    ring(bell)
    await_bell(bell)


def test_a_thread_sleeps_until_it_is_rung_for():
    bell, woken = new_bell(), threading.Event()

    def wait():
        await_bell(bell)
        woken.set()

    thread = threading.Thread(target=wait, daemon=True)
    thread.start()
    time.sleep(0.05)
    assert not woken.is_set()
    ring(bell)
    assert woken.wait(10.0)
    thread.join()
