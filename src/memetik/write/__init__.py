"""Pictures: postures, maps, evolutions."""

from memetik.write.limbs import link_colors
from memetik.write.plots import pyplot

__all__ = ["link_colors", "pyplot"]
