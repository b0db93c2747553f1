"""Every table and figure of the five founding documents: which experiment measures it, or why none does.

`memetik bench list` prints this table, and the pages under docs/papers are checked against it.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator
from functools import partial
from typing import NamedTuple

from memetik.tables import aligned

WIDE = 10_000  # characters of a line where none is too long
_DIAGRAM = "a diagram or a picture, no result"
_LOOKED_AT = "postures to look at, without numbers"


class Document(NamedTuple):
    """A founding document."""

    key: str
    short: str  # as texts call it
    cited: str  # author, title, year
    page: str  # under docs/
    without: str = ""  # why it has no entry below


class Published(NamedTuple):
    """A table or figure, or several in a row.

    `experiments` measure it. `missing` is what of it is not here, though it could be. `nothing` is why there is nothing to
    measure. One of the three at least says something.
    """

    document: str  # the key of a Document
    label: str  # "Table 5.3", "Fig. 5.26 to 5.28"
    shows: str
    experiments: tuple[str, ...] = ()
    missing: str = ""
    nothing: str = ""
    see: str = ""  # a file or a command that shows it

    def status(self) -> str:
        """The experiments, or that there is none and why, in two words."""
        if self.experiments:
            return ", ".join(self.experiments) + (" (in part)" if self.missing else "")
        return "not measurable" if self.nothing else "missing"

    def remark(self) -> str:
        """Why there is nothing to measure, what is missing, and where else it is to be seen; empty if all is measured."""
        see = f"see {self.see}" if self.see else ""
        return "; ".join(filter(None, (self.nothing, self.missing, see)))

    def single_labels(self) -> Iterator[str]:
        """Each table or figure that the label names: "Fig. 2.9 to 2.11" gives "Fig. 2.9", "Fig. 2.10" and "Fig. 2.11"."""
        kind, first, *last = re.findall(r"Table|Fig\.|[\d.]*\d", self.label)
        chapter, _, number = first.rpartition(".")
        dot = "." if chapter else ""
        end = last[0].rpartition(".")[2] if last else number
        for k in range(int(number), int(end) + 1):
            yield f"{kind} {chapter}{dot}{k}"


DOCUMENTS = (
    Document(
        "thesis", "the thesis",
        "S. Starke: Bio IK: A Memetic Evolutionary Algorithm for Generic Multi-Objective Inverse Kinematics. Dissertation, "
        "Universität Hamburg, 2020",
        "papers/bio_ik_thesis.md",
    ),
    Document(
        "ofkt", "the OFKT paper",
        "S. Starke, N. Hendrich, J. Zhang: A Forward Kinematics Data Structure for Efficient Evolutionary Inverse Kinematics, "
        "2017",
        "papers/ofkt.md",
    ),
    Document(
        "nao", "the NAO paper",
        "R. Poddighe: Comparing FABRIK and neural networks to traditional methods in solving Inverse Kinematics, 2013",
        "papers/fabrik_and_networks.md",
    ),
    Document(
        "slides", "the lecture",
        "S. Chaudhuri: Forward and Inverse Kinematics. Slides of CS475/675, 2016",
        "papers/lecture.md",
        without="slides that derive methods; they report no measurement",
    ),
    Document(
        "notes", "the Gauss-Newton notes",
        "M. Fredriksson: Algorithms, 2021",
        "papers/gauss_newton.md",
        without="thirteen algorithms in pseudocode; they report no measurement",
    ),
)  # fmt: skip

_thesis, _ofkt, _nao = (partial(Published, key) for key in ("thesis", "ofkt", "nao"))

PUBLISHED = (
    _thesis("Fig. 1.1", "applications of Bio IK", nothing=_DIAGRAM),
    _thesis("Fig. 2.1 to 2.3", "chains, joint and Cartesian space, a UR5", nothing=_DIAGRAM),
    _thesis("Table 2.1", "kinds of joints", nothing="definitions", see="memetik bodies"),
    _thesis("Fig. 2.4 to 2.8", "the robots and characters", nothing=_DIAGRAM, see="memetik show valkyrie"),
    _thesis("Fig. 2.9 to 2.14", "kinds of optimisation", nothing=_DIAGRAM, see="docs/learn/optimisation.md"),
    _thesis("Fig. 3.1", "a classification of methods", nothing=_DIAGRAM, see="memetik methods"),
    _thesis("Fig. 3.2", "transpose, DLS and SVD-DLS on 10 joints", ("related",)),
    _thesis("Table 3.1", "KDL on five arms", ("arms",)),
    _thesis("Table 3.2", "TRAC-IK on five arms", ("arms",)),
    _thesis("Fig. 3.3", "CCD and FABRIK on 10 joints", ("chains",)),
    _thesis("Fig. 3.4", "differential evolution, plain and memetic", ("related",)),
    _thesis("Table 3.3", "particle swarms on 30 to 180 joints", ("related",)),
    _thesis("Fig. 4.1 to 4.2", "the algorithm as a whole", nothing=_DIAGRAM, see="docs/bio_ik.md"),
    _thesis("Table 4.1", "symbols", nothing="definitions"),
    _thesis("Fig. 4.3 to 4.9", "the objectives", nothing=_DIAGRAM),
    _thesis("Fig. 4.10 to 4.13", "the evolutionary phases", nothing=_DIAGRAM, see="docs/learn/evolution.md"),
    _thesis("Table 4.2", "transformations with and without OFKT", ("counts",)),
    _thesis(
        "Fig. 4.14 to 4.17", "the Unity asset and the ROS plugin",
        nothing="screens and class diagrams of other programs", see="docs/coming_from/unity_bioik.md",
    ),
    _thesis("Table 5.1", "the bodies of the experiments", nothing="a list", see="memetik bodies"),
    _thesis("Fig. 5.1 to 5.2", "population and elites", ("population",)),
    _thesis("Fig. 5.3", "what each phase is worth", ("ablation",)),
    _thesis("Fig. 5.4", "a generation with and without OFKT, and with threads", ("cost", "generations")),
    _thesis("Fig. 5.5", "the six arms of Table 5.2", nothing=_DIAGRAM),
    _thesis("Fig. 5.6", "solved by generation", ("convergence",)),
    _thesis("Table 5.2", "seven methods on six arms", ("serial",)),
    _thesis("Fig. 5.7", "Bio IK on chains of up to 120 joints", ("snakes", "related")),
    _thesis("Table 5.3", "KDL, TRAC-IK, HGSA and Bio IK in 5 ms", ("arms", "related")),
    _thesis("Fig. 5.8", "where poses are solved", ("workspace",)),
    _thesis("Fig. 5.9", "the joints of Valkyrie", nothing=_DIAGRAM, see="memetik show valkyrie"),
    _thesis("Table 5.4", "eight tasks of Valkyrie, two losses", ("valkyrie", "losses", "related")),
    _thesis("Fig. 5.10", "lifting and turning a box", ("lifting",)),
    _thesis("Fig. 5.11", "the joints of the Shadow hand", nothing=_DIAGRAM, see="memetik show shadow_hand"),
    _thesis(
        "Fig. 5.12 to 5.13", "444 recorded grasps", ("hand",),
        missing="the recordings are not public: grasps drawn by rule stand in for them, and --data takes your own",
    ),
    _thesis("Fig. 5.14 to 5.15", "a cube and a capsule turned in the hand", ("manipulation",)),
    _thesis("Fig. 5.16 to 5.17", "around a ball, into a box", ("obstacles",)),
    _thesis(
        "Fig. 5.18 to 5.19", "teleoperation in virtual reality",
        nothing="a person with headset and controllers", see="examples/22_teleoperation.py",
    ),
    _thesis("Fig. 5.20 to 5.21", "trajectories, also around a ball", ("trajectories",)),
    _thesis("Fig. 5.22", "keyframes of a kick and a run", nothing=_LOOKED_AT, see="examples/23_keyframes.py"),
    _thesis("Fig. 5.23", "a wolf's walk edited", nothing=_LOOKED_AT, see="examples/24_edit_a_walk.py"),
    _thesis(
        "Fig. 5.24 to 5.25", "feet placed on terrain, 1 ms a frame", ("terrain",),
        see="examples/25_foot_placement.py",
    ),
    _thesis("Fig. 5.26 to 5.28", "landscape and postures of Valkyrie after an evolution", ("landscapes",)),
    _thesis("Fig. 5.29 to 5.32", "histories of evolutions, joint by joint", ("landscapes",)),
    _thesis(
        "Fig. 5.33", "posing characters for photographs",
        nothing="an application in virtual reality, used by people", see="examples/38_holographer.py",
    ),
    _thesis(
        "Fig. 5.34", "a welding robot simulated in virtual reality", ("applications",),
        missing="the seam is ours; what people did with the program is not measurable",
    ),
    _thesis(
        "Fig. 5.35", "chords on a guitar", ("applications",),
        missing="the postures of the program are not public: six chords by their frets stand in for them",
    ),
    _thesis(
        "Fig. 5.36", "posture training in augmented reality",
        nothing="a study with people and a haptic device", see="examples/39_posture_training.py",
    ),
    _ofkt("Fig. 1", "the joints of Kyle", nothing=_DIAGRAM, see="memetik show kyle"),
    _ofkt("Table 1", "transformations in four scenarios", ("counts",)),
    _ofkt("Fig. 2", "cost of a generation, in one query and by joints", ("cost",)),
    _ofkt("Fig. 3", "time of whole queries on arms of 6 to 10 joints", ("convergence",)),
    _nao("Fig. 1", "an iteration of FABRIK", nothing=_DIAGRAM, see="docs/learn/sweeps.md"),
    _nao("Fig. 2", "a network with a hidden layer", nothing=_DIAGRAM),
    _nao("Table 1", "time and iterations of four methods", ("nao",)),
    _nao("Fig. 3", "time by tolerance", ("nao",)),
    _nao("Table 2", "error by hidden units", ("nao",)),
    _nao("Fig. 4", "joints and sensors of the NAO", nothing=_DIAGRAM, see="memetik show nao"),
    _nao("Table 3", "data sheet of the NAO", nothing="hardware"),
    _nao("Table 4", "axes of the arm", nothing="a list", see="memetik show nao"),
)  # fmt: skip


def published_lines(width: int | None = None) -> Iterator[str]:
    """The table as `memetik bench list` prints it: of each document what is measured, then all else with what is lacking.

    width: of the terminal, where lines must fit.
    """
    for document in DOCUMENTS:
        rows = [row for row in PUBLISHED if row.document == document.key]
        yield ""
        yield from textwrap.wrap(f"{document.cited} (docs/{document.page})", width or WIDE)
        if not rows:
            yield from textwrap.wrap(f"no table or figure: {document.without}", width or WIDE)
            continue
        yield from aligned(
            [
                [row.label, row.status(), ": ".join(filter(None, (row.shows, row.remark())))]
                for row in sorted(rows, key=lambda row: not row.experiments)
            ],
            ruled=False,
            width=width,
        )
