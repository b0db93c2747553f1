"""L-BFGS-B: minimise a smooth function within bounds, and inverse kinematics by it.

cauchy                 the generalised Cauchy point
function_pointers      the minimum of the model, called by address
memory                 the quadratic model in compact form
minimiser              the iteration
minimum                the minimum of the model within bounds
scratch                its scratch
search                 inverse kinematics by descents
subspace               the minimum over the free variables
"""
