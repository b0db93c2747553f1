"""Problems, objectives and a world that change in any order, each beside a plain model of what they should be.

A problem is compared with one that is made afresh from the model: the answers must be the same to the last bit. Errors of some
objectives are also measured by plain matrices. A servo follows one of the problems while that changes, and tracks, batches and
jobs on files are compared with solves of a fresh one (tests/problem/replays.py).
"""

from __future__ import annotations

import copy
import pickle
import sys
import tempfile
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

import memetik as mk
from tests.naive import kinematics
from tests.objectives.test_attributes import (
    ARGUMENT_OF,
    ARGUMENTS,
    ASSIGNED,
    BODY,
    CLASSES,
    HAND,
    HOME,
    OF_PROBLEMS,
    value_of,
)
from tests.problem.replays import Job, Loop, compare_rows, compare_track, has_target, outcome, targets_of

BUDGET = mk.Budget(evaluations=60)
BALL = mk.Shape("sphere", (0.06,))
KINDS = sorted(ARGUMENTS)
ATTRIBUTES = {kind: [each for name, each in ASSIGNED if name == kind] for kind in KINDS}
VARIED = {"weight": (0.3, 1.0, 3.0), "tolerance": (None, 1e-3, 0.02), "priority": (0, 1, 4)}


@dataclass
class Wish:
    """An objective, and the arguments that would make the same one."""

    objective: Any
    kind: str
    arguments: dict[str, Any]


@dataclass
class Task:
    """A problem, the objectives in it, and the other arguments that would make the same one."""

    problem: mk.Problem
    wishes: list[Wish]
    arguments: dict[str, Any] = field(default_factory=dict)


def make(kind: str, arguments: dict[str, Any], world: mk.World) -> Any:
    """An objective; one that keeps off the world is called "World"."""
    if kind == "World":
        return mk.Distance([HAND, "panda_link5"], world, **arguments)
    return CLASSES[kind](**arguments)


class Machine:
    """Everything there is, and what can be done with it. Choices are numbers, of which each takes what it needs."""

    def __init__(self) -> None:
        self.world, self.obstacles = mk.World(capacity=1), dict[str, tuple[Any, frozenset[str]]]()
        self.wishes: list[Wish] = []
        self.tasks: list[Task] = []
        self.loop: Loop | None = None
        self.job: Job | None = None
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self.add_wish(KINDS.index("Pose"))
        self.add_task(0)

    # What can be done

    def add_wish(self, choice: int) -> None:
        """Make another objective; seven are enough."""
        kind = [*KINDS, "World"][choice % (len(KINDS) + 1)]
        arguments = dict(ARGUMENTS.get(kind, {}))
        wish = Wish(make(kind, arguments, self.world), kind, arguments)
        self.wishes = [*self.wishes[-6:], wish]

    def add_task(self, choice: int) -> None:
        """Make a problem of some objectives; three are enough."""
        wishes = [wish for k, wish in enumerate(self.wishes) if choice >> k & 1] or self.wishes[-1:]
        self.tasks = [*self.tasks[-2:], Task(mk.Problem(BODY, [wish.objective for wish in wishes]), wishes)]

    def assign(self, choice: int, value: int) -> None:
        """Assign to an attribute of an objective."""
        wish = self.wishes[choice % len(self.wishes)]
        known = ATTRIBUTES["Distance" if wish.kind == "World" else wish.kind]
        name = known[choice // len(self.wishes) % len(known)]
        if wish.kind == "World" and name == "obstacles":
            return
        values = VARIED.get(name) or (value_of(wish.kind, name), ARGUMENTS.get(wish.kind, {}).get(name))
        given = values[value % len(values)]
        if given is None and name != "tolerance":
            given = values[0]
        setattr(wish.objective, name, given)
        if self.loop is not None and wish in self.loop.task.wishes:
            self.loop.note("objective", (self.loop.task.wishes.index(wish), name, given))
        argument = ARGUMENT_OF.get(f"{wish.kind}.{name}", ARGUMENT_OF.get(name, lambda given: {name: given}))
        wish.arguments.update(argument(given))

    def assign_to_problem(self, choice: int, value: int) -> None:
        """Assign to an attribute of a problem."""
        task = self.tasks[choice % len(self.tasks)]
        name = ("weighting", "lock", "limits", "root")[choice // len(self.tasks) % 4]
        given = (OF_PROBLEMS[name], {"weighting": "given", "lock": {}, "limits": {}, "root": None}[name])[value % 2]
        setattr(task.problem, name, given)
        task.arguments[name] = given
        if self.loop is not None and task is self.loop.task:
            self.loop.note("problem", (name, given))

    def recompile(self, choice: int) -> None:
        """Compile a problem again, though nothing has changed."""
        task = self.tasks[choice % len(self.tasks)]
        task.problem.recompile()
        if self.loop is not None and task is self.loop.task:
            self.loop.note("recompile", None)

    def travel(self, choice: int) -> None:
        """Replace a problem by a copy of it, whose objectives and world are its own from then on, and compare that at once."""
        task = self.tasks[choice % len(self.tasks)]
        problem = copy.deepcopy(task.problem) if choice // 3 % 2 else pickle.loads(pickle.dumps(task.problem))
        self.compare(Task(problem, task.wishes, task.arguments))

    def change_world(self, choice: int, value: int) -> None:
        """Let an obstacle come, move or go."""
        name, place = f"ball {choice % 4}", mk.translation(0.4, 0.1 * (value % 5), 0.3 + 0.1 * (value // 5 % 3))
        if choice // 4 % 3 == 0 and name in self.obstacles:
            self._tell_world("remove", name)
            del self.obstacles[name]
        elif choice // 4 % 3 == 1 and name in self.obstacles:
            self._tell_world("move", name, place)
            self.obstacles[name] = place, self.obstacles[name][1]
        else:
            touching = frozenset([HAND] if value % 2 else [])
            self._tell_world("add", name, BALL, place, touching=touching)
            self.obstacles[name] = place, touching

    def _tell_world(self, what: str, *given: Any, **named: Any) -> None:
        getattr(self.world, what)(*given, **named)
        if self.loop is not None:
            self.loop.note(what, (given, named))

    def solve(self, choice: int) -> None:
        """Compare the answer of a problem."""
        self.compare(self.tasks[choice % len(self.tasks)])

    def together(self, first: Callable[[], None], choice: int) -> None:
        """Do something while other threads construct a problem and solve one; no answer of theirs is looked at, but no error may
        come, and afterwards all must be as if it had been done alone."""
        task = self.tasks[choice % len(self.tasks)]
        objectives = [wish.objective for wish in task.wishes]
        raised: list[BaseException] = []

        def run(work: Callable[[], Any]) -> None:
            try:
                work()
            except mk.errors.ProblemError as error:
                if "can influence it" not in str(error):
                    raised.append(error)
            except BaseException as error:
                raised.append(error)

        works = [first, lambda: mk.Problem(BODY, objectives), lambda: mk.solve(task.problem, HOME, budget=BUDGET)]
        threads = [threading.Thread(target=run, args=(work,)) for work in works]
        usual = sys.getswitchinterval()
        sys.setswitchinterval(1e-6)
        try:
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        finally:
            sys.setswitchinterval(usual)
        if raised:
            raise raised[0]
        self.compare(task)

    # What follows a problem, or solves it for many targets

    def tick(self, choice: int, value: int) -> None:
        """Let the servo take some steps, with targets that are good, bad or withdrawn; a new servo where there is none."""
        if self.loop is None:
            task = self.tasks[choice % len(self.tasks)]
            begin = self._remember(task)
            loop = outcome(lambda: Loop(task, begin, bool(value % 2)))
            if not isinstance(loop, Loop):
                return  # what it is made of says so: some problems have nothing to follow
            self.loop = loop
        wishes = self.loop.task.wishes
        targets: dict[int, Any] = {}
        for k, wish in enumerate(wishes):
            if has_target(wish.kind) and choice >> k & 1:
                one, other = targets_of(wish.kind)
                targets[k] = (one, other, np.full_like(one, np.nan), None, one)[(value + k) % 5]
        for _ in range(1 + value % 3):
            self.loop.step(targets)
        if choice % 11 == 0:
            self.loop.reset(HOME if value % 2 else None)
        if self.loop.is_over:
            self.end_loop()

    def end_loop(self) -> None:
        """Compare the servo with a twin that gets the same inputs."""
        loop, self.loop = self.loop, None
        if loop is not None:
            loop.compare()

    def follow(self, choice: int, value: int) -> None:
        """Track a path, and compare with a problem made afresh."""
        with_target = self._with_target(choice)
        if with_target is not None:
            found, expected, kind = with_target
            one, other = targets_of(kind)
            compare_track(found, expected, np.stack([one, other, one, one][value % 2 : 2 + value % 3]))

    def solve_many(self, choice: int, value: int) -> None:
        """Solve a batch and take bound steps, and compare with single solves."""
        with_target = self._with_target(choice)
        if with_target is not None:
            found, expected, kind = with_target
            compare_rows(found, expected, np.stack(targets_of(kind)[: 1 + value % 2]), 1 + value % 3)

    def do_job(self, choice: int, value: int) -> None:
        """Write targets into a file and have them solved, in a folder that may hold answers to others."""
        with_target = self._with_target(choice, ("Pose", "Position"))
        if with_target is None:
            return
        if self.job is None:
            memory = "/dev/shm" if Path("/dev/shm").is_dir() else None  # where nothing waits for a disk
            self._folder = tempfile.TemporaryDirectory(dir=memory)
            self.job = Job(Path(self._folder.name))
        if value % 3 == 0:
            self.job.damage(value // 3)
        found, expected, kind = with_target
        self.job.compare(found, expected, np.stack(targets_of(kind) * 2)[: 2 + choice % 3], value // 2 % 2)

    def _with_target(self, choice: int, kinds: tuple[str, ...] = ()) -> tuple[Any, Any, str] | None:
        """A problem and the first of its objectives with a target, both made afresh, and the kind; None where there is none."""
        task = self.tasks[choice % len(self.tasks)]
        for k, wish in enumerate(task.wishes):
            if has_target(wish.kind) and (not kinds or wish.kind in kinds):
                problem, objectives, _ = self._remember(task)()
                return (task.problem, wish.objective), (problem, objectives[k]), wish.kind
        return None

    def end(self) -> None:
        """Compare all there is once more."""
        self.end_loop()
        for task in self.tasks:
            self.compare(task)
        if self._folder is not None:
            self._folder.cleanup()

    # What must hold

    def _remember(self, task: Task) -> Callable[[], tuple[mk.Problem, list[Any], mk.World]]:
        """What makes a task as it is now from the model: a problem, its objectives and a world of its own."""
        names = [self.world.owner(slot) for slot in range(self.world.capacity)]
        assert {name for name in names if name} == set(self.obstacles)
        obstacles = dict(self.obstacles)
        wishes = [(wish, dict(wish.arguments)) for wish in task.wishes]
        arguments = dict(task.arguments)

        def make_again() -> tuple[mk.Problem, list[Any], mk.World]:
            world = mk.World(capacity=len(names))
            for slot, name in enumerate(names):  # each in the slot that it has here
                place, touching = obstacles.get(name or "", (np.eye(4), frozenset()))
                world.add(name or f"empty {slot}", BALL, place, touching=touching)
            for slot, name in enumerate(names):
                if name is None:
                    world.remove(f"empty {slot}")
            objectives = [make(wish.kind, given, world) for wish, given in wishes]
            return mk.Problem(BODY, objectives, **arguments), objectives, world

        return make_again

    def compare(self, task: Task) -> None:
        """The answer is that of a problem made afresh, and true by plain matrices."""
        problem, _, _ = self._remember(task)()
        expected = mk.solve(problem, HOME, budget=BUDGET)
        found = mk.solve(task.problem, HOME, budget=BUDGET)
        assert found.q.tolist() == expected.q.tolist() and found.status == expected.status
        for wish, error in zip(task.wishes, found.errors.values(), strict=True):
            true = true_error(wish, found.q, task.arguments.get("root"))
            assert true is None or abs(true - error) < 1e-9 * (1.0 + true), (wish.kind, true, error)
        for joint, value in task.arguments.get("lock", {}).items():
            assert found[joint] == value
        for joint, (low, high) in task.arguments.get("limits", {}).items():
            assert low <= found[joint] <= high


def true_error(wish: Wish, q: Any, root: Any) -> float | None:
    """The error by plain matrices, of objectives that are simple enough; None for others."""
    given = wish.arguments
    if wish.kind == "JointValue":
        return abs(float(q[BODY.index(given["joint"])]) - given["target"])
    if wish.kind not in ("MinDistance", "MaxDistance", "Position"):
        return None
    world_from_root = np.eye(4) if root is None else np.asarray(root)

    def pose(frame: Any) -> Any:
        if isinstance(frame, str):
            return world_from_root @ kinematics.pose(BODY, frame, q)
        return world_from_root @ kinematics.pose(BODY, frame.link, q) @ frame.link_from_frame

    place = pose(given["frame"])[:3, 3]
    if given.get("relative_to") is not None:
        inverse = np.linalg.inv(pose(given["relative_to"]))
        place = inverse[:3, :3] @ place + inverse[:3, 3]
    away = place - np.array(given["target"])
    if wish.kind == "Position":
        if np.ndim(given.get("tolerance")):
            return None
        axes = np.eye(3) if given.get("mask_axes") is None else mk.geometry.rotation_matrix(given["mask_axes"])
        return float(np.linalg.norm(axes.T @ away * np.array(given["mask"])))
    gap = given["distance"] - np.linalg.norm(away)
    return float(max(0.0, gap if wish.kind == "MinDistance" else -gap))


OPERATIONS: dict[str, Callable[[Machine, int, int], None]] = {
    "add_wish": lambda machine, a, b: machine.add_wish(a),
    "add_task": lambda machine, a, b: machine.add_task(a),
    "assign": lambda machine, a, b: machine.assign(a, b),
    "assign_to_problem": lambda machine, a, b: machine.assign_to_problem(a, b),
    "recompile": lambda machine, a, b: machine.recompile(a),
    "travel": lambda machine, a, b: machine.travel(a),
    "change_world": lambda machine, a, b: machine.change_world(a, b),
    "solve": lambda machine, a, b: machine.solve(a),
    "tick": lambda machine, a, b: machine.tick(a, b),
    "end_loop": lambda machine, a, b: machine.end_loop(),
    "follow": lambda machine, a, b: machine.follow(a, b),
    "solve_many": lambda machine, a, b: machine.solve_many(a, b),
    "do_job": lambda machine, a, b: machine.do_job(a, b),
    "assign_together": lambda machine, a, b: machine.together(lambda: machine.assign(a, b), b),
    "change_world_together": lambda machine, a, b: machine.together(lambda: machine.change_world(a, b), b),
    "assign_to_problem_together": lambda machine, a, b: machine.together(lambda: machine.assign_to_problem(a, b), b),
}
