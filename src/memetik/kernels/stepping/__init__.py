"""The Jacobian and Newton methods: one loop, and the steps in two families.

iterate                the loop that all share, with restarts
normal_equations       transpose, Gauss-Newton and damped least squares, Levenberg-Marquardt
singular_values        pseudoinverse, also by waypoints; damping of small singular values; selective damping
"""
