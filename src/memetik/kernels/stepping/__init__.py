"""The Jacobian and Newton methods: one loop, and one step a file.

directions             the singular value decomposition of the linear model
dls                    damped least squares
gauss_newton           Gauss-Newton
iterate                the loop that all share, with restarts
levenberg_marquardt    Levenberg-Marquardt
pseudoinverse          pseudoinverse, also by waypoints
sdls                   selectively damped least squares
svd_dls                damping of small singular values alone
transpose              the Jacobian transpose
"""
