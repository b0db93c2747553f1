"""Session: what one browser tab works on. Plain methods, no page: the panels and gizmos only call them."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

import memetik as mk
from memetik import scenes
from memetik.types import Array
from memetik_studio.history import History
from memetik_studio.record import Recording
from memetik_studio.upload import Uploads, read_upload
from memetik_studio.wishes import Mark, dragged, gizmo_pose, largest_error, marks, plain, values_about

PLOTTED = 200  # solves
TICKS = 240.0  # of the posture on show, a second


class Session:
    """A scene with its body, the posture on show and the solver that keeps it on its targets.

    Every method that changes the scene solves at once and may raise a MemetikError, which leaves all as it was. A lock
    makes them safe to call from the threads of the page.
    """

    body: mk.Body

    def __init__(self, scene: scenes.Scene, *, roots: Sequence[str] = ()) -> None:
        self._given_roots = tuple(roots)
        self._uploads = Uploads()
        self.models: list[str] = []  # of the last upload
        self.lock = threading.RLock()
        self._history = History()
        self.live = True
        self.recording: Recording | None = None  # in progress
        self.recorded: Recording | None = None  # for export
        # The last solves, for the plot: seconds and the largest error as a share of its tolerance.
        self.effort: deque[tuple[float, float]] = deque(maxlen=PLOTTED)
        self.solution: mk.Solution | None = None
        self.goal = np.zeros(0)  # the last solution, which the posture on show follows
        self.explanation = ""
        self._read_from: tuple[Any, ...] = ()  # what the body came from
        self._enter(scene, anew=True)

    @property
    def roots(self) -> tuple[str, ...]:
        """The folders whose models and meshes may be read: those of the server, and what was uploaded here."""
        return (*self._uploads.roots, *self._given_roots)

    def close(self) -> None:
        """Delete what was uploaded; the session is not used any more."""
        with self.lock:
            self._uploads.close()

    # ---- The scene -----------------------------------------------------------------------------------------

    def open(self, scene: scenes.Scene) -> None:
        """Another scene, from its start."""
        self.change(scene, anew=True)

    def change(self, scene: scenes.Scene, *, anew: bool = False) -> None:
        """The scene with an edit; the posture goes on from where it is, unless it begins again or has another body."""
        with self.lock:
            before = self.scene
            self._enter(scene, anew=anew or scene.body != before.body)
            self._history.remember(before)

    def undo(self) -> bool:
        """Back to the scene before; whether there was one."""
        with self.lock:
            return self._return_to(self._history.undo(self.scene))

    def redo(self) -> bool:
        """Forward again; whether there was something undone."""
        with self.lock:
            return self._return_to(self._history.redo(self.scene))

    def _return_to(self, scene: scenes.Scene | None) -> bool:
        if scene is None:
            return False
        self._enter(scene, anew=scene.body != self.scene.body)
        return True

    def _enter(self, scene: scenes.Scene, *, anew: bool) -> None:
        """Build everything first, so that a scene that cannot be built changes nothing."""
        same = self._read_from == (
            scene.body,
            self.roots,
        )  # a file that changes meanwhile is read when it is opened again
        body = self.body if same and not anew else scenes.load_body(scene.body, self.roots)
        for joint in (*scene.lock, *scene.start):
            body.index(joint)
        world = scenes.world_of(scene)
        objectives = scenes.objectives(scene, body, world)
        start = scenes.start(scene, body) if anew else self.goal
        asks = any(not objective.follows_start for objective in objectives.values())  # staying put alone asks nothing
        solver = scenes.solver(scene.solving)
        problem = (
            scenes.problem_for(solver, body, objectives.values(), scene.lock, scenes.root(scene)) if asks else None
        )
        budget = mk.Budget(scene.solving.evaluations, scene.solving.seconds)
        self.scene, self.body, self.problem, self._objectives = scene, body, problem, objectives
        self._read_from = scene.body, self.roots
        self._solver, self._budget, self.world = solver, budget, world
        if anew:
            self.start, self.goal = start.copy(), start.copy()
            self.follower = mk.motion.Follower(body, start, rate=TICKS)
            self.recording = None
        self._set_pace()
        self.solve()
        if anew:  # the first solve of a body also loads machine code
            self.effort.clear()

    # ---- Solving -------------------------------------------------------------------------------------------

    @property
    def q(self) -> Array:
        """The posture on show."""
        return self.follower.q

    def solve(self) -> None:
        """Solve once within the budget of a frame, from the last solution."""
        with self.lock:
            self.explanation = ""
            if self.problem is None or not self.live:
                self.solution = None
                self.goal = self._held(self.goal)
            else:
                self.solution = self._solver.solve(self.problem, self.goal, self._budget)
                if self.solution.status != mk.Status.INVALID:
                    self.goal = self.solution.q
                self.effort.append((self.solution.seconds, largest_error(self.solution)))
            self.follow(0.0)

    def follow(self, seconds: float) -> bool:
        """Move the posture on show towards the solution; False when it is there."""
        with self.lock:
            if self.scene.motion.realistic or self.scene.motion.smoothing > 0.0:
                self.follower.advance(self.goal, seconds)
            else:
                self.follower.step(self.goal)
            if self.recording is not None:
                self.recording.add(self.q, self.scene)
            return self.follower.moving

    def _set_pace(self) -> None:
        """Let the follower move as the scene says; where the body has limits of its own, by the lower of both."""
        motion, own = self.scene.motion, self.body.variables
        self.follower.limit(
            velocity=np.minimum(np.where(own.velocity > 0.0, own.velocity, np.inf), motion.velocity),
            acceleration=np.minimum(np.where(own.acceleration > 0.0, own.acceleration, np.inf), motion.acceleration),
        )
        self.follower.move(realistic=motion.realistic, smoothing=motion.smoothing)

    def restart(self) -> None:
        """From the start of the scene again."""
        with self.lock:
            self.goal = self.start.copy()
            self.follower.reset(self.goal)
            self.solve()

    def answer(self, scene: scenes.Scene, success: bool, q: Sequence[float], explanation: str) -> bool:
        """Take what a longer search found, if the scene is still the one it was about."""
        with self.lock:
            if scene is not self.scene:
                return False
            if success:
                self.goal = np.array(q)
                self.solve()
            self.explanation = "" if self.reached else explanation
            return True

    @property
    def reached(self) -> bool:
        """Whether nothing is missing."""
        return self.solution is None or self.solution.success

    def poses(self, q: ArrayLike) -> mk.body.LinkPoses:
        """Where every link is in the world."""
        return self.body.forward(q, root=scenes.root(self.scene))

    def marks(self) -> dict[str, Mark]:
        """For every wish how far it is off."""
        with self.lock:
            return marks(self.scene, self._objectives, self.solution)

    def misses(self) -> list[tuple[Array, str]]:
        """For every target that is missed where it is [m], and why: by how much, and the reason once that is known."""
        with self.lock:
            found = []
            reasons = [line.partition("): ") for line in self.explanation.splitlines()]
            for name, mark in self.marks().items():
                if mark.good is False and (at := self.gizmo(name)) is not None:
                    why = next((reason for said, _, reason in reasons if said.startswith(f"{name} missed by")), "")
                    found.append((at[0], f"{name}: {mark.text} off" + (f", {why.rstrip('.')}" if why else "")))
            return found

    def _held(self, q: Array) -> Array:
        held = q.copy()
        for joint, value in self.scene.lock.items():
            held[self.body.index(joint)] = value
        return held

    # ---- Wishes --------------------------------------------------------------------------------------------

    def add(self, kind: str, **values: Any) -> str:
        """A new wish of a kind, about where the body is now; its name."""
        with self.lock:
            name = self.scene.new_name(kind)
            wish = scenes.KINDS[kind].new(
                name, **{**values_about(kind, self.body, self.q, self.poses(self.q)), **values}
            )
            self.change(replace(self.scene, wishes=(*self.scene.wishes, wish)))
            return name

    def remove(self, name: str) -> None:
        """Take a wish away."""
        self.change(self.scene.without_wish(name))

    def enable(self, name: str, on: bool) -> None:
        """Let a wish count or not."""
        self.change(self.scene.with_wish(replace(self.scene.wish(name), enabled=on)))

    def set(self, name: str, **values: Any) -> None:
        """Other values for a wish: a weight, a tolerance, a target in numbers."""
        wish = self.scene.wish(name)
        kind = scenes.KINDS[wish.kind]
        self.change(self.scene.with_wish(kind.check(wish.with_values(**values))))

    def rename(self, name: str, new_name: str) -> None:
        """Another name for a wish."""
        if not new_name.strip() or len(new_name) > 200:
            raise mk.errors.FormatError("the name of an objective has 1 to 200 characters.")
        if new_name != name and new_name in {wish.name for wish in self.scene.wishes}:
            raise mk.errors.FormatError(f"there is an objective called {new_name!r} already. Choose another name.")
        self.change(self.scene.with_wish(replace(self.scene.wish(name), name=new_name), name))

    def begin_drag(self) -> None:
        """What follows until the next one is one step of undo."""
        with self.lock:
            self._history.remember(self.scene)

    def move(self, name: str, position: ArrayLike | None = None, wxyz: ArrayLike | None = None) -> bool:
        """Drag a target: its place, its rotation or the z axis of it; solved at once. False if nothing changed."""
        with self.lock:
            wish = self.scene.wish(name)
            values = dragged(wish, position, wxyz)
            return bool(values) and self._retarget(wish.with_values(**values))

    def move_obstacle(self, name: str, number: int, position: ArrayLike) -> bool:
        """Drag a sphere that a Distance keeps off."""
        with self.lock:
            wish = self.scene.wish(name)
            spheres = [list(sphere) for sphere in wish.values["obstacles"]]
            moved = [*plain(position), spheres[number][3]]
            if spheres[number] == moved:
                return False
            spheres[number] = moved
            return self._retarget(wish.with_values(obstacles=spheres))

    def move_block(self, name: str, position: ArrayLike, wxyz: ArrayLike) -> bool:
        """Drag an obstacle of the world; nothing is compiled again. False if nothing changed."""
        with self.lock:
            block = self.scene.block(name)
            moved = replace(block, position=tuple(plain(position)), wxyz=tuple(plain(wxyz)))
            if moved == block:
                return False
            self.world.move(name, mk.transform(moved.position, moved.wxyz))
            self.scene = self.scene.with_block(moved)
            self.solve()
            return True

    def _retarget(self, wish: scenes.Wish) -> bool:
        """The one way that must be quick: nothing is compiled again."""
        objective = self._objectives.get(wish.name)
        if objective is not None:
            scenes.KINDS[wish.kind].retarget(objective, wish, self.body)
        self.scene = self.scene.with_wish(wish)
        self.solve()
        return True

    def gizmo(self, name: str) -> tuple[Array, Array] | None:
        """Where the gizmo of a wish stands (position, wxyz); None for one without."""
        return gizmo_pose(self.scene.wish(name), self.body, self.poses(self.q))

    # ---- Joints --------------------------------------------------------------------------------------------

    def set_joint(self, joint: str, value: float) -> None:
        """Pose one joint by hand: a locked one keeps the value, others are solved from there."""
        with self.lock:
            k = self.body.index(joint)
            value = float(np.clip(value, self.body.lower[k], self.body.upper[k]))
            if joint in self.scene.lock:
                self.change(replace(self.scene, lock={**self.scene.lock, joint: value}))
                return
            self.goal = self.goal.copy()
            self.goal[k] = value
            self.solve()

    def lock_joint(self, joint: str, on: bool) -> None:
        """Hold a joint where it is, or let it go."""
        with self.lock:
            lock = {name: value for name, value in self.scene.lock.items() if name != joint}
            if on:
                lock[joint] = float(self.goal[self.body.index(joint)])
            self.change(replace(self.scene, lock=lock))

    def weigh_joint(self, joint: str, weight: float) -> None:
        """How much a joint minds being moved: its weight in the Displacement, which is added if there is none."""
        with self.lock:
            self.body.index(joint)
            name = next((wish.name for wish in self.scene.wishes if wish.kind == "Displacement"), None)
            if name is None:
                self.add("Displacement", joints={joint: weight})
            else:
                self.set(name, joints={**self.scene.wish(name).values["joints"], joint: weight})

    def joint_weight(self, joint: str) -> float:
        """The weight of a joint in the Displacement, 1 unless given."""
        found = (wish for wish in self.scene.wishes if wish.kind == "Displacement")
        return next((float(wish.values["joints"].get(joint, 1.0)) for wish in found), 1.0)

    # ---- How to solve and move ------------------------------------------------------------------------------

    def set_solving(self, **values: Any) -> None:
        """Another method, seed, budget or parameters; a new method begins with its own parameters."""
        if values.get("method", self.scene.solving.method) != self.scene.solving.method:
            values.setdefault("parameters", {})
        self.change(replace(self.scene, solving=replace(self.scene.solving, **values)))

    def set_motion(self, **values: Any) -> None:
        """Another way to move."""
        self.change(replace(self.scene, motion=replace(self.scene.motion, **values)))

    def set_live(self, on: bool) -> None:
        """Solve at every change, or leave the body to the sliders."""
        with self.lock:
            self.live = on
            self.solve()

    # ---- Files ---------------------------------------------------------------------------------------------

    def save(self) -> str:
        """The scene as the text of a file, starting where the body is now."""
        with self.lock:
            start = dict(zip(self.body.joint_names, self.goal.tolist(), strict=True))
            return scenes.dumps(replace(self.scene, start=start))

    def code(self) -> str:
        """The scene as a Python script, without what its method cannot take."""
        with self.lock:
            taken = self.problem.objectives if self.problem is not None else ()
            gone = [name for name, objective in self._objectives.items() if objective not in taken]
            kept = tuple(wish for wish in self.scene.wishes if wish.name not in gone)
            return scenes.python_code(replace(self.scene, wishes=kept))

    def upload(self, name: str, content: bytes) -> None:
        """Open what came through the page: a scene (.json), a body (.urdf), or a .zip or MuJoCo's .xml of a body."""
        if name.lower().endswith(".zip") or (name.lower().endswith((".xml", ".mjcf")) and b"<mujoco" in content):
            with self.lock:
                models = self._uploads.take(name, content)
                self.open_model(models[0])
                self.models = models
        else:
            self.open(read_upload(name, content, self.roots))
            self.models = []

    def open_model(self, model: str) -> None:
        """Open one of the models that were uploaded, with a target on each of its limbs."""
        with self.lock:
            self._uploads.settle(model)
            source = scenes.BodySource("file", model)
            self.open(scenes.blank(source, scenes.load_body(source, self.roots)))

    def record(self, on: bool) -> None:
        """Begin a new recording, or end it; it stays for export."""
        with self.lock:
            if on:
                self.recording = self.recorded = Recording(self.body.joint_names)
                self.recording.add(self.q, self.scene)
            else:
                self.recording = None
