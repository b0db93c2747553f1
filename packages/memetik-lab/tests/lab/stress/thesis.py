"""What keeps a method from a figure of the thesis? One thing varied at a time, by count of evaluations:

    python -m tests.lab.stress.thesis hgsa|limits|pairs|again|lifting|crease|turns [--count 1000] [--arm iiwa14]

hgsa: HGSA on the arms of Table 5.3, with other parameters, limits, starts, budgets, and four searches at once.
limits: single tries on the iiwa14 (Table 5.2), where those end that miss, and the same with wider limits.
pairs: Bio IK as published with four fingers (Table 5.4), by the pairs that L-BFGS-B keeps and the steps of an elite.
again: how often a search of Bio IK as published that misses on Valkyrie's arm (Table 5.3) is drawn again.
lifting: Bio IK on 100 postures of the lifted box (Fig. 5.10), by tolerance, with and without distances.
crease: feet on terrain (Fig. 5.25) that Bio IK leaves below the ground with the loss of eq. 4.11.
turns: Bio IK with and without whole turns, on the arms with joints that turn more than once.
"""

from __future__ import annotations

import argparse
import time

import numpy as np

import memetik as mk
from memetik.solvers import bio_ik
from memetik.tables import text_table
from memetik_lab.harness import wilson
from memetik_lab.queries import Task, aim, draw_many, wish
from memetik_lab.thesis import lifting, related, terrain, valkyrie
from memetik_lab.thesis.arms import ARMS

IN_TIME = 22_000  # evaluations of HGSA that take the 5 ms of Table 5.3 here
PUBLISHED = {label: float(said.split("(")[1].split()[0]) for label, said in related.HGSA.items()}  # %
QUERIES = 10_000  # of Table 5.3
SERIAL = Task(position=1e-4, orientation=1e-3, seconds=np.inf)  # Table 5.2


def interval(hits, count):
    low, high = wilson(hits, count)
    return f"{100.0 * low:.1f} to {100.0 * high:.1f}"


def widened(body, degrees):
    """The same limits for all joints."""
    return body.with_limits(dict.fromkeys(body.joint_names, (-np.radians(degrees), np.radians(degrees))))


def hgsa(count, only):
    once = (0,)
    variants = [
        ("as it is", {}, IN_TIME, None, once, "drawn"),
        *((f"{n:,} evaluations", {}, n, None, once, "drawn") for n in (IN_TIME // 2, 2 * IN_TIME, 4 * IN_TIME)),
        *((f"population={n}", {"population": n}, IN_TIME, None, once, "drawn") for n in (8, 24, 50)),
        *((f"elites={n}", {"elites": n}, IN_TIME, None, once, "drawn") for n in (1, 2, 3, 6)),
        *((f"patience={n}", {"patience": n}, IN_TIME, None, once, "drawn") for n in (5, 20, 50)),
        *((f"reach={r:g}", {"reach": r}, IN_TIME, None, once, "drawn") for r in (0.5, 2.0)),
        ("start at home", {}, IN_TIME, None, once, "home"),
        ("limits of 180 degrees", {}, IN_TIME, 180.0, once, "drawn"),
        ("limits of 360 degrees", {}, IN_TIME, 360.0, once, "drawn"),
        (f"limits of 180 degrees, {IN_TIME // 2:,} evaluations", {}, IN_TIME // 2, 180.0, once, "drawn"),
        ("four searches at once", {}, IN_TIME, None, (0, 1, 2, 3), "drawn"),
        (f"four searches at once, {IN_TIME // 2:,} evaluations each", {}, IN_TIME // 2, None, (0, 1, 2, 3), "drawn"),
    ]
    for arm in ARMS:
        if arm.label not in PUBLISHED or only not in (None, arm.label):
            continue
        said = PUBLISHED[arm.label]
        print(f"{arm.label}: published {said} %, {interval(round(said * QUERIES / 100.0), QUERIES)} of {QUERIES:,}")
        rows = []
        for name, parameters, most, degrees, seeds, start in variants:
            body = arm.body() if degrees is None else widened(arm.body(), degrees)
            wanted = [wish("pose", arm.tip, related.ARM)]
            problem, budget, hits, spent = mk.Problem(body, wanted), mk.Budget(evaluations=most), 0, []
            for query in draw_many(body, wanted, count):
                aim(problem, query)
                begin = query.start if start == "drawn" else None
                found = [mk.solvers.HGSA(seed=seed, **parameters).solve(problem, begin, budget) for seed in seeds]
                hits += any(each.success for each in found)
                spent += [each.evaluations for each in found]
            rows.append({
                "varied": name, "solved [%]": 100.0 * hits / count, "95 % interval": interval(hits, count),
                "evaluations of a search": float(np.mean(spent)),
            })  # fmt: skip
        print(text_table(rows), flush=True)


def limits(count, _):
    arm = next(arm for arm in ARMS if arm.label == "iiwa14")
    own, wanted = arm.body(), [wish("pose", arm.tip, SERIAL)]
    queries, rows = draw_many(own, wanted, count), []
    for label, body in (("its own", own), ("180 degrees", widened(own, 180.0)), ("360 degrees", widened(own, 360.0))):
        problem = mk.Problem(body, wanted)
        for solver in (
            mk.solvers.Transpose(restarts=False),
            mk.solvers.LBFGSB(restarts=False),
            mk.solvers.DampedLeastSquares(restarts=False),
        ):
            hits, at_limit = 0, []
            for query in queries:
                aim(problem, query)
                found = solver.solve(problem, query.start, mk.Budget(evaluations=200_000))
                hits += found.success
                if not found.success:
                    at_limit.append((np.minimum(found.q - body.lower, body.upper - found.q) < 1e-6).any())
            rows.append({
                "limits": label, "method": solver.name, "solved [%]": 100.0 * hits / count, "missed": len(at_limit),
                "of these at a limit [%]": 100.0 * float(np.mean(at_limit)) if at_limit else 0.0,
            })  # fmt: skip
    print(text_table(rows))


def pairs(count, _):
    setup = next(setup for setup in valkyrie.SETUPS if setup.label == related.FINGERS)
    body, wanted = valkyrie.body_of(setup), valkyrie.objectives_of(setup)
    queries, rows = draw_many(body, wanted, count), []
    for kept in (bio_ik.MEMORY, 10, 20):
        bio_ik.MEMORY = kept  # no parameter: what a user could choose are the steps
        problem = mk.Problem(body, wanted)
        for most in (related.IN_TIME_OF_FINGERS, 4 * related.IN_TIME_OF_FINGERS):
            for changes in ({}, {"steps": 156}):
                solver, found = mk.solvers.BioIK.as_published(problem, **changes), []
                for query in queries:
                    aim(problem, query)
                    found.append(solver.solve(problem, query.start, mk.Budget(evaluations=most)))
                tips = [
                    np.median([np.max(each.errors[tip]) for each in found])
                    for tip in wanted
                    if isinstance(tip, mk.Position)
                ]
                rows.append({
                    "pairs": kept, "evaluations": most, "steps": solver.steps,
                    "solved [%]": 100.0 * float(np.mean([each.success for each in found])),
                    "fingertips off, medians [mm]": ", ".join(f"{1e3 * tip:.2g}" for tip in tips),
                })  # fmt: skip
    print(text_table(rows))


def anew(count, _):
    arm = next(arm for arm in ARMS if arm.label == "valkyrie arm")
    body, wanted = arm.body(), [wish("pose", arm.tip, related.ARM)]
    problem, budget = mk.Problem(body, wanted), mk.Budget(evaluations=related.IN_TIME_OF_ARMS)
    solver, generations, drawn = mk.solvers.BioIK.as_published(problem), [], []
    for query in draw_many(body, wanted, count):
        aim(problem, query)
        if not solver.solve(problem, query.start, budget).success:
            history = solver.evolve(problem, query.start, budget)[1]
            fresh = [history.parents[history.rows(g)[0], 0] < 0 for g in range(history.generations)]
            generations.append(history.generations)
            drawn.append(int(sum(fresh)) - 1)
    print(
        f"{len(drawn)} of {count} missed, after {np.mean(generations):.0f} generations on average; drawn anew: {sorted(drawn)}"
    )


def lift(count, _):
    published, rows = (lifting.POSITION, lifting.ORIENTATION, lifting.GAZE), []
    for factor in (1.0, 10.0):
        lifting.POSITION, lifting.ORIENTATION, lifting.GAZE = (factor * tolerance for tolerance in published)
        for distances in (True, False):
            scene = lifting.lifting(count, distances=distances)
            q, found, seconds = scene.start, [], []
            for k in range(len(scene.box)):
                for objective, path in scene.targets.items():
                    if isinstance(objective, mk.Distance):
                        objective.obstacles = path[k]
                    else:
                        objective.target = path[k]
                begin = time.thread_time()
                found.append(mk.solvers.BioIK().solve(scene.problem, q, mk.Budget(evaluations=3_000)))
                seconds.append(time.thread_time() - begin)
                q = found[-1].q
            spent = float(np.mean([each.evaluations for each in found]))
            rows.append({
                "tolerance [mm, mrad]": 1e3 * np.array([lifting.POSITION, lifting.ORIENTATION]), "distances": distances,
                "reached [%]": 100.0 * float(np.mean([each.success for each in found])), "evaluations": spent,
                "processor time of an evaluation [us]": 1e6 * float(np.mean(seconds)) / spent,
            })  # fmt: skip
    for row in rows:
        row["tolerance [mm, mrad]"] = ", ".join(f"{each:g}" for each in row["tolerance [mm, mrad]"])
    print(text_table(rows))


def crease(_, __):
    kyle, soles, clip, hills = terrain._scene(2)
    feet = [mk.Projection(sole, hills, lift=0.5, length=0.5, on_miss=np.eye(4)) for sole in soles]
    for calm in (0.0, terrain.CALM):
        problem = mk.Problem(kyle, [*feet, mk.Displacement(weight=calm)] if calm else feet)
        solver, missed, angles, places = mk.solvers.BioIK(smooth_projection=False), 0, [], []
        for q in clip.q:
            for foot, sole in zip(feet, soles, strict=True):
                foot.pose = kyle.forward(q, sole)
            found = solver.solve(problem, q, mk.Budget(evaluations=3_000))
            if not found.success:
                missed += 1
                position, orientation = np.max([found.errors[foot] for foot in feet], axis=0)
                places.append(position)
                angles.append(orientation)
        print(
            f"price on change {calm:g}: {missed} of {len(clip)} frames missed; of these orientations off by at most "
            f"{max(angles, default=0.0):.1g} rad, positions by at most {1e3 * max(places, default=0.0):.3g} mm"
        )


def turns(count, _):
    rows = []
    for arm in ARMS:
        body, wanted = arm.body(), [wish("pose", arm.tip, related.ARM)]
        problem, queries = mk.Problem(body, wanted), draw_many(body, wanted, count)
        variables = problem.compiled.variables
        able = int(((variables["whole_turn"] != 0) & (variables["upper"] - variables["lower"] > 6.283)).sum())
        if not able:
            continue
        for solver in (mk.solvers.BioIK(whole_turns=False), mk.solvers.BioIK()):
            solver.solve(problem)  # compiles
            found, began = [], time.thread_time()
            for query in queries:
                aim(problem, query)
                found.append(solver.solve(problem, query.start))
            rows.append({
                "arm": arm.label, "such joints": able, "whole turns": solver.whole_turns,
                "solved [%]": 100.0 * float(np.mean([each.success for each in found])),
                "evaluations": float(np.mean([each.evaluations for each in found])),
                "generations": float(np.mean([each.attempts for each in found])),
                "mean [us]": 1e6 * (time.thread_time() - began) / count,
            })  # fmt: skip
    print(text_table(rows))


STUDIES = {
    "hgsa": hgsa,
    "limits": limits,
    "pairs": pairs,
    "anew": anew,
    "lifting": lift,
    "crease": crease,
    "turns": turns,
}
USUAL = {"hgsa": 1_000, "limits": 500, "pairs": 40, "anew": 400, "lifting": 100, "crease": 0, "turns": 600}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("study", choices=STUDIES)
    parser.add_argument("--count", type=int, help="targets or postures; those of the page unless given")
    parser.add_argument("--arm", choices=PUBLISHED, help="this one alone")
    given = parser.parse_args()
    STUDIES[given.study](given.count or USUAL[given.study], given.arm)


if __name__ == "__main__":
    main()
