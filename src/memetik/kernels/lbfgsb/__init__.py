"""L-BFGS-B: minimise a smooth function within bounds, and inverse kinematics by it.

cauchy                 the generalised Cauchy point
memory                 the quadratic model in compact form
minimiser              the iteration
minimiser_record       its state
minimum                the minimum of the model within bounds
search                 inverse kinematics by descents
subspace               the minimum over the free variables
"""
