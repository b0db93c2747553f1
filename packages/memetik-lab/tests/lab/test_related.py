"""Our own versions of the methods that the thesis compares, with tiny sizes."""

import json

import numpy as np

import memetik as mk
from memetik_lab.thesis import related


def test_every_case_is_there_and_has_what_was_published():
    cases = list(related.cases())
    rows = {(case.of, case.label, name): said for case in cases for name, (_, said) in case.methods.items()}
    assert rows["Table 5.3", "ur5", "hgsa"] == "4.12 ms (51.20 %)" and rows["Table 5.3", "ur5", "bioik"].startswith(
        "0.50"
    )
    assert rows["Table 3.3", "chain of 180", "pso"] == "37.03 s"
    assert sum(of == "Table 5.3" for of, _, _ in rows) == 15 and sum(of == "Fig. 5.7" for of, _, _ in rows) == 24
    assert {name for of, _, name in rows if of == "Fig. 3.2"} == {"transpose", "dls", "svd_dls"}
    assert {name for of, _, name in rows if of == "Fig. 3.4"} == {"de", "de, memetic"}
    counted = [case for case in cases if "evaluations" in case.of]
    assert len(counted) == 2 * (3 + 1) and all(np.isinf(case.task.seconds) for case in counted)
    assert {case.evaluations for case in counted} == {21_000, 84_000, 43_000, 172_000}


def test_what_is_undone_of_the_published_variant_reaches_the_solver():
    case = next(case for case in related.cases(quick=True) if "evaluations" in case.of)
    problem = mk.Problem(case.body, case.wanted)
    solvers = [make(problem) for make, _ in case.methods.values()]
    assert [(solver.patience, solver.steps == 300) for solver in solvers] == [(0, 0), (4, 0), (0, 1), (4, 1)]
    assert not any(solver.strides or solver.whole_turns for solver in solvers)


def test_it_measures_and_saves(tmp_path):
    patient = related.CHAIN._replace(seconds=60.0)  # no deadline that a busy machine could miss
    chosen = [case._replace(task=patient, share=1) for case in related.cases(quick=True) if case.label == "chain of 10"]
    related.run(tmp_path, count=5, only=chosen)
    rows = json.loads((tmp_path / "related.json").read_text())["rows"]
    assert [row["method"] for row in rows] == ["bioik", "bioik, as published", "transpose", "dls", "svd_dls"]
    assert rows[0]["solved [%]"] == 100.0 and all(row["targets"] == 5 for row in rows)
    assert all(0.0 < row["median [us]"] <= row["p99 [us]"] for row in rows)
