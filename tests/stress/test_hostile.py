"""Ten thousand hostile calls of all public names: each succeeds or says what is wrong, and none crashes or hangs."""

import inspect

import numpy as np
import pytest
from tools.docs import reference

import memetik as mk
from tests.stress.hostile import Endless, Mute, Target, complaint, complaints, some_call, targets
from tests.stress.sound import EXAMPLES, LEFT_OUT, NEEDED, RECORDS, clip, problem, sound

# The sole of an example: a chain that lies on its side, so that its last link is below its tip.
pytestmark = pytest.mark.filterwarnings("ignore:place_feet")


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # pictures are written to where the call is made


def test_ten_thousand_calls():
    found = complaints(10_000, seed=0)
    assert not found, "\n".join(found)


def test_every_name_takes_part():
    called = {target.name for target in targets()}
    for name in set(reference.FULL) - LEFT_OUT:
        value = reference.public(reference.FULL[name])
        if callable(value) and not (isinstance(value, type) and issubclass(value, (BaseException, mk.Status))):
            assert name in called or value is mk.solvers.Solver, f"{name} is never called"
        if isinstance(value, type) and name not in RECORDS and name in called and name != "Objective":
            assert name in EXAMPLES, (
                f"no object of {name} is ever asked for anything: put one into tests/stress/sound.py"
            )


def test_calls_are_sound_but_for_what_is_hostile():
    """Otherwise a call would be refused for another argument than the hostile one."""
    refused = {target.name for target in targets() if not target.name.endswith("=") and not _succeeds(target)}
    # Files that are not there, a body without a closed form, a tree that is empty, no angle at all, nothing to bind, no target,
    # nothing that was attached, no pose to fall back to, nothing that could be in the way, a chain that is no
    # figure.
    assert refused == {
        "Analytic.check", "Analytic.solve", "Analytic.solve_all", "Body.detach_shape", "Motion.retarget", "OFKT.predict",
        "Plan.check_motion", "Projection.pose", "Step.__call__", "Track.check_motion", "World.release", "bind", "euler",
        "read_srdf", "read_urdf", "read_xacro",
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


# Calls that longer runs of hostile.py found to end in errors of Python's own, and what they say instead.
MENDED = {
    "a method that cannot be hashed": (lambda: mk.solvers.minimise(sum, [-1.0], [1.0], method={}), "no method named"),
    "a parameter that cannot be printed": (lambda: mk.solvers.CCD(direction=Mute()), "direction is a Mute"),
    "axes that cannot be printed": (lambda: mk.build.serial_chain(3, joint_axes=Mute()), "joint_axes is a Mute"),
    "a base that cannot be printed": (lambda: mk.load("panda").chain(Mute(), ()), "from a Mute has no tip"),
    "a sequence that breaks": (lambda: mk.motion.write_stream("stream.jsonl", [Endless()]), "sample 0 is"),
    "an array that is no sequence": (lambda: mk.motion.retarget_each(np.array(None), mk.load("g1")), "clips are"),
    "an infinite angle": (lambda: mk.build.stewart_platform(leg_spread=-np.inf), "leg_spread is -inf"),
    "a function of nothing": (
        lambda: mk.collision.find_collision_pairs(mk.load("panda"), samples=5, progress=lambda: None), "two numbers",
    ),
    "a cutoff below all frequencies": (lambda: clip().filtered(1e-320), "Give at least"),
    "samples without end": (lambda: mk.plan(problem(), np.zeros(3), np.ones(3)).sample(1e-320), "more than 10,000,000 postures"),
    "limits that are no text": (
        lambda: mk.retarget(clip(), mk.load("g1"), velocity_limits=np.zeros(2, dtype=[("a", "<f8")])), "velocity_limits is",
    ),
    "frames without end": (
        lambda: mk.motion.gait(mk.load("kyle", base="floating"), {"left_midfoot": 0.0}, rate=1e300), "more than 1,000,000 frames",
    ),
}  # fmt: skip


@pytest.mark.parametrize("what", MENDED)
def test_what_was_mended_is_said(what):
    call, match = MENDED[what]
    with pytest.raises(mk.MemetikError, match=match):
        call()


def test_what_can_be_made_can_be_printed():
    assert "a Mute" in repr(mk.build.Loop("name", Mute(), Mute()))
    assert "path" not in repr(mk.motion.Span(mk.Position("tip", (0.0, 0.0, 0.0)), path=Mute()))
