"""Residuals in blocks: what a whole body falls into, and what must hold for any problem."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import memetik as mk
from memetik.kernels.compiler.jit import COMPILED
from memetik.kernels.compiler.lanes import LANES
from memetik.kernels.terms.records import TERM
from memetik.problem.blocks import split_residuals

pytestmark = pytest.mark.quick


def check(terms, affects, split):
    """Every residual is in one block, every variable once in the order, and none moves another block unless of the trunk."""
    first = len(split.order) - split.trunk
    assert sorted(split.order) == list(range(affects.shape[1]))
    ends = [0, *split.blocks["row_end"]]
    assert list(split.blocks["row_begin"]) == ends[:-1] and ends[-1] == terms["rows"].sum()
    assert split.blocks.size <= max(LANES, 1)
    place = split.blocks["begin"][0] if split.blocks.size else first
    assert not affects[terms["rows"] > 0][:, split.order[:place]].any()
    for block in split.blocks:
        assert block["begin"] == place
        place = block["end"]
        inside = (terms["row"] >= block["row_begin"]) & (terms["row"] + terms["rows"] <= block["row_end"])
        mine = split.order[block["begin"] : block["end"]]
        assert not affects[~inside & (terms["rows"] > 0)][:, mine].any()
        assert terms["rows"][inside & (terms["rows"] > 0)].sum() == block["row_end"] - block["row_begin"]
    assert place == first


@given(seed=st.integers(0, 2**32 - 1), count=st.integers(1, 30), n=st.integers(1, 40), density=st.floats(0.0, 0.6))
def test_any_problem(seed, count, n, density):
    rng = np.random.default_rng(seed)
    terms = np.zeros(count, dtype=TERM)
    terms["rows"] = rng.integers(0, 5, count)
    terms["row"] = np.cumsum(terms["rows"]) - terms["rows"]
    affects = (rng.random((count, n)) < density).astype(np.uint8)
    check(terms, affects, split_residuals(terms, affects))


@pytest.mark.only_if(COMPILED, "compiled kernels")  # otherwise there is one lane, and one block
def test_a_humanoid_has_limbs_and_a_trunk():
    body = mk.load("valkyrie").with_base("xyz", lower=-1.0, upper=1.0)
    tips = ("rightPalm", "leftPalm", "rightFoot", "leftFoot")
    problem = mk.Problem(body, [*(mk.Pose(tip, np.eye(4)) for tip in tips), mk.LookAt("head", (1, 0, 0))])
    c = problem.compiled
    assert c.split.trunk == 6
    assert list(c.split.blocks["row_end"] - c.split.blocks["row_begin"]) == [6, 6, 6, 6, 3]
    assert list(c.split.blocks["end"] - c.split.blocks["begin"]) == [7, 7, 6, 6, 3]


@pytest.mark.only_if(COMPILED, "compiled kernels")  # otherwise there is one lane, and one block
def test_residuals_of_a_limb_stand_together():
    """Whatever the order of the objectives."""
    body = mk.load("valkyrie")
    wanted = [mk.Pose("rightPalm", np.eye(4)), mk.Pose("leftPalm", np.eye(4)), mk.Position("rightFoot", (0, 0, 0)),
              mk.Position("leftFoot", (0, 0, 0)), mk.Orientation("rightFoot", np.eye(3))]  # fmt: skip
    c = mk.Problem(body, wanted).compiled
    assert list(c.terms["row"]) == [0, 3, 6, 9, 12, 18, 15]
    assert list(c.variables["row_end"] - c.variables["row_begin"]).count(6) >= 6
    check(c.terms, c.affects, c.split)


def test_a_chain_is_one_block():
    c = mk.Problem(
        mk.load("panda"), [mk.Position("panda_hand", (0, 0, 0)), mk.Position("panda_link4", (0, 0, 0))]
    ).compiled
    assert c.split.blocks.size == 1 or c.split.trunk > 0
    check(c.terms, c.affects, c.split)
