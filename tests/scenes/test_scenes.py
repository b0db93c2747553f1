"""Scenes: what a file keeps comes back, the same problem comes out, and a bad file is refused with a reason."""

import dataclasses
import json
from dataclasses import replace

import numpy as np
import pytest

import memetik as mk
from memetik import scenes
from memetik.scenes import KINDS
from memetik.scenes.build import BUILDERS
from memetik_studio.session import Session
from memetik_studio.wishes import values_about
from tests.conftest import COMPILED
from tests.scenes.samples import among_obstacles

HAND = scenes.BodySource("built", "hand")  # its links have shapes and masses


@pytest.fixture(scope="module")
def everything():
    """A scene of a hand with a wish of every kind, as the page would add them."""
    body = scenes.load_body(HAND)
    wishes = [kind.new(name, **values_about(name, body, body.home)) for name, kind in scenes.KINDS.items()]
    return scenes.Scene("all", HAND, tuple(wishes))


def test_every_objective_of_the_library_has_a_kind():
    classes = {name: getattr(mk, name) for name in mk.__all__ if isinstance(getattr(mk, name), type)}
    objectives = {name for name, made in classes.items() if issubclass(made, mk.Objective) and made is not mk.Objective}
    assert objectives == set(scenes.KINDS)


def test_every_kind_survives_the_file_and_can_be_solved_together(everything):
    again = scenes.loads(scenes.dumps(everything))
    assert again == everything
    # A scene's hand has no motors.
    bearable = type(again.wishes)(wish for wish in again.wishes if wish.kind != "GravityTorque")
    session = Session(dataclasses.replace(again, wishes=bearable))
    assert session.solution.status != mk.Status.INVALID
    assert all(mark.text != "not measured" for mark in session.marks().values())


@pytest.mark.parametrize("kind", scenes.KINDS)
def test_every_kind_builds_its_objective(everything, kind):
    body = scenes.load_body(HAND)
    wish = next(wish for wish in everything.wishes if wish.kind == kind)
    objective = scenes.KINDS[kind].objective(wish, body)
    assert type(objective) is getattr(mk, kind) and objective.name == wish.name
    assert objective.weight == wish.values["weight"]
    assert objective.priority == wish.values["priority"] == (1 if "Distance" in kind and kind[0] not in "M" else 0)


def test_a_file_from_before_priorities_is_still_read(everything):
    plain = json.loads(scenes.dumps(everything))
    assert not any("priority" in wish for wish in plain["objectives"])  # the usual ones are left out
    assert scenes.loads(json.dumps(plain)) == everything
    plain["objectives"][0]["priority"] = 3
    again = scenes.loads(json.dumps(plain))
    assert again.wishes[0].values["priority"] == 3
    plain["objectives"][0]["priority"] = 1.5
    with pytest.raises(mk.errors.FormatError, match=r"priority is 1\.5; write a whole number"):
        scenes.loads(json.dumps(plain))


def test_code_of_every_kind_makes_the_same_objectives(everything):
    code = scenes.python_code(everything)
    made = {}
    exec(code.split("problem =")[0], made)
    body = scenes.load_body(HAND)
    wanted = scenes.objectives(everything, body)
    assert len(made["objectives"]) == len(wanted)
    for objective in made["objectives"]:
        twin = wanted[objective.name]
        assert type(objective) is type(twin)
        assert (objective.weight, objective.tolerance, objective.priority) == (
            twin.weight,
            twin.tolerance,
            twin.priority,
        )
        for attribute in ("target", "point", "normal", "direction", "distance", "obstacles", "polygon", "margin"):
            if hasattr(twin, attribute):
                np.testing.assert_allclose(getattr(objective, attribute), getattr(twin, attribute), atol=1e-8)


@pytest.mark.parametrize("name", scenes.READY)
def test_ready_scenes_are_reached_and_survive_the_file(name):
    scene = scenes.ready(name)
    again = scenes.loads(scenes.dumps(scene))
    assert again == scene
    body = scenes.load_body(again.body)
    solution = mk.solve(scenes.problem(again, body), scenes.start(again, body))
    assert solution.success


@pytest.mark.parametrize("name", ["arm reach", "parallel five-bar", "arm around a sphere"])
def test_code_of_a_ready_scene_runs_and_reaches(name, capsys):
    made = {}
    exec(scenes.python_code(scenes.ready(name)), made)
    assert made["solution"].success
    assert "REACHED" in capsys.readouterr().out


@pytest.mark.parametrize("builder", BUILDERS)
def test_builders_build(builder):
    assert scenes.load_body(scenes.BodySource("built", builder)).dof > 0


def test_a_parameter_reaches_the_method():
    with pytest.raises(mk.errors.UnknownNameError, match="no parameter named 'sede'"):
        scenes.solver(scenes.Solving(parameters={"sede": 1}))
    assert scenes.solver(scenes.Solving(seed=7)).seed == 7


def test_a_script_names_the_method_with_its_parameters(capsys):
    solving = scenes.Solving(method="dls", seed=3, parameters={"damping": 0.05})
    code = scenes.python_code(replace(scenes.ready("arm reach"), solving=solving))
    assert "method=mk.solver('dls', seed=3, damping=0.05)" in code
    made = {}
    exec(code, made)
    assert made["solution"].method == "dls" and "by dls" in capsys.readouterr().out


# ---- Refused ---------------------------------------------------------------------------------------------------

GOOD = {
    "format": "memetik scene 1",
    "title": "t",
    "body": {"bundled": "panda"},
    "objectives": [{"kind": "Position", "name": "reach", "frame": "panda_hand", "target": [0.5, 0.1, 0.4]}],
}


def changed(**entries):
    return json.dumps({**GOOD, **entries})


def wish(**entries):
    return changed(objectives=[{**GOOD["objectives"][0], **entries}])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "not a scene in JSON"),
        ("[" * 100_000, "nested too deep|not a scene"),
        ('{"a": 1, "a": 2}', "stands twice"),
        (changed(format="other 1"), "this version reads 'memetik scene 1'"),
        (changed(colour=3), "'colour' is unknown"),
        (changed(body={"bundled": "panda", "file": "x.urdf"}), "exactly one of"),
        (changed(body={"bundled": 3}), "write a text"),
        (wish(kind="Positon"), "Write one of Position"),
        (wish(target=[1, 2]), "list of 3 numbers"),
        (wish(target=[1, 2, "3"]), "'3', not a number"),
        (wish(target=[1, 2, 1e300]), "finite number up to"),
        (json.dumps({**GOOD, "lock": {"j": float("nan")}}), "NaN is not a number"),
        (wish(weight=0), "above zero"),
        (wish(weight=True), "True, not a number"),
        (wish(tolerence=1), "'tolerence' is unknown"),
        (wish(frame={"link": "panda_hand", "wxyz": [0, 0, 0, 0]}), "no rotation"),
        (wish(frame=None), "frame is missing"),
        (wish(enabled="yes"), "true or false"),
        (changed(objectives=GOOD["objectives"] * 2), "two objectives are called 'reach'"),
        (changed(objectives=[{"kind": "Position"}] * 501), "at most 500"),
        (changed(solving={"evaluations": 0}), "at least 1"),
        (changed(solving={"seconds": 1e5}), "up to 60"),
        (changed(solving={"seed": 1.5}), "whole number"),
        (changed(solving={"parameters": {"population": 1e5}}), "up to 10000"),
        (changed(solving={"parameters": {"threads": 65}}), "up to 64"),
        (changed(solving={"parameters": {"restarts": "yes"}}), "not a number"),
        (changed(motion={"smoothing": 1.0}), "below 1"),
        (changed(lock=["j"]), "joint"),
        (wish(kind="Projection", target=None, surface={"kind": "height field", "heights": [[1, 2], [3]]}), "unknown"),
    ],
)
def test_a_bad_file_is_refused_with_a_reason(text, message):
    with pytest.raises(mk.errors.FormatError, match=message):
        scenes.loads(text, "bad.json")


def test_a_large_file_is_refused():
    with pytest.raises(mk.errors.FormatError, match="larger than 8 MB"):
        scenes.loads(b" " * (8 * 2**20 + 1))


def test_a_scene_about_unknown_names_is_refused():
    with pytest.raises(mk.errors.UnknownNameError, match="no link named 'panda_hnd'"):
        Session(scenes.loads(wish(frame="panda_hnd")))
    with pytest.raises(mk.errors.UnknownNameError, match="no free joint named 'elbow'"):
        Session(scenes.loads(changed(lock={"elbow": 0.0})))
    with pytest.raises(mk.errors.UnknownNameError, match="no bundled body named 'pnda'"):
        scenes.load_body(scenes.BodySource("bundled", "pnda"))


def test_files_are_read_inside_the_roots_only(tmp_path):
    inside, outside = tmp_path / "inside", tmp_path / "outside"
    inside.mkdir(), outside.mkdir()
    text = '<robot name="r"><link name="a"/></robot>'
    for folder in (inside, outside):
        (folder / "r.urdf").write_text(text)
    (inside / "link.urdf").symlink_to(outside / "r.urdf")
    source = scenes.BodySource("file", "r.urdf")
    assert scenes.load_body(source, [inside]).name == "r"
    for name in ("../outside/r.urdf", str(outside / "r.urdf"), "link.urdf", "/etc/passwd", "no.urdf", "a\0b"):
        with pytest.raises(mk.errors.FormatError, match="folders that may be read"):
            scenes.load_body(replace(source, value=name), [inside])
    with pytest.raises(mk.errors.FormatError, match="folders that may be read"):
        scenes.load_body(source, [])


# ---- Worlds ----------------------------------------------------------------------------------------------------


def test_a_world_survives_the_file_and_is_kept_off():
    scene = among_obstacles()
    again = scenes.loads(scenes.dumps(scene))
    assert again == scene
    body = scenes.load_body(again.body)
    objective = scenes.objectives(again, body)["keep off"]
    assert objective.world.keys() == {"table", "cup", "post", "ball"}
    assert len(objective.obstacles) == 3  # the post does not count
    assert objective.world["table"].touching == {"panda_link0"}
    assert not mk.solve(scenes.problem(again, body), budget=mk.Budget(evaluations=500)).success  # the cup is in the way


def test_code_of_a_world_makes_the_same_one():
    scene = among_obstacles()
    made = {}
    exec(scenes.python_code(scene).split("problem =")[0], made)
    twin = scenes.world_of(scene)
    assert made["world"].keys() == twin.keys()
    for name in twin:
        np.testing.assert_allclose(made["world"][name].pose, twin[name].pose)
        assert made["world"][name].enabled == twin[name].enabled
        assert made["world"][name].touching == twin[name].touching
    assert made["objectives"][1].world is made["world"]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"shape": "cone"}, "shape is 'cone'. Write one of sphere, capsule, cylinder, box"),
        ({"size": [1, 2]}, "write a list of 3 numbers"),
        ({"size": [1, 2, -1]}, "none below zero"),
        ({"wxyz": [0, 0, 0, 0]}, "is zero, which is no rotation"),
        ({"colour": "red"}, "'colour' is unknown"),
        ({"name": ""}, "name is ''"),
        ({"touching": "panda_link0"}, "write a list of names"),
    ],
)
def test_wrong_worlds_are_refused(change, said):
    plain = json.loads(scenes.dumps(among_obstacles()))
    plain["world"][0] |= change
    with pytest.raises(mk.errors.FormatError) as caught:
        scenes.loads(json.dumps(plain))
    assert said in str(caught.value)


def test_obstacles_have_names_of_their_own():
    plain = json.loads(scenes.dumps(among_obstacles()))
    plain["world"][1]["name"] = "table"
    with pytest.raises(mk.errors.FormatError, match="two obstacles of the world are called 'table'"):
        scenes.loads(json.dumps(plain))
    with pytest.raises(mk.errors.UnknownNameError):
        among_obstacles().block("jug")


@pytest.mark.only_if(COMPILED, "compiled kernels")
def test_relations_of_joints_share_one_kernel():
    """What a stranger's numbers compile again would take a second and a megabyte each time."""
    body = mk.load("panda")
    kernels, errors = [], []
    for ratio in (0.5, 2.0, 3.0):
        wish = KINDS["FunctionalRelation"].new("r", joint="panda_joint1", of="panda_joint2", ratio=ratio, offset=0.1)
        objective = KINDS["FunctionalRelation"].objective(wish, body)
        solution = mk.solve(mk.Problem(body, [objective]))
        assert solution.success
        kernels += [code for code, _ in objective._kernels.values()]
        errors.append(solution["panda_joint1"] - ratio * solution["panda_joint2"] - 0.1)
    assert len(kernels) == 3 and len(set(kernels)) == 1
    assert np.abs(errors).max() <= 1e-3
