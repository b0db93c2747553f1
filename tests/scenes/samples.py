"""Scenes that tests share."""

from memetik import scenes


def among_obstacles():
    """A Panda over a table, with a cup and a post that is switched off."""
    reach = scenes.KINDS["Position"].new("hand", frame="panda_hand", target=[0.5, 0.1, 0.4])
    blocks = (
        scenes.Block("table", "box", (1.4, 1.4, 0.04), (0.4, 0.0, -0.03), touching=("panda_link0",)),
        scenes.Block("cup", "cylinder", (0.04, 0.1), (0.5, 0.1, 0.4)),
        scenes.Block("post", "capsule", (0.05, 1.0), (0.5, 0.1, 0.4), enabled=False),
        scenes.Block("ball", "sphere", (0.1,), (-0.5, 0.0, 0.4)),
    )
    off = scenes.KINDS["Distance"].new("keep off", world=True)
    return scenes.Scene("among obstacles", scenes.BodySource("bundled", "panda"), (reach, off), world=blocks)
