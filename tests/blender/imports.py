"""Run by a Python that has bpy: import files and tell what became of them.

`PYTHON tests/blender/imports.py FOLDER [FILE ...]` reads the files that FOLDER/times.json lists, with times of frames and the
axes of a .bvh for the importer, and writes FOLDER/imported.json: armatures, actions, empties, meshes, the length of the shortest
bone, and the heads of all bones in each frame. It draws the files that are named, into FOLDER/FILE.png.
"""

import json
import os
import sys
from pathlib import Path

import bpy


def imported(path, times, axes):
    bpy.ops.wm.read_factory_settings(use_empty=True)
    if path.suffix == ".bvh":
        bpy.ops.import_anim.bvh(filepath=str(path), global_scale=1.0, frame_start=1, **axes)
        frames = [float(k + 1) for k in range(len(times))]
    else:
        bpy.ops.import_scene.gltf(filepath=str(path))
        frames = [time * bpy.context.scene.render.fps for time in times]
    rigs = [thing for thing in bpy.data.objects if thing.type == "ARMATURE"]
    found = {
        "armatures": len(rigs), "actions": sorted(action.name for action in bpy.data.actions),
        "empties": sum(thing.type == "EMPTY" for thing in bpy.data.objects),
        "meshes": sum(thing.type == "MESH" and not thing.name.startswith("Icosphere") for thing in bpy.data.objects),
        "modifiers": sum(mod.type == "ARMATURE" for thing in bpy.data.objects for mod in thing.modifiers),
        "heads": [], "points": [],
    }  # fmt: skip
    if len(rigs) == 1:
        rig = rigs[0]
        found["shortest"] = min((rig.matrix_world.to_scale()[0] * bone.length, bone.name) for bone in rig.data.bones)
        mesh = next((thing for thing in bpy.data.objects if thing.modifiers), None)
        for frame in frames:
            bpy.context.scene.frame_set(int(frame // 1), subframe=frame % 1)
            found["heads"].append({bone.name: list(rig.matrix_world @ bone.head) for bone in rig.pose.bones})
            if mesh is not None:
                shown = mesh.evaluated_get(bpy.context.evaluated_depsgraph_get())
                points = [mesh.matrix_world @ vertex.co for vertex in shown.data.vertices]
                found["points"].append(
                    [min(p[k] for p in points) for k in range(3)] + [max(p[k] for p in points) for k in range(3)]
                )
    return found


def picture(path, frame):
    """What Workbench draws of the scene in a frame."""
    scene = bpy.context.scene
    camera = bpy.data.objects.new("camera", bpy.data.cameras.new("camera"))
    scene.collection.objects.link(camera)
    camera.location, camera.rotation_euler = (2.2, -3.2, 1.5), (1.4, 0.0, 0.6)
    scene.camera, scene.render.engine = camera, "BLENDER_WORKBENCH"
    scene.render.resolution_x, scene.render.resolution_y = 480, 480
    scene.render.filepath = str(path)
    scene.frame_set(frame)
    bpy.ops.render.render(write_still=True)


def main(folder, drawn=()):
    times = json.loads((folder / "times.json").read_text())
    found = {}
    for name in sorted(times):
        found[name] = imported(folder / name, *times[name])
        if name in drawn:
            picture(folder / f"{name}.png", 4)
    (folder / "imported.json").write_text(json.dumps(found))


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
    sys.stdout.flush()
    os._exit(0)  # bpy 4.2 crashes when its interpreter ends
