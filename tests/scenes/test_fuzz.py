"""Whatever a scene file holds, it is a scene, or an error of ours says what is wrong with it."""

from __future__ import annotations

import json
import random

import pytest

from memetik import scenes
from memetik.cli import main
from memetik.errors import FormatError, MemetikError
from tests.scenes.mutations import everything, mutated

COUNT = 2_000


def build(text):
    """All that is made of a scene before a solver runs."""
    scene = scenes.loads(text)
    body = scenes.load_body(scene.body)
    scenes.objectives(scene, body)
    scenes.start(scene, body)
    scenes.marked(scene)
    scenes.solver(scene.solving)
    scenes.python_code(scene)
    assert scenes.loads(scenes.dumps(scene)) == scene


def test_the_scene_with_everything_is_one():
    build(json.dumps(everything()))


def test_a_wrong_scene_is_told_in_words_of_our_own():
    rng = random.Random(7)
    good = [everything()] * 4 + [json.loads(scenes.dumps(scenes.ready(name))) for name in scenes.READY]
    refused = 0
    for k in range(COUNT):
        text = json.dumps(mutated(rng.choice(good), rng))
        try:
            build(text)
        except MemetikError as error:
            refused += 1
            assert str(error) and "\n" not in str(error)
        except Exception as error:
            pytest.fail(f"scene {k}: {error!r} for {text}")
    assert COUNT // 2 < refused < COUNT


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"objectives": [{"kind": []}]}, "objective 1: kind is []. Write one of Position"),
        ({"objectives": [{"kind": {}}]}, "objective 1: kind is {}. Write one of Position"),
        ({"objectives": [[]]}, "objective 1 is []; write an object"),
        ({"objectives": {}}, "objectives is {}; write a list"),
        ({"lock": {"j": 10**400}}, "lock of 'j' is 1000"),
        ({"start": {"j": True}}, "start of 'j' is True, not a number"),
        ({"body": {"bundled": ["ur5"]}}, "body: bundled is ['ur5']; write a text"),
        ({"body": {"bundled": "ur5", "base": {}}}, "body, base is {}; write a text"),
        ({"title": "\ud800"}, "title is '\\ud800', which has half a character"),
        ({"solving": {"seed": 1.5}}, "solving, seed is 1.5; write a whole number"),
        ({"solving": {"parameters": [1]}}, "solving: parameters is [1]; write"),
        ({"motion": {"smoothing": "x"}}, "motion, smoothing is 'x', not a number"),
    ],
)
def test_the_field_is_named(change, told):
    with pytest.raises(FormatError) as caught:
        scenes.loads(json.dumps({**everything(), **change}))
    assert told in str(caught.value)


@pytest.mark.parametrize(
    ("kind", "values", "told"),
    [
        ("Position", {"target": [0, "x", 0]}, "objective 'it': target, entry 2, is 'x', not a number"),
        ("Projection", {"surface": {"kind": []}}, "objective 'it': surface: kind is []. Write one of ground"),
        ("Plane", {"side": []}, "objective 'it': side is []. Write one of on, above"),
        ("Distance", {"links": [1]}, "objective 'it': links, entry 1, is 1; write a text"),
        ("Distance", {"obstacles": [[1, 2, 3]]}, "objective 'it': obstacles, row 1 has 3 numbers; write 4"),
    ],
)
def test_the_entry_is_named(kind, values, told):
    with pytest.raises(FormatError) as caught:
        scenes.KINDS[kind].new("it", **{"frame": "forearm_link", **values} if kind != "Distance" else values)
    assert told in str(caught.value)


@pytest.mark.parametrize(
    ("parameters", "told"),
    [
        ({"population": 20.5}, "parameter 'population' is 20.5; write a whole number"),
        ({"population": True}, "parameter 'population' is True; write a whole number"),
        ({"niching": 1}, "parameter 'niching' is 1; write true or false"),
        ({"seed": 1}, "no parameter named 'seed'"),
    ],
)
def test_parameters_have_types(parameters, told):
    solving = {"method": "bioik", "parameters": parameters}
    scene = scenes.loads(json.dumps({**everything(), "solving": solving}))
    with pytest.raises(MemetikError) as caught:
        scenes.solver(scene.solving)
    assert told in str(caught.value)


def files(folder):
    """Files that are no scenes."""
    deep = {"deep.json": b"[" * 100_000, "nested.json": b'{"format":' + b"[" * 900 + b"]" * 900 + b"}"}
    contents = {"latin.json": '{"title": "Fuß"}'.encode("latin-1"), "empty.json": b"", "null.json": b"null", **deep}
    contents["nan.json"] = b'{"lock": {"a": NaN}}'
    contents["digits.json"] = b'{"lock": {"a": 1' + b"0" * 5_000 + b"}}"
    contents["twice.json"] = b'{"title": "a", "title": "b"}'
    contents["kind.json"] = json.dumps({**everything(), "objectives": [{"kind": []}]}).encode()
    for name, content in contents.items():
        (folder / name).write_bytes(content)
    (folder / "folder.json").mkdir()
    return [
        *(folder / name for name in contents),
        folder / "folder.json",
        folder / "none.json",
        folder / "nu\x00ll.json",
    ]


def test_a_bad_file_is_one_line_on_the_command_line(tmp_path, capsys):
    for path in files(tmp_path):
        assert main(["solve", "--scene", str(path)]) == 2, path
        out, err = capsys.readouterr()
        assert out == "" and err.startswith("memetik: ") and err.count("\n") == 1, err
