"""Bells: who waits is woken, by another thread, and by what was rung before."""

from __future__ import annotations

import threading
import time

import pytest

from memetik.kernels.runtime.wakeup import new_wakeup, wait_for_wakeup, wake

pytestmark = pytest.mark.quick


def test_what_was_rung_before_is_not_lost():
    wakeup = new_wakeup()
    wake(wakeup)
    wait_for_wakeup(wakeup)


def test_a_thread_sleeps_until_it_is_rung_for():
    wakeup, woken = new_wakeup(), threading.Event()

    def wait():
        wait_for_wakeup(wakeup)
        woken.set()

    thread = threading.Thread(target=wait, daemon=True)
    thread.start()
    time.sleep(0.05)
    assert not woken.is_set()
    wake(wakeup)
    assert woken.wait(10.0)
    thread.join()
