"""Run by Blender's Python: what its importer makes of a .glb, rendered at some frames side by side.

`python tests/blender/picture.py FILE.glb PICTURE.png 1 20 40`: the mesh moves with its bones. Cycles renders on the processor.
"""

import sys

import bpy
from mathutils import Vector


def main(path, picture, *frames):
    bpy.ops.wm.read_factory_settings(use_empty=True)
    bpy.ops.import_scene.gltf(filepath=path)
    meshes = [each for each in bpy.context.scene.objects if each.type == "MESH" and each.find_armature()]
    scene = bpy.context.scene
    copies = []
    for k, frame in enumerate(map(int, frames)):
        scene.frame_set(frame)
        graph = bpy.context.evaluated_depsgraph_get()
        for mesh in meshes:
            still = bpy.data.meshes.new_from_object(mesh.evaluated_get(graph))
            copy = bpy.data.objects.new(f"frame {frame}", still)
            copy.matrix_world = mesh.matrix_world.copy()
            copies.append((copy, k))
    for mesh in meshes:
        mesh.hide_render = True
    for copy, k in copies:
        scene.collection.objects.link(copy)
        copy.location.x += 0.7 * k
    bpy.context.view_layer.update()
    corners = [copy.matrix_world @ Vector(corner) for copy, _ in copies for corner in copy.bound_box]
    low, high = (Vector(each(point[k] for point in corners) for k in range(3)) for each in (min, max))
    camera = bpy.data.objects.new("camera", bpy.data.cameras.new("camera"))
    camera.data.type = "ORTHO"
    camera.data.ortho_scale = 1.05 * max(high.x - low.x, 1.8 * (high.z - low.z))
    camera.location = (0.5 * (low.x + high.x), low.y - 5.0, 0.5 * (low.z + high.z))
    camera.rotation_euler = (1.5708, 0.0, 0.0)
    lamp = bpy.data.objects.new("lamp", bpy.data.lights.new("lamp", "SUN"))
    lamp.data.energy, lamp.rotation_euler = 3.0, (0.9, 0.2, 0.3)
    for each in (camera, lamp):
        scene.collection.objects.link(each)
    scene.camera = camera
    scene.world = bpy.data.worlds.new("world")
    scene.world.color = (0.6, 0.6, 0.6)
    scene.render.film_transparent = True
    scene.render.engine, scene.cycles.samples = "CYCLES", 16
    scene.render.resolution_x, scene.render.resolution_y = 800, 445
    scene.render.filepath = picture
    bpy.ops.render.render(write_still=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
