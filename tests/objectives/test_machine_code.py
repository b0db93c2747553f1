"""Machine code of users' functions: alike functions share it, and it goes with the last objective that uses it."""

import ctypes
import gc
import os
import subprocess
import sys
import types
import weakref

import numba
import numpy as np
import pytest
from llvmlite.binding import newpassmanagers

from memetik.build.chains import planar_chain
from memetik.objectives import Custom, FunctionalRelation, machine_code
from memetik.objectives.alike import fingerprint
from memetik.objectives.captured import captured_numbers
from memetik.objectives.machine_code import RECENT
from memetik.problem import Problem
from memetik.solvers import Memetic

quick = pytest.mark.quick
HEIGHT = 0.2
SETTINGS = types.ModuleType("settings")
SETTINGS.height = 0.2


def level(height, scale=1.0):
    return lambda tip: scale * (tip.position[1] - height)


def written(number):
    """A function whose code nobody else has."""
    return eval(f"lambda tip: tip.position[1] - {number}")


def code_of(function):
    """The machine code that a problem with the function runs."""
    objective = Custom(function, reads=["tip"])
    Problem(planar_chain(3), objective)
    ((code, _),) = objective._kernels.values()
    return code


@quick
def test_functions_are_alike_if_they_see_the_same():
    assert fingerprint(level(0.2)) == fingerprint(level(0.2)) is not None
    seen = [level(0.2), level(0.3), level(1), level(1.0), level(True), level(0.0), level(-0.0), level(0.2, (1.0, 2))]
    assert len({fingerprint(function) for function in seen}) == len(seen)


@quick
def test_a_global_that_changes_makes_another_function(monkeypatch):
    def above(tip):
        return tip.position[1] - HEIGHT

    before = fingerprint(above)
    assert fingerprint(above) == before
    monkeypatch.setitem(above.__globals__, "HEIGHT", 0.3)
    assert fingerprint(above) != before


@quick
def test_what_may_change_unseen_is_not_shared():
    table = np.zeros(3)
    assert fingerprint(lambda tip: tip.position[0] - table[0]) is None
    assert fingerprint(lambda tip: tip.position[0] - SETTINGS.height) is None
    assert fingerprint(planar_chain) is None  # it calls functions whose own globals are not looked at


def test_alike_functions_share_their_machine_code():
    assert code_of(level(0.2)) is code_of(level(0.2))
    assert code_of(level(1)) is not code_of(level(2))


def test_floats_that_are_captured_can_be_arguments():
    axis, height, point, mixed = 1, 0.2, (0.1, 0.2), (1, 0.2)
    assert captured_numbers(lambda tip: tip.position[axis] - height * point[0] * mixed[1]) == {
        "height": height,
        "point": point,
    }
    assert not captured_numbers(numba.njit(lambda tip: tip.position[1] - height))
    assert not captured_numbers(lambda *tips: tips[0].position[1] - height)
    assert not captured_numbers(lambda tip: sum([height * part for part in (lambda: tip.position)()]))


def test_functions_with_other_numbers_share_their_machine_code_and_keep_their_numbers():
    def wish(axis, point, scale):
        return lambda tip, turn: (scale * (tip.position[0] - point[axis]), tip.position[1] - point[1], 0.0 * turn)

    arm = planar_chain(3)
    points = [(0.5, 0.3), (0.4, 0.6), (0.7, -0.2)]
    goals = [Custom(wish(0, point, 2.0), reads=["tip"], joints=["joint_1"]) for point in points]
    reached = [Memetic().solve(Problem(arm, goal)).q for goal in goals]
    assert np.allclose([arm.forward(q)["tip"][:2, 3] for q in reached], points, atol=2e-3)
    assert len({goal._kernels[3][0] for goal in goals}) == 1
    assert [goal._kernels[3][1] for goal in goals] == [[*point, 2.0] for point in points]


def test_objectives_of_one_problem_that_share_machine_code_keep_their_numbers():
    def wish(height):
        return lambda frame: 2.0 * (frame.position[1] - height)

    arm = planar_chain(3)
    elbow = arm.joint_names[-1].replace("joint", "link")
    goals = [Custom(wish(y), reads=[frame]) for y, frame in ((0.5, "tip"), (0.3, elbow))]
    poses = arm.forward(Memetic().solve(Problem(arm, goals)).q)
    assert [poses[frame][1, 3] for frame in ("tip", elbow)] == pytest.approx([0.5, 0.3], abs=2e-3)
    assert len({goal._kernels[0][0] for goal in goals}) == 1


def test_numbers_are_constants_where_the_compiler_cannot_read_them(monkeypatch):
    def wish(height):
        return lambda tip: 3.0 * (tip.position[1] - height)

    class Refuses(machine_code.WithCaptured):
        def define_pipelines(self):
            raise NotImplementedError

    monkeypatch.setattr(machine_code, "WithCaptured", Refuses)
    assert code_of(wish(0.1)) is not code_of(wish(0.2))


def test_a_relation_and_a_function_of_the_same_code_do_not_share():
    arm = planar_chain(3)
    first, second, *_ = arm.joint_names
    double = lambda a: 2.0 * a  # noqa: E731
    relation, plain = FunctionalRelation(first, double, sources=[second]), Custom(double, joints=[second])
    Problem(arm, [relation, plain])
    assert relation._kernels[0][0] is not plain._kernels[0][0]


def test_machine_code_is_freed_with_its_last_objective():
    codes = weakref.WeakSet(code_of(written(10.0 + k)) for k in range(RECENT + 4))
    gc.collect()
    assert len(codes) <= RECENT


def test_functions_of_numba_print_and_raise_from_there(capfd):
    """Their machine code is copied into the engine of the objective, with all that they need."""

    @numba.njit
    def checked(x):
        if x > 0.5:
            raise ValueError("too far:", x)
        return x

    @numba.njit
    def loud(x):
        print("at", x)
        return checked(x)

    watched = Custom(lambda a: loud(a) - 0.25, joints=["joint_1"], tolerance=0.01)
    assert Memetic().solve(Problem(planar_chain(3), watched)).success
    assert "at 0.24" in capfd.readouterr().out


def test_each_function_is_optimised_once(monkeypatch):
    """llvmlite never frees all of a pass builder, and Numba makes a dozen for the simplest objective."""
    builders = []
    make = newpassmanagers.PassBuilder.__init__
    monkeypatch.setattr(
        newpassmanagers.PassBuilder, "__init__", lambda self, *given: builders.append(make(self, *given))
    )
    code_of(written(30.0))  # what all objectives share may be compiled, too
    builders.clear()
    code_of(written(31.0))
    assert len(builders) == 2  # the function, and the kernel that calls it


PROGRAM = """
import ctypes
import gc
import memetik as mk

FIELDS = "arena ordblks smblks hblks hblkhd usmblks fsmblks uordblks fordblks keepcost"

class Usage(ctypes.Structure):
    _fields_ = [(name, ctypes.c_size_t) for name in FIELDS.split()]

usage = ctypes.CDLL(None).mallinfo2
usage.restype = Usage

def allocated():
    gc.collect()
    now = usage()
    return (now.uordblks + now.hblkhd) / 1024

body = mk.load("ur5")
for k in range(64):
    if k == 24:
        warm = allocated()
    values = {}
    exec(f"def wish(tip):\\n    return {k + 1} * (tip.position[2] - 0.3)", values)
    mk.solve(mk.Problem(body, mk.objective(reads=["tool0"])(values["wish"])))
print((allocated() - warm) / 40)
"""


@pytest.mark.skipif(
    sys.platform != "linux" or not hasattr(ctypes.CDLL(None), "mallinfo2"),
    reason="glibc tells how much memory is allocated, others do not",
)
def test_objectives_that_are_dropped_leave_no_memory_behind():
    run = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "MEMETIK_QUIET": "1"},
    )
    assert float(run.stdout) < 14.0  # kB for each objective; a table of Numba's that grows by chance is 4 of them
