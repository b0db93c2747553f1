"""The site's own checks find what they are for, and its scenes and pictures are those that pages name."""

import re
import zipfile
from pathlib import Path

import pytest
from tools.docs import access, bodies, gallery, links
from tools.docs.recipes import RECIPES
from tools.docs.scenes import SCENES

from tests.browser import chromium

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
    for page in (index, (ROOT / "README.md").read_text()):
        assert f"{len(recipes)} recipes" in page


@pytest.mark.parametrize(
    "page", [path for path in PAGES if path.parent.name == "howto" and path.stem != "index"], ids=lambda p: p.stem
)
def test_a_recipe_shows_what_it_makes(page):
    assert re.search(
        r"!\[[^\]]{10,}\]\(\.\./pictures/[\w/]+\.(?:svg|png|gif)\)|<iframe class=\"scene\"", page.read_text()
    )


def test_pictures_of_recipes_are_those_that_pages_name():
    named = {name for page in PAGES for name in re.findall(r"pictures/recipes/(\w+)\.svg", page.read_text())}
    drawn = {path.stem for path in (ROOT / "docs" / "pictures" / "recipes").glob("*.svg")}
    assert named == drawn == set(RECIPES)


def test_the_first_page_names_ten_tasks_and_their_recipes():
    table = (ROOT / "docs" / "start" / "index.md").read_text().partition("The ten tasks")[2]
    assert len(set(re.findall(r"\]\(\.\./howto/(\w+)\.md\)", table))) == 10


GOOD = """<html lang="en"><head><title>t</title><style>a:focus {outline: 2px solid}</style></head>
<body><article><h1>One</h1><h2>Two</h2>
<a href="#x">link</a><p style="color: #767676; background: #fff">text</p></article></body></html>"""


@pytest.fixture(scope="module")
def page():
    with chromium(800, 600) as new_tab:
        yield new_tab()


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("", "", None),
        (' lang="en"', "", "names no language"),
        ("<title>t</title>", "", "has no title"),
        ("<h2>Two</h2>", "<h3>Two</h3>", "level 3 follows one of level 1"),
        ("<h2>Two</h2>", "<h1>Two</h1>", "not one heading"),
        (">link<", "><", "without a name"),
        ("<p ", '<img src="x.png"><p ', "x.png has no alt text"),
        ("<p ", "<input name='q'><p ", "a field without a label"),
        ("#767676", "#777", "contrast 4.48 of p"),
        ("#767676", "rgba(0, 0, 0, 0.5)", "contrast 3.98 of p"),
        ("2px solid", "none", "does not show the focus: a"),
        ("<p ", '<a href="#y" tabindex="1">first</a><p ', "out of order"),
    ],
)
def test_what_keeps_people_out_is_found(page, old, new, said):
    page.set_content(GOOD.replace(old, new))
    wrong = access.structure(page) + access.contrast(page) + access.keyboard(page, stops=3)
    assert wrong == [] if said is None else any(said in each for each in wrong), wrong


def test_what_would_be_published_is_whole(tmp_path):
    pytest.importorskip("hatchling", reason="building a wheel needs hatchling, of the extra dev")
    from tools import release

    for package in release.PACKAGES.values():
        if (package.root / "pyproject.toml").is_file():  # an sdist of the library has no others
            wheel, sdist = release.build_wheel(tmp_path, package), release.build_sdist(tmp_path, package)
            assert release.wrong_in_wheel(wheel, package) + release.wrong_in_sdist(sdist, package) == []
            assert release.wrong_versions(wheel, sdist) == []
    other = tmp_path / "memetik-9.9.9.whl"
    with zipfile.ZipFile(other, "w") as archive:
        archive.writestr("memetik/__pycache__/x.pyc", "")
    assert release.wrong_versions(other) and any(
        "has memetik/__pycache__" in line for line in release.wrong_in_wheel(other)
    )
    assert any("lacks memetik/__init__.py" in line for line in release.wrong_in_wheel(other))


def test_a_package_that_wants_another_version_is_found(tmp_path, monkeypatch):
    release = pytest.importorskip("tools.release", reason="building a wheel needs hatchling, of the extra dev")
    (tmp_path / "pyproject.toml").write_text('dependencies = ["memetik[usd]==9.9.9"]')
    monkeypatch.setattr(release, "PACKAGES", {"other": release.LIBRARY._replace(name="other", root=tmp_path)})
    assert release.wrong_versions() == [f"other wants memetik[usd] 9.9.9, not {release.version()}"]
