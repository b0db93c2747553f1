"""Clips retargeted onto their own skeletons, every bone against that of the file.

`python -m tests.stress.same_skeleton FILE ...`: files of any program, all animations of each. Feet are not held.
A line for each clip; fails where a bone is more than 1 mm or 0.5 degrees from its own in any frame, as `tests.naive` measures it.
"""

import itertools
import sys
import warnings
from pathlib import Path

import numpy as np

import memetik as mk
from memetik.errors import FormatError
from tests.naive import retargeting as naive

AWAY, TURNED = 1e-3, np.radians(0.5)  # m, rad


def clips(path):
    """The clips of a file: one of a .bvh, one for each animation of the others."""
    if path.suffix == ".bvh":
        yield mk.read_motion(path)
        return
    for number in itertools.count():
        try:
            yield mk.read_motion(path, animation=number)
        except FormatError:
            return


def main(paths):
    wrong, count = [], 0
    for path in map(Path, paths):
        for clip in clips(path):
            found = mk.retarget(clip, clip.body, contacts=None, velocity_limits=None)
            errors = naive.bone_errors(clip, found, [(link, link) for link in clip.body.links])
            away, turned = (max(float(each[k].max()) for each in errors.values()) for k in (0, 1))
            count += 1
            good = away < AWAY and turned < TURNED
            wrong += [] if good else [path.name]
            print(
                f"{path.name}: {len(clip)} frames, {len(errors)} bones, {1e3 * away:.2g} mm, "
                f"{np.degrees(turned):.2g} deg{'' if good else ', WRONG'}", flush=True,
            )  # fmt: skip
    print(
        f"{count - len(wrong)} of {count} clips within 1 mm and 0.5 degrees{'' if not wrong else f'; others: {wrong}'}"
    )
    sys.exit(bool(wrong))


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main(sys.argv[1:])
