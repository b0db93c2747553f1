"""A plan of retargeting: which bone of a skeleton leads which link of a body, how its motion is scaled and turned."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from os import PathLike

import numpy as np

from memetik.body import Body
from memetik.errors import BodyError, FormatError, known, shown
from memetik.files import path_of, writable_file, write_whole
from memetik.geometry.checks import flag, instance, mapping, real_array, real_number, several, text
from memetik.motion.retargeting.calibrate import Calibrated, calibrate
from memetik.motion.retargeting.figure import PARTS, SIDES, Part, axes_between, find_parts
from memetik.motion.retargeting.fingers import FINGER_PARTS, find_fingers, finger_turns
from memetik.tables import text_table
from memetik.types import Array

FORMAT = "memetik retargeting plan 1"

# Weights: position [1/m] and rotation [1/rad]. Feet carry the figure, hands are what is looked at; knees and elbows only
# have to lie on the right side, and a head or a hand may look a few degrees elsewhere.
WEIGHTS: dict[str, tuple[float, float]] = {
    "hips": (5.0, 2.0), "chest": (0.0, 2.0), "head": (0.0, 1.0), "upper_leg": (0.0, 0.0), "lower_leg": (2.0, 0.0),
    "foot": (20.0, 5.0), "toes": (0.0, 0.5), "upper_arm": (0.0, 0.0), "lower_arm": (3.0, 0.0), "hand": (5.0, 0.3),
}  # fmt: skip
FINGER = 2.0  # weight of the rotation of a finger, which nothing else has a say in [1/rad]


@dataclass(frozen=True)
class BoneMatch:
    """One bone and the link that it leads. With p the joint of the bone and R its rotation, the targets are

        point     = point of `parent` + R_parent anchor + scale (p - p of the parent's bone)
        rotation  = R turn

    for the link's own `point`; the first match has no parent: point = scale p + anchor, in the world.
    """

    part: str
    bone: str
    link: str
    point: tuple[float, float, float] = (0.0, 0.0, 0.0)  # of the link [m], brought to the target
    joint: tuple[float, float, float] = (0.0, 0.0, 0.0)  # of the bone, where it is not its origin [m]
    parent: str | None = None  # the part that this one is counted from
    scale: float = 1.0
    anchor: tuple[float, float, float] = (0.0, 0.0, 0.0)  # [m], turns with the target of the parent
    turn: tuple[float, float, float, float] = (1.0, 0.0, 0.0, 0.0)  # bone_from_link, a quaternion (w, x, y, z)
    position: float = 0.0  # weight [1/m]
    rotation: float = 0.0  # weight [1/rad]
    relative: bool = False  # the rotation counts from that of `parent`, as a finger's does from that of the hand

    def __post_init__(self) -> None:
        where = f"{shown(self.part)} in a plan"
        for name in ("part", "bone", "link"):
            text(getattr(self, name), FormatError, f"{where}: {name}")
        if self.parent is not None:
            text(self.parent, FormatError, f"{where}: parent")
        set_field = object.__setattr__  # the dataclass is frozen; this is its constructor
        for name, count in (("point", 3), ("joint", 3), ("anchor", 3), ("turn", 4)):
            values = real_array(getattr(self, name), FormatError, f"{where}: {name} is {count} numbers")
            if values.shape != (count,) or not np.isfinite(values).all():
                raise FormatError(f"{where}: {name} is {shown(getattr(self, name))}. Give {count} finite numbers.")
            set_field(self, name, tuple(values.tolist()))
        for name in ("scale", "position", "rotation"):
            number = real_number(getattr(self, name), FormatError, f"{where}: {name}")
            if not 0.0 <= number < np.inf:
                raise FormatError(f"{where}: {name} is {number}. Give zero or a number above it.")
            set_field(self, name, number)
        set_field(self, "relative", flag(self.relative, FormatError, f"{where}: relative"))
        if self.relative and self.parent is None:
            raise FormatError(f"{where}: relative needs a parent that the rotation counts from.")


@dataclass(frozen=True)
class RetargetPlan:
    """What leads what. Print it as a table, change lines with `edit`, keep it with `save` and `load`."""

    skeleton: str
    body: str
    matches: tuple[BoneMatch, ...]
    missing: tuple[str, ...] = field(
        default=()
    )  # parts that are not led: one of both lacks them, or they cannot turn alone

    def __post_init__(self) -> None:
        for name in ("skeleton", "body"):
            text(getattr(self, name), FormatError, f"a plan: {name}")
        matches = several(self.matches, FormatError, "the lines of a plan", "[mk.BoneMatch(...)]")
        missing = several(self.missing, FormatError, "what a plan misses", "['head']")
        object.__setattr__(self, "matches", tuple(matches))
        object.__setattr__(self, "missing", tuple(missing))
        seen: set[str] = set()
        for match in self.matches:
            instance(match, BoneMatch, FormatError, "a line of a plan. Give mk.BoneMatch(...).")
            if match.part in seen:
                raise FormatError(f"a plan has {match.part!r} twice. Leave one of them out.")
            if match.parent is None and seen:
                raise FormatError(f"plan: {match.part!r} has no parent; only the first line may have none.")
            if match.parent is not None:
                known(match.parent, seen, "parent", f" of {match.part!r} in the lines above it")
            seen.add(match.part)
        if not self.matches:
            raise FormatError("a plan has no lines. Give at least one BoneMatch.")

    def __getitem__(self, part: str) -> BoneMatch:
        lines = {match.part: match for match in self.matches}
        return lines[known(part, lines, "part of the plan")]

    def edit(self, part: str, **changes: object) -> RetargetPlan:
        """The plan with another bone, link, weight ... for one part: plan.edit("head", rotation=0.0)."""
        old = self[part]
        for name in changes:
            known(name, BoneMatch.__dataclass_fields__, "field of a match")
        new = replace(old, **changes)  # type: ignore[arg-type]  # which checks them
        return replace(self, matches=tuple(new if match is old else match for match in self.matches))

    def without(self, *parts: str) -> RetargetPlan:
        """The plan without these parts; nothing else may count from them."""
        for part in parts:
            self[part]
        return replace(self, matches=tuple(match for match in self.matches if match.part not in parts))

    def weighted(self, **weights: tuple[float, float]) -> RetargetPlan:
        """The plan with other weights of position [1/m] and rotation [1/rad]: plan.weighted(left_hand=(2.0, 0.5))."""
        plan = self
        for part, both in weights.items():
            values = several(both, FormatError, f"the weights of {part!r}", "(2.0, 0.5)")
            if len(values) != 2:
                raise FormatError(f"the weights of {part!r} are {shown(both)}. Give those of position and rotation.")
            plan = plan.edit(part, position=values[0], rotation=values[1])
        return plan

    def save(self, path: str | PathLike[str]) -> None:
        """Write the plan as JSON."""
        content = json.dumps({"format": FORMAT, **asdict(self)}, indent=1) + "\n"
        write_whole(writable_file(path_of(path, FormatError, "the path of a plan"), ".json"), content.encode())

    @classmethod
    def load(cls, path: str | PathLike[str]) -> RetargetPlan:
        """The plan that `save` wrote."""
        file = path_of(path, FormatError, "the path of a plan")
        try:
            data = json.loads(file.read_text(encoding="utf-8"))
        except (OSError, ValueError, RecursionError) as error:
            raise FormatError(
                f"{file}: cannot be read as a plan ({error}). Give a file that RetargetPlan.save wrote."
            ) from None
        if not isinstance(data, dict) or data.get("format") != FORMAT:
            raise FormatError(
                f"{file}: this is no plan; its format must be {FORMAT!r}. Write it with RetargetPlan.save."
            )
        try:
            matches = tuple(BoneMatch(**line) for line in data["matches"])
            return cls(str(data["skeleton"]), str(data["body"]), matches, tuple(map(str, data.get("missing", ()))))
        except (KeyError, TypeError) as error:
            raise FormatError(
                f"{file}: a line of the plan is wrong ({error}). Write it with RetargetPlan.save."
            ) from None

    def __str__(self) -> str:
        rows = [
            {
                "part": m.part, "bone": m.bone, "link": m.link, "from": m.parent or "world", "scale": f"{m.scale:.3f}",
                "position [1/m]": f"{m.position:g}", "rotation [1/rad]": f"{m.rotation:g}",
            }
            for m in self.matches
        ]  # fmt: skip
        text = f"{self.skeleton} -> {self.body}\n{text_table(rows)}"
        return text + (f"\nnot led: {', '.join(self.missing)}" if self.missing else "")

    def __repr__(self) -> str:
        return f"<RetargetPlan: {self.skeleton} -> {self.body}, {len(self.matches)} parts>"


def make_plan(
    skeleton: Body, body: Body, postures: Array, bones: Mapping[str, str] | None, links: Mapping[str, str] | None
) -> RetargetPlan:
    """The plan for a skeleton that takes these postures; `bones` and `links` name parts that the names do not tell."""
    source = _parts(skeleton, bones)
    target = _parts(body, links)
    both = [part for part in PARTS if part in source and part in target]
    for needed in ("hips", "left_upper_leg", "right_upper_leg", "left_lower_leg", "right_lower_leg"):
        if needed not in both:
            lacks = skeleton if needed not in source else body
            raise BodyError(
                f"body {lacks.name!r} has no {needed}, which a plan needs. Name its link: {{{needed!r}: LINK}}."
            )
    found = calibrate(skeleton, source, body, target, postures)
    matches = {part: _match(part, source, target, found) for part in both}
    for part, onto in (("head", "chest"), ("left_toes", "left_foot"), ("right_toes", "right_foot")):
        if part in both and onto in both and not axes_between(body, target[onto].link, target[part].link):
            del matches[part]  # it cannot turn by itself
    missing = [part for part in PARTS if part not in matches and (part in source or part in target)]
    hands = finger_turns(skeleton, source, body, target)
    for each in hands:
        w, x, y, z = each.turn.tolist()
        if each.part in matches:
            matches[each.part] = replace(matches[each.part], turn=(w, x, y, z))
        elif each.parent in matches:
            matches[each.part] = BoneMatch(
                each.part, source[each.part].link, target[each.part].link, target[each.part].joint, source[each.part].joint,
                each.parent, 0.0, each.anchor, (w, x, y, z), 0.0, FINGER, True,
            )  # fmt: skip
    for side in SIDES:
        fingers = [part for part in FINGER_PARTS if part.startswith(side) and (part in source or part in target)]
        left = [part for part in fingers if part not in matches]
        missing += [f"{side}_fingers"] if left and len(left) == len(fingers) else left
    return RetargetPlan(skeleton.name, body.name, tuple(matches.values()), tuple(missing))


def _parts(body: Body, given: Mapping[str, str] | None) -> dict[str, Part]:
    named = mapping(given, BodyError, "parts by name", "{'left_hand': 'wrist'}")
    extra = {
        known(part, (*PARTS, *FINGER_PARTS), "part"): Part(body.frame(link).link, (0.0, 0.0, 0.0))
        for part, link in named.items()
    }
    try:
        found = {**find_parts(body), **extra}
        return {**found, **find_fingers(body, found), **extra}
    except BodyError:
        if {"left_upper_leg", "right_upper_leg"} <= set(extra):
            return extra
        raise


def _match(part: str, source: Mapping[str, Part], target: Mapping[str, Part], found: Calibrated) -> BoneMatch:
    _, _, kind = part.partition("_")
    position, rotation = WEIGHTS[kind if kind in WEIGHTS else part]
    parent, scale, anchor = found.links[part]
    w, i, j, k = found.turns[part].tolist()
    x, y, z = found.points[part].tolist()
    return BoneMatch(
        part, source[part].link, target[part].link, (x, y, z), source[part].joint, parent, scale, anchor, (w, i, j, k), position,
        rotation,
    )  # fmt: skip
