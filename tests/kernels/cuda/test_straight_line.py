"""Straight-line code does what the kernels do that it was traced from."""

import numpy as np
import pytest

import memetik as mk
from memetik.kernels.compiler.jit import jit
from memetik.kernels.cuda.straight_line import SEEN, straight_line_code
from memetik.kernels.problem.evaluate import measure, place, term_error
from memetik.kernels.problem.least_squares import damped_step, linear_model, shorten, stop_at_limits, take_step
from memetik.kernels.problem.quick_error import quick_error
from memetik.kernels.problem.workspace import carve_workspace, workspace_size
from memetik.kernels.search.population_poses import add_angles, add_distances, seen_from
from memetik.kernels.search.search import mark_unsatisfied_joints
from memetik.kernels.terms.pose import target_pose
from memetik.kernels.terms.records import POINT
from memetik.solvers.memetic_plan import memetic_plan
from memetik_lab.claims.cuda import valkyrie
from tests.kernels.cuda.host import COMPILER, on_processor

LONGEST = 1.5


@jit
def one_step(problem, x, damping, work):
    """A bounded step through the whole system, and how many rounds it took."""
    linear_model(problem, x, 0.0, work)
    for k in range(x.size):
        work.trial[k] = 0.0
    rounds = 0
    while rounds < 2:
        rounds += 1
        damped_step(problem, damping, work)
        if not stop_at_limits(problem, x, LONGEST, work):
            break
    shorten(LONGEST, work)
    take_step(x, problem, work)
    return rounds


@jit
def as_seen(node, pose, poses, out):
    seen = seen_from(node, pose, poses)
    for k in range(7):
        out[k] = seen[k]


@jit
def wanted_pose(term, data, world, out):
    pose = target_pose(term, data, world)
    for k in range(7):
        out[k] = pose[k]


def hand():
    """Fingers with a mimic joint, free axes, an angle that is free, and a target that rides on another finger."""
    thumb, first, middle = "rh_thtip", "rh_fftip", "rh_mftip"
    return mk.Problem(mk.load("shadow_hand"), [
        mk.Position(thumb, (0.1, 0.0, 0.3)),
        mk.Pose(first, np.eye(4), mask=(1, 1, 0, 1, 1, 0)),
        mk.LookAt(middle, (1.0, 0.0, 0.4), tolerance=1e-3),
        mk.Position("rh_rftip", (0.0, 0.02, 0.0), relative_to=middle),
    ])  # fmt: skip


def address(array):
    return array.ctypes.data


class Case:
    """A problem with its straight-line code, and arrays for both ways."""

    def __init__(self, problem, folder):
        self.c = c = problem.compiled
        self.flat, self.plan = c.flat, memetic_plan(c)
        self.code = straight_line_code(c.flat, c.kernels, self.plan.sizes["population"])
        self.f = on_processor(self.code, folder)
        terms, variables = c.terms, c.variables
        self.parameters = np.concatenate((terms["scale"], terms["tolerance"], variables["lower"], variables["upper"]))
        nodes, frames, self.n, self.m = c.nodes.size, c.frames.size, variables.size, c.residuals
        buffer = np.zeros(workspace_size(nodes, frames, self.n, self.m))
        self.work = carve_workspace.py_func(buffer, nodes, frames, self.n, self.m)
        self.poses, self.world, self.residual = np.zeros((nodes, 7)), np.zeros((frames, 7)), np.zeros(self.m)
        self.panel = np.zeros(self.code.panel)

    def draw(self, rng):
        """A posture, now and then at limits, and targets."""
        variables, data = self.c.variables, self.flat.data.copy()
        x = rng.uniform(variables["sample_lower"], variables["sample_upper"])
        ends = rng.random(self.n) < 0.2
        x[ends] = np.where(rng.random(self.n) < 0.5, variables["sample_lower"], variables["sample_upper"])[ends]
        for term in self.c.terms:
            at = term["target"]
            if term["goal"] in (1, 2):
                data[at : at + 4] += rng.normal(size=4)
                data[at : at + 4] /= np.linalg.norm(data[at : at + 4])
                data[at + 4 : at + 7] += 0.3 * rng.normal(size=3)
            else:
                data[at : at + 3] += rng.normal(size=3)
        return x, data, self.flat._replace(data=data)

    def evaluate(self, x, data):
        error = np.zeros(1)
        missed = self.f["evaluate"](
            address(x), address(data), address(self.parameters), address(self.poses), address(self.world),
            address(self.residual), address(error),
        )  # fmt: skip
        return missed, error[0]


@pytest.fixture(scope="module", params=[valkyrie, hand], ids=["valkyrie", "hand"])
def case(request, tmp_path_factory):
    if COMPILER is None:
        pytest.skip("no C++ compiler on this machine; install one with: apt-get install g++")
    return Case(request.param(), tmp_path_factory.mktemp("straight"))


def test_evaluation_and_verdict(case, rng):
    errors = np.zeros(case.c.terms.size)
    for _ in range(50):
        x, data, problem = case.draw(rng)
        work = case.work
        missed, error = case.evaluate(x, data)
        place(problem.nodes, problem.frames, x, work.poses, work.world)
        expected, _, satisfied = measure(problem.terms, data, work.world, x, 0.0, work.residual)
        judged = [term_error(term, data, x, work.residual) for term in problem.terms]
        np.testing.assert_allclose(case.poses, work.poses, atol=1e-13)
        np.testing.assert_allclose(case.world, work.world, atol=1e-13)
        np.testing.assert_allclose(case.residual, work.residual, atol=1e-12)
        assert error == pytest.approx(expected, rel=1e-12) and (missed == 0) == satisfied
        again = case.f["judge"](address(x), address(data), address(case.parameters), address(errors))
        assert missed == again == sum(1 << t for t, (_, good) in enumerate(judged) if not good)
        np.testing.assert_allclose(errors, [error for error, _ in judged], atol=1e-12)


def test_steps(case, rng):
    stopped = 0
    for k in range(100):
        x, data, problem = case.draw(rng)
        work, mine, theirs = case.work, x.copy(), x.copy()
        _, error = case.evaluate(mine, data)
        damping = 10.0 ** (k % 5) * error  # with much of it no joint gets to a limit
        case.f["advance"](
            address(mine), address(data), address(case.parameters), address(case.poses), address(case.world),
            address(case.residual), damping, LONGEST,
        )  # fmt: skip
        place(problem.nodes, problem.frames, theirs, work.poses, work.world)
        measure(problem.terms, data, work.world, theirs, 0.0, work.residual)
        stopped += one_step(problem, theirs, damping, work) - 1
        np.testing.assert_allclose(mine, theirs, rtol=1e-9, atol=1e-9)
    assert 5 < stopped < 95  # both ways were tried


def test_terms_that_only_the_blamed_variables_move(case, rng):
    failed, chosen = np.zeros(case.c.terms.size, dtype=np.uint8), np.zeros(case.n, dtype=np.uint8)
    for _ in range(20):
        x, data, problem = case.draw(rng)
        missed, _ = case.evaluate(x, data)
        place(problem.nodes, problem.frames, x, case.work.poses, case.work.world)
        mark_unsatisfied_joints(problem, x, failed, chosen, case.work)
        variables = case.f["blamed"](missed)
        assert [variables >> k & 1 for k in range(case.n)] == chosen.tolist()
        terms = case.f["replaced"](variables)
        assert [terms >> t & 1 for t in range(failed.size)] == failed.tolist()


def test_scores_of_a_population(case, rng):
    _, data, problem = case.draw(rng)
    population, terms = case.plan.population, problem.terms
    case.f["post"](address(data), address(case.panel))
    for marks in (1, (1 << terms.size) - 1):
        for c in (0, 7, population.genes.shape[0] - 1):
            world, right, expected = population.frame_poses[:, :, c].copy(), np.zeros(case.m), 0.0
            for t, term in enumerate(terms):
                if marks >> t & 1:
                    error = quick_error(term, data, world, population.genes[c], right)
                    expected += term["scale"] ** 2 * error
            found = case.f["score"](
                c, address(population.frame_poses), address(population.genes), address(case.parameters),
                address(case.panel), marks,
            )  # fmt: skip
            assert found == pytest.approx(expected, rel=1e-12)


def test_scores_of_limbs(case, rng):
    x, data, problem = case.draw(rng)
    work, population, everything = case.work, case.plan.population, (1 << problem.terms.size) - 1
    place(problem.nodes, problem.frames, x, work.poses, work.world)
    case.f["post_limbs"](
        address(data),
        address(work.poses),
        address(work.world),
        address(x),
        address(case.parameters),
        address(case.panel),
    )
    target, right, seen_limbs = np.zeros(7), np.zeros(case.m), 0
    for limb in range(case.code.limbs):
        moved = case.f["limb_variables"](limb)
        nodes = [i for i, node in enumerate(problem.nodes) if moved >> int(node["variable"]) & 1]
        score, now = np.zeros(population.genes.shape[0]), 0.0
        for t, term in enumerate(problem.terms):
            plain = term["goal"] in (1, 2) and term["other"] < 0 and data[term["numbers"] :][:3].sum() == 3.0
            if not plain or problem.frames[term["frame"]]["node"] not in nodes:
                continue
            wanted_pose(term, data, work.world, target)
            as_seen(int(problem.nodes[nodes[0]]["parent"]), tuple(target), work.poses, target)
            np.testing.assert_allclose(case.panel[SEEN * t : SEEN * t + 7], target, atol=1e-12)
            weight = float(term["scale"]) ** 2
            add = add_distances if term["goal"] == POINT else add_angles
            add(population.limb_poses[term["frame"]], tuple(target), weight, score)
            now += weight * quick_error(term, data, work.world, x, right)
            seen_limbs += 1
        assert case.f["limb_error"](limb, address(case.panel), everything) == pytest.approx(now, rel=1e-12)
        for c in (0, 100):
            found = case.f["limb_score"](
                limb, c, address(population.limb_poses), address(case.parameters), address(case.panel), everything
            )
            assert found == pytest.approx(score[c], rel=1e-9, abs=1e-12)
    assert seen_limbs


def test_problems_that_have_none():
    body = mk.load("panda")
    pose = mk.Pose("panda_hand", np.eye(4))
    for more in (mk.Displacement(), mk.JointValue("panda_joint1", 0.1), mk.SelfDistance(body)):
        c = mk.Problem(body, [pose, more]).compiled
        assert straight_line_code(c.flat, c.kernels, 256) is None
