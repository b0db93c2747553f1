"""Every public attribute of every objective and of a problem: an assignment counts from the next solve on, or raises.

Attributes are found by looking at the classes: a new one fails here until VALUES or ARGUMENTS tells what to try.
"""

from __future__ import annotations

import copy
import dataclasses
import inspect
import pickle

import numpy as np
import pytest

import memetik as mk
from memetik.errors import ProblemError
from memetik.objectives import Objective
from memetik.objectives.attributes import Argument, Attribute, Fixed
from tests.conftest import COMPILED
from tests.objectives.test_jacobians import NAMES

PANDA = mk.load("panda")
BODY = mk.Body(
    "heavy panda",
    [dataclasses.replace(link, mass=1.0) for link in PANDA.links.values()],
    PANDA.joints.values(),
    home=dict(zip(PANDA.joint_names, PANDA.home, strict=True)),
    touching=PANDA.touching,
)
HOME, JOINTS = BODY.home, BODY.joint_names
HAND, POSE = "panda_hand", BODY.forward(HOME + 0.2)["panda_hand"]
OTHER = mk.transform((0.4, 0.2, 0.5), mk.euler(0.3, 2.5, 0.1))
BUDGET = mk.Budget(evaluations=200)
OFFSET = BODY.frame(HAND, offset=mk.translation(0.0, 0.05, 0.1))


def first_joint(value):
    return value - 0.1


def twice(value):
    return 2.0 * value


# What each objective is made of.
ARGUMENTS = {
    "AvoidLimits": {"margin": 0.4},
    "Balance": {"polygon": [(0.1, 0.1), (0.3, 0.1), (0.2, 0.3)]},
    "CenterJoints": {},
    "Cone": {"frame": HAND, "target": (1, 0, 0), "half_angle": 1.0},
    "Custom": {"function": first_joint, "joints": JOINTS[0]},
    "Direction": {"frame": HAND, "target": (1, 0, 0)},
    "Displacement": {"reference": HOME + 0.1},
    "Distance": {"frame": [HAND, "panda_link5"], "others": [(0.5, 0.1, 0.4, 0.1)]},
    "FunctionalRelation": {"joint": JOINTS[0], "function": twice, "sources": JOINTS[1]},
    "GravityTorque": {"effort_fraction": 0.1},
    "JointValue": {"joint": JOINTS[0], "target": 0.5},
    "Line": {"frame": HAND, "point": (0.4, 0, 0.3), "direction": (1, 0, 1)},
    "LookAt": {"frame": HAND, "target": (1, 0, 0)},
    "Manipulability": {"frame": HAND, "least": 0.2},
    "MaxDistance": {"frame": HAND, "target": (0.4, 0.3, 0.3), "distance": 0.1},
    "MinDistance": {"frame": HAND, "target": (0.4, 0, 0.5), "distance": 0.2},
    "Orientation": {"frame": HAND, "target": POSE[:3, :3]},
    "Plane": {"frame": HAND, "point": (0.4, 0, 0.3), "normal": (1, 0, 1)},
    "Pose": {"frame": HAND, "target": POSE},
    "Position": {"frame": HAND, "target": POSE[:3, 3], "mask": (1, 1, 0)},
    "Projection": {"frame": HAND, "surface": mk.objectives.Ground(), "on_miss": POSE},
    "SelfDistance": {"body": BODY},
    "Side": {"frame": HAND, "direction": (1, 0, 0)},
    "Touch": {"link": HAND},
}
COMMON = {
    "weight": 3.0,
    "tolerance": 0.02,
    "priority": 4,
    "name": "mine",
    "frame": OFFSET,
    "relative_to": "panda_link1",
}
# Other values than those above, by attribute; of a class in particular where a general one will not do.
VALUES = {
    **COMMON, "margin": 0.2, "clearance": 0.03, "loss": "published", "radius": 0.2, "axis": (0, 1, 1), "half_angle": 0.4,
    "target": (0.3, 0.3, 0.6), "direction": (0, 1, 2), "point": (0.3, 0.1, 0.2), "normal": (0, 1, 2), "side": "above",
    "distance": 0.3, "mask": (0, 1, 1), "axis_tolerance": (0.01, 0.02, 0.03), "mask_axes": mk.euler(0.1, 0.2, 0.3),
    "polygon": [(0.1, 0.0), (0.4, 0.1), (0.2, 0.4)], "joint": JOINTS[1], "stiffness": {JOINTS[1]: 4.0}, "reference": HOME - 0.1,
    "least": 0.05, "effort": {JOINTS[1]: 20.0}, "gravity": (0, 1, -9), "effort_fraction": 0.05, "link": "panda_link5",
    "obstacles": [(0.4, 0.1, 0.4, 0.15)], "position_tolerance": 0.02, "orientation_tolerance": 0.03, "lift": 0.3, "align": False,
    "length": 2.0, "surface": mk.objectives.Ground((0, 0, 0.2)), "on_miss": "satisfied", "pose": OTHER,
    "Orientation.target": OTHER[:3, :3], "Pose.target": OTHER, "Pose.mask": (1, 1, 1, 1, 1, 0), "JointValue.target": -0.4,
    "Manipulability.axes": "position", "Touch.frame": "panda_link5", "Side.target": (0, 1, 0), "Balance.margin": 0.02,
    "Distance.radius": 0.2,
}  # fmt: skip
# Attributes that have another name in the constructor, and what they are there.
ARGUMENT_OF = {
    "axis_tolerance": lambda value: {"tolerance": value},
    "pose": lambda value: {"on_miss": value},
    "obstacles": lambda value: {"others": value},
    "Side.target": lambda value: {"direction": -np.array(value)},
    "Touch.frame": lambda value: {"link": value},
    "Pose.tolerance": lambda value: {"position_tolerance": value},
    "Projection.tolerance": lambda value: {"position_tolerance": value},
}
# Properties that compile the problem again; all others write to its numbers, which control loops rely on.
COMPILES = {"tolerance", "axis_tolerance", "position_tolerance", "on_miss", "link"}

CLASSES = {name: kind for name, kind in vars(NAMES).items() if isinstance(kind, type) and Objective in kind.__mro__[1:]}


def members(kind):
    """Attributes, properties and arguments of a class, by name."""
    found = {name: inspect.getattr_static(kind, name) for name in dir(kind) if not name.startswith("_")}
    found = {name: each for name, each in found.items() if isinstance(each, (Argument, property))}
    unknown = set(inspect.signature(kind).parameters) - set(found)
    assert not unknown, f"arguments that can be assigned without effect: {unknown}"
    return found


def is_refused(name, member):
    return isinstance(member, (Fixed, Argument)) or name in ("follows_start", "obstacle_numbers", "has_functions")


EVERY = [(name, each, member) for name, kind in sorted(CLASSES.items()) for each, member in members(kind).items()]
ASSIGNED = [(name, each) for name, each, member in EVERY if not is_refused(each, member)]
REFUSED = [(name, each) for name, each, member in EVERY if is_refused(each, member)]


def make(name, /, **changes):
    return CLASSES[name](**{**ARGUMENTS[name], **changes})


def make_problem(objective):
    """With a pose as a guide, so that the search has somewhere to go whatever the objective."""
    return mk.Problem(
        BODY, [objective, mk.Pose(HAND, POSE, position_tolerance=None, orientation_tolerance=None, weight=0.1)]
    )


def value_of(name, attribute):
    return VALUES.get(f"{name}.{attribute}", VALUES.get(attribute))


def answer(problem):
    solution = mk.solve(problem, HOME + 0.05, budget=BUDGET)
    return solution.q.tolist(), solution.status, repr(solution.errors), repr(problem.objectives)


def numbers(problem):
    """What a problem is compiled to."""
    c = problem.compiled
    return [array.tobytes() for array in (c.terms, c.data, c.frames, c.nodes, c.variables, c.limits, c.priorities)]


def test_every_objective_is_tried():
    assert sorted(ARGUMENTS) == sorted(CLASSES)
    assert not [f"{name}.{each}" for name, each in ASSIGNED if value_of(name, each) is None]


@pytest.mark.only_if(COMPILED, "compiled kernels")
@pytest.mark.parametrize(("name", "attribute"), ASSIGNED)
def test_an_assignment_counts_from_the_next_solve_on(name, attribute):
    value = value_of(name, attribute)
    objective = make(name)
    problem = make_problem(objective)
    before, compiled = answer(problem), problem.compiled
    setattr(objective, attribute, value)
    in_place = not isinstance(inspect.getattr_static(CLASSES[name], attribute), Attribute) and attribute not in COMPILES
    assert (problem.compiled is compiled) == in_place
    argument = ARGUMENT_OF.get(f"{name}.{attribute}", ARGUMENT_OF.get(attribute, lambda value: {attribute: value}))
    fresh = make_problem(make(name, **argument(value)))
    assert answer(problem) == answer(fresh)
    assert numbers(fresh) != numbers(make_problem(make(name))) or answer(fresh) != before, "the value changes nothing"
    for again in (copy.deepcopy(problem), pickle.loads(pickle.dumps(problem))):
        assert answer(again) == answer(fresh)


@pytest.mark.quick
@pytest.mark.parametrize(("name", "attribute"), REFUSED)
def test_what_cannot_change_says_so(name, attribute):
    objective = make(name)
    with pytest.raises(ProblemError, match=f"{attribute} cannot be assigned"):
        setattr(objective, attribute, value_of(name, attribute))


@pytest.mark.quick
@pytest.mark.parametrize(("name", "attribute"), ASSIGNED)
def test_a_value_that_is_refused_changes_nothing(name, attribute):
    objective = make(name)
    before = repr(getattr(objective, attribute))
    with pytest.raises(ProblemError):
        setattr(objective, attribute, object())
    assert repr(getattr(objective, attribute)) == before


@pytest.mark.quick
@pytest.mark.parametrize("travel", [lambda o: o, copy.deepcopy, lambda o: pickle.loads(pickle.dumps(o))])
@pytest.mark.parametrize(("name", "attribute"), ASSIGNED)
def test_an_entry_cannot_be_written(name, attribute, travel):
    objective = make(name)
    setattr(objective, attribute, value_of(name, attribute))
    write_to(getattr(travel(objective), attribute))


def write_to(value):
    if isinstance(value, np.ndarray):
        with pytest.raises(ValueError, match="read-only"):
            value[0] = 1.0
    elif isinstance(value, dict):
        with pytest.raises(ProblemError, match="Assign a whole one"):
            value[JOINTS[0]] = 1.0


# ---- Problems ---------------------------------------------------------------------------------------------

LOWER, UPPER = BODY.lower.copy(), BODY.upper.copy()
LOWER[1], UPPER[3] = -0.4, -2.3
OF_PROBLEMS = {
    "weighting": "balanced",
    "lock": {JOINTS[2]: 0.1},
    "limits": {JOINTS[0]: (-0.1, 0.1)},
    "lower": LOWER,
    "upper": UPPER,
    "root": mk.translation(0.1, 0.0, 0.1),
}
LIMITS = {
    "lower": dict(zip(JOINTS, zip(LOWER, BODY.upper, strict=True), strict=True)),
    "upper": dict(zip(JOINTS, zip(BODY.lower, UPPER, strict=True), strict=True)),
}


def test_every_attribute_of_a_problem_is_tried():
    assert sorted(members(mk.Problem)) == sorted([*OF_PROBLEMS, "body", "objectives", "has_functions"])


@pytest.mark.only_if(COMPILED, "compiled kernels")
@pytest.mark.parametrize("attribute", OF_PROBLEMS)
def test_an_assignment_to_a_problem_counts_from_the_next_solve_on(attribute):
    def wanted():
        return [make("Pose"), make("JointValue", tolerance=0.3)]

    value = OF_PROBLEMS[attribute]
    problem = mk.Problem(BODY, wanted())
    before = answer(problem)
    setattr(problem, attribute, value)
    given = {"limits": LIMITS[attribute]} if attribute in LIMITS else {attribute: value}
    fresh = mk.Problem(BODY, wanted(), **given)
    assert answer(problem) == answer(fresh) != before
    assert np.array_equal(problem.lower, fresh.lower) and np.array_equal(problem.upper, fresh.upper)
    assert problem.lock == fresh.lock and problem.limits == fresh.limits
    write_to(getattr(problem, attribute))
    assert answer(pickle.loads(pickle.dumps(problem))) == answer(fresh)


@pytest.mark.quick
@pytest.mark.parametrize(
    ("attribute", "value"),
    [
        ("body", BODY), ("objectives", ()), ("has_functions", True), ("weighting", "light"), ("lock", {JOINTS[0]: 9.0}),
        ("lock", [JOINTS[0]]), ("limits", {JOINTS[0]: (1.0, -1.0)}), ("lower", UPPER + 9.0), ("lower", UPPER[:2]),
        ("upper", np.full(BODY.dof, np.nan)), ("upper", LOWER - 9.0), ("root", "here"),
        ("limits", {JOINTS[1]: (0.4, 0.5)}),  # which leaves out where it is locked
    ],
)  # fmt: skip
def test_an_assignment_that_is_refused_changes_nothing(attribute, value):
    problem = mk.Problem(BODY, make("Pose"), lock={JOINTS[1]: 0.2})
    compiled, before = problem.compiled, (problem.limits, problem.lock, problem.root, problem.weighting)
    with pytest.raises(mk.MemetikError):
        setattr(problem, attribute, value)
    assert problem.compiled is compiled
    assert (problem.limits, problem.lock, problem.root, problem.weighting) == before


@pytest.mark.quick
@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("compiled", "compiled cannot"),
        ("recompile", "recompile cannot"),
        ("weigthing", "Did you mean 'weighting'"),
        ("q", "There are"),
    ],
)
def test_what_a_problem_does_not_have_cannot_be_assigned(name, message):
    problem = mk.Problem(BODY, make("Pose"))
    with pytest.raises(ProblemError, match=message):
        setattr(problem, name, 1)

    class Mine(mk.Problem):
        """Users' classes keep what they want."""

    mine = Mine(BODY, make("Pose"))
    mine.q = 1
    assert mine.q == 1
    with pytest.raises(ProblemError):
        mine.compiled = None


@pytest.mark.quick
def test_what_stands_in_the_world_cannot_be_written():
    world = mk.World({"ball": mk.Shape("sphere", (0.1,))})
    ground, cloud = mk.objectives.Ground(), mk.objectives.PointCloud([(0.5, 0.0, 0.3)], 0.1)
    field = mk.objectives.HeightField(np.zeros((3, 3)))
    mesh = mk.objectives.TriangleMesh([(0, 0, 0), (1, 0, 0), (0, 1, 0)], [(0, 1, 2)])
    for array in (
        *(
            pickle.loads(pickle.dumps(world))["ball"].pose,
            world["ball"].pose,
            ground.point,
            ground.normal,
            cloud.points,
        ),
        *(field.heights, field.spacing, field.origin, mesh.vertices, mesh.faces),
    ):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0
    for thing, name in ((ground, "point"), (field, "heights"), (mesh, "faces"), (cloud, "radius")):
        with pytest.raises(ProblemError, match=f"{name} cannot be assigned"):
            setattr(thing, name, getattr(thing, name))


def test_weights_end_where_their_products_would():
    for weight in (1e300, 1e-300, 0.0, -1.0):
        with pytest.raises(ProblemError, match="weight is"):
            mk.AvoidLimits(weight=weight)
    assert mk.AvoidLimits(weight=1e100).weight == 1e100 and mk.AvoidLimits(weight=1e-100).weight == 1e-100
