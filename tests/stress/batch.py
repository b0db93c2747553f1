"""Many solves of one problem, seen without the library: where frames and joints are, what limits and locks say."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from memetik import Body, Frame
from tests.naive import kinematics


class Setting:
    """A body, the limits in force and the joints that are locked."""

    def __init__(self, body: Body, lock: Mapping[str, float], limits: Mapping[str, tuple[float, float]]) -> None:
        self.body, self.lock, self.limits = body, dict(lock), dict(limits)
        self.lower, self.upper = body.lower.copy(), body.upper.copy()
        for name, (low, high) in limits.items():
            k = body.joint_names.index(name)
            self.lower[k], self.upper[k] = max(self.lower[k], low), min(self.upper[k], high)
        self.free = [name for name in body.joint_names if name not in self.lock]
        self._above = {joint.child: joint for joint in body.joints.values()}

    def sample(self, rng, count):
        """Postures (dof, count) within the limits, locked joints at their values."""
        low = np.where(np.isfinite(self.lower), self.lower, np.maximum(self.body.variables.sample_lower, self.lower))
        high = np.where(np.isfinite(self.upper), self.upper, np.minimum(self.body.variables.sample_upper, self.upper))
        return self.locked(rng.uniform(low, np.maximum(low, high), (count, self.body.dof)).T)

    def locked(self, q):
        """The postures with locked joints at their values."""
        q = q.copy()
        for name, value in self.lock.items():
            q[self.body.joint_names.index(name)] = value
        return q

    def clamped(self, q):
        """The postures moved into the limits."""
        return np.clip(q, self.lower[:, None], self.upper[:, None])

    def moving(self, link: str) -> set[str]:
        """The free variables that move a link."""
        names: set[str] = set()
        while link in self._above:
            joint = self._above[link]
            if joint.mimic is None:
                names.update(joint.name + suffix for suffix in kinematics.suffixes(joint))
            else:
                names.add(self.source(joint.name))
            link = joint.parent
        return names - self.lock.keys()

    def source(self, name: str) -> str:
        """The variable behind a joint: itself, or what it mimics."""
        while name not in self.body.joint_names:
            name = self.body.joints[name].mimic.source
        return name


class Postures:
    """The frames and joints of a body at many postures (dof, n), by plain matrices."""

    def __init__(self, setting: Setting, q, start=None, shift=(0.0, 0.0, 0.0)) -> None:
        self.setting, self.body, self.q = setting, setting.body, q
        self.start = q if start is None else start
        self.count = q.shape[1]
        self._shift = np.asarray(shift)
        self._above = {joint.child: joint for joint in self.body.joints.values()}
        self._links = {self.body.root: np.zeros((self.count, 4, 4)) + np.eye(4)}

    def link(self, name: str):
        """root_from_link (n, 4, 4); links on the way are kept for the next one."""
        if name not in self._links:
            joint = self._above[name]
            moved = kinematics.motion(joint, kinematics.values_of(self.body, joint, self.q))
            self._links[name] = self.link(joint.parent) @ (joint.origin @ moved)
        return self._links[name]

    def frame(self, frame: str | Frame):
        """root_from_frame (n, 4, 4), a little beside the truth if these postures are shifted."""
        link, offset = (frame, np.eye(4)) if isinstance(frame, str) else (frame.link, frame.link_from_frame)
        poses = self.link(link) @ offset
        poses[:, :3, 3] += self._shift
        return poses

    def value(self, joint: str):
        """The value of any joint of one degree of freedom, or of a variable (n,)."""
        if joint in self.body.joint_names:
            return self.q[self.body.joint_names.index(joint)]
        return kinematics.values_of(self.body, self.body.joints[joint], self.q)[0]

    def center_of_mass(self):
        """x and y of the whole body's (n, 2)."""
        moment, mass = 0.0, 0.0
        for name, link in self.body.links.items():
            if link.mass > 0.0:
                moment = moment + link.mass * (self.link(name) @ (*link.center_of_mass, 1.0))
                mass += link.mass
        return moment[:, :2] / mass + self._shift[:2]

    def shifted(self, shift) -> Postures:
        """The same postures with every frame moved by a hair."""
        return Postures(self.setting, self.q, self.start, shift)
