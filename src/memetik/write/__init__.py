"""Pictures: postures, maps, evolutions."""

from memetik.write.limbs import link_colors
from memetik.write.plots import pyplot
from memetik.write.scenery import nice

__all__ = ["link_colors", "nice", "pyplot"]
