"""Small meshes, and robots that have them."""

import numpy as np
import trimesh

import memetik as mk


def bent_tube():
    """A quarter of a ring, as of an elbow."""
    angles = np.linspace(0.0, np.pi / 2, 12)
    path = np.stack([0.3 * np.cos(angles), 0.3 * np.sin(angles), np.zeros(12)], axis=1)
    circle = np.linspace(0.0, 2.0 * np.pi, 13)[:-1]
    rings = [p + 0.05 * (np.outer(np.cos(circle), p / 0.3) + np.outer(np.sin(circle), (0.0, 0.0, 1.0))) for p in path]
    faces = []
    for k in range(11):
        for i in range(12):
            a, b = 12 * k + i, 12 * k + (i + 1) % 12
            faces += [(a, b, a + 12), (b, b + 12, a + 12)]
    return trimesh.Trimesh(np.concatenate(rings), faces, process=False)


def ell():
    """Two long boxes at a right angle."""
    one = trimesh.creation.box((0.4, 0.06, 0.06))
    other = trimesh.creation.box((0.06, 0.4, 0.06))
    other.apply_translation((0.17, 0.23, 0.0))
    return trimesh.util.concatenate([one, other])


def turned(mesh):
    mesh.apply_transform(mk.transform((0.1, -0.2, 0.3), mk.euler(0.4, 1.1, -0.7)))
    return mesh


def of_triangles(*corners):
    """A mesh of single triangles, however flat."""
    points = np.array(corners, dtype=float).reshape(-1, 3)
    return trimesh.Trimesh(points, np.arange(len(points)).reshape(-1, 3), process=False)


MESHES = {
    "box": lambda: turned(trimesh.creation.box((0.2, 0.1, 0.3))),
    "ball": lambda: turned(trimesh.creation.icosphere(2, 0.1)),
    "capsule": lambda: turned(trimesh.creation.capsule(0.4, 0.05, count=(10, 10))),
    "cylinder": lambda: turned(trimesh.creation.cylinder(0.05, 0.4, sections=16)),
    "bent tube": bent_tube,
    "ell": lambda: turned(ell()),
    "plate": lambda: of_triangles(*[(0, 0, 0), (1, 0, 0), (1, 1, 0)], *[(0, 0, 0), (1, 1, 0), (0, 1, 0)]),
    "triangle": lambda: of_triangles((0, 0, 0), (0.1, 0, 0), (0, 0.2, 0.3)),
    "line": lambda: of_triangles((0, 0, 0), (0.1, 0.1, 0), (0.2, 0.2, 0)),
    "point": lambda: of_triangles((0.3, 0.2, 0.1), (0.3, 0.2, 0.1), (0.3, 0.2, 0.1)),
    "duplicates": lambda: trimesh.util.concatenate([trimesh.creation.box((0.1, 0.2, 0.3))] * 3),
    "tiny": lambda: trimesh.creation.box((1e-4, 2e-4, 3e-4)),
}

LINK = """<link name="{name}">{more}<collision><origin xyz="{at}"/><geometry>
<mesh filename="{mesh}" scale="{scale}"/></geometry></collision></link>"""
JOINT = """<joint name="{name}" type="revolute"><parent link="{parent}"/><child link="{child}"/><origin xyz="{at}"/>
<axis xyz="{axis}"/><limit lower="-2.8" upper="2.8" effort="1" velocity="1"/></joint>"""


def write_robot(
    folder, meshes, *, suffix=".stl", prefix="package://robot/meshes/", at="0 0 0.1", scale="1 1 1", more=""
):
    """A chain of links folder/robot/urdf/robot.urdf with meshes in folder/robot/meshes; its path."""
    place = folder / "robot"
    (place / "meshes").mkdir(parents=True, exist_ok=True)
    (place / "urdf").mkdir(exist_ok=True)
    parts = ['<link name="base"/>']
    for k, mesh in enumerate(meshes):
        file = f"link{k}{suffix}"
        (place / "meshes" / file).write_bytes(exported(mesh, suffix))
        parts.append(LINK.format(name=f"link{k}", mesh=prefix + file, at=at, scale=scale, more=more))
        parent = f"link{k - 1}" if k else "base"
        axis, step = ("0 1 0", "0 0 0.35") if k % 2 else ("0 0 1", "0 0 0.1")
        parts.append(JOINT.format(name=f"turn{k}", parent=parent, child=f"link{k}", at=step, axis=axis))
    path = place / "urdf" / "robot.urdf"
    path.write_text(f'<robot name="robot">{"".join(parts)}</robot>')
    return path


def exported(mesh, suffix):
    data = trimesh.exchange.export.export_mesh(mesh, None, file_type=suffix[1:])
    return data.encode() if isinstance(data, str) else data


def points_on(triangles, count, rng):
    """The corners of triangles (n, 3, 3), and random points in each."""
    weights = np.concatenate([np.eye(3), rng.dirichlet((1.0, 1.0, 1.0), count)])
    return np.einsum("wc,ncx->nwx", weights, triangles).reshape(-1, 3)
