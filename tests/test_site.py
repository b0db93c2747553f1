"""The site's own checks find what they are for, and its scenes and pictures are those that pages name."""

import re
import zipfile
from pathlib import Path

import pytest
from tools.docs import bodies, gallery, links
from tools.docs.scenes import SCENES

ROOT = Path(__file__).parents[1]
PAGES = sorted((ROOT / "docs").rglob("*.md"))


@pytest.mark.parametrize(
    ("html", "said"),
    [
        ('<a href="gone.html">x</a>', "gone.html leads nowhere"),
        ('<a href="other.html#no">x</a>', "there is no no in other.html#no"),
        ('<img src="other.html">', "has no alt text"),
        ('<script src="https://cdn.example/x.js"></script>', "loads https://cdn.example/x.js from another host"),
        ('<iframe data-src="scenes/none.html"></iframe>', "scenes/none.html leads nowhere"),
        ('<a href="other.html#here">x</a><a href="https://example.org">y</a><img src="other.html" alt="a">', None),
    ],
)
def test_a_page_that_is_wrong_is_found(html, said, tmp_path):
    (tmp_path / "other.html").write_text('<p id="here">x</p>')
    (tmp_path / "index.html").write_text(html)
    found = links.broken(tmp_path)
    assert found == [] if said is None else (len(found) == 1 and said in found[0])


def test_what_was_not_drawn_is_not_missed(tmp_path):
    (tmp_path / "index.html").write_text('<iframe data-src="scenes/none.html"></iframe>')
    assert links.broken(tmp_path, absent=("scenes/",)) == []


def test_the_gallery_has_all_scenes_and_their_stories_exist():
    page = gallery.page()
    for name, (title, source, _) in SCENES.items():
        assert f"scenes/{name}.html" in page and f'alt="{title}"' in page
        assert (ROOT / source).exists() or (ROOT / "docs" / source).exists()
    assert len(SCENES) >= 24


def test_pages_name_scenes_that_exist():
    named = {name for page in PAGES for name in re.findall(r"scenes/(\w+)\.html", page.read_text())}
    assert named and named <= set(SCENES)


def test_the_robot_of_the_first_page_is_the_one_of_its_pictures():
    assert bodies.arm_urdf().startswith('<robot name="arm">') and bodies.arm_urdf().count("<joint ") == 4


def test_every_recipe_stands_in_the_index():
    index = (ROOT / "docs" / "howto" / "index.md").read_text()
    recipes = {path.stem for path in (ROOT / "docs" / "howto").glob("*.md")} - {"index"}
    assert set(re.findall(r"\((\w+)\.md\)", index)) == recipes and len(recipes) >= 30


def test_what_would_be_published_is_whole(tmp_path):
    pytest.importorskip("hatchling", reason="building a wheel needs hatchling, of the extra dev")
    from tools import release

    wheel = release.build_wheel(tmp_path)
    assert release.wrong_in_wheel(wheel) + release.wrong_versions(wheel) == []
    other = tmp_path / "memetik-9.9.9.whl"
    with zipfile.ZipFile(other, "w") as archive:
        archive.writestr("memetik/__pycache__/x.pyc", "")
    assert release.wrong_versions(other) and any(
        "has memetik/__pycache__" in line for line in release.wrong_in_wheel(other)
    )
    assert any("lacks memetik/__init__.py" in line for line in release.wrong_in_wheel(other))
