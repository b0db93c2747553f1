"""Objectives, problems and a world changed in any order, also by threads, answer as if they had been made so (states.py)."""

import warnings

import hypothesis
import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule

from tests.conftest import COMPILED
from tests.problem.states import OPERATIONS, Machine

pytestmark = pytest.mark.only_if(COMPILED, "compiled kernels")


class States(RuleBasedStateMachine):
    """Each rule is an operation; two numbers say with what."""

    def __init__(self):
        super().__init__()
        warnings.simplefilter("ignore")
        self.machine = Machine()

    def teardown(self):
        self.machine.end()


def _rule(operation):
    numbers = st.integers(0, 2**16)
    return rule(a=numbers, b=numbers)(lambda self, a, b: OPERATIONS[operation](self.machine, a, b))


for name in OPERATIONS:
    setattr(States, name, _rule(name))

States.TestCase.settings = hypothesis.settings(
    max_examples=15, stateful_step_count=30, deadline=None, derandomize=True,
    suppress_health_check=list(hypothesis.HealthCheck),
)  # fmt: skip
test_any_order = States.TestCase
