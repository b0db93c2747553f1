"""Pictures: of a body, of a motion, of an evolution, of numbers; and motions as files."""

from memetik.write.cover import draw_cover
from memetik.write.evolved import draw_evolved, evolved_figure
from memetik.write.film import draw_motion
from memetik.write.landscape import Row as LandscapeRow
from memetik.write.landscape import columns as landscape_columns
from memetik.write.landscape import draw_landscape, elites, individuals, landscape_figure, procreation
from memetik.write.limbs import link_colors
from memetik.write.motion_file import write_motion
from memetik.write.picture import draw, draw_many
from memetik.write.plots import pyplot
from memetik.write.reachability import draw_reachability
from memetik.write.scenery import nice

__all__ = [
    "LandscapeRow",
    "draw",
    "draw_cover",
    "draw_evolved",
    "draw_landscape",
    "draw_many",
    "draw_motion",
    "draw_reachability",
    "elites",
    "evolved_figure",
    "individuals",
    "landscape_columns",
    "landscape_figure",
    "link_colors",
    "nice",
    "procreation",
    "pyplot",
    "write_motion",
]
