"""A misspelt name cannot be assigned to an objective: nobody would notice that it has no effect."""

import pickle

import pytest

import memetik as mk


@pytest.mark.parametrize(
    ("objective", "name", "near"),
    [
        (mk.Cone("panda_hand", (1, 0, 0), 1.5), "half_angel", "half_angle"),
        (mk.Position("panda_hand", (0.4, 0, 0.5)), "targt", "target"),
        (mk.Pose("panda_hand", mk.translation(0.4, 0, 0.5)), "wieght", "weight"),
        (mk.CenterJoints(), "stifness", "stiffness"),
    ],
)
def test_the_error_names_the_attribute_that_is_meant(objective, name, near):
    with pytest.raises(mk.errors.ProblemError, match=f"{type(objective).__name__} has no attribute '{name}'.*'{near}'"):
        setattr(objective, name, 1.0)
    assert name not in vars(objective)


def test_methods_cannot_be_assigned():
    with pytest.raises(mk.errors.ProblemError, match="pack cannot be assigned"):
        mk.Position("panda_hand", (0.4, 0, 0.5)).pack = None


def test_a_class_of_the_user_keeps_what_it_wants():
    class Mine(mk.Position):
        def __init__(self):
            super().__init__("panda_hand", (0.4, 0, 0.5))
            self.remark = "mine"

    mine = Mine()
    mine.remark = "changed"
    mine.target = (0.3, 0, 0.5)
    assert mine.remark == "changed" and mine.target[0] == 0.3


def test_an_objective_that_was_pickled_refuses_misspelt_names_too():
    again = pickle.loads(pickle.dumps(mk.Position("panda_hand", (0.4, 0, 0.5))))
    with pytest.raises(mk.errors.ProblemError, match="'target'"):
        again.targets = 1.0
