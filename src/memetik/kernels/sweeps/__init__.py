"""CCD and FABRIK: one joint or link after the other, tips to root or root to tips.

align                  the best value of one joint in closed form
ccd                    cyclic coordinate descent
coupled                joints that drive several motions
fabrik                 FABRIK's sweeps, root to tips on real joints
fabrik_forward         tips to root, on rigid links
moments                many points as one joint sees them
pull                   errors as something joints can pull at
restart                standstill, fading guides and restarts
sweep_record           settings and scratch
wanted                 the nearest pose that would satisfy a term
"""
