"""Learned solvers: what they learn from, networks and support vectors, and how they are trained and kept."""

from memetik.learn.elman import Elman
from memetik.learn.extreme import ExtremeLearning
from memetik.learn.feed_forward import FeedForward
from memetik.learn.samples import draw_paths, inputs_of
from memetik.learn.support_vectors import SupportVectors
from memetik.learn.training import Lesson

__all__ = ["Elman", "ExtremeLearning", "FeedForward", "Lesson", "SupportVectors", "draw_paths", "inputs_of"]
