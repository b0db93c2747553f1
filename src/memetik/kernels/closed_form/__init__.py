"""Closed forms of arms of turning joints: all postures for a target, and which of them are solutions.

candidates             every posture for a target, or the nearest
arm_record             the arm, and room to work in

arms                   a planar arm, and an arm of shoulder and elbow
meeting_axes           six joints, three axes in a row meet
parallel_axes          six joints, three axes in a row are parallel
loop                   six joints and their target as a loop

subproblems            which turns take vectors where they belong
trigonometric          equations in one angle
filter_candidates      which candidates are solutions
"""
