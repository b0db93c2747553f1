"""find_collision_pairs: against MuJoCo on the same postures and shapes, the proofs, the SRDF and back."""

from collections import Counter

import numpy as np
import pytest

import memetik as mk
from memetik.errors import BodyError, UnknownNameError
from memetik.objectives import SelfDistance
from memetik.read.srdf import apply, parse_srdf
from tests.naive.motions import Judge, all_pairs

KINDS = ("adjacent", "default", "always", "never", "sometimes")


def chain(count=4, radius=0.05, length=0.3, limit=2.0):
    """Capsules in a row, joined by turns about y."""
    builder = mk.build.BodyBuilder("chain")
    shape = mk.Shape("capsule", (radius, length), mk.translation(0, 0, length / 2))
    for k in range(count):
        place = (0, 0, 0.0 if k == 0 else length)
        parent = "base" if k == 0 else f"link{k - 1}"
        builder.add(
            parent,
            f"joint{k}",
            "revolute",
            f"link{k}",
            origin=place,
            axis=(0, 1, 0),
            lower=-limit,
            upper=limit,
            shapes=[shape],
        )
    return builder.build()


def kinds(found):
    return {frozenset(pair[:2]): pair.reason for pair in found.pairs}


def test_every_pair_is_judged_as_mujoco_judges_it():
    """On the postures that are sampled, valkyrie's links meet where MuJoCo says so; our cylinders are larger at the rims."""
    body = mk.load("valkyrie")
    found = mk.collision.find_collision_pairs(body, 40, seed=3, boxes=0)
    judge = Judge(body, pairs=all_pairs(body))
    rng = np.random.default_rng(3)
    q = rng.uniform(body.variables.sample_lower, body.variables.sample_upper, (40, body.dof))
    places = judge.places(q)
    centers = places[:, :, :3, 3]
    names = list(body.links)
    ours = {frozenset(pair[:2]): round(pair.share * 40) for pair in found.pairs if pair.reason != "adjacent"}
    one, two = judge.pairs.T
    near = np.linalg.norm(centers[:, one] - centers[:, two], axis=-1) < judge.radii[one] + judge.radii[two]
    least = {}  # distance of each pair of links at each posture
    for row, k in zip(*np.nonzero(near), strict=True):
        pair = frozenset(names[judge.links[shape]] for shape in judge.pairs[k])
        if pair in ours:
            found = judge.distance(places[row], *judge.pairs[k].tolist(), 0.1)
            least[row, pair] = min(found, least.get((row, pair), found))
    deep = Counter(pair for (_, pair), d in least.items() if d < -1e-6)
    touching = Counter(pair for (_, pair), d in least.items() if d < 1e-6)  # some links just touch in every posture
    assert deep.total() > 300
    assert all(ours[pair] >= deep[pair] for pair in ours)
    assert sum(ours.values()) < 1.03 * touching.total()


def test_the_kinds_of_a_chain():
    body = chain()
    found = mk.collision.find_collision_pairs(body, 2000)
    assert kinds(found) == {
        frozenset(("link0", "link1")): "adjacent", frozenset(("link1", "link2")): "adjacent",
        frozenset(("link2", "link3")): "adjacent", frozenset(("link0", "link2")): "sometimes",
        frozenset(("link1", "link3")): "sometimes", frozenset(("link0", "link3")): "sometimes",
    }  # fmt: skip


def test_links_that_cannot_bend_enough_are_proved_never_to_meet():
    found = mk.collision.find_collision_pairs(chain(limit=0.5), 500)
    never = found.of("never")
    assert {frozenset(pair[:2]) for pair in never} == {
        frozenset(("link0", "link2")), frozenset(("link1", "link3")), frozenset(("link0", "link3"))
    }  # fmt: skip
    assert all(pair.proved for pair in never)
    assert found.proved_touching == found.touching


def test_a_contact_that_samples_miss_is_found():
    """Two links meet only in a corner that one sample does not see."""
    body = chain(3, limit=2.8)
    assert kinds(mk.collision.find_collision_pairs(body, 1, boxes=0, seed=1))[frozenset(("link0", "link2"))] == "never"
    found = mk.collision.find_collision_pairs(body, 1, seed=1)
    assert kinds(found)[frozenset(("link0", "link2"))] == "sometimes"


def test_without_a_proof_never_is_only_a_sample():
    found = mk.collision.find_collision_pairs(chain(limit=0.5), 500, boxes=0)
    assert not any(pair.proved for pair in found.of("never"))
    assert found.proved_touching < found.touching


@pytest.mark.parametrize("name", ["panda", "h1", "shadow_hand"])
def test_proved_pairs_never_meet_in_other_samples(name):
    body = mk.load(name)
    found = mk.collision.find_collision_pairs(body, 300)
    proved = {frozenset(pair[:2]) for pair in found.of("never") if pair.proved}
    assert proved
    more = mk.collision.find_collision_pairs(body, 5000, seed=1, boxes=0)
    assert all(pair.share == 0.0 for pair in more.pairs if frozenset(pair[:2]) in proved)


def test_links_without_shapes_do_not_separate_neighbours():
    builder = mk.build.BodyBuilder("wrist")
    ball = [mk.Shape("sphere", (0.05,))]
    turn = {"axis": (0, 1, 0), "lower": -1, "upper": 1}
    builder.add("base", "a", "revolute", "upper", **turn, shapes=ball)
    builder.add("upper", "b", "revolute", "bare", **turn)
    builder.add("bare", "c", "revolute", "lower", **turn, shapes=ball)
    builder.add("lower", "d", "fixed", "tool", shapes=ball)
    found = mk.collision.find_collision_pairs(builder.build(), 10)
    assert {pair.reason for pair in found.pairs} == {"adjacent"}


def test_home_and_always():
    """Two balls that overlap at home, and a pair that hardly ever comes apart."""
    builder = mk.build.BodyBuilder("balls")
    for name, x in (("a", 0.0), ("b", 0.15), ("c", 5.0)):
        slide = {"axis": (0, 0, 1), "lower": -0.01, "upper": 0.01, "origin": (x, 0, 0)}
        builder.add("base", f"slide_{name}", "prismatic", f"stem_{name}", **slide)
        shapes = [mk.Shape("sphere", (0.1,))]
        builder.add(f"stem_{name}", f"turn_{name}", "revolute", name, axis=(0, 0, 1), lower=-1, upper=1, shapes=shapes)
    builder.add("base", "weld", "fixed", "floor", shapes=[mk.Shape("box", (9, 1, 0.01), mk.translation(0, 0, -2))])
    found = kinds(mk.collision.find_collision_pairs(builder.build(), 100))
    assert found[frozenset("ab")] == "default"
    assert found[frozenset("ac")] == "never"


def test_the_same_seed_gives_the_same_answer():
    body = mk.load("panda")
    assert (
        mk.collision.find_collision_pairs(body, 700, seed=4).pairs
        == mk.collision.find_collision_pairs(body, 700, seed=4).pairs
    )


def test_srdf_and_back(tmp_path):
    body = chain(5)
    found = mk.collision.find_collision_pairs(body, 1000)
    back = apply(body, parse_srdf(found.to_srdf()))
    assert back.touching == found.touching == body.with_touching(found.touching).touching
    assert 'reason="Adjacent"' in found.to_srdf()
    found.write_srdf(tmp_path / "chain.srdf")
    assert (tmp_path / "chain.srdf").read_text() == found.to_srdf()


def test_only_what_can_collide_is_left_to_look_at():
    body = mk.load("h1")
    found = mk.collision.find_collision_pairs(body, 2000)
    left = SelfDistance(body.with_touching(found.touching)).pairs
    assert {frozenset(pair) for pair in left} <= {frozenset(pair[:2]) for pair in found.of("sometimes")}
    assert len(left) < len(SelfDistance(body).pairs)


def test_the_table_says_how_many_and_which():
    text = str(mk.collision.find_collision_pairs(chain(), 200))
    assert text.startswith("6 pairs of links of chain, 200 samples")
    assert "link0  link2" in text
    for kind in KINDS:
        assert kind in text


def test_progress_is_told():
    told = []
    mk.collision.find_collision_pairs(chain(), 2000, progress=lambda done, total: told.append((done, total)))
    assert told == [(done, 2000) for done in (0, 512, 1024, 1536)]


def test_wrong_arguments():
    body = chain()
    with pytest.raises(BodyError, match="is not a body"):
        mk.collision.find_collision_pairs("panda")
    with pytest.raises(BodyError, match="samples is 0"):
        mk.collision.find_collision_pairs(body, 0)
    with pytest.raises(BodyError, match="always is 2"):
        mk.collision.find_collision_pairs(body, always=2.0)
    with pytest.raises(UnknownNameError):
        mk.collision.find_collision_pairs(body, links=["nobody"])
    with pytest.raises(BodyError, match="no reason"):
        mk.collision.find_collision_pairs(body, 10).of("seldom")
