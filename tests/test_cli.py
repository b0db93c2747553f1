"""The command line: what it prints, what it writes, and how it ends."""

import dataclasses
import json
import warnings
import xml.etree.ElementTree as ET

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import memetik as mk
from memetik import bodies, scenes
from memetik.cli import main
from memetik.cli.main import _plain
from memetik.solvers import methods

REACH = ["solve", "panda", "--tip", "panda_hand", "--position", "0.5", "0.1", "0.4"]
FAR = ["solve", "panda", "--tip", "panda_hand", "--position", "1.5", "0.1", "0.4", "--evaluations", "500"]


@pytest.fixture
def run(capsys):
    """Call main; exit code, stdout and stderr."""

    def call(*arguments):
        code = main([str(argument) for argument in arguments])
        printed = capsys.readouterr()
        return code, printed.out, printed.err

    return call


def marks(path):
    """How many targets a picture marks: each has a ring without fill."""
    rings = [c for c in ET.parse(path).iter("{http://www.w3.org/2000/svg}circle") if c.get("fill") == "none"]
    return len(rings)


# ---- What there is -----------------------------------------------------------------------------------------


def test_bodies_lists_all(run):
    code, out, _ = run("bodies")
    assert code == 0
    assert [line.split()[0] for line in out.splitlines()[1:]] == list(bodies.names())
    assert "  58 " in next(line for line in out.splitlines() if line.startswith("wolf"))


def test_show_prints_and_draws(run, tmp_path):
    path = tmp_path / "new" / "arm.svg"
    code, out, _ = run("show", "pr2", "--chain", "right_arm", "--out", path)
    assert code == 0
    assert "pr2: 7 degrees of freedom" in out and "r_elbow_flex_joint" in out and "l_elbow_flex_joint" not in out
    assert out.endswith(f"drawn: {path}\n") and path.read_text().startswith("<svg")


def test_methods_lists_all(run):
    code, out, _ = run("methods")
    assert code == 0
    assert [line.split()[0] for line in out.splitlines()[1:]] == [method.name for method in methods()]
    assert "every objective" in out


# ---- solve -------------------------------------------------------------------------------------------------


def test_solve_prints_the_solution(run):
    code, out, _ = run(*REACH)
    assert code == 0
    assert out.startswith("REACHED by memetic in ")
    assert "Position of panda_hand" in out and "panda_finger_joint1" in out and "unread" in out
    assert "compiling" not in out


def test_solve_explains_a_failure(run):
    code, out, _ = run(*FAR)
    assert code == 1
    assert out.startswith("CLOSEST by memetic")
    assert "the target is 1.5 m from panda_joint1, the chain from there reaches at most 0.986 m." in out


def test_json_is_one_object_that_reproduces_the_pose(run):
    code, out, _ = run(*REACH, "--rpy", "3.0", "0", "0.5", "--position-tolerance", "1e-6", "--json")
    found = json.loads(out)
    assert code == 0
    assert (found["success"], found["status"], found["method"], found["body"]) == (True, "REACHED", "memetic", "panda")
    body = mk.load("panda")
    assert tuple(found["q"]) == body.joint_names
    hand = body.forward(list(found["q"].values()))["panda_hand"]
    np.testing.assert_allclose(hand[:3, 3], (0.5, 0.1, 0.4), atol=1e-6)
    np.testing.assert_allclose(hand[:3, :3], mk.rpy(3.0, 0.0, 0.5), atol=2e-3)
    position, orientation = found["objectives"]
    assert position["tolerance"] == 1e-6 >= position["error"]
    assert (position["unit"], position["part"], position["verdict"]) == ("m", "position", "ok")
    assert (orientation["unit"], orientation["part"]) == ("rad", "orientation")
    assert found["seconds"] > 0 and found["evaluations"] >= found["attempts"] >= 1
    assert (found["timed_out"], found["start_moved"]) == (False, False) and "explanation" not in found


def test_json_of_a_failure_has_the_explanation(run):
    code, out, _ = run(*FAR, "--json")
    found = json.loads(out)
    assert code == 1
    assert found["status"] == "CLOSEST" and "reaches at most 0.986 m" in found["explanation"]


def test_each_tip_starts_a_group(run, tmp_path):
    picture = tmp_path / "valkyrie.svg"
    code, out, _ = run(
        "solve", "valkyrie", "--base", "xyz",
        "--tip", "leftPalm", "--position", 0.5, 0.3, 0.2,
        "--tip", "head", "--look-at", 0.5, 0.3, 0.2,
        "--tip", "rightPalm", "--position", 0.5, -0.3, 0.2, "--draw", picture,
    )  # fmt: skip
    assert code == 0
    for row in ("Position of leftPalm", "LookAt of head", "Position of rightPalm"):
        assert row in out
    assert marks(picture) == 3 and out.endswith(f"drawn: {picture}\n")


def test_the_same_rotation_in_two_forms(run):
    half = np.sqrt(0.5)
    ask = ["solve", "panda", "--tip", "panda_hand", "--json"]
    _, by_quaternion, _ = run(*ask, "--orientation", half, half, 0, 0)
    _, by_angles, _ = run(*ask, "--rpy", np.pi / 2, 0, 0)
    one, two = json.loads(by_quaternion), json.loads(by_angles)
    np.testing.assert_allclose(list(one["q"].values()), list(two["q"].values()), atol=1e-6)
    assert one["objectives"][0]["objective"] == "Orientation of panda_hand"


def test_a_chain_moves_alone_and_knows_its_tip(run):
    code, out, _ = run("solve", "pr2", "--chain", "right_arm", "--position", 0.6, -0.3, 0.9, "--json")
    found, body = json.loads(out), mk.load("pr2")
    assert code == 0
    assert found["objectives"][0]["objective"] == "Position of r_wrist_roll_link"
    moved = {name for name, home in zip(body.joint_names, body.home, strict=True) if found["q"][name] != home}
    assert moved and moved <= set(body.chain("right_arm").joint_names)


def test_starts_and_locks(run):
    still = json.loads(run(*REACH, "--json", "--lock", "panda_joint2=0.1")[1])["q"]
    assert still["panda_joint2"] == 0.1
    started = json.loads(run(*REACH, "--json", "--start", "panda_joint7=-1.5, panda_finger_joint1=0.01")[1])["q"]
    assert started["panda_finger_joint1"] == 0.01 and started["panda_joint7"] < -1.0
    one, same, other = (json.loads(run(*REACH, "--json", "--start", "random", "--seed", n)[1])["q"] for n in (1, 1, 2))
    assert one == same != other


def test_all_solutions(run, tmp_path):
    ask = ["solve", "ur5", "--tip", "tool0", "--position", 0.4, 0.1, 0.4, "--rpy", 3.0, 0.1, 0, "--solutions", 3]
    code, out, _ = run(*ask, "--draw", tmp_path / "all.svg")
    assert code == 0
    assert out.startswith("3 solutions, nearest to the start first")
    assert len(next(line for line in out.splitlines() if line.startswith("elbow_joint")).split()) == 4
    found = json.loads(run(*ask, "--json")[1])["solutions"]
    assert len(found) == 3 and all(solution["success"] for solution in found)
    assert len({round(solution["q"]["elbow_joint"], 2) for solution in found}) > 1


def test_all_of_none(run):
    code, out, _ = run(*FAR, "--solutions", 4)
    assert code == 1 and out.startswith("CLOSEST")


def test_a_budget_of_time(run):
    code, out, _ = run(*REACH, "--seconds", "1e-9")
    assert code == 1
    assert "the time ran out" in out and "Allow more time" in out


def test_numbers_with_exponents():
    assert [_plain(text) for text in ("-1e-3", "-2.5E+2", "-.5e1")] == ["-0.001", "-250", "-5"]
    others = ["--json", "-h", "1e-3", "-1", "panda", "-e3"]
    assert [_plain(text) for text in others] == others


def test_negative_numbers_with_exponents_are_targets(run):
    _, out, _ = run("solve", "panda", "--tip", "panda_hand", "--position", "0.5", "-1e-1", "0.4", "--json")
    body = mk.load("panda")
    hand = body.forward(list(json.loads(out)["q"].values()))["panda_hand"]
    assert hand[1, 3] == pytest.approx(-0.1, abs=1e-4)


# ---- batch and reach ---------------------------------------------------------------------------------------


@pytest.fixture
def targets(tmp_path):
    """A file of 30 poses of the panda's hand, the last of which is not one."""
    body, rng = mk.load("panda"), np.random.default_rng(0)
    poses = [body.forward(body.sample(rng))["panda_hand"] for _ in range(30)]
    columns = np.array([[*pose[:3, 3], *mk.geometry.to_quaternion(pose[:3, :3])] for pose in poses]).T
    columns[0, 29] = np.nan
    table = pa.table(list(columns), names=["x", "y", "z", "qw", "qx", "qy", "qz"])
    pq.write_table(table, tmp_path / "targets.parquet")
    pq.write_table(table.select(["x", "y", "z"]), tmp_path / "points.parquet")
    return tmp_path


def test_batch_solves_a_file_and_goes_on(run, targets):
    ask = [
        "batch",
        "panda",
        targets / "targets.parquet",
        targets / "out",
        "--tip",
        "panda_hand",
        "--rows-per-shard",
        20,
    ]
    ask += ["--position-tolerance", "1e-6", "--threads", 2]
    code, out, _ = run(*ask)
    assert code == 0
    assert (
        out.startswith("30 rows in 2 shards") and "REACHED              29" in out and "REJECTED              1" in out
    )
    table = pq.read_table(targets / "out/solutions")
    assert max(error for error in table["position_error"].to_pylist() if error is not None) <= 1e-6
    code, out, _ = run(*ask)
    assert code == 0 and "30 rows were solved before" in out
    code, _, err = run(*ask, "--lock", "panda_joint3=0")
    assert code == 2 and "holds answers to something else: the problem" in err
    code, out, _ = run(*ask, "--lock", "panda_joint3=0", "--overwrite")
    assert code == 0 and "solved before" not in out
    assert set(pq.read_table(targets / "out/solutions")["panda_joint3"].to_pylist()) == {0.0, None}


def test_batch_says_in_a_line_what_it_does_not_trust(run, targets):
    ask = ["batch", "panda", targets / "points.parquet", targets / "out", "--tip", "panda_hand", "--rows-per-shard", 20]
    run(*ask)
    (targets / "out/solutions/000001.parquet").write_bytes(b"")
    (targets / "out/solutions/notes.txt").touch()
    with warnings.catch_warnings():
        warnings.simplefilter("always", mk.MemetikWarning)
        code, out, err = run(*ask)
    assert code == 0 and "20 rows were solved before" in out and "1 file did not verify" in out
    again, stray = err.splitlines()
    assert again.startswith("memetik: files: ") and again.endswith("000001.parquet is cut off or no shard of memetik.")
    assert stray.startswith("memetik: files: ") and "not counted: solutions/notes.txt. Move it away." in stray


def test_batch_of_a_csv_file(run, tmp_path):
    (tmp_path / "t.csv").write_text("x,y,z\n0.5,0.1,0.4\n0.4,,0.5\n")
    code, out, _ = run("batch", "panda", tmp_path / "t.csv", tmp_path / "out", "--tip", "panda_hand")
    assert code == 0 and "REACHED               1" in out and "REJECTED              1" in out


def test_batch_of_points(run, targets):
    code, out, _ = run("batch", "panda", targets / "points.parquet", targets / "out", "--tip", "panda_hand")
    assert code == 0 and "REACHED              29" in out
    assert "orientation_error" not in pq.read_table(targets / "out/solutions").column_names


def test_reach_maps_and_draws(run, tmp_path):
    path = tmp_path / "new" / "map.npz"
    code, out, _ = run("reach", "ur5", "--voxel", 0.5, "--orientations", 2, "--out", path)
    assert code == 0
    assert out.startswith("tool0 of ur5 reaches ") and f"saved: {path}" in out
    assert mk.batch.load_reachability(path).voxel == 0.5
    assert out.endswith(f"drawn: {path.with_suffix('.png')}\n") and path.with_suffix(".png").exists()


@pytest.mark.parametrize(("elites", "niches"), [(1, ["1 niche alive"]), (3, ["2 niches alive", "3 niches alive"])])
def test_evolve_draws_the_landscape_and_the_postures(run, tmp_path, elites, niches):
    code, out, _ = run(
        "evolve", "valkyrie", "--tip", "rightPalm", "--tip", "leftPalm", "--elites", elites, "--out", tmp_path
    )
    assert code == 0
    assert out.startswith("REACHED after ") and any(words in out for words in niches)
    for name in ("landscape", "postures"):
        for suffix in (".png", ".svg"):
            path = tmp_path / f"valkyrie_{name}{suffix}"
            assert str(path) in out and path.stat().st_size > 20_000


# ---- Mistakes ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["solve", "nobody", "--tip", "x", "--position", "0", "0", "0"], "no bundled body named 'nobody'"),
        (["solve", "panda"], "nothing is asked for"),
        (
            ["solve", "panda", "--position", "0", "0", "0"],
            "a target stands before any tip. Name the link first, --tip LINK: panda_link8, ",
        ),
        (["solve", "panda", "--tip", "panda_hand"], "tip 'panda_hand' has no target"),
        (["solve", "panda", "--tip", "panda_hnd", "--position", "0", "0", "0"], "Did you mean 'panda_hand'"),
        ([*REACH, "--orientation", "1", "0", "0", "0", "--rpy", "0", "0", "0"], "has --orientation and --rpy"),
        ([*REACH, "--orientation", "2", "0", "0", "0"], "(w, x, y, z)"),
        ([*REACH, "--start", "foo"], "--start: 'foo' is not of the form joint=value"),
        ([*REACH, "--lock", "panda_joint1"], "--lock: 'panda_joint1' is not of the form joint=value"),
        ([*REACH, "--lock", "panda_joint1=9"], "locked at 9, outside its limits"),
        ([*REACH, "--chain", "foo"], "no chain named 'foo'"),
        ([*REACH, "--method", "foo"], "no method named 'foo'"),
        ([*REACH, "--seconds", "0"], "seconds is 0.0"),
        ([*REACH, "--position-tolerance", "-1"], "tolerance is -1.0"),
        ([*REACH, "--draw", "x.jpg"], "'x.jpg' has to end in .svg or .png or .gif. Name it 'x.svg'"),
        ([*REACH, "--base", "wheels"], "unknown base 'wheels'"),
        ([*REACH, "--seed", "-1"], "seed is -1; write a whole number"),
        ([*REACH, "--seed", str(2**70), "--start", "random"], "seed is 1180591620717411303424; write a whole number"),
        ([*REACH, "--evaluations", "0"], "evaluations is 0; write a whole number"),
        ([*REACH, "--seconds", "nan"], "seconds is nan; write a number above zero"),
        (["evolve", "ur5", "--tip", "tool0", "--seed", "-1"], "seed is -1; write a whole number"),
        (["compare", "ur5", "--tip", "tool0", "--seed", "-1"], "seed is -1; write a whole number"),
        (["show", "panda", "--chain", "foo"], "no chain named 'foo'"),
        (["batch", "panda", "nowhere.parquet", "out", "--tip", "panda_hand"], "there is no such file"),
        (["evolve", "ur5", "--tip", "tool1"], "Did you mean 'tool0'"),
        (["evolve", "ur5", "--elites", "0"], "elites is 0"),
        (["evolve", "ur5", "--joints", "elbow", "--population", "5"], "no joint 'elbow' took part"),
        (["reach", "pr2"], "body 'pr2' has "),
        (["reach", "pr2"], "Say which one is meant, --tip LINK: "),
        (["reach", "ur5", "--tip", "tool1"], "Did you mean 'tool0'"),
        (["reach", "ur5", "--tip", "tool0", "--out", "map.txt"], "has to end in .npz. Name it 'map.npz'"),
    ],
)
def test_a_mistake_is_one_sentence(run, arguments, says):
    code, out, err = run(*arguments)
    assert code == 2
    assert err.startswith("memetik: ") and says in err and err.count("\n") == 1
    assert out == ""


def test_all_goes_with_any_method(run):
    code, out, _ = run(*REACH, "--solutions", "2", "--method", "dls")
    assert code == 0 and out.startswith("2 solutions")
    code, _, err = run(*REACH, "--solutions", "2", "--method", "other")
    assert code == 2 and "no method named 'other'" in err


def idle(*given, **named):
    """Stands for what would be work."""
    pytest.fail("it works")


@pytest.mark.parametrize("path", ["file/x.svg", "folder.svg", "x.jpg"])
@pytest.mark.parametrize(
    "command", [["show", "panda", "--out"], [*REACH, "--draw"], [*REACH, "--solutions", "2", "--draw"]]
)
def test_a_picture_that_cannot_be_written_is_told_before_the_work(run, tmp_path, monkeypatch, command, path):
    monkeypatch.setattr(mk, "solve", idle)
    monkeypatch.setattr(mk, "solve_all", idle)
    (tmp_path / "file").touch()
    (tmp_path / "folder.svg").mkdir()
    code, out, err = run(*command, tmp_path / path)
    assert code == 2 and out == "" and err.startswith("memetik: ") and err.count("\n") == 1


@pytest.mark.parametrize("command", [["evolve", "ur5"], ["demo"]])
def test_a_folder_of_pictures_that_cannot_be_written_is_told_before_the_work(run, tmp_path, monkeypatch, command):
    monkeypatch.setattr(mk.solvers.BioIK, "evolve", idle)
    monkeypatch.setattr(mk, "solve", idle)
    (tmp_path / "file").touch()
    code, out, err = run(*command, "--out", tmp_path / "file")
    assert code == 2 and out == "" and "nothing can be written to the folder" in err


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["solve", "panda", "--tip", "panda_hand", "--position", "1", "2"], "expected 3 arguments"),
        ([*REACH, "--position", "0", "0", "0"], "given twice for tip 'panda_hand'"),
    ],
)
def test_what_the_parser_refuses(capsys, arguments, says):
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert ended.value.code == 2
    assert says in capsys.readouterr().err


def test_version(capsys):
    with pytest.raises(SystemExit):
        main(["--version"])
    assert capsys.readouterr().out == f"memetik {mk.__version__}\n"


# ---- demo --------------------------------------------------------------------------------------------------


def test_demo_solves_and_draws(run, tmp_path):
    code, out, _ = run("demo", "--out", tmp_path / "pictures")
    assert code == 0
    assert "valkyrie: 62 degrees of freedom" in out
    assert "The second one took" in out and "REACHED by memetic" in out
    assert "All 5 objectives are within tolerance" in out
    for name in ("demo_start.svg", "demo_solution.svg"):
        assert marks(tmp_path / "pictures" / name) == 5
        assert f"drawn: {tmp_path / 'pictures' / name}" in out


# ---- Scenes and the studio -------------------------------------------------------------------------------------


def test_solve_takes_a_scene(run, tmp_path):
    scene = scenes.ready("arm reach")
    path, picture = tmp_path / "arm.json", tmp_path / "arm.svg"
    path.write_text(scenes.dumps(scene))
    code, out, _ = run("solve", "--scene", path, "--json", "--draw", picture)
    found = json.loads(out)
    assert code == 0 and found["success"] and found["q"]["panda_finger_joint1"] == 0.04
    pose = mk.load("panda").forward(list(found["q"].values()))["panda_hand"]
    np.testing.assert_allclose(pose[:3, 3] + 0.1 * pose[:3, 2], (0.5, 0.1, 0.4), atol=1e-4)
    assert marks(picture) == 1


def test_a_scene_brings_its_method_and_parameters(run, tmp_path):
    path, scene = tmp_path / "scene.json", scenes.ready("arm reach")
    for method, parameters in (("bioik", {"population": 12}), ("ccd", {})):
        solving = scenes.Solving(method=method, parameters=parameters)
        path.write_text(scenes.dumps(dataclasses.replace(scene, solving=solving)))
        code, out, _ = run("solve", "--scene", path, "--json")
        assert code == 0 and json.loads(out)["method"] == method
    path.write_text(scenes.dumps(dataclasses.replace(scene, solving=scenes.Solving(parameters={"poplation": 12}))))
    assert "no parameter named 'poplation'" in run("solve", "--scene", path)[2]


def test_a_scene_is_alone(run, tmp_path):
    path = tmp_path / "arm.json"
    path.write_text(scenes.dumps(scenes.ready("arm reach")))
    assert "brings its own body" in run("solve", "panda", "--scene", path)[2]
    assert "no body is named" in run("solve", "--tip", "panda_hand", "--position", "0", "0", "1")[2]
    code, _, err = run("solve", "--scene", tmp_path / "none.json")
    assert code == 2 and "cannot be read" in err


def test_methods_are_compared_on_a_named_chain(run, tmp_path):
    few = ["--position-only", "--count", "2", "--methods", "memetic,dls", "--out", tmp_path]
    code, out, _ = run("compare", "nao", "--chain", "left_arm", *few)
    assert code == 0 and "l_gripper" in out
    assert "4 answers checked by a forward kinematics of their own: no limit broken" in out
    code, _, err = run("compare", "nao", "--chain", "left_army", *few)
    assert code != 0 and "Did you mean 'left_arm'?" in err


# ---- Frames, free axes and models ----------------------------------------------------------------------------


def test_a_tool_reaches_where_the_flange_would(run):
    tool = ["--offset", 0.0, 0.02, 0.1, "--offset-rpy", 0, 0, 0.5]
    code, out, _ = run(*REACH, "--rpy", "3.0", "0", "0.5", *tool, "--json")
    body = mk.load("panda")
    hand = body.forward(list(json.loads(out)["q"].values()))["panda_hand"]
    tip = hand @ mk.transform((0.0, 0.02, 0.1), mk.rpy(0, 0, 0.5))
    assert code == 0
    np.testing.assert_allclose(tip[:3, 3], (0.5, 0.1, 0.4), atol=2e-4)
    np.testing.assert_allclose(tip[:3, :3], mk.rpy(3.0, 0.0, 0.5), atol=2e-3)


def test_free_axes_of_a_pose_are_those_of_the_target(run):
    ask = ["solve", "ur5", "--tip", "tool0", "--position", 0.3, 0.1, 0.4, "--rpy", 3.14159265, 0, 0, "--json"]
    spun = [json.loads(run(*ask, "--free", "rz", "--start", f"wrist_3_joint={angle}")[1]) for angle in (-1.0, 1.0)]
    poses = [mk.load("ur5").forward(list(found["q"].values()))["tool0"] for found in spun]
    assert all(found["success"] for found in spun)
    for pose in poses:
        np.testing.assert_allclose(pose[:3, 2], (0, 0, -1), atol=2e-3)
        np.testing.assert_allclose(pose[:3, 3], (0.3, 0.1, 0.4), atol=2e-4)
    assert abs(poses[0] - poses[1]).max() > 0.1
    far = [*ask[:4], "--position", 0.3, 0.1, 9.0, "--json"]
    assert json.loads(run(*far)[1])["success"] is False
    assert json.loads(run(*far, "--free", "z")[1])["success"] is True
    assert json.loads(run(*ask, "--free", "rx,ry,rz")[1])["success"] is True


@pytest.mark.parametrize(
    ("given", "says"),
    [
        (["--free", "q"], "no axis named 'q' in --free of tip 'panda_hand'. There are: x, y, z, rx, ry, rz."),
        (["--free", "rz"], "--free rz says something of --orientation or --rpy, which is not given"),
        (["--free", "x,y,z"], "at least one of them"),
    ],
)
def test_axes_that_cannot_be_free(run, given, says):
    code, _, err = run(*REACH, *given)
    assert code == 2 and says in err and err.count("\n") == 1


def test_a_batch_with_a_tool_and_a_free_axis(run, targets):
    ask = ["batch", "panda", targets / "targets.parquet", targets / "out", "--tip", "panda_hand", "--threads", 1]
    code, out, _ = run(*ask, "--offset", 0, 0, 0.05, "--free", "rz")
    assert code == 0 and "30 rows" in out
    table = pq.read_table(targets / "out/solutions").to_pylist()
    wanted = pq.read_table(targets / "targets.parquet").to_pylist()
    body, reached = mk.load("panda"), 0
    for row, target in zip(table, wanted, strict=True):
        if row["status"] != "REACHED":
            continue
        reached += 1
        tip = body.forward([row[name] for name in body.joint_names])["panda_hand"] @ mk.translation(0, 0, 0.05)
        np.testing.assert_allclose(tip[:3, 3], [target[axis] for axis in "xyz"], atol=2e-4)
        rotation = mk.geometry.rotation_matrix([target[f"q{axis}"] for axis in "wxyz"])
        np.testing.assert_allclose(tip[:3, 2], rotation[:, 2], atol=2e-3)
    assert reached > 15


@pytest.fixture
def model(tmp_path):
    """A model with a mesh in another folder, and an SRDF that names a chain."""
    joint = '<joint name="j{0}" type="revolute"><parent link="{1}"/><child link="{2}"/>{3}</joint>'
    limits = '<axis xyz="0 0 1"/><limit lower="-1" upper="1" effort="1" velocity="1"/>'
    mesh = '<visual><geometry><mesh filename="package://parts/arm.stl"/></geometry></visual>'
    text = f'<robot name="r"><link name="a"/><link name="b">{mesh}</link><link name="c"/>'
    text += joint.format(1, "a", "b", f'<origin xyz="0.5 0 0"/>{limits}')
    text += joint.format(2, "b", "c", f'<origin xyz="0.5 0 0"/>{limits}') + "</robot>"
    (tmp_path / "r.urdf").write_text(text)
    (tmp_path / "r.srdf").write_text(
        '<robot name="r"><group name="all"><chain base_link="a" tip_link="c"/></group></robot>'
    )
    (tmp_path / "elsewhere/parts").mkdir(parents=True)
    (tmp_path / "elsewhere/parts/arm.stl").write_bytes(bytes(80) + (0).to_bytes(4, "little"))
    return tmp_path


def test_srdf_names_chains_of_your_own_model(run, model):
    ask = ["solve", model / "r.urdf", "--chain", "all", "--position", 1.0, 0, 0, "--root", model / "elsewhere"]
    code, _, err = run(*ask)
    assert code == 2 and "no chain named 'all'" in err
    code, out, _ = run(*ask, "--srdf", model / "r.srdf")
    assert code == 0 and "Position of c" in out


def test_a_root_of_meshes(run, model):
    picture = ["--out", model / "r.png"]
    with warnings.catch_warnings():
        warnings.simplefilter("always", mk.MemetikWarning)
        code, _, err = run("show", model / "r.urdf", *picture)
        assert code == 0 and err.startswith("memetik: ") and "arm.stl" in err and err.count("\n") == 1
        code, _, err = run("show", model / "r.urdf", *picture, "--root", model / "elsewhere")
    assert (code, err) == (0, "") and (model / "r.png").read_bytes().startswith(b"\x89PNG")


def test_srdf_of_no_file(run, model):
    code, _, err = run("show", "planar:3", "--srdf", model / "r.srdf")
    assert code == 2 and "--srdf says something of a model in a file, and planar:3 is none" in err


def test_pictures_of_a_solution(run, tmp_path):
    for name, begins in (("a.png", b"\x89PNG"), ("a.gif", b"GIF89a"), ("a.svg", b"<svg")):
        code, out, _ = run(*REACH, "--draw", tmp_path / name)
        assert code == 0 and out.endswith(f"drawn: {tmp_path / name}\n")
        assert (tmp_path / name).read_bytes().startswith(begins)


def test_the_only_tip_of_a_body_need_not_be_named(run):
    code, out, _ = run("solve", "ur5", "--position", 0.4, 0.1, 0.4)
    assert code == 0 and "Position of tool0" in out
