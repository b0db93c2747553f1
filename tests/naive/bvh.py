"""BVH, the slow and obvious way: words one by one, SciPy's rotations, positions of joints and end sites in file units.

Position channels take the place of OFFSET, as in Blender.
"""

import numpy as np
from scipy.spatial.transform import Rotation


def joint_positions(text):
    """Names of joints and end sites in the order of the file, and their positions (frames, joints, 3)."""
    words = text.split()
    names, parents, offsets, channels, stack = [], [], [], [], []
    k = 1
    while words[k] != "MOTION":
        if words[k] in ("ROOT", "JOINT"):
            names.append(words[k + 1])
            parents.append(stack[-1] if stack else -1)
            channels.append([])
            k += 2
        elif words[k] == "End":
            names.append(names[stack[-1]] + "_EndSite")
            parents.append(stack[-1])
            channels.append([])
            k += 2
        elif words[k] == "{":
            stack.append(len(names) - 1)
            k += 1
        elif words[k] == "}":
            stack.pop()
            k += 1
        elif words[k] == "OFFSET":
            offsets.append([float(word) for word in words[k + 1 : k + 4]])
            k += 4
        else:  # CHANNELS
            count = int(words[k + 1])
            channels[-1] = words[k + 2 : k + 2 + count]
            k += 2 + count
    frames = int(words[k + 2])
    numbers = np.array([float(word) for word in words[k + 6 :]]).reshape(frames, -1)
    found = np.empty((frames, len(names), 3))
    for frame, row in enumerate(numbers):
        values = iter(row)
        turns = []
        for j, own in enumerate(channels):
            given = {channel: next(values) for channel in own}
            place = np.array([given.get(f"{axis}position", offsets[j][k]) for k, axis in enumerate("XYZ")])
            order = [channel[0] for channel in own if channel.endswith("rotation")]
            turn = Rotation.identity()
            for axis in order:
                turn = turn * Rotation.from_euler(axis, given[f"{axis}rotation"], degrees=True)
            if parents[j] >= 0:
                place = found[frame, parents[j]] + turns[parents[j]].apply(place)
                turn = turns[parents[j]] * turn
            found[frame, j] = place
            turns.append(turn)
    return names, found
