"""All terms of a problem at one posture, what a solve may spend, and how its answer is verified.

blocks                 the damped step of a whole body, all limbs at once
budget                 what a search may spend and has spent
evaluate               residuals, Jacobians and errors of all terms
function_pointers      the kernels that make a method, called by address
guides                 how terms without tolerance fade
least_squares          the linear model of the errors, and a step within the limits
limits                 clamp to limits, draw within them, go round by whole turns
losses                 the scalar losses of the thesis
mounts                 a root that stands somewhere in the world
path                   a whole path of postures as one least-squares problem
problem_record         the problem and a run as kernels take them
quick_error            squared errors without trigonometry, to rank postures
solve                  how every solve begins and ends
verify                 wrap, clamp, measure again, and the status
workspace              the scratch that every solve needs
"""
