"""The worker: a longer search and an explanation, in a process of its own."""

import os
import queue
import signal

import pytest

from memetik import scenes
from memetik_studio.jobs import search
from memetik_studio.session import Session
from memetik_studio.worker import Worker
from tests.studio.patience import patient


@pytest.fixture
def worker():
    made = Worker()
    yield made
    made.close()


def ask(worker, session):
    answers = queue.Queue()
    worker.ask(answers.put, search, scenes.dumps(session.scene), session.goal.tolist(), ())
    return answers.get(timeout=400)


def test_it_explains_a_failure_and_survives_its_end(worker):
    session = Session(patient("arm reach"))
    session.move("hand", (3.0, 0.0, 0.4))
    answer = ask(worker, session)
    assert not answer.success and "the chain from there reaches at most" in answer.explanation
    scene = session.scene
    session.move("hand", (0.5, 0.1, 0.4))
    assert not session.answer(scene, *answer), "an answer about another scene is not taken"
    assert session.explanation == ""

    os.kill(next(iter(worker._pool._processes)), signal.SIGKILL)
    session.move("hand", (3.0, 0.0, 0.4))
    worker._pool._executor_manager_thread.join(timeout=60)
    assert "reaches at most" in ask(worker, session).explanation


def test_what_it_finds_is_taken(worker):
    session = Session(patient("arm reach"))
    session.set_live(False)
    session.move("hand", (0.4, 0.2, 0.5))
    session.live = True
    answer = ask(worker, session)
    assert answer.success
    assert session.answer(session.scene, *answer) and session.reached and session.explanation == ""


def test_nothing_is_begun_after_the_end():
    """A thread that prepares a scene asks when it is ready, which may be late."""
    worker, answers = Worker(), []
    worker.ask(answers.append, os.getpid).result(timeout=60)
    (process,) = worker._pool._processes.values()
    worker.close()
    assert not process.is_alive()
    assert worker.ask(answers.append, os.getpid).cancelled()
    assert worker._pool is None and len(answers) == 1
    worker.close()
