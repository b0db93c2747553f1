"""Learned solvers: what they learn from, networks and support vectors, and how they are trained and kept."""

from memetik.learn.elman import Elman
from memetik.learn.feed_forward import FeedForward
from memetik.learn.paths import draw_paths
from memetik.learn.samples import inputs_of
from memetik.learn.support_vectors import SupportVectors
from memetik.learn.training import Lesson

__all__ = ["Elman", "FeedForward", "Lesson", "SupportVectors", "draw_paths", "inputs_of"]
