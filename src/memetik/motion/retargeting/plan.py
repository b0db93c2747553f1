"""A plan of retargeting: which bone of a skeleton leads which link of a body, how its motion is scaled and turned."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass, field, replace
from os import PathLike

import numpy as np

from memetik.body import Body
from memetik.errors import BodyError, FormatError, known, shown
from memetik.files import path_of, writable_file, write_whole
from memetik.geometry.checks import flag, instance, mapping, real_array, real_number, several, text
from memetik.motion.retargeting.bones import hanging, other_bones
from memetik.motion.retargeting.calibrate import (
    Calibrated,
    calibrate,
    known_posture,
    on_all_fours,
    parent_of,
    posed,
    same_joints,
    stands,
)
from memetik.motion.retargeting.figure import PARTS, SIDES, Part, axes_between, find_parts
from memetik.motion.retargeting.fingers import FINGER_PARTS, find_fingers, finger_turns
from memetik.motion.retargeting.stance import describe
from memetik.motion.retargeting.structure import Tree
from memetik.tables import text_table
from memetik.types import Array

FORMAT = "memetik retargeting plan 1"
MOST = 1e6  # of a weight, a scale or a length; squares of such numbers are still far from what a float can hold

# Weights: position [1/m] and rotation [1/rad]. Feet carry the figure, hands are what is looked at; knees and elbows only
# have to lie on the right side, and a head or a hand may look a few degrees elsewhere.
WEIGHTS: dict[str, tuple[float, float]] = {
    "hips": (5.0, 2.0), "chest": (0.0, 2.0), "head": (0.0, 1.0), "upper_leg": (0.0, 0.0), "lower_leg": (2.0, 0.0),
    "foot": (20.0, 5.0), "toes": (0.0, 0.5), "upper_arm": (0.0, 0.0), "lower_arm": (3.0, 0.0), "hand": (5.0, 0.3),
}  # fmt: skip
BONE = 2.0  # weight of the rotation of a bone that turns any way, as of a character [1/rad]
ROOT = 5.0  # weight of the position of a bone that also slides [1/m]
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
            if values.shape != (count,) or not (np.abs(values) <= MOST).all():
                raise FormatError(
                    f"{where}: {name} is {shown(getattr(self, name))}. Give {count} numbers from -{MOST:g} to {MOST:g}."
                )
            set_field(self, name, tuple(values.tolist()))
        for name in ("scale", "position", "rotation"):
            number = real_number(getattr(self, name), FormatError, f"{where}: {name}")
            if not 0.0 <= number <= MOST:
                raise FormatError(f"{where}: {name} is {number}. Give a number from 0 to {MOST:g}.")
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
    feet: tuple[str, ...] = (
        "left_foot",
        "right_foot",
    )  # parts that stand where the skeleton's do; of four-legged figures four
    notes: tuple[
        str, ...
    ] = ()  # how the figures stand in the postures that are laid on each other, and how tall they are

    def __post_init__(self) -> None:
        for name in ("skeleton", "body"):
            text(getattr(self, name), FormatError, f"a plan: {name}")
        matches = several(self.matches, FormatError, "the lines of a plan", "[mk.motion.BoneMatch(...)]")
        for name, example in (("missing", "['head']"), ("feet", "['left_foot']"), ("notes", "['T-pose']")):
            listed = several(getattr(self, name), FormatError, f"a plan: {name}", example)
            object.__setattr__(self, name, tuple(text(each, FormatError, f"a plan: {name}") for each in listed))
        object.__setattr__(self, "matches", tuple(matches))
        seen: set[str] = set()
        for match in self.matches:
            instance(match, BoneMatch, FormatError, "a line of a plan. Give mk.motion.BoneMatch(...).")
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
            lists = {name: tuple(map(str, data[name])) for name in ("missing", "feet", "notes") if name in data}
            return cls(str(data["skeleton"]), str(data["body"]), matches, **lists)
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
        text = "\n".join((f"{self.skeleton} -> {self.body}", *self.notes, text_table(rows)))
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
    legs, arms = ([f"{side}_{part}_{limb}" for side in SIDES for part in ("upper", "lower")] for limb in ("leg", "arm"))
    if not set(legs) <= set(both) and not set(arms) <= set(both):
        lacks, needed = next(
            (
                (figure, part)
                for figure, parts in ((body, target), (skeleton, source))
                for part in legs
                if part not in parts
            ),
            (body, legs[0]),
        )
        raise BodyError(
            f"body {lacks.name!r} has no {needed}, which a plan needs. Name its link: {{{needed!r}: LINK}}."
        )
    known = same_joints(skeleton, body)
    same = known is not None
    turns = finger_turns(skeleton, source, body, target)
    fingers = {each.part for each in turns}  # a single finger tells no hand: its bone is one of the others
    shared = {
        part: each for part, each in target.items() if part in source and (part not in FINGER_PARTS or part in fingers)
    }
    others = other_bones(skeleton, source, body, shared, same)
    source = {**source, **{each.part: Part(each.bone, (0.0, 0.0, 0.0)) for each in others}}
    target = {**target, **{each.part: Part(each.link, (0.0, 0.0, 0.0)) for each in others}}
    parents = {each.part: each.parent for each in others}
    calibrated = {part: each for part, each in target.items() if part in both or part in parents}
    parents = {part: _calibrated_parent(parent, calibrated) for part, parent in parents.items()}
    names = set(parents)
    parents |= hanging(body, calibrated, both)
    found = calibrate(skeleton, source, body, calibrated, postures, parents, names)
    order = _in_order(calibrated, both, parents)
    matches = {part: _match(part, source, target, found, _weights(part, body, target, names, same)) for part in order}
    for part, onto in (("head", "chest"), ("left_toes", "left_foot"), ("right_toes", "right_foot")):
        moves = part in both and onto in both and axes_between(body, target[onto].link, target[part].link) > 0
        if part in both and onto in both and not moves and not any(match.parent == part for match in matches.values()):
            del matches[part]  # it cannot turn by itself
    missing = [part for part in PARTS if part not in matches and (part in source or part in target)]
    for each in turns:
        w, x, y, z = each.turn.tolist()
        if each.part in matches and not same:
            matches[each.part] = replace(matches[each.part], turn=(w, x, y, z))
        elif each.part not in matches and each.parent in matches:
            matches[each.part] = BoneMatch(
                each.part, source[each.part].link, target[each.part].link, target[each.part].joint, source[each.part].joint,
                each.parent, 0.0, each.anchor, (w, x, y, z), 0.0, FINGER, True,
            )  # fmt: skip
    led = {match.link for match in matches.values()}
    for side in SIDES:
        own = [part for part in FINGER_PARTS if part.startswith(side) and (part in source or part in target)]
        left = [part for part in own if part not in target or target[part].link not in led]
        missing += [f"{side}_fingers"] if left and len(left) == len(own) else left
    here = posed(skeleton, source, skeleton.vector(found.posture)).at
    there = posed(body, target, body.home if known is None else known_posture(body, known, found.posture)).at
    ends = ("foot", "hand") if on_all_fours(here) and on_all_fours(there) else ("foot",)
    feet = tuple(f"{side}_{part}" for part in ends for side in SIDES if f"{side}_{part}" in matches)
    if not stands(body, target):  # then nobody knows how its feet lie on the floor
        feet = ()
    for part, match in matches.items():
        if not axes_between(body, body.root, match.link):  # what a machine stands on stays where it is
            matches[part] = replace(match, position=0.0, rotation=0.0)
    for part in feet:
        position, rotation = WEIGHTS["foot"]
        moves = axes_between(body, target[parent_of(part, both, parents)].link, target[part].link) > 0
        matches[part] = replace(matches[part], position=position, rotation=rotation if moves else 0.0)
    notes = _notes(skeleton, here, body, there)
    return RetargetPlan(skeleton.name, body.name, tuple(matches.values()), tuple(missing), feet, notes)


def _calibrated_parent(parent: str, calibrated: Mapping[str, Part]) -> str:
    """The part that a bone is counted from: the hand where it hangs on a finger, which is led in another way."""
    if parent in calibrated:
        return parent
    side = parent.partition("_")[0]
    return f"{side}_hand" if parent in FINGER_PARTS and f"{side}_hand" in calibrated else "hips"


def _in_order(calibrated: Mapping[str, Part], both: list[str], parents: Mapping[str, str]) -> list[str]:
    """The parts, each after the one that it is counted from, the usual ones as early as possible."""
    ordered: list[str] = []
    left = ["hips", *(part for part in (*parents, *both) if part != "hips")]
    while left:
        ready = [part for part in left if part == "hips" or parent_of(part, calibrated, parents) in ordered]
        first = next((part for part in ready if part in both), ready[0])
        ordered.append(first)
        left.remove(first)
    return ordered


def _weights(
    part: str, body: Body, target: Mapping[str, Part], others: Collection[str], same: bool
) -> tuple[float, float]:
    """The weights of position and rotation of a part, by what can turn it."""
    tree, kind = Tree(body), part.partition("_")[2]
    link = target[part].link
    if part in others:
        slides = tree.joint[link].kind in ("floating", "xyz", "prismatic", "planar") and (same or tree.is_ball(link))
        return (ROOT if slides else 0.0), BONE
    position, rotation = WEIGHTS[kind if kind in WEIGHTS else part]
    if same and tree.slides(link):
        position = max(position, ROOT)
    if kind == "foot" or not (same or tree.is_ball(link)):
        return position, rotation
    limb = part.replace("lower", "upper") if kind.startswith("lower") else part.replace("upper", "lower")
    free = same or limb == part or limb not in target or tree.is_ball(target[limb].link)
    return position, max(rotation, BONE) if free else rotation


def _notes(skeleton: Body, source: Mapping[str, Array], body: Body, target: Mapping[str, Array]) -> tuple[str, ...]:
    """How the two figures stand and how tall they are, as far as calibration goes."""
    return tuple(
        f"{figure.name}: {describe(at)}{f'; read with {figure.read_as}' if figure.read_as else ''}"
        for figure, at in ((skeleton, source), (body, target))
    )


def _parts(body: Body, given: Mapping[str, str] | None) -> dict[str, Part]:
    named = mapping(given, BodyError, "parts by name", "{'left_hand': 'wrist'}")
    extra = {
        known(part, (*PARTS, *FINGER_PARTS), "part"): Part(body.frame(link).link, (0.0, 0.0, 0.0))
        for part, link in named.items()
    }
    known_fingers = {part: Part(link, (0.0, 0.0, 0.0)) for part, link in body.parts.items() if part in FINGER_PARTS}
    extra = {**known_fingers, **extra}
    try:
        found = {**find_parts(body), **extra}
        return {**found, **find_fingers(body, found), **extra}
    except BodyError:
        if {"left_upper_leg", "right_upper_leg"} <= set(extra):
            return extra
        raise


def _match(
    part: str, source: Mapping[str, Part], target: Mapping[str, Part], found: Calibrated, weights: tuple[float, float]
) -> BoneMatch:
    position, rotation = weights
    parent, scale, anchor = found.links[part]
    w, i, j, k = found.turns[part].tolist()
    x, y, z = found.points[part].tolist()
    return BoneMatch(
        part, source[part].link, target[part].link, (x, y, z), source[part].joint, parent, scale, anchor, (w, i, j, k), position,
        rotation,
    )  # fmt: skip
