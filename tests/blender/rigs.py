"""Run by a Python that has bpy: make rigs as other programs name them, move them, and export them with where their joints are.

`PYTHON tests/blender/rigs.py FOLDER` writes FOLDER/NAME.bvh, .glb, .gltf and NAME.json: for each exported file the heads of all
bones in each frame, as Blender evaluates them.
"""

import json
import math
import os
import random
import sys
from pathlib import Path

import bpy
from mathutils import Matrix, Quaternion, Vector

FRAMES = 8

# A person of 1.7 m in metres, z up, facing -y: name of the part, its parent, head, tail.
PERSON = [
    ("hips", None, (0, 0.01, 0.98), (0, 0.01, 1.08)),
    ("spine", "hips", (0, 0.01, 1.08), (0, 0, 1.22)),
    ("chest", "spine", (0, 0, 1.22), (0, 0.02, 1.42)),
    ("neck", "chest", (0, 0.03, 1.45), (0, 0.01, 1.54)),
    ("head", "neck", (0, 0.01, 1.54), (0, 0, 1.72)),
]
for sign, side in ((1, "left"), (-1, "right")):
    PERSON += [
        (f"{side}_collar", "chest", (0.03 * sign, 0, 1.40), (0.15 * sign, 0.02, 1.42)),
        (f"{side}_upper_arm", f"{side}_collar", (0.16 * sign, 0.02, 1.42), (0.43 * sign, 0.03, 1.41)),
        (f"{side}_lower_arm", f"{side}_upper_arm", (0.43 * sign, 0.03, 1.41), (0.68 * sign, 0.01, 1.40)),
        (f"{side}_hand", f"{side}_lower_arm", (0.68 * sign, 0.01, 1.40), (0.76 * sign, 0, 1.40)),
        (f"{side}_index", f"{side}_hand", (0.77 * sign, -0.02, 1.40), (0.80 * sign, -0.02, 1.40)),
        (f"{side}_upper_leg", "hips", (0.09 * sign, 0.01, 0.93), (0.10 * sign, 0, 0.51)),
        (f"{side}_lower_leg", f"{side}_upper_leg", (0.10 * sign, 0, 0.51), (0.10 * sign, 0.03, 0.09)),
        (f"{side}_foot", f"{side}_lower_leg", (0.10 * sign, 0.03, 0.09), (0.10 * sign, -0.10, 0.02)),
        (f"{side}_toes", f"{side}_foot", (0.10 * sign, -0.10, 0.02), (0.10 * sign, -0.17, 0.02)),
    ]

MIXAMO = {
    "hips": "Hips",
    "spine": "Spine",
    "chest": "Spine1",
    "neck": "Neck",
    "head": "Head",
    "collar": "Shoulder",
    "upper_arm": "Arm",
    "lower_arm": "ForeArm",
    "hand": "Hand",
    "index": "HandIndex1",
    "upper_leg": "UpLeg",
    "lower_leg": "Leg",
    "foot": "Foot",
    "toes": "ToeBase",
}
UNREAL = {
    "hips": "pelvis",
    "spine": "spine_01",
    "chest": "spine_02",
    "neck": "neck_01",
    "head": "head",
    "collar": "clavicle",
    "upper_arm": "upperarm",
    "lower_arm": "lowerarm",
    "hand": "hand",
    "index": "index_01",
    "upper_leg": "thigh",
    "lower_leg": "calf",
    "foot": "foot",
    "toes": "ball",
}
RIGIFY = {
    "hips": "DEF-spine",
    "spine": "DEF-spine.001",
    "chest": "DEF-spine.002",
    "neck": "DEF-spine.004",
    "head": "DEF-spine.006",
    "collar": "DEF-shoulder",
    "upper_arm": "DEF-upper_arm",
    "lower_arm": "DEF-forearm",
    "hand": "DEF-hand",
    "index": "DEF-f_index.01",
    "upper_leg": "DEF-thigh",
    "lower_leg": "DEF-shin",
    "foot": "DEF-foot",
    "toes": "DEF-toe",
}
VROID = {
    "hips": "Hips",
    "spine": "Spine",
    "chest": "Chest",
    "neck": "Neck",
    "head": "Head",
    "collar": "Shoulder",
    "upper_arm": "UpperArm",
    "lower_arm": "LowerArm",
    "hand": "Hand",
    "index": "Index1",
    "upper_leg": "UpperLeg",
    "lower_leg": "LowerLeg",
    "foot": "Foot",
    "toes": "ToeBase",
}
CMU = {
    "hips": "Hips", "spine": "LowerBack", "chest": "Spine", "neck": "Neck", "head": "Head", "collar": "Shoulder",
    "upper_arm": "Arm", "lower_arm": "ForeArm", "hand": "Hand", "index": "HandIndex1", "upper_leg": "UpLeg",
    "lower_leg": "Leg", "foot": "Foot", "toes": "ToeBase",
}  # fmt: skip
VRM_PARTS = {"collar": "Shoulder", "index": "IndexProximal"}


def people(own):
    """The bones of a rig; those of the CMU database have one more above each leg."""
    if own.style != "cmu":
        return PERSON
    found = []
    for part, parent, head, tail in PERSON:
        if part.endswith("upper_leg"):
            joint = part[0].upper() + "HipJoint"
            found.append((joint, "hips", (0, 0.01, 0.98), head))
            parent = joint
        found.append((part, parent, head, tail))
    return found


def split(part):
    side, _, kind = part.partition("_")
    return (side, kind) if side in ("left", "right") else ("", part)


def name_of(style, part, number):
    side, kind = split(part)
    if style == "mixamo":
        return "mixamorig:" + side.capitalize() + MIXAMO[kind]
    if style == "unreal":
        return UNREAL[kind] + (f"_{side[0]}" if side else "")
    if style == "rigify":
        return RIGIFY[kind] + (f".{side[0].upper()}" if side else "")
    if style == "vroid":
        return f"J_{'Sec' if kind == 'index' else 'Bip'}_{side[0].upper() if side else 'C'}_{VROID[kind]}"
    if style == "cmu" and part.endswith("HipJoint"):
        return part
    if style == "cmu":
        return side.capitalize() + CMU[kind]
    return f"Bone.{number:03d}" if number else "Bone"


class Style:
    """How a rig is made."""

    def __init__(self, style, *, scale=1.0, turned=False, connected=True, root=None, more=(), slide=(), rolls=False):
        self.style, self.scale, self.turned, self.connected = style, scale, turned, connected
        self.root, self.more, self.slide, self.rolls = root, more, slide, rolls


STYLES = {
    # centimetres and y up inside an armature that is scaled by 0.01 and turned by 90 degrees, as the importer of FBX makes it
    "mixamo": Style("mixamo", scale=0.01, turned=True, connected=False),
    "unreal": Style("unreal", connected=False, root="root", rolls=True),
    # a second root, and a bone that slides on its parent
    "rigify": Style("rigify", root="root", more=("MCH-prop",), slide=("left_hand",), rolls=True),
    "vroid": Style("vroid", root="Root", connected=False),
    "cmu": Style("cmu", rolls=True),
    "anonymous": Style("anonymous", connected=False, rolls=True),
}


def make(name, own, rng):
    """An armature with a mesh that it moves."""
    data = bpy.data.armatures.new(name)
    rig = bpy.data.objects.new("Armature" if name != "anonymous" else "Figure", data)
    bpy.context.scene.collection.objects.link(rig)
    bpy.context.view_layer.objects.active = rig
    rig.select_set(True)
    turn = Matrix.Rotation(-math.pi / 2, 4, "X") if own.turned else Matrix.Identity(4)
    inward = turn @ Matrix.Scale(1.0 / own.scale, 4)
    if own.turned:
        rig.rotation_euler = (math.pi / 2, 0.0, 0.0)
    rig.scale = (own.scale,) * 3
    if name == "unreal":
        rig.location = (0.3, -0.2, 0.0)
    bpy.ops.object.mode_set(mode="EDIT")
    names = {part: name_of(own.style, part, k) for k, (part, *_) in enumerate(people(own))}
    if own.root:
        root = data.edit_bones.new(own.root)
        root.head, root.tail = inward @ Vector((0, 0, 0)), inward @ Vector((0, 0.2, 0))
    for extra in own.more:
        bone = data.edit_bones.new(extra)
        bone.head, bone.tail = inward @ Vector((0.5, 0, 0.1)), inward @ Vector((0.5, 0, 0.3))
    for part, parent, head, tail in people(own):
        bone = data.edit_bones.new(names[part])
        bone.head, bone.tail = inward @ Vector(head), inward @ Vector(tail)
        if parent:
            bone.parent = data.edit_bones[names[parent]]
            near = (Vector(head) - Vector(next(t for p, _, _, t in people(own) if p == parent))).length < 1e-6
            bone.use_connect = own.connected and near and part not in own.slide
        elif own.root:
            bone.parent = data.edit_bones[own.root]
        if own.rolls:
            bone.roll = rng.uniform(-math.pi, math.pi)
    bpy.ops.object.mode_set(mode="OBJECT")
    skin(rig, data, names, own)
    return rig, names


def skin(rig, data, names, own):
    """A mesh of a box for each bone, each moved by its bone."""
    points, faces, groups = [], [], []
    for bone in data.bones:
        first = len(points)
        size = 0.03 / own.scale
        for x in (-1, 1):
            for z in (-1, 1):
                for y in (0.0, bone.length):
                    points.append(bone.matrix_local @ Vector((x * size, y, z * size)))
        faces += [
            [first + k for k in face]
            for face in ((0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3))
        ]
        groups.append((bone.name, list(range(first, len(points)))))
    mesh = bpy.data.meshes.new("Body")
    mesh.from_pydata(points, [], faces)
    thing = bpy.data.objects.new("Body", mesh)
    bpy.context.scene.collection.objects.link(thing)
    thing.parent = rig
    for name, members in groups:
        thing.vertex_groups.new(name=name).add(members, 1.0, "REPLACE")
    thing.modifiers.new("Armature", "ARMATURE").object = rig


def animate(rig, names, own, rng, action, size):
    """Turn all bones, move the hips, and what else slides."""
    rig.animation_data_create()
    made = bpy.data.actions.new(action)
    rig.animation_data.action = made
    if hasattr(made, "slots"):
        rig.animation_data.action_slot = made.slots.new(rig.id_type, rig.name)
    modes = ("QUATERNION", "XYZ", "ZYX", "YXZ", "ZXY")
    sliding = {names["hips"], *(names[part] for part in own.slide)}
    for k, bone in enumerate(rig.pose.bones):
        if bone.name in own.more:
            continue
        bone.rotation_mode = modes[k % len(modes)]
        turn = Vector([rng.uniform(-1, 1) for _ in range(3)])
        for frame in range(1, FRAMES + 1):
            angle = size * math.sin(0.7 * frame + k) * (0.2 if bone.name == own.root else 1.0)
            rotation = Quaternion(turn, angle)
            if bone.rotation_mode == "QUATERNION":
                bone.rotation_quaternion = rotation
                bone.keyframe_insert("rotation_quaternion", frame=frame)
            else:
                bone.rotation_euler = rotation.to_euler(bone.rotation_mode)
                bone.keyframe_insert("rotation_euler", frame=frame)
            if bone.name in sliding:
                share = 1.0 if bone.name == names["hips"] else 0.2
                shift = [share * 0.1 * math.sin(frame + axis) / own.scale for axis in range(3)]
                bone.location = shift
                bone.keyframe_insert("location", frame=frame)
            if own.style == "anonymous" and bone.name == names["left_hand"]:
                bone.location = (0.01, 0.0, 0.02)  # shifted once and for all
                bone.keyframe_insert("location", frame=frame)


def heads(rig, in_world, scale=1.0):
    """Where the heads of all bones are in each frame."""
    found = []
    for frame in range(1, FRAMES + 1):
        bpy.context.scene.frame_set(frame)
        place = rig.matrix_world if in_world else Matrix.Identity(4)
        found.append({bone.name: [x * scale for x in place @ bone.head] for bone in rig.pose.bones})
    return found


def hold(rig, root, still):
    """Let no bone but the root slide, as a file of the root's transform alone has it; or all again."""
    action = rig.animation_data.action
    try:
        curves = action.fcurves
    except AttributeError:  # Blender 5
        from bpy_extras import anim_utils

        curves = anim_utils.action_get_channelbag_for_slot(action, rig.animation_data.action_slot).fcurves
    for curve in curves:
        if curve.data_path.endswith("location") and f'"{root}"' not in curve.data_path:
            curve.mute = still
            rig.pose.bones[curve.data_path.split('"')[1]].location = (0.0, 0.0, 0.0)


def vrm(path, names, version):
    """The map of a humanoid, put into a .glb as VRM has it; the file becomes a .vrm."""
    import struct

    data = path.read_bytes()
    length = struct.unpack("<I", data[12:16])[0]
    document = json.loads(data[20 : 20 + length])
    node = {each["name"]: k for k, each in enumerate(document["nodes"]) if "name" in each}
    bones = {}
    for part, name in names.items():
        side, kind = split(part)
        label = VRM_PARTS.get(kind, "".join(word.capitalize() for word in kind.split("_")))
        bones[side + label if side else label[0].lower() + label[1:]] = node[name]
    if version == 0:
        listed = [{"bone": bone, "node": k, "useDefaultValues": True} for bone, k in bones.items()]
        extension = {"VRM": {"specVersion": "0.0", "humanoid": {"humanBones": listed}}}
    else:
        named = {bone: {"node": k} for bone, k in bones.items()}
        extension = {"VRMC_vrm": {"specVersion": "1.0", "humanoid": {"humanBones": named}}}
    document["extensions"] = extension
    document["extensionsUsed"] = [*document.get("extensionsUsed", []), *extension]
    text = json.dumps(document, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 4)
    rest = data[20 + length :]
    whole = (
        struct.pack("<4sII", b"glTF", 2, 20 + len(text) + len(rest))
        + struct.pack("<I4s", len(text), b"JSON")
        + text
        + rest
    )
    path.with_suffix(".vrm").write_bytes(whole)
    path.unlink()


def main(folder):
    folder.mkdir(parents=True, exist_ok=True)
    for name, own in STYLES.items():
        bpy.ops.wm.read_factory_settings(use_empty=True)
        bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, FRAMES
        rng = random.Random(name)
        rig, names = make(name, own, rng)
        expected = {"names": names, "files": {}, "rate": bpy.context.scene.render.fps}
        animate(rig, names, own, rng, "Wave", 0.3)
        wave = rig.animation_data.action
        wave.use_fake_user = True
        waving = heads(rig, True)
        animate(rig, names, own, rng, "Dance", 0.9)
        if hasattr(rig.animation_data, "nla_tracks"):
            track = rig.animation_data.nla_tracks.new()
            track.name = "Wave"
            track.strips.new("Wave", 1, wave)
            track.mute = True
        bpy.ops.object.select_all(action="DESELECT")
        rig.select_set(True)
        bpy.context.view_layer.objects.active = rig
        unit = {"cmu": 0.45 / 0.0254, "unreal": 100.0}.get(name, 1.0)
        for mode in ("NATIVE", "XYZ", "XZY", "YXZ", "YZX", "ZXY", "ZYX"):
            for alone in (False, True):
                file = f"{name}_{mode}{'_root' if alone else ''}.bvh"
                bpy.ops.export_anim.bvh(
                    filepath=str(folder / file),
                    global_scale=unit,
                    rotate_mode=mode,
                    root_transform_only=alone,
                    frame_start=1,
                    frame_end=FRAMES,
                )
                if alone:
                    hold(rig, rig.data.bones[0].name, True)
                expected["files"][file] = {"kind": "bvh", "heads": heads(rig, False, unit), "unit": own.scale / unit}
                if alone:
                    hold(rig, rig.data.bones[0].name, False)
        bpy.ops.object.select_all(action="SELECT")
        for version, form in ((0, "GLB"), (1, "GLB"), (None, "GLTF_SEPARATE")):
            if version == 1 and name != "vroid":
                continue
            file = folder / f"{name}{version or ''}.{'glb' if form == 'GLB' else 'gltf'}"
            bpy.ops.export_scene.gltf(
                filepath=str(file),
                export_format=form,
                export_animation_mode="ACTIONS",
                export_yup=True,
                export_optimize_animation_size=form != "GLB",
            )
            if name == "vroid" and version is not None:
                vrm(file, names, version)
                file = file.with_suffix(".vrm")
            expected["files"][file.name] = {"kind": "gltf", "heads": heads(rig, True), "Wave": waving}
        (folder / f"{name}.json").write_text(json.dumps(expected))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
    sys.stdout.flush()
    os._exit(0)  # bpy 4.2 crashes when its interpreter ends
