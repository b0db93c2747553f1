"""Ten thousand hostile calls of all public names: each succeeds or says what is wrong, and none crashes or hangs."""

import inspect

import numpy as np
import pytest

import memetik as mk
from tests.stress.hostile import Target, complaint, complaints, some_call, targets
from tests.stress.sound import EXAMPLES, LEFT_OUT, NEEDED, RECORDS, sound


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # pictures are written to where the call is made


def test_ten_thousand_calls():
    found = complaints(10_000, seed=0)
    assert not found, "\n".join(found)


def test_every_name_takes_part():
    called = {target.name for target in targets()}
    for name in set(mk.__all__) - LEFT_OUT:
        value = getattr(mk, name)
        if callable(value) and not (isinstance(value, type) and issubclass(value, (BaseException, mk.Status))):
            assert name in called or value is mk.Solver, f"{name} is never called"
        if isinstance(value, type) and name not in RECORDS and name in called and name != "Objective":
            assert name in EXAMPLES, (
                f"no object of {name} is ever asked for anything: put one into tests/stress/sound.py"
            )


def test_calls_are_sound_but_for_what_is_hostile():
    """Otherwise a call would be refused for another argument than the hostile one."""
    refused = {target.name for target in targets() if not target.name.endswith("=") and not _succeeds(target)}
    # Files that are not there, a body without a closed form, a tree that is empty, no angle at all, nothing to bind, no target,
    # nothing that was attached, no pose to fall back to, nothing that could be in the way.
    assert refused == {
        "Analytic.check", "Analytic.solve", "Analytic.solve_all", "Body.detach_shape", "OFKT.predict", "Projection.pose",
        "Step.__call__", "Track.check_motion", "World.release", "bind", "euler", "read_srdf", "read_urdf", "read_xacro",
    }  # fmt: skip


def _succeeds(target):
    needed = [
        parameter
        for parameter in target.parameters
        if f"{target.name}.{parameter.name}" in NEEDED
        or (
            parameter.default is inspect.Parameter.empty
            and parameter.kind not in (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
        )
    ]
    try:
        target.bind()(**{parameter.name: sound(target.name, parameter.name) for parameter in needed})
    except mk.MemetikError:
        return False
    return True


def careless(number):
    return number + 1


def test_a_defect_is_found():
    target = Target("careless", tuple(inspect.signature(careless).parameters.values()), lambda: careless)
    calls = [some_call(target, np.random.default_rng(k)) for k in range(30)]
    assert any(complaint(call) is not None for call in calls)
