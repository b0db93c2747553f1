"""Scenes for tests on busy machines."""

from dataclasses import replace

from memetik import scenes


def patient(name):
    """A ready scene whose frames are bounded by evaluations only, so that a busy machine changes nothing."""
    scene = scenes.ready(name)
    return replace(scene, solving=replace(scene.solving, seconds=20.0))
