"""All terms of a problem at one posture, what a solve may spend, and how its answer is verified.

budget                 what a search may spend and has spent
evaluate               residuals, Jacobians and errors of all terms
least_squares          the linear model of the errors, and a step within the limits
losses                 the scalar losses of the thesis
quick_error            squared errors without trigonometry, to rank postures
solve                  from a joint vector into a method's search and out again
verify                 wrap, clamp, measure again, and the status
whole_turns            joints whose range holds a whole turn
workspace              the scratch arrays of a solve by name
"""
