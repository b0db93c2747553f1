"""How Sphinx builds the site; `python -m tools.docs build` calls it (CONTRIBUTING.md)."""

import re

from docutils.nodes import SkipNode
from latex2mathml.converter import convert

from memetik import __version__

project, author, copyright = "memetik", "The memetik engineers", "The memetik engineers, Apache-2.0"
version = release = __version__

extensions = ["myst_parser"]
myst_enable_extensions = ["colon_fence", "dollarmath", "deflist", "attrs_inline"]
myst_heading_anchors = 3
exclude_patterns = ["_static"]
nitpicky = True

# Nothing comes from another host: Furo takes the fonts of the reader's system, and formulas are MathML, not a script.
html_theme = "furo"
html_title = "memetik"
html_static_path = ["_static"]
html_css_files = ["memetik.css"]
html_js_files = ["scenes.js"]
html_show_sourcelink = html_copy_source = False
html_theme_options = {
    "light_css_variables": {"color-brand-primary": "#0b57a4", "color-brand-content": "#0b57a4"},
    "dark_css_variables": {"color-brand-primary": "#8ab8ff", "color-brand-content": "#8ab8ff"},
    "top_of_page_buttons": [],
}
pygments_style, pygments_dark_style = "default", "github-dark"
html_math_renderer = "mathml"


def _formula(latex, display):
    """MathML of a formula; all browsers of today show it without help."""
    made = convert(latex.strip(), display=display)
    return re.sub(r"&#x([0-9A-F]{5});", lambda found: chr(int(found[1], 16)), made)


def _inline(writer, node):
    writer.body.append(_formula(node.astext(), "inline"))
    raise SkipNode


def _block(writer, node):
    writer.body.append(f'<div class="formula">{_formula(node.astext(), "block")}</div>')
    raise SkipNode


def setup(app):
    app.add_html_math_renderer("mathml", (_inline, None), (_block, None))
