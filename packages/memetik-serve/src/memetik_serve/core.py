"""Core: request -> problem -> solution -> reply, for every transport and from any thread."""

from __future__ import annotations

import logging
import math
import threading
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

import memetik as mk
from memetik.errors import UnknownNameError, said, shown
from memetik.scenes import KINDS, Wish, fields
from memetik.solution import MISSED, measures, title
from memetik.types import Array
from memetik_serve.codes import Code, RequestError, code_of
from memetik_serve.request import Missed, Reply, Request
from memetik_serve.store import Store, footprint, reached
from memetik_serve.structure import CHANGED, Prepared, Structure, fixed, movers

LONGEST = 10.0  # s, the most that a request may ask for
USUAL = 0.1  # s, where it does not say
MOST_ATTEMPTS = 100
MOST_OBJECTIVES = 500
# A first look that a transport takes before it hands a request to another thread. Of 2,000 reachable poses of a Panda, 1,998 are
# found by it, with 8 evaluations in the median and 56 in 99 of 100 (tests/serve/stress/load.py quick).
QUICK = mk.Budget(evaluations=400, seconds=0.002)

_SPRINGS = ("Displacement", "CenterJoints", "AvoidLimits")  # about all joints, unless some are named
_LOG = logging.getLogger("memetik_serve")


class _Lease(NamedTuple):
    """A problem in use by one call, and where it belongs."""

    key: Any
    structure: Structure
    values: tuple[float, ...]  # of joints that are held
    prepared: Prepared


class Core:
    """Answers requests about one body. Any number of threads may call it; none waits for another's search.

    Problems are compiled once for each structure, which is all of a request but targets and start, and kept: a request
    of a known structure changes targets only. Values of joints that are held and move something are part of the structure.

    body: what is solved for.
    root: world_from_root; targets are in the world.
    world: obstacles for requests that avoid collisions.
    method: of requests that name none: a name of mk.methods(), or a solver.
    timeout: of requests that give none [s].
    store: how much of what is compiled is kept, for all cores that share it; calls say which client they are of.
    pairs: of shapes that the objectives of a request may keep apart; as many as they are if None.
    """

    def __init__(
        self,
        body: mk.Body,
        *,
        root: Array | None = None,
        world: mk.World | None = None,
        method: str | mk.solvers.Solver = "memetic",
        timeout: float = USUAL,
        store: Store | None = None,
        pairs: int | None = None,
    ) -> None:
        self.body, self.root, self.world, self.method, self.timeout = body, root, world, method, timeout
        self._home = np.array(body.home)
        self._index = {name: k for k, name in enumerate(body.joint_names)}
        self.store = Store() if store is None else store
        self._pairs = pairs
        self._groups = {name: self._members(name) for name in body.chains}
        self._lock = threading.Lock()
        self._structures: dict[Any, Structure] = {}
        self._shared: set[int] | None = None  # ids of what problems have in common

    # ---- Answers -----------------------------------------------------------------------------------------------

    def answer(self, request: Request, client: str = "") -> Reply:
        """Solve what is asked for. It never raises: whatever is wrong is in the code and the message."""
        return self._guarded(request, None, client) or Reply(Code.FAILURE, "a search ended without a word.")

    def quick(self, request: Request) -> Reply | None:
        """The answer, if it can be had in about a millisecond: the problem is ready and a short search reaches all, or the
        request is wrong. None otherwise: `answer` may take long. A posture is the same from both."""
        return self._guarded(request, QUICK, "")

    def explain(self, request: Request, client: str = "") -> str:
        """In sentences what a request misses and why; empty where it misses nothing."""
        with self.leased(request, client) as (prepared, start):
            solution = self._search(prepared, start, request, self._budget(request))
            return "" if solution.success else solution.explain()

    def _guarded(self, request: Request, budget: mk.Budget | None, client: str) -> Reply | None:
        try:
            return self._answer(request, budget, client)
        except mk.MemetikError as error:
            return Reply(code_of(error), str(error))
        except Exception as error:  # a fault of ours ends this request and nothing else
            _LOG.exception("a request failed")
            return Reply(Code.FAILURE, f"a fault of the program: {type(error).__name__}: {said(error)}")

    def _answer(self, request: Request, budget: mk.Budget | None, client: str) -> Reply | None:
        lease, start = self._lease(request, budget is not None, client)
        if lease is None:
            return None
        try:
            prepared = lease.prepared
            self._retarget(prepared, lease.structure, request)
            solution = self._search(prepared, start, request, budget or self._budget(request))
            prepared.solved = True
            if budget is not None:
                prepared.skipped = 0
                if solution.status != mk.Status.REACHED:
                    prepared.misses += 1
                    return None
                prepared.misses = 0
            return self.reply(solution, request)
        finally:
            self._give_back(lease)

    def _search(self, prepared: Prepared, start: Array, request: Request, budget: mk.Budget) -> mk.Solution:
        """The best of all attempts, which share the time of the budget."""
        best: mk.Solution | None = None
        end = time.monotonic() + (budget.seconds or LONGEST)
        for attempt in range(1 if budget is QUICK else request.attempts):
            if attempt > 0:
                left = end - time.monotonic()
                if left <= 0.0:
                    break
                budget = mk.Budget(seconds=left)
            solution = mk.solve(
                prepared.problem,
                start,
                method=request.method or self.method,
                budget=budget,
                seed=request.seed + attempt,
            )
            if best is None or solution.success or _fitness(solution) < _fitness(best):
                best = solution
            if solution.success:
                break
        assert best is not None
        return best

    def reply(self, solution: mk.Solution, request: Request) -> Reply:
        """What a solution means for who asked."""
        if solution.status == mk.Status.REACHED:
            return Reply(
                Code.SUCCESS, "", True, solution.q, 0.0, (), solution.seconds, solution.evaluations
            )  # what is within tolerance counts as met
        measured = tuple(
            Missed(title(row.objective), row.part, row.error, row.tolerance, row.unit, row.verdict)
            for row in measures(solution)
        )
        code = Code.TIMED_OUT if solution.timed_out else Code.NO_IK_SOLUTION
        if solution.success or (request.approximate and solution.status == mk.Status.CLOSEST):
            code = Code.SUCCESS
        return Reply(
            code, "" if solution.success else _words(measured, code), False, solution.q, _fitness(solution), measured,
            solution.seconds, solution.evaluations,
        )  # fmt: skip

    def _budget(self, request: Request) -> mk.Budget:
        seconds = request.timeout
        if not (isinstance(seconds, (int, float)) and 0.0 <= seconds < math.inf):
            raise RequestError(
                Code.INVALID_GOAL_CONSTRAINTS, f"timeout is {shown(seconds)}; write seconds, from 0 to {LONGEST:g}."
            )
        if not (type(request.attempts) is int and 1 <= request.attempts <= MOST_ATTEMPTS):
            raise RequestError(
                Code.INVALID_GOAL_CONSTRAINTS,
                f"attempts is {shown(request.attempts)}; write a whole number from 1 to {MOST_ATTEMPTS}.",
            )
        return self.allowed(seconds)

    def allowed(self, timeout: float) -> mk.Budget:
        """What a search may take that asks for so much [s]; 0 means what is usual here."""
        return mk.Budget(seconds=min(timeout or self.timeout, LONGEST))

    # ---- Groups, states and frames -------------------------------------------------------------------------------

    def tip(self, group: str) -> str:
        """The link that a group is about where none is named: its only tip."""
        tips = self.body.chains[self._known_group(group)].tips if group else ()
        if len(tips) != 1:
            said_of = f"the group {group!r} has the tips {', '.join(tips)}" if tips else "no group is named"
            raise RequestError(Code.INVALID_LINK_NAME, f"no link is named, and {said_of}. Name the link that is meant.")
        return tips[0]

    def start(self, state: Mapping[str, float]) -> Array:
        """The joint vector of a state by names; joints that are not free, such as mimics, have no say in it."""
        if not state:
            return self._home.copy()
        q = self._home.tolist()
        for name, value in state.items():
            k = self._index.get(name)
            if k is not None:
                q[k] = value
            elif name not in self.body.joints:
                unknown = UnknownNameError("joint", name, self.body.joints, f"body {self.body.name!r}")
                raise RequestError(Code.INVALID_ROBOT_STATE, str(unknown))
        if not all(map(math.isfinite, q)):
            raise RequestError(Code.INVALID_ROBOT_STATE, "the robot state has a value that is NaN or infinite.")
        return np.array(q)

    def world_from(self, frame: str, state: Mapping[str, float]) -> Array | None:
        """Where a frame stands that poses are given in: a link of the body in this state; None for the world itself, by
        the name "world", the root link, or no name."""
        if frame in ("", "world", "/world", self.body.root) and self.root is None:
            return None
        if frame in ("", "world"):
            return None
        if frame not in self.body.links:
            unknown = UnknownNameError("frame", frame, self.body.links, f"body {self.body.name!r}")
            raise RequestError(Code.FRAME_TRANSFORM_FAILURE, str(unknown))
        pose: Array = self.body.forward(self.start(state), frame, root=self.root)
        return pose

    def _known_group(self, group: str) -> str:
        if group not in self._groups:
            unknown = UnknownNameError("group", group, self.body.chains, f"body {self.body.name!r}")
            raise RequestError(Code.INVALID_GROUP_NAME, str(unknown))
        return group

    def _members(self, group: str) -> frozenset[str]:
        """The free joints of a named chain, with the sources of mimic joints on the way."""
        drives, names = self.body.variables.drives, self.body.joint_names
        free = self.body.chain(group).joint_names
        return frozenset(name if name in self._index else names[drives[name][0].variable] for name in free)

    # ---- Problems ------------------------------------------------------------------------------------------------

    @contextmanager
    def leased(self, request: Request, client: str = "") -> Iterator[tuple[Prepared, Array]]:
        """A problem with the targets of a request, for one call, and where to start."""
        lease, start = self._lease(request, False, client)
        assert lease is not None
        try:
            self._retarget(lease.prepared, lease.structure, request)
            yield lease.prepared, start
        finally:
            self._give_back(lease)

    def _lease(self, request: Request, only_ready: bool, client: str) -> tuple[_Lease | None, Array]:
        """A problem for a request, whose targets are still those of another one, and where to start; None where none is ready."""
        key = self._key(request)
        found = self._structures.get(key)
        start = self.start(request.state)
        if found is None and only_ready:
            if request.group:
                self._known_group(request.group)
            return None, start
        structure = self._new_structure(request) if found is None else found
        values = tuple([start[self._index[name]].item() for name in structure.held]) if structure.held else ()
        with self._lock:
            waiting = structure.idle.get(values)
            prepared = waiting.pop() if waiting else None
        if prepared is None:
            if only_ready:
                return None, start
            prepared = self._prepare(request, structure, values)
            prepared.client = client
        lease = _Lease(key, structure, values, prepared)
        if only_ready and not (prepared.solved and prepared.worth_a_look()):
            self._give_back(lease)
            return None, start
        return lease, start

    def problem(self, request: Request) -> tuple[mk.Problem, dict[str, mk.Objective], Array]:
        """A problem of the caller's own, its objectives by name, and where to start; for what lives longer than a request."""
        structure = self._structures.get(self._key(request)) or self._new_structure(request)
        start = self.start(request.state)
        prepared = self._prepare(
            request, structure, tuple([start[self._index[name]].item() for name in structure.held])
        )
        self._retarget(prepared, structure, request)
        names = [wish.name for wish in structure.wishes]
        return prepared.problem, dict(zip(names, prepared.objectives, strict=True)), start

    def _give_back(self, lease: _Lease) -> None:
        """Keep a problem for the next call, unless the store has forgotten it meanwhile."""
        key, structure, values, prepared = lease
        with self._lock:
            if not prepared.kept:
                prepared.problem.free()
                return
            structure = self._structures.setdefault(key, structure)
            structure.idle.setdefault(values, []).append(prepared)
            prepared.uses += 1
            if prepared.uses == 1:
                structure.count += 1
        if prepared.uses & (prepared.uses - 1):
            self.store.use(id(prepared))
            return
        # Its size is looked at now and then, because methods make their scratch when they first need it.
        if self._shared is None:
            self._shared = reached(self.body, self.world, KINDS, mk.methods())
        size = footprint(prepared, self._shared) + footprint(structure.wishes, self._shared)
        self.store.keep(id(prepared), prepared.client, size, lambda: self._forget(key, structure, values, prepared))

    def _forget(self, key: Any, structure: Structure, values: tuple[float, ...], prepared: Prepared) -> None:
        with self._lock:
            prepared.kept = False
            waiting = structure.idle.get(values, [])
            if prepared in waiting:
                waiting.remove(prepared)
                prepared.problem.free()
            if not waiting:
                structure.idle.pop(values, None)
            structure.count -= 1
            if structure.count <= 0 and self._structures.get(key) is structure:
                del self._structures[key]

    def close(self) -> None:
        """Forget all that was compiled."""
        with self._lock:
            problems = [each for s in self._structures.values() for row in s.idle.values() for each in row]
            self._structures.clear()
        for each in problems:
            each.kept = False
            self.store.drop(id(each))
            each.problem.free()

    def _key(self, request: Request) -> Any:
        """What a request has in common with all others that the same problem answers."""
        return (
            request.group, tuple(request.fixed_joints), bool(request.avoid_collisions), request.method,
            tuple([(w.kind, w.name, fixed(w)) for w in request.objectives if w.enabled]),
        )  # fmt: skip

    def _new_structure(self, request: Request) -> Structure:
        """Check all of a request that is not a target."""
        members = self._groups[self._known_group(request.group)] if request.group else frozenset(self._index)
        for name in request.fixed_joints:
            if name not in self._index:
                unknown = UnknownNameError("free joint", name, self._index, f"body {self.body.name!r}")
                raise RequestError(Code.INVALID_ROBOT_STATE, f"fixed_joints: {unknown}")
        if request.method and request.method not in {row.name for row in mk.methods()}:
            raise UnknownNameError("method", request.method, [row.name for row in mk.methods()])
        wishes = tuple(self._filled(wish, members) for wish in request.objectives if wish.enabled)
        if not 1 <= len(wishes) <= MOST_OBJECTIVES:
            raise RequestError(
                Code.INVALID_GOAL_CONSTRAINTS,
                f"the request has {len(wishes)} objectives; give 1 to {MOST_OBJECTIVES}.",
            )
        self._check_pairs(wishes, request.avoid_collisions)
        made = [KINDS[wish.kind].objective(wish, self.body, self.world) for wish in wishes]
        made += self._apart() if request.avoid_collisions else []
        read = self._read(made)
        return Structure(wishes, tuple(
            name for name in self.body.joint_names
            if name in request.fixed_joints or (name in read and name not in members)
        ))  # fmt: skip

    def _check_pairs(self, wishes: Iterable[Wish], avoid_collisions: bool) -> None:
        """Refuse what keeps more pairs of shapes apart than are allowed: a problem grows with them."""
        if self._pairs is None:
            return
        shapes = {link.name: len(link.shapes) for link in self.body.links.values()}
        around = 0 if self.world is None else len(self.world)
        count = sum(shapes.values()) ** 2 // 2 + sum(shapes.values()) * around if avoid_collisions else 0
        for wish in wishes:
            if wish.kind in ("SelfDistance", "Distance"):
                own = sum(shapes.get(name, 0) for name in wish.values["links"] or shapes)
                others = own // 2 if wish.kind == "SelfDistance" else len(wish.values["obstacles"])
                count += own * (around if wish.values.get("world") else others)
        if count > self._pairs:
            raise RequestError(
                Code.INVALID_GOAL_CONSTRAINTS,
                f"{count} pairs of shapes are to keep apart, more than {self._pairs}. Name fewer links.",
            )

    def _filled(self, wish: Wish, members: frozenset[str]) -> Wish:
        if wish.kind not in KINDS:
            raise UnknownNameError("kind of objective", wish.kind, KINDS)
        checked = KINDS[wish.kind].check(wish)
        if wish.kind in _SPRINGS and not checked.values["joints"] and len(members) < len(self._index):
            return checked.with_values(joints={name: 1.0 for name in self._index if name in members})
        return checked

    def _read(self, objectives: Iterable[mk.Objective]) -> set[str]:
        """The joints that move what objectives are about."""
        read: set[str] = set()
        links: list[str] = []
        for objective in objectives:
            read |= set(objective.joints(self.body))
            links += [self.body.frame(frame).link for frame in objective.frames()]
            if isinstance(objective, mk.Balance):
                read |= set(self._index)
        return read | movers(self.body, links)

    def _apart(self) -> list[mk.Objective]:
        """What keeps links off each other and off the world."""
        try:
            apart: list[mk.Objective] = [mk.SelfDistance(self.body)]
            if self.world is not None and len(self.world):
                apart.append(mk.Distance(self.body, self.world))
        except mk.MemetikError as error:
            raise RequestError(Code.COLLISION_CHECKING_UNAVAILABLE, str(error)) from error
        return apart

    def _prepare(self, request: Request, structure: Structure, values: tuple[float, ...]) -> Prepared:
        """Compile a problem; milliseconds, and seconds where kernels are not on disk."""
        lock = dict(zip(structure.held, values, strict=True))
        for name, value in lock.items():
            k = self._index[name]
            if not self.body.lower[k] <= value <= self.body.upper[k]:
                raise RequestError(
                    Code.INVALID_ROBOT_STATE,
                    f"joint {name!r} is to stay at {value:g}, outside its limits {self.body.lower[k]:g} to "
                    f"{self.body.upper[k]:g}.",
                )
        objectives = tuple(KINDS[wish.kind].objective(wish, self.body, self.world) for wish in structure.wishes)
        apart = self._apart() if request.avoid_collisions else []
        return Prepared(mk.Problem(self.body, [*objectives, *apart], lock=lock, root=self.root), objectives)

    def _retarget(self, prepared: Prepared, structure: Structure, request: Request) -> None:
        """Write the targets of a request into the objectives of a problem."""
        given = (wish for wish in request.objectives if wish.enabled)
        for objective, known, wish in zip(prepared.objectives, structure.wishes, given, strict=True):
            kind, changed = CHANGED[wish.kind]
            if not changed:
                continue
            where = f"objective {wish.name!r}"
            values = {
                name: fields.check(field, wish.values.get(name, field.default), where)
                for name, field in changed.items()
            }
            if wish.kind == "Pose":
                objective.target = pose_matrix(values["position"], values["wxyz"])  # type: ignore[attr-defined]
            elif wish.kind == "JointValue":
                objective.target = values["target"]  # type: ignore[attr-defined]
            else:
                kind.retarget(objective, replace(known, values={**known.values, **values}), self.body)


def pose_matrix(position: Sequence[float], wxyz: Sequence[float]) -> Array:
    """The 4x4 transform of a point and a unit quaternion, as mk.transform makes it, for those who checked them already:
    in a tenth of the time, which is most of what a request takes."""
    (px, py, pz), (w, x, y, z) = position, wxyz
    return np.array([
        [1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - w * z), 2.0 * (x * z + w * y), px],
        [2.0 * (x * y + w * z), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - w * x), py],
        [2.0 * (x * z - w * y), 2.0 * (y * z + w * x), 1.0 - 2.0 * (x * x + y * y), pz],
        [0.0, 0.0, 0.0, 1.0],
    ])  # fmt: skip


def _fitness(solution: mk.Solution) -> float:
    rows = measures(solution)
    return float(sum((row.objective.weight * row.error) ** 2 for row in rows if row.tolerance is not None))


def _words(measured: Iterable[Missed], code: Code) -> str:
    """What was missed, in one sentence."""
    missed = [
        f"{row.objective}{row.part and ' (' + row.part + ')'} by {row.error:.3g} {row.unit}".rstrip()
        for row in measured
        if row.verdict == MISSED
    ]
    begin = "time ended the search; it missed " if code is Code.TIMED_OUT else "missed "
    return f"{begin}{', '.join(missed)}."
