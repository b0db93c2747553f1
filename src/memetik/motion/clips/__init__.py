"""Clips: joint vectors over time, and what is done with them.

blend                  one clip after another: steps in time with each other, speeds between both
contacts               when feet stand
edit                   objectives over spans of a clip
feet                   soles on a terrain
files                  read_motion: clips from files
gait                   walks and runs out of nothing
legs                   the joints that move a foot, solved for where it belongs
lock                   feet that stand do not slide
mirror                 left for right
motion                 Motion itself: slices, blends, poses, velocities
root_path              the way of a root over the ground
soles                  the points of a foot that meet the ground
stiffness              which joints give way first when a clip is edited
tables                 joint values as .csv and .npz, rotations as SMPL has them
turns                  rotations of many frames at once
"""
