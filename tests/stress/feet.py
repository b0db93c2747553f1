"""Feet on hills, by hand: processor time of a frame, depth of soles, the largest step beside the clip's, and how flat soles lie.

    python -m tests.stress.feet

A clip of each kind of leg: six joints, eight with limits near by, and five, whose sole cannot turn sideways.
"""

import time

import numpy as np

import memetik as mk
from memetik.kernels.feet.soles import SPOT_NUMBERS, deepest_point, place_sole
from memetik.motion.clips.feet import ABOVE


def hills():
    """Bumps from 3 cm below to 7 cm above the ground of the clips."""
    x, y = np.meshgrid(np.linspace(-2.0, 6.0, 161), np.linspace(-2.0, 2.0, 81), indexing="ij")
    return mk.objectives.HeightField(0.02 + 0.05 * np.sin(3.0 * x) * np.cos(4.0 * y), spacing=0.05, origin=(-2.0, -2.0))


def clips():
    """Name, clip, feet, and length and width of their soles."""
    kyle = mk.load("kyle", base="floating")
    feet = [kyle.frame(f"{side}_midfoot", offset=(0.03, 0.0, -0.095)) for side in ("left", "right")]
    phases = dict(zip(feet, (0.0, 0.5), strict=True))
    run = mk.motion.gait(kyle, phases, stride=1.1, period=0.8, duty=0.35, height=0.15, tilt=0.9, cycles=3)
    yield "Kyle runs", run, feet, (0.2, 0.094)
    yield "Kyle walks", mk.motion.gait(kyle, phases, stride=0.5, cycles=2), feet, (0.2, 0.094)
    wolf = mk.load("wolf", base="floating")
    paws = {"front_left_paw": 0.25, "front_right_paw": 0.75, "hind_left_paw": 0.0, "hind_right_paw": 0.5}
    yield "wolf", mk.motion.gait(wolf, paws, stride=0.5, tilt=0.0, duty=0.65, crouch=0.03), list(paws), (0.0, 0.0)
    yield (
        "wolf, tilted",
        mk.motion.gait(wolf, paws, stride=0.3, tilt=0.2, crouch=0.03, cycles=3),
        list(paws),
        (0.0, 0.0),
    )
    h1 = mk.load("h1", base="floating")
    feet = [h1.frame(f"{side}_ankle_link", offset=(0.0425, 0.0, -0.062)) for side in ("left", "right")]
    walk = mk.motion.gait(h1, dict(zip(feet, (0.0, 0.5), strict=True)), stride=0.4, tilt=0.2, crouch=0.06)
    yield "H1", walk.moved((0.0, 0.0, -walk.poses(feet[0])[0, 2, 3])), feet, (0.255, 0.08)


def largest_step(motion):
    """Of all joints but the base [rad]."""
    return np.abs(np.diff(motion.q[:, 6:], axis=0)).max()


def best_time(work, repeats=5):
    """The least processor time [s]."""
    taken = []
    for _ in range(repeats):
        began = time.process_time()
        work()
        taken.append(time.process_time() - began)
    return min(taken)


def angle(turn):
    """Of a rotation [deg]."""
    return np.degrees(np.arccos(np.clip(0.5 * (np.trace(turn) - 1.0), -1.0, 1.0)))


def main():
    """A line for each clip."""
    terrain = hills()
    for name, clip, feet, sole in clips():
        placed = mk.motion.place_feet(clip, terrain, feet, sole=sole)
        placer = mk.motion.FootPlacer(clip.body, terrain, feet, sole=sole)
        whole = best_time(lambda: mk.motion.place_feet(clip, terrain, feet, sole=sole)) / len(clip)  # noqa: B023
        live = best_time(lambda: [placer(q) for q in clip.q]) / len(clip)  # noqa: B023
        deep, off, asked = 0.0, [], []
        for each in placer.soles:
            spots, goal = np.empty((len(each.points), SPOT_NUMBERS)), np.empty((4, 4))
            for before, after in zip(clip.poses(each.frame), placed.poses(each.frame), strict=True):
                deep = max(deep, deepest_point(terrain.numbers, after, each.points, ABOVE, spots))
                if deepest_point(terrain.numbers, before, each.points, ABOVE, spots) > placer.settle:
                    place_sole(terrain.numbers, before, each.points, ABOVE, 1.0, spots, goal)
                    off.append(angle(goal[:3, :3].T @ after[:3, :3]))
                    asked.append(angle(goal[:3, :3].T @ before[:3, :3]))
        print(
            f"{name:13} clip {1e3 * whole:.3f} ms, live {1e3 * live:.3f} ms a frame; {1e3 * deep:.2f} mm deep; largest step "
            f"{largest_step(placed) / largest_step(clip):.2f} of the clip's; soles off {np.mean(off):.2f} of "
            f"{np.mean(asked):.1f} deg"
        )


if __name__ == "__main__":
    main()
