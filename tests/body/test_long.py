"""Bodies of thousands of joints: what is done with them takes time in proportion, and no recursion."""

import time

import numpy as np
import pytest

from memetik import Body
from memetik.build import Joint, Link, Mimic
from memetik.errors import BodyError
from memetik.objectives import Position
from memetik.problem import Problem
from memetik.read.urdf import parse_urdf

SECONDS = 2.0  # for 3,000 joints


def urdf(count: int, *, mimics: bool, siblings: bool = False) -> str:
    """Joints in a row, or all on the root; with `mimics` each follows the one before it."""
    lines = ['<robot name="long">', '<link name="link_0"/>']
    for k in range(1, count + 1):
        parent = 0 if siblings else k - 1
        mimic = f'<mimic joint="joint_{k - 1}"/>' if mimics and k > 1 else ""
        lines.append(
            f'<link name="link_{k}"/><joint name="joint_{k}" type="revolute"><parent link="link_{parent}"/>'
            f'<child link="link_{k}"/><origin xyz="0 0 0.01"/><axis xyz="{"0 0 1" if k % 2 else "0 1 0"}"/>'
            f'<limit lower="-1" upper="1" effort="1" velocity="1"/>{mimic}</joint>'
        )
    return "\n".join([*lines, "</robot>"])


def seconds(action) -> float:
    """The least of three, since other programs may run meanwhile."""
    times = []
    for _ in range(3):
        start = time.perf_counter()
        action()
        times.append(time.perf_counter() - start)
    return min(times)


def load_and_use(text: str) -> None:
    body = parse_urdf(text)
    tip = list(body.links)[-1]
    body.forward(body.home)
    str(body)
    body.chain(body.root, tip)
    Problem(body, Position(tip, (0.1, 0.1, 0.1)))


@pytest.mark.timed
@pytest.mark.parametrize("siblings", [False, True])
@pytest.mark.parametrize("mimics", [False, True])
def test_three_thousand_joints_load_within_two_seconds(mimics, siblings):
    text = urdf(3000, mimics=mimics, siblings=siblings)
    assert seconds(lambda: parse_urdf(text)) < SECONDS


@pytest.mark.timed
@pytest.mark.parametrize("mimics", [False, True])
def test_twice_the_joints_take_about_twice_as_long(mimics):
    load_and_use(urdf(2, mimics=mimics))  # the kernels are there before the clock runs
    short, long = urdf(800, mimics=mimics), urdf(1600, mimics=mimics)
    assert seconds(lambda: load_and_use(long)) < 3.0 * seconds(lambda: load_and_use(short))


@pytest.mark.parametrize("mimics", [False, True])
def test_ten_thousand_joints_in_a_row_are_no_recursion(mimics):
    load_and_use(urdf(10_000, mimics=mimics))


@pytest.mark.quick
def test_a_long_row_of_mimic_joints_multiplies_out(rng):
    """In whichever order they are met: the last of the row stands first in the body."""
    factors = rng.uniform(0.9, 1.1, 40)
    shifts = rng.uniform(-0.1, 0.1, 40)
    names = ["lead", *(f"follow_{k}" for k in range(40))]
    joints = [Joint("lead", "continuous", "root", "lead_link")]
    joints += [
        Joint(names[k + 1], "continuous", "root", f"{names[k + 1]}_link", mimic=Mimic(names[k], factors[k], shifts[k]))
        for k in range(40)
    ]
    body = Body("row", [Link("root"), *(Link(f"{name}_link") for name in names)], joints[::-1])
    value = 0.7
    for k in range(40):
        value = factors[k] * value + shifts[k]
        (drive,) = body.variables.drives[names[k + 1]]
        np.testing.assert_allclose(drive.ratio * 0.7 + drive.offset, value, rtol=1e-12)


@pytest.mark.quick
def test_multipliers_that_grow_beyond_all_numbers_are_refused():
    links = [Link("root"), *(Link(f"l{k}") for k in range(41))]
    joints = [Joint("j0", "continuous", "root", "l0")]
    joints += [Joint(f"j{k}", "continuous", "root", f"l{k}", mimic=Mimic(f"j{k - 1}", 1e9)) for k in range(1, 41)]
    with pytest.raises(BodyError, match="multipliers too large to compute"):
        Body("row", links, joints)
