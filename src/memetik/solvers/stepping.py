"""The Jacobian and Newton methods, and what they share; see kernels/stepping."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

from memetik.kernels.compiler.function_pointers import lasting_address
from memetik.kernels.stepping import normal_equations, singular_values
from memetik.kernels.stepping.iterate import STEP, SteppingRecord, iterate
from memetik.problem.compile import Compiled
from memetik.solvers.family import Family, record_of
from memetik.solvers.method import ask_for
from memetik.solvers.seeded import above_zero, parameter

ALONE = 5  # times the patience where no restart follows; on nine arms more of it solves next to nothing more


@dataclass(frozen=True, kw_only=True)
class Stepping(Family):
    """A method that repeats one step. Takes every objective, any number of tips, any joint; one evaluation an iteration.

    Limits hold at every step: a step ends at them, and a joint at its limit that the errors push outwards takes no part
    in the next one; one whose range holds a whole turn goes round instead. Guides (objectives without tolerance) pull
    fully until the errors have settled, and fade while the other objectives are not satisfied. The same seed gives the
    same answer, bit for bit.

    restarts: after a stall, begin again at a random posture until the budget is spent; the textbook method stops there.
    patience: so many steps in a row without progress are a stall; without restarts five times as many.
    progress: the share that a step has to take off the lowest squared error to count.
    longest_step: no joint moves further in one step [rad or m]; the step is scaled as a whole.
    """

    seed: int = 0
    restarts: bool = True
    patience: int = above_zero(4)
    progress: float = parameter(0.2, lambda value: 0.0 <= value < 1.0, "it is a share, from 0 to below 1")
    longest_step: float = above_zero(1.0)

    search = iterate
    step: ClassVar[Any]  # the kernel that makes the method (STEP in kernels/stepping/iterate.py)

    def steps_to_stall(self) -> int:
        """So many steps in a row without progress end an attempt."""
        return self.patience if self.restarts else ALONE * self.patience

    def make_record(self, c: Compiled) -> Any:
        sizes = {**c.sizes, "height": c.sizes["residuals"] + c.sizes["variables"]}
        ask_for(type(self).search, (type(self).step, STEP))
        step = lasting_address(type(self).step, STEP)
        stepping = record_of(self, SteppingRecord, sizes, step=step, patience=self.steps_to_stall())
        return record_of(self, self.own, sizes, stepping=stepping)


@dataclass(frozen=True, kw_only=True)
class Transpose(Stepping):
    """Jacobian transpose: pull the tip towards the target and let the joints give way.

    The residuals r say how far everything is off, J how they change with the joints. A spring between tip and target
    would pull with the force -r, and by the principle of virtual work it is felt in the joints as the torque -J^T r.
    The joints move along it, which is the direction in which |r|^2 falls most steeply:

        step = -alpha J^T r          alpha = <r, J J^T r> / <J J^T r, J J^T r>

    This alpha minimises |r + J step|, the error as far as the linear model can tell (Buss 2004). Taken at every step,
    it makes steepest descent zigzag: a step is square to the one before, and every further digit takes as many steps
    as the last. The same alpha taken one step late, that of the step before, breaks the pattern (Barzilai and Borwein
    1988): the error no longer falls at every step, but a pose of an arm takes a quarter to a half of the steps, and
    all poses together a thirtieth, since none is slow. `lag=False` takes it at once, `length` fixes it as in the first
    papers (Balestrino et al. 1984, Wolovich and Elliott 1984).

    Shines where a step must be cheap and safe: no matrix is inverted, so singular postures do no harm. Fails to be
    quick: it takes some ten times as many steps as the methods that invert J, and most where joints have very unequal
    effects.

    lag: take the alpha that was best for the step before; without it, the one that is best for the step itself.
    length: a fixed alpha instead [no unit, of the order of 0.01]; too large a one diverges.
    """

    patience: int = above_zero(80)
    longest_step: float = above_zero(0.3)
    length: float | None = above_zero(None)
    lag: bool = True

    name = "transpose"
    own, step = normal_equations.TransposeRecord, normal_equations.transpose_step


@dataclass(frozen=True, kw_only=True)
class DampedLeastSquares(Stepping):
    """Damped least squares: reach the target, but not at any price.

    The pseudoinverse minimises |r + J step|^2 alone and pays with huge steps near singular postures. Here the length
    of the step has a price as well (Wampler 1986, Nakamura and Hanafusa 1986):

        minimise |r + J step|^2 + lambda^2 |step|^2
        step = -J^T (J J^T + lambda^2)^-1 r = -(J^T J + lambda^2)^-1 J^T r

    In terms of singular values 1 / sigma becomes sigma / (sigma^2 + lambda^2): about the same for a large sigma,
    harmless for a small one. It is one Cholesky factorisation of the smaller of the two systems, the cheapest step
    that inverts anything.

    Shines as the workhorse: stable everywhere, quick, simple. Fails to have one lambda for all: a large one slows down
    all directions, also those that need no damping, and turns the last digits into a crawl; a small one hardly damps.
    levenberg_marquardt lets lambda follow the success of the steps.

    damping: lambda; a singular value of this size is damped to half. The residuals have no unit: one radian counts 1,
    a metre 5 over the reach of the chain.
    """

    damping: float = above_zero(0.03)

    line_search = False  # no parameter: every step is taken as it comes
    name = "dls"
    own, step = normal_equations.GaussNewtonRecord, normal_equations.gauss_newton_step


@dataclass(frozen=True, kw_only=True)
class GaussNewton(Stepping):
    """Gauss-Newton: least squares solved by a sequence of linear least squares.

    Newton's method minimises |r|^2 with its second derivatives J^T J + sum_i r_i H_i. Near a solution the r_i are
    small, so the second part is left out and first derivatives are enough:

        J^T J step = -J^T r          the shortest such step where there are many

    With full rank this is the step of the pseudoinverse; it comes from a Cholesky factorisation of the smaller of
    J^T J and J J^T, which takes a quarter of the time of singular values for an arm, a twentieth for a whole body. A
    step that does not lower the error is halved until it does (line search), which the pseudoinverse method does not.

    Shines near a solution that can be reached: convergence is quadratic, the number of right digits doubles with every
    step. It does not care what the residuals are: chains, trees, any joints, any objectives. Fails from afar, where
    the step can be so bad that no share of it helps, near singular postures, where J^T J cannot be told from a
    singular matrix, and where large errors remain: the part that was left out then counts, and convergence is linear
    at best.

    line_search: halve steps; without it every step is taken as it comes.
    """

    line_search: bool = True

    damping = 1e-6  # no parameter: enough to solve J^T J where it is singular
    name, by_values = "gauss_newton", True  # spherical joints by their three angles, as published
    own, step = normal_equations.GaussNewtonRecord, normal_equations.gauss_newton_step


@dataclass(frozen=True, kw_only=True)
class LevenbergMarquardt(Stepping):
    """Levenberg-Marquardt: damped least squares that learns how much to damp.

        (J^T J + lambda) step = -J^T r

    For a small lambda this is Gauss-Newton, quick near the solution; for a large one a short step down the steepest
    slope, safe anywhere. After each step the gain ratio says how far the linear model can be trusted (Nielsen 1999):

        rho = (|r|^2 - |r_new|^2) / (|r|^2 - |r + J step|^2)          what was gained over what was promised

        rho > 0    keep the step; lambda *= max(1/3, 1 - (2 rho - 1)^3); nu = 2
        rho <= 0   take it back;  lambda *= nu; nu *= 2

    The step is bounded: cut off at the limits first, and promised and gained are those of what is left of it.

    Shines as the most reliable of this family: downhill at every step, quadratic at the end, nothing to tune. Fails as
    all of them do in a local minimum, where only another start helps, and it spends evaluations on steps that it takes
    back.

    first_damping: the first lambda, as a share of the largest diagonal entry of J^T J.
    """

    first_damping: float = above_zero(0.1)

    name = "levenberg_marquardt"
    own, step = normal_equations.LevenbergMarquardtRecord, normal_equations.levenberg_marquardt_step


@dataclass(frozen=True, kw_only=True)
class Pseudoinverse(Stepping):
    """Jacobian pseudoinverse: the shortest step that the linear model says will do.

    If J could be inverted, step = -J^-1 r would bring the errors to zero at once. The pseudoinverse J^+ does the best
    there is for any J: it makes |r + J step| as small as possible, and of all such steps it takes the shortest.

        step = -J^+ r          J^+ = J^T (J J^T)^-1  with more joints than residuals,  (J^T J)^-1 J^T  with fewer

    Both formulas break down where J loses rank, so it is computed from the singular values, which gives the same and
    never divides by zero: with J = sum_i sigma_i left_i right_i^T

        J^+ = sum_i (1 / sigma_i) right_i left_i^T          over all i with sigma_i > cutoff * largest sigma

    Shines near the solution and away from singular postures: each step doubles the number of right digits, and a
    redundant body moves no more than it must. Fails near singular postures: along a direction that the joints can
    hardly move, 1 / sigma is huge, and the joints jump for next to nothing. `longest_step` keeps the jump within
    bounds, not the direction from being useless; dls, svd_dls and sdls are the cures.

    cutoff: singular values up to this share of the largest count as zero.
    """

    cutoff: float = above_zero(1e-6)

    waypoints = 1  # a parameter of Interpolated alone
    name = "pseudoinverse"
    own, step = singular_values.PseudoinverseRecord, singular_values.pseudoinverse_step


@dataclass(frozen=True, kw_only=True)
class Interpolated(Pseudoinverse):
    """The inverse Jacobian along interpolated targets: many short ways in place of a long one.

    A linear model is good for short steps only. So the way from where the tip is, X_0, to the target D is cut into p
    parts

        X_i = X_0 + (i / p) (D - X_0)          Q_i = Q_(i-1) + J^+(Q_(i-1)) (X_i - F(Q_(i-1)))

    and the tip is led from waypoint to waypoint. F(Q_(i-1)), where the tip really came to, replaces X_(i-1), so that
    errors do not add up: with w waypoints still ahead, a step takes off one w-th of what is left. After the last
    waypoint the steps go all the way, as the pseudoinverse does. Residuals are interpolated rather than poses, which
    for a position is a straight line, for an orientation a turn about one axis, and has a meaning for every other
    objective too.

    Shines where the way matters: the tip follows a straight line, and the body does not leap over to another posture
    that reaches the target as well. Fails like the pseudoinverse at singular postures on that line, and it takes p
    steps where a bold method needs five.

    waypoints: in how many parts the way is cut; 1 is the pseudoinverse itself.
    """

    waypoints: int = above_zero(10)

    name = "interpolated"

    def steps_to_stall(self) -> int:
        # Where many waypoints are asked for, it takes several to take off the share that counts as progress.
        return max(super().steps_to_stall(), math.ceil(self.progress * self.waypoints))


@dataclass(frozen=True, kw_only=True)
class SVDDampedLeastSquares(Stepping):
    """The damped pseudoinverse by singular values: damp where it is needed, and nowhere else.

    Damped least squares treats all directions alike. The singular value decomposition J = sum_i sigma_i left_i
    right_i^T takes them apart, and only the directions that the joints can hardly move are damped (numerical
    filtering, Maciejewski and Klein 1988):

        step = -sum_i f(sigma_i) right_i (left_i·r)

        f(sigma) = 1 / sigma                                                      if sigma >= singular
                 = sigma / (sigma^2 + lambda^2 (1 - (sigma / singular)^2))        if sigma < singular

    f is continuous, so the joints do not jerk when a direction becomes singular.

    Shines where singular postures are near and accuracy counts: as exact as the pseudoinverse in the good directions,
    as calm as dls in the bad ones. Fails to be cheap: a step takes four times as long as one of dls for an arm, twenty
    times for a whole body. And what lies in a singular direction still comes slowly.

    damping: lambda where a singular value is zero.
    singular: singular values from this on are not damped. Residuals have no unit, see DampedLeastSquares.
    """

    damping: float = above_zero(0.03)
    singular: float = above_zero(0.1)

    name = "svd_dls"
    own, step = singular_values.SvdDlsRecord, singular_values.svd_dls_step


@dataclass(frozen=True, kw_only=True)
class SelectivelyDampedLeastSquares(Stepping):
    """Selectively damped least squares: every direction as far as it can be trusted (Buss and Kim 2005).

    Like svd_dls it takes the motion apart by singular values, J = sum_i sigma_i left_i right_i^T. But how much a
    direction is damped depends on what the joints would do to all targets, not on sigma alone:

        wanted step along i          phi_i = (1 / sigma_i) (left_i·r) right_i
        what it does to targets      N_i = sum_l |left_(l,i)|
        what the joints do for it    M_i = (1 / sigma_i) sum_k |right_(k,i)| sum_l |dr_l / dx_k|
        as far as it is trusted      gamma_i = gamma min(1, N_i / M_i)

    with l over the targets, each position and each orientation for itself. Joints that swing far and cancel each other
    out make M_i large and the direction suspect. No joint moves more than gamma_i for direction i, nor more than gamma
    in all:

        step = -clamp(sum_i clamp(phi_i, gamma_i), gamma)

    Shines with several targets that cannot all be reached and near singular postures: no parameter needs tuning, and
    steps are full where they are safe. Fails to be quick: a decomposition for each step, and steps that are cautious
    from afar.

    gamma: no joint moves further in one step [rad or m]; the paper's value is pi / 4.
    """

    gamma: float = above_zero(0.25 * math.pi)

    name = "sdls"
    own, step = singular_values.SdlsRecord, singular_values.sdls_step
