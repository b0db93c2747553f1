"""Pictures: well-formed, on the page, in the right order, the same every time."""

import math
import re
import xml.etree.ElementTree as ET

import numpy as np
import pytest

from memetik.body import Body, Joint, Link, Shape
from memetik.build.chains import planar_chain, serial_chain, snake
from memetik.build.dh import from_dh
from memetik.build.hands import hand
from memetik.collision.world import World
from memetik.errors import BodyError, FormatError, MemetikError
from memetik.geometry import rpy, transform
from memetik.read.load import load
from memetik.write import colors
from memetik.write.picture import draw, draw_many

NUMBER = r"-?\d+(?:\.\d+)?"


def parse(text):
    """The elements of a picture, without their namespace."""
    root = ET.fromstring(text)
    for each in root.iter():
        each.tag = each.tag.removeprefix("{http://www.w3.org/2000/svg}")
    return root


def drawn(text, tag):
    """Elements of one kind inside the groups of postures."""
    return [each for group in parse(text).findall("g") for each in group.iter(tag)]


def path_points(d):
    """End points of the commands M, L, A, V, h that the pictures use; after M, further pairs are lines."""
    x = y = 0.0
    for command, arguments in re.findall(r"([MLAVhZ])([^MLAVhZ]*)", d):
        values = [float(v) for v in re.findall(NUMBER, arguments)]
        pairs = [values[-2:]] if command == "A" else [values[k : k + 2] for k in range(0, len(values), 2)]
        for pair in pairs:
            x, y = (x, pair[0]) if command == "V" else (x + pair[0], y) if command == "h" else pair
            yield x, y


def outline(element):
    """Points that bound an element, in the frame it is drawn in."""
    get = {key: float(value) for key, value in element.attrib.items() if re.fullmatch(NUMBER, value)}.get
    match element.tag:
        case "circle" | "ellipse":
            x, y = get("cx", 0.0), get("cy", 0.0)
            rx, ry = get("rx", get("r", 0.0)), get("ry", get("r", 0.0))
            return [(x - rx, y - ry), (x + rx, y + ry)]
        case "line":
            return [(get("x1"), get("y1")), (get("x2"), get("y2"))]
        case "polygon":
            values = [float(v) for v in re.findall(NUMBER, element.get("points"))]
            return list(zip(values[::2], values[1::2], strict=True))
        case "path":
            return list(path_points(element.get("d")))
        case "text":
            return [(get("x"), get("y"))]
        case _:
            return []


def on_page(element):
    """Points that bound an element, on the page."""
    points = outline(element)
    place = re.fullmatch(rf"translate\(({NUMBER}),({NUMBER})\)rotate\(({NUMBER})\)", element.get("transform", ""))
    if place is None:
        assert "transform" not in element.attrib
        return points
    x, y, angle = map(float, place.groups())
    c, s = math.cos(math.radians(angle)), math.sin(math.radians(angle))
    return [(x + c * u - s * v, y + s * u + c * v) for u, v in points]


def assert_on_page(text):
    root = parse(text)
    width, height = float(root.get("width")), float(root.get("height"))
    count = 0
    for each in root.iter():
        for x, y in on_page(each):
            assert 0.0 <= x <= width and 0.0 <= y <= height, f"{each.tag} at {x:.1f}, {y:.1f}"
            count += 1
    return count


def lone(*shapes, name="thing"):
    return Body(name, [Link("link", shapes=shapes)], [])


def at(x, y, z):
    return transform((x, y, z))


BODIES = {
    "hand": hand(),
    "arm and hand": hand(arm_joints=7),
    "snake": snake(30),
    "planar": planar_chain([0.4, 0.3, 0.2]),
    "dh": from_dh([[0.0, 1.5, 0.3, 0.0], [0.4, 0.0, 0.0, 0.0], [0.3, 0.2, 0.1, 0.0]]),
    "one box": lone(Shape("box", (0.2, 0.3, 1.4))),
    "bare": Body("bare", [Link("link")], []),
}


# ---- The page ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("view", [(35, 18), (-90, 90), (200, 0), (10, -40), (0, -90)], ids=str)
@pytest.mark.parametrize("name", BODIES)
def test_everything_is_on_the_page_from_every_side(name, view):
    body = BODIES[name]
    rng = np.random.default_rng(5)
    posture = body.sample(rng)
    targets = [body.forward(posture)[link] for link in list(body.links)[-2:]]
    assert assert_on_page(draw(body, posture, view=view, size=(640, 480), targets=targets, title="title")) > 8


def test_the_picture_fills_the_page():
    """The body reaches the margins: either its width or its height is the page less a tenth on both sides."""
    text = draw(BODIES["planar"], [0.3, 0.4, 0.5], view=(-90, 90), size=(800, 600), show_skeleton=False)
    xy = np.array([point for each in drawn(text, "path") for point in on_page(each)])
    width, height = np.ptp(xy, axis=0)
    assert width == pytest.approx(800 - 120, abs=30) or height == pytest.approx(600 - 120, abs=30)


def test_the_same_call_gives_the_same_text():
    body = hand(3)
    assert draw(body, title="one") == draw(body, title="one")
    assert draw(body) != draw(body, np.clip(body.home + 0.1, body.lower, body.upper))
    assert draw(body) == draw(body, body.home)


def test_size_title_and_labels():
    root = parse(draw(BODIES["planar"], size=(320, 200), title="<a> & b"))
    assert (root.get("width"), root.get("height"), root.get("viewBox")) == ("320", "200", "0 0 320 200")
    assert root.find("title").text == "<a> & b"
    assert [each.text for each in root.iter("text")][-1] == "<a> & b"
    assert sorted(each.text for each in parse(draw(BODIES["planar"])).iter("text")) == ["x", "y", "z"]
    assert parse(draw(BODIES["planar"])).find("title").text == "planar_chain"


def test_every_reference_is_defined_once():
    text = draw(BODIES["arm and hand"])
    names = re.findall(r'id="(\w+)"', text)
    assert len(names) == len(set(names)) > 5
    assert set(re.findall(r"url\(#(\w+)\)", text)) == set(names)


@pytest.mark.parametrize("name", ["panda", "valkyrie", "wolf"])
def test_bundled_bodies_have_pictures_of_decent_size(name):
    text = draw(load(name))
    assert assert_on_page(text) and len(text) < 300_000


def test_a_body_of_many_links_is_a_small_file():
    assert len(draw(hand(5, 4, arm_joints=7))) < 60_000
    assert len(draw(snake(300), 0.05 * np.sin(np.arange(300)))) < 300_000


def test_the_ground_is_under_the_body_and_only_seen_from_above():
    box = BODIES["one box"]
    _, shadow = parse(draw(box, view=(30, 20))).findall("path")
    corners = [point for face in drawn(draw(box, view=(30, 20)), "polygon") for point in on_page(face)]
    assert max(corners, key=lambda point: point[1]) in list(path_points(shadow.get("d")))
    assert parse(draw(box, view=(30, -20))).findall("path") == []


# ---- What is drawn -----------------------------------------------------------------------------------------


def test_a_sphere_is_a_shaded_disc_with_an_edge():
    edge, surface = drawn(draw(lone(Shape("sphere", (0.1,)))), "circle")
    assert surface.get("fill").startswith("url(#") and edge.get("fill").startswith("#")
    assert 0.5 < float(edge.get("r")) - float(surface.get("r")) < 2.0
    assert (edge.get("cx"), edge.get("cy")) == (surface.get("cx"), surface.get("cy"))


def test_a_capsule_is_a_stadium_along_its_axis():
    """Seen from above, a capsule along x of length 0.4 and radius 0.1 is 0.6 by 0.2."""
    capsule = Shape("capsule", (0.1, 0.4), transform(rotation=rpy(0, math.pi / 2, 0)))
    (path,) = [p for p in drawn(draw(lone(capsule), view=(-90, 90)), "path") if p.get("fill").startswith("url")]
    corners = np.array(on_page(path))
    assert np.ptp(corners[:, 1]) / np.ptp(corners[:, 0]) == pytest.approx(0.2 / 0.4, rel=0.02)
    assert path.get("d").count("A") == 2


def test_long_capsules_and_boxes_are_cut_for_depth():
    def surfaces(shape, tag):
        return len([p for p in drawn(draw(lone(shape)), tag) if p.get("fill") != "none"])

    assert surfaces(Shape("capsule", (0.1, 0.2)), "path") == 2  # a surface and its edge
    assert surfaces(Shape("capsule", (0.1, 1.5)), "path") == 2 * 3
    assert surfaces(Shape("box", (0.1, 0.1, 0.1)), "polygon") == 3
    assert surfaces(Shape("box", (0.1, 0.1, 0.5)), "polygon") == 2 * 2 + 1  # two sides cut in two, one end
    assert (
        surfaces(Shape("box", (0.1, 0.1, 1.0)), "polygon") == 2 * 4 + 1
    )  # and those in the middle have both sides, too


def test_a_cylinder_shows_the_end_that_faces_the_viewer():
    (cap,) = drawn(draw(lone(Shape("cylinder", (0.2, 0.3))), view=(0, 30)), "ellipse")
    assert float(cap.get("rx")) / float(cap.get("ry")) == pytest.approx(math.sin(math.radians(30)), abs=0.02)
    (top,) = drawn(draw(lone(Shape("cylinder", (0.2, 0.3))), view=(0, 90)), "ellipse")
    assert float(top.get("rx")) == pytest.approx(float(top.get("ry")), abs=0.02)


def test_as_many_faces_of_a_box_as_can_be_seen():
    box = lone(Shape("box", (0.2, 0.2, 0.2)))
    assert len(drawn(draw(box, view=(35, 20)), "polygon")) == 3
    assert len(drawn(draw(box, view=(0, 0)), "polygon")) == 1
    fills = {face.get("fill") for face in drawn(draw(box, view=(35, 20)), "polygon")}
    assert len(fills) == 3  # each in its own light


@pytest.mark.parametrize("kind", ["sphere", "box", "capsule", "cylinder"])
def test_the_nearer_of_two_solids_is_painted_last(kind):
    size = {"sphere": (0.1,), "box": (0.2, 0.2, 0.2)}.get(kind, (0.1, 0.2))
    red, blue = (1.0, 0.0, 0.0, 1.0), (0.0, 0.0, 1.0, 1.0)
    for near, far in ((red, blue), (blue, red)):
        shapes = [Shape(kind, size, at(1, 0, 0), color=near), Shape(kind, size, at(-1, 0, 0), color=far)]
        text = draw(lone(*shapes), view=(0, 0), show_skeleton=False)
        edges = [text.rindex(colors.outline(color[:3])) for color in (far, near)]
        assert edges == sorted(edges)


def test_edges_are_painted_before_the_surfaces_they_surround():
    for shape in (Shape("capsule", (0.1, 0.2)), Shape("cylinder", (0.1, 0.2)), Shape("box", (0.1, 0.1, 0.2))):
        group = parse(draw(lone(shape))).find("g")
        edge, surface = group[0], group[1]
        assert edge.tag == "path" and colors.outline(colors.RAMP[0]) in (edge.get("fill"), edge.get("stroke"))
        assert surface.tag == "g" or surface.get("fill").startswith("url(#")


def test_a_nearer_ball_looks_larger():
    shapes = [Shape("sphere", (0.1,), at(0.5, 0.3, 0)), Shape("sphere", (0.1,), at(-0.5, -0.3, 0))]
    radii = [float(c.get("r")) for c in drawn(draw(lone(*shapes), view=(0, 0)), "circle")]
    assert max(radii) > 1.1 * min(radii)


def test_colours_and_opacity_are_those_of_the_shape():
    faces = drawn(draw(lone(Shape("box", (1, 1, 1), color=(0.9, 0.1, 0.1, 0.4)))), "polygon")
    for face in faces:
        red, green, blue = (int(face.get("fill")[k : k + 2], 16) for k in (1, 3, 5))
        assert red > 2 * max(green, blue) and face.get("opacity") == "0.4"


def test_visuals_come_before_shapes_and_meshes_become_bones():
    sphere, box = Shape("sphere", (0.1,)), Shape("box", (0.1, 0.1, 0.1))
    mesh = Shape("mesh", (1, 1, 1), mesh="hull.stl")

    def tags(visuals, shapes):
        links = [Link("a", visuals=visuals, shapes=shapes), Link("b")]
        text = draw(Body("pair", links, [Joint("j", "fixed", "a", "b", at(0, 0, 0.3))]))
        return {each.tag for group in parse(text).findall("g") for each in group.iter()} - {"g"}

    assert tags((sphere,), (box,)) == {"circle"}
    assert tags((), (box,)) == {"polygon", "path"}
    assert tags((mesh,), (box,)) == {"polygon", "path"}
    assert tags((mesh,), ()) == {"path"}  # a bone


def test_a_body_without_shapes_is_drawn_as_bones_and_dots():
    body = serial_chain([0.4, 0.3, 0.2], "zyy")
    text = draw(body, [0.1, 0.5, -0.7], show_shapes=False)
    assert len(drawn(text, "circle")) == 3  # the joints
    edges = [path for path in drawn(text, "path") if path.get("fill").startswith("#")]
    assert len(edges) >= 3  # the bones
    assert drawn(draw(body, [0.1, 0.5, -0.7], show_shapes=False, show_skeleton=False), "path") == []


def test_an_empty_root_is_no_bone_of_a_body_that_has_shapes():
    links = [Link("world"), Link("ball", shapes=(Shape("sphere", (0.1,)),))]
    text = draw(Body("ball", links, [Joint("j", "fixed", "world", "ball", at(0, 0, 1))]))
    assert drawn(text, "path") == [] and len(drawn(text, "circle")) == 2


def test_dots_mark_the_moving_joints_and_vanish_where_they_crowd():
    def dots(text):
        return [c for c in drawn(text, "circle") if c.get("fill") == "#fff"]

    body = planar_chain([0.4, 0.3, 0.2])
    assert len(dots(draw(body, view=(-90, 90)))) == 3
    assert dots(draw(body, view=(-90, 90), show_skeleton=False)) == []
    assert len(dots(draw(serial_chain([0.0, 0.5], "zy")))) == 1  # two joints in one place
    assert dots(draw(snake(600))) == []


def test_ghosts_are_fainter_the_earlier_and_the_last_is_solid():
    body = planar_chain(3)
    text = draw_many(body, [[0, 0, 0], [0.3, 0.3, 0.3], [0.6, 0.6, 0.6]])
    opacities = [float(group.get("opacity")) for group in parse(text).findall("g")]
    assert opacities == sorted(opacities) and opacities[-1] == 1.0 and 0.0 < opacities[0] < opacities[1] < 0.6
    assert assert_on_page(text)


def test_targets_are_rings_and_poses_have_axes():
    body = planar_chain(2)
    pose = transform((0.2, 0.3, 0.1), rpy(0.1, 0.2, 0.3))

    def marks(targets):
        root = parse(draw(body, targets=targets))
        rings = [c for c in root.findall("circle") if c.get("fill") == "none"]
        return len(rings), len(root.findall("line")) - 3  # three lines are the axes of the world

    assert marks(()) == (0, 0)
    assert marks([(0.2, 0.3, 0.1)]) == (1, 0)
    assert marks([pose]) == (1, 3)
    assert marks([pose, (0.2, 0.3, 0.1), ((0.5, 0, 0), rpy(0, 0, 1))]) == (3, 6)
    assert marks(pose) == (1, 3) and marks(pose[:3, 3]) == (1, 0)
    assert marks(np.array([[0.1, 0, 0], [0.2, 0, 0], [0.3, 0, 0]])) == (3, 0)


# ---- Files and mistakes ------------------------------------------------------------------------------------


def test_the_file_holds_what_is_returned(tmp_path):
    text = draw(BODIES["hand"], path=tmp_path / "hand.svg", title="Größe")
    assert (tmp_path / "hand.svg").read_text(encoding="utf-8") == text
    assert draw(BODIES["hand"], path=str(tmp_path / "Hand.SVG")) == (tmp_path / "Hand.SVG").read_text()


@pytest.mark.parametrize(
    ("options", "error", "says"),
    [
        ({"path": "hand.jpg"}, FormatError, r"not as 'hand.jpg'. Name it 'hand.svg'"),
        ({"path": "hand"}, FormatError, r"Name it 'hand.svg'"),
        ({"path": "no/such/folder/hand.svg"}, FormatError, "does not exist. Create it"),
        ({"size": (800, 10)}, FormatError, "at least 32 pixels"),
        ({"size": (math.nan, 800)}, MemetikError, "size"),
        ({"size": 800}, MemetikError, "a width and a height"),
        ({"view": (0, 120)}, FormatError, "elevation 120"),
        ({"view": (0, 1, 2)}, MemetikError, "azimuth and elevation"),
        ({"targets": [np.ones((4, 4))]}, MemetikError, r"targets\[0\]"),
        ({"targets": [(1, 2)]}, MemetikError, r"targets\[0\]"),
        ({"q": [1.0]}, BodyError, "20 free joints"),
    ],
)
def test_mistakes_are_named(options, error, says):
    with pytest.raises(error, match=says):
        draw(BODIES["hand"], **options)


def test_a_file_that_cannot_be_written_is_named(tmp_path):
    (tmp_path / "taken.svg").mkdir()
    with pytest.raises(FormatError, match=r"cannot be written to .*taken.svg"):
        draw(BODIES["hand"], path=tmp_path / "taken.svg")


def test_no_postures_are_no_picture():
    with pytest.raises(FormatError, match="at least one posture"):
        draw_many(BODIES["hand"], [])


def test_a_hull_is_drawn_as_the_box_with_its_corners():
    """The same faces are seen, each as two triangles of one colour."""
    size = np.array([0.2, 0.3, 0.4])
    corners = [size * (x, y, z) / 2.0 for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]
    box, hull = (
        draw(Body("stone", [Link("base", shapes=[shape])], []), [], show_skeleton=False)
        for shape in (Shape("box", tuple(size)), Shape("hull", points=np.array(corners)))
    )
    faces = {frozenset(outline(each)) for each in drawn(box, "polygon")}
    paths = {frozenset(path_points(each.get("d"))) for each in drawn(hull, "path") if each.get("fill") != "none"}
    assert len(faces) == 3 and paths == faces


def test_a_world_is_drawn_with_the_body():
    body = load("panda")
    world = World({"ball": Shape("sphere", (0.1,), transform((0.6, 0, 0.2))), "gone": Shape("sphere", (0.5,))})
    world.disable("gone")
    alone, among = draw(body), draw(body, world=world)
    assert among.count("<circle") + among.count("<path") > alone.count("<circle") + alone.count("<path")
    assert draw(body, world=World()).count("<path") == alone.count("<path")
    with pytest.raises(FormatError, match="is not a world"):
        draw(body, world=[Shape("sphere", (0.1,))])
