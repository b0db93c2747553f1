"""A hundred clips at once on a robot: frames a second on one thread, on all cores and on a graphics card."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

import memetik as mk
from memetik.batch import cores, require_cuda
from memetik_lab.claims.walker import walk
from memetik_lab.harness import Report, Row

ROBOT = "g1"
CLIPS, FRAMES = 100, 10_000
RATE = 120.0
LATER = 37  # frames by which each clip begins later in the walk than the one before
HEADING = 2.4  # rad by which each clip is turned from the one before
COMPARED = 8  # clips of which every frame is compared with the same clip alone


def run(folder: Path, *, quick: bool = False) -> Report:
    """Measure, print and save."""
    clips, frames = (6, 300) if quick else (CLIPS, FRAMES)
    body = mk.load(ROBOT)
    source = walk((frames + LATER * clips) / RATE, RATE)
    plan = mk.motion.retarget_plan(source, body)
    report = Report(
        "clips",
        f"{clips} clips of {frames:,} frames on a {ROBOT}, feet held, by retarget_each: parts of a walk that this library "
        "makes, every other one mirrored, each turned elsewhere. Clips are made while others are followed, and results are "
        "dropped. Seconds: of the whole call, by the clock on the wall. Processor: of all threads. The same: how far joints of "
        f"the first {min(COMPARED, clips)} clips are from those of the clip alone.",
    )
    alone = [mk.retarget(clip, body, plan=plan) for clip in _variants(source, frames, min(COMPARED, clips))]
    settings: list[tuple[str, dict[str, object]]] = [("1 thread", {"threads": 1})]
    if cores() > 1:
        settings.append((f"{cores()} threads", {}))
    try:
        settings.append((str(require_cuda().get_current_device().name), {"device": "cuda"}))
        next(mk.motion.retarget_each([source[:300]], body, plan=plan, device="cuda"))  # compiles its kernels
    except (mk.errors.ProblemError, mk.errors.MissingExtraError) as missing:
        report.remarks.append(f"No card was measured: {missing}")
    for name, how in settings:
        report.rows.append(_measured(name, how, _variants(source, frames, clips), body, plan, alone))
    return report.publish(folder)


def _variants(source: mk.Motion, frames: int, count: int) -> Iterator[mk.Motion]:
    """Parts of a motion, every other one mirrored, each turned elsewhere."""
    for k in range(count):
        part = source[LATER * k : LATER * k + frames]
        part = part.mirrored() if k % 2 else part
        turned = part.turned(HEADING * k)
        yield mk.Motion(turned.body, turned.times, turned.q, name=f"walk {k}")


def _measured(
    name: str, how: dict[str, object], clips: Iterator[mk.Motion], body: mk.Body, plan: mk.motion.RetargetPlan,
    alone: list[mk.motion.Retargeted],
) -> Row:  # fmt: skip
    wall, used, frames, reached, apart, verdicts = time.perf_counter(), time.process_time(), 0, 0, 0.0, 0
    for k, found in enumerate(mk.motion.retarget_each(clips, body, plan=plan, progress=False, **how)):  # type: ignore[arg-type]
        frames += len(found)
        reached += int(found.report.reached.sum())
        if k < len(alone):
            apart = max(apart, float(np.abs(found.q - alone[k].q).max()))
            verdicts += int((found.report.reached != alone[k].report.reached).sum())
    wall, used = time.perf_counter() - wall, time.process_time() - used
    return {
        "by": name, "frames": frames, "seconds": wall, "frames/s": frames / wall, "processor [s]": used, "reached": reached,
        "the same [rad]": apart, "other verdicts": verdicts,
    }  # fmt: skip
