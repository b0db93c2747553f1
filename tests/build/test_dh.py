"""Denavit-Hartenberg tables against printed formulas and a naive product of matrices."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memetik.build.dh import DHRow, from_dh
from memetik.errors import FormatError, MemetikError

PI = math.pi
quick = settings(deadline=None, derandomize=True, max_examples=60)

# The Puma 560 in the classic convention (Corke, "Robotics, Vision and Control"): a, alpha, d, theta.
PUMA = np.array(
    [
        [0.0, PI / 2, 0.0, 0.0],
        [0.4318, 0.0, 0.0, 0.0],
        [0.0203, -PI / 2, 0.15005, 0.0],
        [0.0, PI / 2, 0.4318, 0.0],
        [0.0, -PI / 2, 0.0, 0.0],
        [0.0, 0.0, 0.0, 0.0],
    ]
)

# The Puma 560 in the modified convention (Craig, "Introduction to Robotics").
A2, A3, D3, D4 = 0.4318, 0.0203, 0.1244, 0.4318
CRAIG_PUMA = np.array(
    [
        [0.0, 0.0, 0.0, 0.0],
        [0.0, -PI / 2, 0.0, 0.0],
        [A2, 0.0, D3, 0.0],
        [A3, -PI / 2, D4, 0.0],
        [0.0, PI / 2, 0.0, 0.0],
        [0.0, -PI / 2, 0.0, 0.0],
    ]
)

# SCARA: two parallel turns, a slide along the common axis, a turn of the tool.
SCARA = [
    DHRow(0.325, 0.0, 0.4, 0.1, lower=-2.0, upper=2.0),
    DHRow(0.275, PI, 0.0, -0.2, lower=-2.5, upper=2.5),
    DHRow(0.05, 0.3, 0.1, 0.4, "prismatic", 0.0, 0.17, "spindle"),
    DHRow(0.0, 0.0, 0.02, 0.0),
]


def turn_x(angle):
    c, s = math.cos(angle), math.sin(angle)
    return np.array([[1, 0, 0, 0], [0, c, -s, 0], [0, s, c, 0], [0, 0, 0, 1.0]])


def turn_z(angle):
    c, s = math.cos(angle), math.sin(angle)
    return np.array([[c, -s, 0, 0], [s, c, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1.0]])


def move(x, z):
    return np.array([[1, 0, 0, x], [0, 1, 0, 0], [0, 0, 1, z], [0, 0, 0, 1.0]])


def naive_frames(rows, kinds, q, convention):
    """All DH frames by multiplying the four elementary transforms of every row."""
    frames, world = [], np.eye(4)
    for (a, alpha, d, theta), kind, value in zip(rows, kinds, q, strict=True):
        theta, d = (theta + value, d) if kind == "revolute" else (theta, d + value)
        if convention == "classic":
            world = world @ turn_z(theta) @ move(0, d) @ move(a, 0) @ turn_x(alpha)
        else:
            world = world @ turn_x(alpha) @ move(a, 0) @ turn_z(theta) @ move(0, d)
        frames.append(world)
    return frames


def assert_frames(body, rows, kinds, q, convention):
    poses = body.forward(q)
    for i, frame in enumerate(naive_frames(rows, kinds, q, convention), start=1):
        assert np.allclose(poses[f"link_{i}"], frame, rtol=0.0, atol=1e-13), f"link_{i}"


@pytest.mark.parametrize("convention", ["classic", "modified"])
def test_every_frame_of_the_puma_equals_the_product_of_its_elementary_transforms(convention):
    rng = np.random.default_rng(560)
    body = from_dh(PUMA, convention=convention, name="puma")
    assert body.dof == 6 and body.joint_names == tuple(f"joint_{i}" for i in range(1, 7))
    for q in rng.uniform(-PI, PI, (20, 6)):
        assert_frames(body, PUMA, ["revolute"] * 6, q, convention)


def test_the_puma_stands_where_the_book_says():
    nominal = from_dh(PUMA).forward([0.0, PI / 4, PI, 0.0, PI / 4, 0.0])["link_6"]
    printed = [[0, 0, 1, 0.5963], [0, 1, 0, -0.1501], [-1, 0, 0, -0.0144], [0, 0, 0, 1]]
    assert np.allclose(nominal, printed, rtol=0.0, atol=6e-5)


def test_craigs_puma_meets_his_closed_form():
    rng = np.random.default_rng(3)
    body = from_dh(CRAIG_PUMA, convention="modified")
    for q in rng.uniform(-PI, PI, (20, 6)):
        s1, s2, s23 = np.sin([q[0], q[1], q[1] + q[2]])
        c1, c2, c23 = np.cos([q[0], q[1], q[1] + q[2]])
        reach = A2 * c2 + A3 * c23 - D4 * s23
        wrist = [c1 * reach - D3 * s1, s1 * reach + D3 * c1, -A3 * s23 - A2 * s2 - D4 * c23]
        assert np.allclose(body.forward(q)["link_6"][:3, 3], wrist, rtol=0.0, atol=1e-14)


def test_both_conventions_agree_at_the_tool():
    """A classic table is a modified one whose a and alpha slide down a row; the last pair is the tool."""
    rng = np.random.default_rng(4)
    classic = PUMA.copy()
    classic[5, :2] = 0.07, 0.6
    modified = classic.copy()
    modified[:, :2] = np.vstack([[0.0, 0.0], classic[:-1, :2]])
    one = from_dh(classic, tool_pose=(0.0, 0.0, 0.1))
    two = from_dh(modified, convention="modified", tool_pose=move(0.07, 0) @ turn_x(0.6) @ move(0, 0.1))
    for q in rng.uniform(-PI, PI, (20, 6)):
        assert np.allclose(one.forward(q)["tool"], two.forward(q)["tool"], rtol=0.0, atol=1e-14)


@pytest.mark.parametrize("convention", ["classic", "modified"])
def test_prismatic_rows_slide_and_keep_their_limits_and_names(convention):
    rng = np.random.default_rng(5)
    body = from_dh(SCARA, convention=convention)
    assert body.joint_names == ("joint_1", "joint_2", "spindle", "joint_4")
    assert body.joints["spindle"].kind == "prismatic"
    assert body.lower.tolist() == [-2.0, -2.5, 0.0, -math.inf]
    assert body.upper.tolist() == [2.0, 2.5, 0.17, math.inf]
    for _ in range(20):
        q = body.sample(rng)
        assert_frames(body, [row[:4] for row in SCARA], [row.kind for row in SCARA], q, convention)


def test_an_array_with_keywords_equals_rows():
    table = np.array([row[:4] for row in SCARA])
    kinds, lower, upper = ([getattr(row, field) for row in SCARA] for field in ("kind", "lower", "upper"))
    body = from_dh(table, joint_types=kinds, lower=np.array(lower), upper=upper, names=["p", "q", "r", "s"])
    other = from_dh(SCARA)
    q = [0.3, -0.4, 0.11, 1.2]
    assert np.array_equal(body.forward(q)["link_4"], other.forward(q)["link_4"])
    assert np.array_equal(body.lower, other.lower) and np.array_equal(body.upper, other.upper)
    assert body.joint_names == ("p", "q", "r", "s")
    assert all(joint.kind != "revolute" for joint in from_dh(table, joint_types="prismatic").joints.values())


@pytest.mark.parametrize("convention", ["classic", "modified"])
@pytest.mark.parametrize("rows", [PUMA, PUMA[1:]], ids=["turns in place", "turns with a crank"])
def test_base_and_tool_frame_the_arm(convention, rows):
    base, tool = move(0.2, 0.7) @ turn_x(0.4), turn_z(0.5) @ move(0.0, 0.1)
    plain = from_dh(rows, convention=convention)
    body = from_dh(rows, convention=convention, base_pose=base, tool_pose=tool)
    q = np.linspace(-1.0, 1.0, len(rows))
    end = plain.forward(q)[f"link_{len(rows)}"]
    assert np.allclose(body.forward(q)["tool"], base @ end @ tool, rtol=0.0, atol=1e-14)
    assert body.chains["arm"].base == "base" and body.chains["arm"].tips == ("tool",)
    assert plain.chains["arm"].tips == (f"link_{len(rows)}",)


numbers = st.floats(-10.0, 10.0, allow_nan=False)


@quick
@given(
    rows=st.lists(st.tuples(numbers, numbers, numbers, numbers), min_size=1, max_size=6),
    data=st.data(),
    convention=st.sampled_from(["classic", "modified"]),
)
def test_any_table_equals_its_naive_twin(rows, data, convention):
    kinds = data.draw(st.lists(st.sampled_from(["revolute", "prismatic"]), min_size=len(rows), max_size=len(rows)))
    q = data.draw(st.lists(st.floats(-3.0, 3.0), min_size=len(rows), max_size=len(rows)))
    poses = from_dh(rows, joint_types=kinds, convention=convention).forward(q)
    for i, frame in enumerate(naive_frames(rows, kinds, q, convention), start=1):
        assert np.allclose(poses[f"link_{i}"], frame, rtol=0.0, atol=1e-11)


# ---- What is refused ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rows", "options", "says"),
    [
        (PUMA[:, :3], {}, r"\(n, 4\).*shape \(6, 3\)"),
        ([], {}, r"\(n, 4\)"),
        (None, {}, r"\(n, 4\)"),
        ([[0, 0, 0, 0], [1, 2, 3]], {}, "cannot be read as a table"),
        ([["a", "b", "c", "d"]], {}, r"\(n, 4\)"),
        ([[0, 0, 0, 0], [0, math.nan, 0, 0]], {}, r"row 2: alpha is nan.*\[rad\]"),
        ([[0, 0, math.inf, 0]], {}, r"row 1: d is inf.*\[m\]"),
        ([DHRow(0.1, 0.0, 0.0, "x")], {}, "row 1: theta is 'x'"),
        ([DHRow(10**400, 0.0, 0.0, 0.0)], {}, "row 1: a is"),
        (PUMA, {"convention": "craig"}, "'classic' or 'modified'"),
        (PUMA, {"joint_types": ["revolute"] * 5}, "joint_types has 5 entries for 6"),
        (PUMA, {"joint_types": ["revolute"] * 5 + ["helical"]}, "row 6: unknown kind 'helical'"),
        (PUMA, {"lower": [0.0]}, "lower has 1 entries for 6"),
        (PUMA, {"upper": 1.0}, "upper must be a list"),
        (PUMA, {"lower": [1.0] * 6, "upper": [1.0] * 3 + [0.5] + [1.0] * 2}, "row 4: no value lies between"),
        (PUMA, {"lower": [math.nan] * 6}, "row 1: lower limit is nan"),
        (PUMA, {"names": [*"abcde", 7]}, "row 6: the joint's name is 7"),
        (SCARA, {"joint_types": ["revolute"] * 4}, "joint_types= goes with an array"),
        (PUMA, {"tool_pose": np.ones((4, 4))}, "bad tool"),
        (PUMA, {"base_pose": (0.0, 1.0)}, "bad base"),
    ],
)
def test_a_bad_table_says_where_and_how_to_mend(rows, options, says):
    with pytest.raises(FormatError, match=says):
        from_dh(rows, **options)


def test_a_table_that_lies_about_its_length():
    class Endless:
        def __len__(self):
            return 3

        def __getitem__(self, k):
            raise RuntimeError("nothing here")

    with pytest.raises(FormatError, match="cannot be read as a table: nothing here"):
        from_dh(Endless())


def test_joints_of_the_same_name_are_refused():
    with pytest.raises(MemetikError, match="two joints are named 'a'"):
        from_dh(PUMA[:2], names=["a", "a"])


anything = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=3), st.complex_numbers())
garbage = st.one_of(
    anything,
    st.lists(st.lists(anything, max_size=5), max_size=4),
    st.lists(st.tuples(st.floats(), st.floats(), st.floats(), st.floats()), max_size=4),
    st.lists(st.builds(DHRow, anything, anything, anything, anything, anything, anything, anything), max_size=3),
)


@settings(deadline=None, derandomize=True, max_examples=300)
@given(rows=garbage, kinds=st.one_of(st.none(), st.lists(anything, max_size=3)), lower=garbage, names=garbage)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # numbers near the largest float overflow in products
def test_garbage_raises_only_our_own_errors(rows, kinds, lower, names):
    try:
        from_dh(rows, joint_types=kinds, lower=lower, names=names)
    except MemetikError as error:
        assert len(str(error)) > 20
