"""Small BVH files for tests: a figure of nine joints with three orders of channels, and random clips on it."""

import numpy as np

SKELETON = """HIERARCHY
ROOT Hips
{
\tOFFSET 0.5 1.0 -0.25
\tCHANNELS 6 Xposition Yposition Zposition Zrotation Yrotation Xrotation
\tJOINT LeftUpLeg
\t{
\t\tOFFSET 1.6 -1.8 0.6
\t\tCHANNELS 3 Zrotation Yrotation Xrotation
\t\tJOINT LeftLeg
\t\t{
\t\t\tOFFSET 2.5 -7.1 0
\t\t\tCHANNELS 3 Xrotation Yrotation Zrotation
\t\t\tEnd Site
\t\t\t{
\t\t\t\tOFFSET 0 -7.5 1e-1
\t\t\t}
\t\t}
\t}
\tJOINT RightUpLeg
\t{
\t\tOFFSET -1.6 -1.8 0.6
\t\tCHANNELS 3 Zrotation Yrotation Xrotation
\t\tJOINT RightLeg
\t\t{
\t\t\tOFFSET -2.5 -7.1 0
\t\t\tCHANNELS 3 Xrotation Yrotation Zrotation
\t\t\tEnd Site
\t\t\t{
\t\t\t\tOFFSET 0 -7.5 1e-1
\t\t\t}
\t\t}
\t}
\tJOINT Spine
\t{
\t\tOFFSET 0 3 0
\t\tCHANNELS 3 Yrotation Xrotation Zrotation
\t\tJOINT Head
\t\t{
\t\t\tOFFSET 0 4 0.3
\t\t\tCHANNELS 3 Zrotation Xrotation Yrotation
\t\t\tEnd Site
\t\t\t{
\t\t\t\tOFFSET 0 2 0
\t\t\t}
\t\t}
\t}
}
"""
CHANNELS = 24


def clip_text(frames=5, seed=0, *, skeleton=SKELETON, channels=CHANNELS, step="0.0083333", line="\n", turn=180.0):
    """The skeleton with random frames."""
    rng = np.random.default_rng(seed)
    rows = rng.uniform(-turn, turn, (frames, channels))
    text = skeleton + f"MOTION\nFrames: {frames}\nFrame Time: {step}\n"
    text += "".join(" ".join(f"{value:.6f}" for value in row) + "\n" for row in rows)
    return text.replace("\n", line)
