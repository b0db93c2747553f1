"""`memetik warm`: every kind of objective and every method is among what is compiled beforehand."""

import pytest

import memetik as mk
from memetik import warm
from memetik.cli import main
from memetik.kernels.terms.records import KINDS
from memetik.kernels.terms.value import VALUE
from memetik.motion import guided
from memetik.motion.clips import feet, legs
from tests.conftest import COMPILED


@pytest.mark.quick
def test_every_kind_of_term_is_warmed():
    problems = [warm.problem_of(make) for make in warm.objectives().values()]
    warmed = {int(kind) for problem in problems for kind in problem.compiled.terms["kind"]}
    assert warmed == set(KINDS) - {VALUE.number}  # which has a step of its own, "functions"


@pytest.mark.quick
def test_every_objective_and_method_is_warmed():
    classes = {
        name for name in mk.__all__
        if isinstance(getattr(mk, name), type) and mk.Objective in getattr(mk, name).__mro__[1:]
    }  # fmt: skip
    made = {
        type(objective).__name__
        for make in warm.objectives().values()
        for objective in warm.problem_of(make).objectives
    }
    assert classes <= made
    names = [step.name for step in warm.everything()]
    assert {f"method {row.name}" for row in mk.methods()} - set(names) == {"method learned"}  # a step of its own
    assert "learning" in names
    assert [step.name for step in warm.first_solves()] == names[: len(warm.first_solves())]


@pytest.mark.quick
def test_what_cannot_be_done_is_left_out_and_told():
    def lacking():
        raise mk.errors.MissingExtraError("friend", "company", "learn")

    told, done = [], []
    steps = [warm.Step("alone", lacking), warm.Step("fine", lambda: done.append(1))]
    warmed = warm.warm(steps, lambda count, name: told.append((count, name)))
    assert told == [(0, "alone"), (1, "fine")] and done == [1]
    assert (warmed.steps, warmed.compiled) == (2, 0) and "company needs" in warmed.without["alone"]


@pytest.mark.quick
def test_another_error_is_not_hidden():
    with pytest.raises(ZeroDivisionError):
        warm.warm([warm.Step("broken", lambda: 1 / 0)])


@pytest.mark.quick
def test_the_command(capsys, monkeypatch):
    monkeypatch.setattr(warm, "first_solves", lambda: [warm.Step("one", lambda: None)])
    monkeypatch.setattr(warm, "everything", lambda: 3 * [warm.Step("one", lambda: None)])
    assert main(["warm"]) == 0
    assert capsys.readouterr().out.startswith("ready for 1 kinds of problems: nothing had to be compiled, 0.0 s")
    assert main(["warm", "--all"]) == 0
    assert capsys.readouterr().out.startswith("ready for 3 kinds of problems")


def test_clips_are_warmed(monkeypatch):
    """The kernels that follow guides and put feet on the ground are called, as place_feet, FootPlacer and retarget do."""
    called = []
    for module, name in ((guided, "follow_guides"), (legs, "stand_leg"), (feet, "place_soles"), (feet, "depths_of")):
        kernel = getattr(module, name)
        monkeypatch.setattr(
            module, name, lambda *given, name=name, kernel=kernel: (called.append(name), kernel(*given))
        )
    steps = {step.name: step for step in warm.everything()}
    warm.warm([steps["motion on another body"], steps["feet on the ground"]])
    assert set(called) == {"follow_guides", "stand_leg", "place_soles", "depths_of"}


@pytest.mark.only_if(COMPILED, "compiled kernels")
def test_first_solves_are_warm_the_second_time():
    warm.warm(warm.first_solves())
    assert warm.warm(warm.first_solves()).compiled == 0


@pytest.mark.only_if(COMPILED, "compiled kernels")
def test_a_solve_after_warming_compiles_nothing():
    warm.warm(warm.first_solves())
    for make in (warm.guided, warm.one_pose):
        problem, _ = make()
        assert mk.solve(problem).compile_seconds == 0.0
