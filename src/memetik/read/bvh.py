"""BVH: a skeleton and its clip, as text.

A local transform is a translation, then the turns in the order of the channels, R = R_1 R_2 R_3 about moving axes, in
degrees. So the angles are the values of a ball joint of that order. The translation is OFFSET, and position channels take
its place, as in Blender, Maya and MotionBuilder: they are not added. A joint that has them though it never slides, as
those programs write most, stands where they say; one that slides is a floating joint.
"""

from __future__ import annotations

import math
import re
from os import PathLike
from typing import NamedTuple

import numpy as np

from memetik.body import Body
from memetik.errors import FormatError, shown
from memetik.files import path_of
from memetik.read.guess import understand
from memetik.read.skeleton import Bone, checked_scale, checked_up, order_of, reach, skeleton, slides_of
from memetik.types import Array

MAX_BYTES = 512 * 2**20
MAX_JOINTS = 10_000
MAX_DEPTH = 200
MAX_FRAMES = 10_000_000
LARGEST = 1e9  # of a number in the file
LOOKED_AT = 40  # frames, spread over the clip, by which axes and units are guessed

_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]{1,3})?")
_STRANGE = re.compile(r"[^0-9eE.+\- \t]")  # what no line of a frame has


class Clip(NamedTuple):
    """What a file of a clip holds."""

    body: Body
    times: Array  # (n,) [s]
    q: Array  # (n, dof)


class Hierarchy(NamedTuple):
    """The first half of a BVH file."""

    bones: list[Bone]  # end sites among them
    channels: list[tuple[int, str]]  # bone and channel, such as (3, "Zrotation"), in the order of the numbers
    line: int  # of the line after it
    has_motion: bool = False  # whether frames follow


def read_bvh(path: str | PathLike[str], *, up: str | None = None, scale: float | None = None) -> Clip:
    """The skeleton of a BVH file as a body, and its clip as joint vectors.

    up: the axis of the file that points up. scale: the length of a unit of the file [m]. Both are guessed unless given.
    """
    name, lines = _lines(path)
    hierarchy = _hierarchy(name, lines)
    times, values = _frames(name, lines, hierarchy)
    body, hierarchy, scale = _understood(name, hierarchy, values, up, scale)
    return Clip(body, times, _joint_vectors(body, hierarchy, values, scale))


def read_bvh_body(path: str | PathLike[str], *, up: str | None = None, scale: float | None = None) -> Body:
    """The skeleton of a BVH file as a body, the same as with its frames, if it has any."""
    name, lines = _lines(path)
    hierarchy = _hierarchy(name, lines)
    if hierarchy.has_motion and hierarchy.channels:
        values = _frames(name, lines, hierarchy)[1]
    else:  # a skeleton alone: joints stand at their offsets
        values = np.array([[_rest_value(hierarchy.bones[k], channel) for k, channel in hierarchy.channels]])
    return _understood(name, hierarchy, values, up, scale)[0]


def _lines(path: str | PathLike[str]) -> tuple[str, list[str]]:
    """The name of a file and its lines; lines may end in LF, CR LF or CR, and each in another."""
    file = path_of(path, FormatError, "the path of a BVH file")
    try:
        if file.stat().st_size > MAX_BYTES:
            raise FormatError(f"{file.name} has more than {MAX_BYTES // 2**20} MB, which is too much for a BVH file.")
        data = file.read_bytes()
    except OSError as error:
        raise FormatError(f"{file} cannot be read: {error.strerror or error}.") from error
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise FormatError(f"{file.name}, line {line}: this is not UTF-8 text. Save the file as UTF-8.") from error
    if "\0" in text:
        raise FormatError(f"{file.name} holds zero bytes, so it is no text. BVH files are text.")
    return file.name, text.replace("\r\n", "\n").replace("\r", "\n").split("\n")


def _hierarchy(name: str, lines: list[str]) -> Hierarchy:
    """The joints, first to last."""
    reader = _Reader(name, lines)
    reader.expect("HIERARCHY")
    bones: list[Bone] = []
    channels: list[tuple[int, str]] = []
    open_bones: list[int] = []
    has_offset: list[bool] = []
    while True:
        words = reader.words()
        keyword = words[0].upper()
        if keyword in ("ROOT", "JOINT") or (keyword == "END" and len(words) > 1 and words[1].upper() == "SITE"):
            _opened(reader, keyword, words, bones, open_bones)
            open_bones.append(len(bones) - 1)
            has_offset.append(False)
            reader.expect("{")
        elif not open_bones:
            if keyword != "MOTION" or not bones:
                reader.fail(f"{shown(' '.join(words))} stands where {'MOTION' if bones else 'ROOT'} was expected")
            return Hierarchy(bones, channels, reader.line, True)
        elif keyword == "OFFSET":
            if has_offset[-1]:
                reader.fail(f"joint {shown(bones[open_bones[-1]].name)} has a second OFFSET. Keep one")
            has_offset[-1] = True
            bones[open_bones[-1]] = bones[open_bones[-1]]._replace(offset=reader.three(words[1:]))
        elif keyword == "CHANNELS":
            k = open_bones[-1]
            bones[k] = reader.channels(bones[k], words[1:], channels, k)
        elif keyword == "}" and len(words) == 1:
            if not has_offset.pop():
                reader.fail(f"joint {shown(bones[open_bones[-1]].name)} has no OFFSET")
            open_bones.pop()
            if not open_bones and reader.ended():
                return Hierarchy(bones, channels, reader.line)
        else:
            reader.fail(f"{shown(' '.join(words))} is no line of a skeleton")


def _opened(reader: _Reader, keyword: str, words: list[str], bones: list[Bone], open_bones: list[int]) -> None:
    """Add the joint that a line begins."""
    if (keyword == "ROOT") != (not open_bones):
        reader.fail("a ROOT stands within a joint" if open_bones else "a JOINT stands outside the ROOT")
    if keyword == "ROOT" and bones:
        reader.fail("there is a second ROOT. Keep one skeleton in a file")
    if len(open_bones) >= MAX_DEPTH or len(bones) >= MAX_JOINTS:
        reader.fail(f"the skeleton has more than {MAX_JOINTS} joints, or {MAX_DEPTH} in a row")
    if open_bones and bones[open_bones[-1]].is_end:
        reader.fail("a joint hangs on an End Site")
    if keyword == "END":
        bones.append(Bone(bones[open_bones[-1]].name + END, open_bones[-1], (0.0, 0.0, 0.0), is_end=True))
        return
    own = " ".join(words[1:])
    if not own:
        reader.fail(f"a {keyword} has no name")
    bones.append(Bone(own, open_bones[-1] if open_bones else -1, (0.0, 0.0, 0.0)))


END = "_EndSite"  # ends the name of the link of an end site


class _Reader:
    """The lines of the hierarchy, one after the other."""

    def __init__(self, name: str, lines: list[str]) -> None:
        self.name, self.lines, self.line = name, lines, 0

    def words(self) -> list[str]:
        """The words of the next line that has any."""
        while self.line < len(self.lines):
            words = self.lines[self.line].split()
            self.line += 1
            if words:
                return words
        raise FormatError(f"{self.name} ends within the skeleton, after {self.line} lines. The file is cut short.")

    def ended(self) -> bool:
        """Whether nothing follows."""
        return not any(line.strip() for line in self.lines[self.line :])

    def expect(self, word: str) -> None:
        words = self.words()
        if len(words) != 1 or words[0].upper() != word:
            self.fail(f"{shown(' '.join(words))} stands where {word} was expected")

    def three(self, words: list[str]) -> tuple[float, float, float]:
        if len(words) != 3:
            self.fail(f"an OFFSET has three numbers, not {len(words)}")
        x, y, z = (self.number(word) for word in words)
        return x, y, z

    def number(self, word: str) -> float:
        if not _NUMBER.fullmatch(word):
            self.fail(f"{shown(word)} is no number")
        value = float(word)
        if abs(value) > LARGEST:
            self.fail(f"{shown(word)} is too large")
        return value

    def channels(self, bone: Bone, words: list[str], channels: list[tuple[int, str]], k: int) -> Bone:
        """The bone with its channels, which are added to all."""
        if bone.is_end or any(owner == k for owner, _ in channels[-1:]):
            self.fail(f"joint {shown(bone.name)} is an End Site, or has CHANNELS already")
        if not words or not words[0].isdecimal() or words[0] != str(len(words) - 1):
            self.fail(f"CHANNELS says {shown(words[0] if words else '')}, but {max(0, len(words) - 1)} are named")
        slides = turns = ""
        for word in words[1:]:
            axis, kind = word[0].lower(), word[1:].lower()
            if axis not in "xyz" or kind not in ("position", "rotation"):
                self.fail(f"{shown(word)} is no channel. Channels are Xposition, ..., Xrotation, ...")
            if axis in (slides if kind == "position" else turns):
                self.fail(f"channel {shown(word)} is there twice in joint {shown(bone.name)}")
            slides, turns = (slides + axis, turns) if kind == "position" else (slides, turns + axis)
            channels.append((k, axis + kind))
        return bone._replace(slides=slides, turns=turns)

    def fail(self, what: str) -> None:
        raise FormatError(f"{self.name}, line {self.line}: {what}.")


def _rest_value(bone: Bone, channel: str) -> float:
    """What a channel is at rest."""
    return bone.offset["xyz".index(channel[0])] if channel.endswith("position") else 0.0


def _understood(
    name: str, hierarchy: Hierarchy, values: Array, up: str | None, scale: float | None
) -> tuple[Body, Hierarchy, float]:
    """The body, the hierarchy with those slides alone that are some, and the length of a unit."""
    if up is not None:
        checked_up(up)
    if scale is not None:
        scale = checked_scale(scale)
    title = name.rpartition(".")[0] or name
    hierarchy = hierarchy._replace(bones=_settled(hierarchy, values))
    if up is not None and scale is not None:
        said = f"{up} up, 1 unit = {scale:g} m"
        return skeleton(title, hierarchy.bones, up=up, scale=scale, read_as=said), hierarchy, scale
    plain = skeleton(title, hierarchy.bones, up="z", scale=1.0)
    rows = values[np.linspace(0, len(values) - 1, min(len(values), LOOKED_AT)).astype(int)]
    places = plain.forward(_joint_vectors(plain, hierarchy, rows, 1.0)).array[:, 1:, :3, 3]
    understood = understand(list(plain.links)[1:], places, up, scale)
    body = skeleton(title, hierarchy.bones, up=understood.up, scale=understood.scale, read_as=understood.said)
    return body, hierarchy, understood.scale


def _settled(hierarchy: Hierarchy, values: Array) -> list[Bone]:
    """The bones; those with position channels that never change stand where these say and do not slide."""
    bones, size = list(hierarchy.bones), reach(hierarchy.bones)
    columns: dict[int, list[tuple[int, int]]] = {}
    for column, (k, channel) in enumerate(hierarchy.channels):
        if channel.endswith("position") and bones[k].parent >= 0:
            columns.setdefault(k, []).append(("xyz".index(channel[0]), column))
    for k, own in columns.items():
        places = np.tile(np.array(bones[k].offset), (len(values), 1))
        for axis, column in own:
            places[:, axis] = values[:, column]
        if not slides_of(places, size):
            x, y, z = np.median(places, axis=0).tolist()
            bones[k] = bones[k]._replace(offset=(x, y, z), slides="")
    of_root = [column for column, (k, _) in enumerate(hierarchy.channels) if k == 0]
    if not np.ptp(values[:, of_root], axis=0).any() and any(bone.parent == 0 and bone.slides for bone in bones):
        bones[0] = bones[0]._replace(is_holder=True)
    return bones


def _frames(name: str, lines: list[str], hierarchy: Hierarchy) -> tuple[Array, Array]:
    """Times (n,) and channel values (n, channels)."""
    wanted = len(hierarchy.channels)
    if wanted == 0:
        raise FormatError(f"{name} has a skeleton without channels, so there is no motion. mk.load reads the skeleton.")
    at = _skip(lines, hierarchy.line)
    found = re.fullmatch(r"\s*Frames\s*:\s*([0-9]{1,9})\s*", lines[at] if at < len(lines) else "", re.IGNORECASE)
    if found is None:
        raise FormatError(f"{name}, line {at + 1}: 'Frames: NUMBER' was expected after MOTION.")
    count = int(found[1])
    at = _skip(lines, at + 1)
    step = re.fullmatch(r"\s*Frame\s+Time\s*:\s*(\S+)\s*", lines[at] if at < len(lines) else "", re.IGNORECASE)
    if step is None or not _NUMBER.fullmatch(step[1]) or not 1e-9 < float(step[1]) < LARGEST:
        raise FormatError(f"{name}, line {at + 1}: 'Frame Time: SECONDS' was expected, with a number above zero.")
    if not 1 <= count <= MAX_FRAMES:
        raise FormatError(f"{name} has {count} frames. A clip has from 1 to {MAX_FRAMES}.")
    rows = [(k, line) for k, line in enumerate(lines[at + 1 :], at + 2) if line and not line.isspace()]
    if len(rows) != count:
        raise FormatError(
            f"{name}: 'Frames: {count}' is said, but {len(rows)} lines of numbers follow. Correct the number, or the file "
            "is cut short."
        )
    values = np.empty((count, wanted))
    for into, (line, text) in zip(values, rows, strict=True):
        strange = _STRANGE.search(text)
        if strange is not None:
            raise FormatError(f"{name}, line {line}: {shown(strange[0])} is no part of a number.")
        words = text.split()
        if len(words) != wanted:
            raise FormatError(f"{name}, line {line} has {len(words)} numbers, but the skeleton {wanted} channels.")
        try:
            into[:] = words
        except ValueError:
            wrong = next((word for word in words if not _NUMBER.fullmatch(word)), words[0])
            raise FormatError(f"{name}, line {line}: {shown(wrong)} is no number.") from None
    if not (np.abs(values) <= LARGEST).all():
        row = int(np.flatnonzero(~(np.abs(values) <= LARGEST).all(axis=1))[0])
        raise FormatError(f"{name}, line {rows[row][0]}: a number is too large.")
    return np.arange(count, dtype=np.float64) * float(step[1]), values


def _skip(lines: list[str], at: int) -> int:
    while at < len(lines) and not lines[at].strip():
        at += 1
    return at


def _joint_vectors(body: Body, hierarchy: Hierarchy, values: Array, scale: float) -> Array:
    """Channel values as joint vectors: turns in radians, slides in metres; what has no channel is as at rest."""
    q = np.tile(body.home, (len(values), 1))
    joints = list(body.joints.values())  # one for each bone, in the same order
    columns: dict[tuple[int, str], int] = {}
    for k, joint in enumerate(joints):
        order = order_of(hierarchy.bones[k].turns)
        for variable in joint.variables:
            suffix = variable[len(joint.name) :]
            if joint.kind == "continuous":
                columns[k, order[0] + "rotation"] = body.index(variable)
            elif suffix.startswith(".r"):
                columns[k, suffix[2] + "rotation"] = body.index(variable)
            else:
                columns[k, suffix[1] + "position"] = body.index(variable)
    for column, (k, channel) in zip(values.T, hierarchy.channels, strict=True):
        bone = hierarchy.bones[k]
        if channel.endswith("rotation"):
            q[:, columns[k, channel]] = column * (math.pi / 180.0)
        elif (k, channel) in columns:  # else it stands still, and is the offset
            start = 0.0 if bone.parent < 0 else _rest_value(bone, channel)
            q[:, columns[k, channel]] = scale * (column - start)
    return q
