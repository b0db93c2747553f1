"""Pictures as pixels: the same as what SVG says, worked out by hand, and files that Pillow reads."""

import math
import sys

import numpy as np
import pytest
from PIL import Image

import memetik as mk
from memetik.write.raster import frames, pixels

pytestmark = pytest.mark.quick


def svg(*parts, size=(100, 60)):
    box = f'width="{size[0]}" height="{size[1]}"'
    return f'<svg xmlns="http://www.w3.org/2000/svg" {box}>{"".join(parts)}</svg>'


def shown(*parts):
    """The pixels of a picture as rows of RGBA."""
    return np.asarray(pixels(svg(*parts))).astype(float)


def area(image):
    """How many pixels are covered, those on edges in part."""
    return image[..., 3].sum() / 255.0


def test_a_polygon_and_nothing_else():
    image = shown('<polygon points="10,10 50,10 50,40 10,40" fill="#ff8000"/>')
    assert image[25, 30].tolist() == [255, 128, 0, 255]
    assert image[5, 30, 3] == image[25, 60, 3] == 0.0
    assert area(image) == pytest.approx(40 * 30, rel=0.03)


@pytest.mark.parametrize(
    "part",
    [
        '<circle cx="50" cy="30" r="20" fill="#123456"/>',
        '<ellipse cx="50" cy="30" rx="20" ry="20" fill="#123456"/>',
        '<path d="M30,30A20 20 0 0 1 70,30A20 20 0 0 1 30,30Z" fill="#123456"/>',
        '<path d="M30,30a20 20 0 1 0 40,0a20 20 0 1 0 -40,0Z" fill="#123456"/>',
        '<path transform="translate(50,30)rotate(45)scale(2)" d="M0,-10A10 10 0 0 1 0,10A10 10 0 0 1 0,-10Z" fill="#123456"/>',
    ],
)
def test_a_disc_drawn_in_many_ways(part):
    image = shown(part)
    assert area(image) == pytest.approx(math.pi * 400, rel=0.02)
    rows, columns = np.nonzero(image[..., 3] > 128)
    assert (rows.min(), rows.max(), columns.min(), columns.max()) == (10, 49, 30, 69)
    assert image[30, 50].tolist() == [0x12, 0x34, 0x56, 255]


def test_steps_of_a_path_in_both_letters():
    image = shown('<path d="M10,10h30V40L10,40z" fill="#fff"/>', '<path d="M60 10l20 0 0 20 -20 0z" fill="#fff"/>')
    assert area(image) == pytest.approx(30 * 30 + 20 * 20, rel=0.03)


def test_lines_have_a_width_and_round_ends():
    flat = area(shown('<line x1="20" y1="30" x2="80" y2="30" stroke="#000" stroke-width="8"/>'))
    line = '<line x1="20" y1="30" x2="80" y2="30" stroke="#000" stroke-width="8" stroke-linecap="round"/>'
    assert flat == pytest.approx(60 * 8, rel=0.03)
    assert area(shown(line)) - flat == pytest.approx(math.pi * 16, rel=0.1)


def test_a_gradient_along_the_box_of_a_shape():
    stops = '<stop offset="0" stop-color="#000"/><stop offset="1" stop-color="#ff0000" stop-opacity="0.5"/>'
    straight = f'<defs><linearGradient id="a" x1="0" y1="0" x2="1" y2="0">{stops}</linearGradient></defs>'
    image = shown(straight, '<polygon points="0,0 100,0 100,60 0,60" fill="url(#a)"/>')
    ramp = (np.arange(100) + 0.5) / 100
    np.testing.assert_allclose(image[30, 1:-1, 0], 255 * ramp[1:-1], atol=2.5)
    np.testing.assert_allclose(image[30, 1:-1, 3], 255 * (1 - 0.5 * ramp[1:-1]), atol=2.5)


def test_a_round_gradient_on_the_page():
    stops = '<stop offset="0" stop-color="#fff"/><stop offset="1" stop-color="#000"/>'
    place = 'gradientUnits="userSpaceOnUse" gradientTransform="translate(50,30)scale(40 20)" cx="0" cy="0" r="1"'
    image = shown(
        f'<defs><radialGradient id="a" {place}>{stops}</radialGradient></defs>',
        '<path d="M0,0L100,0L100,60L0,60Z" fill="url(#a)"/>',
    )
    for x, y in ((50, 30), (70, 30), (50, 40), (95, 30)):
        share = math.hypot((x + 0.5 - 50) / 40, (y + 0.5 - 30) / 20)
        assert image[y, x, 0] == pytest.approx(255 * max(0.0, 1 - share), abs=3)


def test_what_can_be_seen_through():
    below = '<polygon points="0,0 100,0 100,60 0,60" fill="#000"/>'
    square = '<polygon points="20,10 60,10 60,50 20,50" {}/>'
    group = f"""<g opacity="0.5">{square.format('fill="#fff"')}</g>"""
    for part in (
        group,
        square.format('fill="#fff" opacity="0.5"'),
        square.format('fill="#fff" fill-opacity="0.5"'),
        square.format('fill="#fff" stroke="#fff" stroke-width="6" opacity="0.5"'),
    ):
        image = shown(below, part)
        assert image[30, 40, 0] == image[30, 21, 0] == pytest.approx(128, abs=1)


def test_a_soft_shadow_keeps_its_sum():
    blur = '<defs><filter id="b"><feGaussianBlur stdDeviation="3"/></filter></defs>'
    patch = '<path d="M40,20L60,20L60,40L40,40Z" fill="#000" {}/>'
    hard, soft = shown(patch.format("")), shown(blur, patch.format('filter="url(#b)"'))
    assert area(soft) == pytest.approx(area(hard), rel=0.02)
    assert 0 < soft[17, 50, 3] < soft[20, 50, 3] < 255


def test_text_stands_where_it_should():
    style = 'font-size="20" fill="#000" x="50" y="30"'
    rows, columns = np.nonzero(shown(f"<text {style}>xxxx</text>")[..., 3] > 128)
    assert 50 <= columns.min() < 53 and rows.max() in (29, 30)
    middle = f'<text {style} text-anchor="middle" dominant-baseline="central">xxxx</text>'
    rows, columns = np.nonzero(shown(middle)[..., 3] > 128)
    assert abs(columns.mean() - 50) < 2 and abs(rows.mean() - 30) < 4


# ---- Files -----------------------------------------------------------------------------------------------------


def test_a_body_as_png(tmp_path):
    body = mk.load("panda")
    path = tmp_path / "panda.PNG"
    picture = mk.draw(body, path=path, size=(160, 200), targets=[(0.4, 0.0, 0.4)])
    assert picture.startswith("<svg")
    with Image.open(path) as image:
        assert (image.format, image.mode, image.size) == ("PNG", "RGBA", (160, 200))
        colors = np.asarray(image)
    assert colors[0, 0, 3] == 0 and (colors[..., 3] == 255).mean() > 0.05


def test_a_film_as_gif(tmp_path):
    body = mk.load("scara")
    q = np.linspace(body.home, body.home + 0.3 * (body.upper - body.home), 5)
    motion = mk.Motion(body, np.arange(5) * 0.25, q)
    path = tmp_path / "scara.gif"
    picture = mk.write.draw_motion(motion, path, layout="film", frame_count=5, size=(160, 120))
    seconds, images = frames(picture)
    assert seconds == pytest.approx(1.0) and len(images) == 5
    with Image.open(path) as image:
        assert (image.format, image.n_frames, image.size) == ("GIF", 5, (160, 120))
        assert image.info["duration"] == 200 and image.info["loop"] == 0
        first = np.asarray(image.convert("RGB")).astype(int)
        image.seek(4)
        last = np.asarray(image.convert("RGB")).astype(int)
    assert np.abs(first - last).max() > 50
    assert first[0, 0].tolist() == last[0, 0].tolist() == [255, 255, 255]
    assert np.abs(first - np.asarray(images[0]).astype(int)).mean() < 3.0


def test_what_moves_is_no_png_and_what_does_not_is_no_gif(tmp_path):
    body = mk.load("scara")
    motion = mk.Motion(body, [0.0, 1.0], [body.home, body.home])
    with pytest.raises(mk.errors.FormatError, match=r"written as \.svg or \.gif, not as 'a\.png'"):
        mk.write.draw_motion(motion, tmp_path / "a.png", layout="film")
    with pytest.raises(mk.errors.FormatError, match=r"written as \.svg or \.png, not as 'a\.gif'"):
        mk.write.draw_motion(motion, tmp_path / "a.gif")
    with pytest.raises(mk.errors.FormatError, match="does not move"):
        frames(svg())


def test_too_large_for_pixels():
    with pytest.raises(mk.errors.FormatError, match=r"20000 x 60 pixels is too large .* Write it as \.svg"):
        pixels(svg(size=(20000, 60)))


def test_without_pillow_it_is_said_before_the_work(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "PIL", None)
    with pytest.raises(mk.errors.MissingExtraError, match=r'pip install "memetik\[plots\]"'):
        mk.draw(mk.load("scara"), path=tmp_path / "a.png")
    assert list(tmp_path.iterdir()) == []
