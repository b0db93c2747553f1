"""What an evolution looks like: the fitness over the postures, and every individual on its way through them.

Fig. 5.26 to 5.32 of the thesis. An arm of two joints has a landscape that can be shown whole: its fitness on a fine grid,
with all individuals of a run upon it. Of larger bodies the history is shown joint by joint, from the first generation to
the last, and a slice through two joints around the solution. The table has what the pictures show: how many niches
are followed at once, and how far the population is spread, with one elite and with more.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

import memetik as mk
from memetik.types import Array
from memetik_lab.harness import Report, Row, distinct, progress, save_figure, select, solved
from memetik_lab.judge import right
from memetik_lab.queries import Task, aim, draw_many, wish
from memetik_lab.thesis.landscape_plots import Evolution, Scene, figures

ELITES = (1, 3, 6)
POPULATION = 50  # as in Fig. 5.27
STEPS = 3  # iterations of L-BFGS-B for an elite in a generation: the search is to be seen, not to be quick
BUDGET = mk.Budget(evaluations=15_000)
TASK = Task(position=1e-4, orientation=1e-3, seconds=np.inf)
GENERATIONS = 15  # a good length of the evolutions in pictures
LATE = 0.1  # share of the generations, the last ones, that the niches are counted in


def scenes() -> list[Scene]:
    """The bodies of Fig. 5.26 to 5.32, and an arm of two joints."""
    mannequin, kyle, valkyrie = mk.load("mannequin"), mk.load("kyle"), mk.load("valkyrie")
    wrists_feet = ("rightPalm", "leftPalm", "rightFoot", "leftFoot")
    fingers = tuple(f"rh_{finger}tip" for finger in ("ff", "mf", "rf", "lf", "th"))
    hands = ("left_hand_tip", "right_hand_tip")
    return [
        Scene("planar arm", mk.build.planar_chain(2), ("tip",), ("joint_1", "joint_2"), poses=False),
        Scene("mannequin, hands", mannequin, hands, ("left_shoulder_y", "left_elbow")),
        Scene("kyle, hands and feet", kyle, (*hands, "left_foot", "right_foot"), ("left_shoulder_y", "left_elbow")),
        Scene("shadow hand, finger tips", mk.load("shadow_hand"), fingers, ("rh_WRJ2", "rh_WRJ1"), poses=False),
        Scene(
            "valkyrie arm",
            valkyrie.chain("torso", "rightPalm"),
            ("rightPalm",),
            ("rightShoulderPitch", "rightElbowPitch"),
        ),
        Scene("valkyrie, wrists and feet", valkyrie, wrists_feet, ("rightShoulderPitch", "rightElbowPitch")),
        Scene(
            "valkyrie, wrists, feet, gaze and pelvis",
            valkyrie.with_base("xyz", lower=-1.0, upper=1.0),
            wrists_feet,
            ("rightShoulderPitch", "rightElbowPitch"),
            gaze=("head",),
        ),
    ]


def run(folder: Path, *, quick: bool = False, count: int | None = None, only: Sequence[Scene] | None = None) -> Report:
    """Evolve, print, save and plot."""
    count = count or (3 if quick else 50)
    report = Report(
        "landscapes",
        f"Bio IK with {POPULATION} individuals and {STEPS} iterations of L-BFGS-B for an elite in a generation, "
        f"{BUDGET.evaluations} evaluations at most. {count} targets a body, drawn as poses, or positions of the planar arm and "
        "the finger tips, of one posture within the limits; starts drawn the same way. Pelvis: it moves by up to a metre along "
        "each axis; gaze: the head looks at a point a metre ahead of it. Solved: forward kinematics finds "
        f"the answer within {TASK.position:g} m and {TASK.orientation:g} rad and the limits. "
        "Niches: regions that the elites stand in, a "
        f"tenth of a range apart in some joint, the mean over the last {LATE:.0%} of the generations. Spread: standard "
        "deviation of a gene in the last generation, as a share of its range, mean over genes. Median fitness: of the last "
        "generation over that of the first.",
    )
    shown: list[Evolution] = []
    for scene in only or scenes():
        runs = [_evolve(scene, elites, count) for elites in ELITES]
        report.rows += [_row(scene, elites, mine) for elites, mine in zip(ELITES, runs, strict=True)]
        fit_for_pictures = min(zip(*runs, strict=True), key=_unfit)
        shown += fit_for_pictures
    report.remarks += verdict(report.rows)
    report.publish(folder)
    if quick:  # a picture takes longer than its evolutions
        shown = [one for one in shown if one.scene in (shown[0].scene, shown[-1].scene)]
    for name, figure in figures(shown).items():
        print("saved", *save_figure(figure, folder, name))
    return report


def _evolve(scene: Scene, elites: int, count: int) -> list[Evolution]:
    """As many evolutions as there are targets, the same targets for every number of elites."""
    kinds = [("pose" if scene.poses else "position", tip) for tip in scene.tips] + [
        ("look", link) for link in scene.gaze
    ]
    wishes = [wish(kind, link, TASK) for kind, link in kinds]
    problem, judge = mk.Problem(scene.body, wishes), right(scene.body, wishes, TASK)
    solver = mk.solvers.BioIK(population=POPULATION, elites=elites, steps=STEPS)
    found = []
    for query in progress(draw_many(scene.body, wishes, count, seed=3), count, f"{scene.label}, {elites} elites"):
        aim(problem, query)
        solution, history = solver.evolve(problem, query.start, BUDGET)
        found.append(Evolution(scene, elites, problem, query, solution.q, history, judge(solution, query)))
    return found


def _unfit(runs: tuple[Evolution, ...]) -> tuple[int, int]:
    """How little the runs for one target are fit for pictures: those that failed, then how long the longest of them is."""
    longest = max(one.history.generations for one in runs)
    return sum(not one.right for one in runs), abs(longest - GENERATIONS)


def _row(scene: Scene, elites: int, runs: Sequence[Evolution]) -> Row:
    histories = [one.history for one in runs]
    return {
        "body": scene.label,
        "DoF": len(histories[0].joints),
        "elites": elites,
        **solved(sum(one.right for one in runs), len(runs)),
        "generations": float(np.mean([history.generations for history in histories])),
        "niches": float(np.mean([_niches(history) for history in histories])),
        "spread": float(np.mean([_last(history, history.shares).std(axis=0).mean() for history in histories])),
        "median fitness, last / first": float(
            np.mean([np.median(_last(h, h.fitness)) / np.median(h.fitness[h.generation == 0]) for h in histories])
        ),
    }


def _niches(history: mk.solvers.History) -> float:
    """How many niches the elites of the last generations stand in."""
    niche, last = history.niches(), history.generations - 1
    late = range(max(0, round((1.0 - LATE) * last)), last + 1)
    counts = [int(niche[history.generation == g].max()) + 1 for g in late]
    return float(np.mean([n for n in counts if n > 0] or [0]))


def _last(history: mk.solvers.History, values: Array) -> Array:
    """What belongs to the last whole generation."""
    sizes = np.bincount(history.generation)
    whole = np.flatnonzero(sizes >= POPULATION)
    return np.asarray(values[history.generation == (whole[-1] if len(whole) else 0)])


def verdict(rows: Sequence[Row]) -> list[str]:
    """What one elite does differently from several."""
    remarks = []
    for body in distinct(rows, "body"):
        told = [
            f"{row['elites']}: {row['solved [%]']:.0f} % in {row['generations']:.3g} generations, {row['niches']:.2g} niches"
            for row in select(rows, body=body)
        ]
        remarks.append(f"{body}, by elites: {'; '.join(told)}.")
    remarks.append(
        "Published (Fig. 5.29): one elite behaves like a local search and escapes less from minima that are not the best; with "
        "three or six several solutions are followed at once."
    )
    return remarks
