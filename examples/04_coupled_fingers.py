"""A hand whose outer finger joints follow the middle ones, grasping a ball with five fingertips."""

import memetik as mk

body = mk.load("shadow_hand")  # J1 mimics J2 in four fingers, as one tendon pulls both
grasp = body.vector(
    {f"rh_{finger}J{joint}": value for finger in ("FF", "MF", "RF", "LF") for joint, value in ((3, 0.9), (2, 0.7))}
    | {"rh_THJ4": 1.1, "rh_THJ2": 0.3, "rh_THJ1": 0.4}
)
touching = body.forward(grasp)  # fingertips of a posture that holds something the size of an apple
tips = ["rh_fftip", "rh_mftip", "rh_rftip", "rh_lftip", "rh_thtip"]

objectives = [mk.Position(tip, touching[tip][:3, 3], tolerance=1e-4) for tip in tips]
# A relation of one's own on top: the wrist flexes with a third of what the first finger does.
objectives.append(
    mk.FunctionalRelation("rh_WRJ1", lambda first: 0.1 * first, sources=["rh_FFJ3"], tolerance=None, weight=0.01)
)

solution = mk.solve(mk.Problem(body, objectives))
print(solution)
assert solution.success
